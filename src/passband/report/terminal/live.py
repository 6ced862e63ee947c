"""Display a run in progress, for people and programs: a live table, plain lines, JSON events."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from passband.errors import ExitCode, PassbandError
from passband.report.rendering import printable
from passband.report.words import duration, money, pace
from passband.run import RunProgress, TaskProgress, Waiting

if TYPE_CHECKING:
    from rich.console import Console, Group, RenderableType
    from rich.text import Text


_WIDEST = 20  # letters of a name in the table
_RETRIES = {  # failed attempts, by outcome
    "rate_limited": ("rate limit", "rate limits"),
    "unavailable": ("server error", "server errors"),
    "timed_out": ("timeout", "timeouts"),
    "invalid_reply": ("invalid reply", "invalid replies"),
    "unfinished": ("unfinished answer", "unfinished answers"),
    "crashed": ("exception", "exceptions"),
}


class Quiet:
    """Prints notes and warnings, and nothing else."""

    shows_estimates = False
    shows_guesses = False

    def __init__(self, out: IO[str] | None = None) -> None:
        self._out = out or sys.stderr

    def __enter__(self) -> Quiet:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def tick(self, progress: RunProgress) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Print a line."""
        print(printable(text), file=self._out, flush=True)

    def warn(self, text: str) -> None:
        """Print a warning."""
        print(f"warning: {printable(text)}", file=self._out, flush=True)


class PlainLines(Quiet):
    """A line per task every few seconds, for logs and pipes."""

    shows_estimates = True
    shows_guesses = True

    def __init__(
        self,
        out: IO[str] | None = None,
        *,
        every: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(out)
        self._clock = clock
        self._every = every
        self._next = clock() + every
        self._printed: list[str] = []

    def tick(self, progress: RunProgress) -> None:
        """Print a line per task, if it is time to and there is news."""
        if self._clock() < self._next:
            return
        self._next = self._clock() + self._every
        lines = [line(task, progress) for task in progress.tasks if task.planned]
        if lines != self._printed:
            elapsed = f"  {duration(progress.elapsed)} elapsed"
            print("\n".join(line + elapsed for line in lines), file=self._out, flush=True)
            self._printed = lines


class JsonEvents(Quiet):
    """One JSON object per line, for programs."""

    shows_estimates = True
    shows_guesses = True

    def __init__(self, out: IO[str] | None = None) -> None:
        super().__init__(out or sys.stdout)

    def tick(self, progress: RunProgress) -> None:
        """Print a progress event."""
        self.event("progress", **asdict(progress))

    def note(self, text: str) -> None:
        """Print a note event."""
        self.event("note", text=text)

    def warn(self, text: str) -> None:
        """Print a warning event."""
        self.event("warning", text=text)

    def event(self, event: str, **fields: Any) -> None:
        """Print an event."""
        print(json.dumps({"event": event, **fields}), file=self._out, flush=True)


class LiveTable(Quiet):
    """A table on a terminal, redrawn in place.

    A terminal that becomes narrower wraps the lines of the last table, so that they take more rows
    than were drawn; those rows are erased too.
    """

    shows_estimates = True
    shows_guesses = True

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__()
        self._console = console or Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._widths: list[int] = []  # of the lines that are on the screen

    def __enter__(self) -> LiveTable:
        from rich.text import Text

        self._live.start()
        self._draw(Text("starting ...", style="dim"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._erase_wrapped()
        self._live.stop()

    def tick(self, progress: RunProgress) -> None:
        """Redraw the table."""
        self._draw(_table(progress, self._console.width))

    def _draw(self, frame: RenderableType) -> None:
        from rich.segment import Segment

        self._erase_wrapped()
        self._live.update(frame, refresh=True)
        lines = self._console.render_lines(frame, pad=False)
        self._widths = [Segment.get_line_length(line) for line in lines]

    def _erase_wrapped(self) -> None:
        """Erase the rows that the last table takes beyond its lines since it was drawn."""
        from rich.control import Control
        from rich.segment import ControlType

        extra = wrapped_rows(self._widths, self._console.width)
        if extra:
            up = [(ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1)]
            self._console.control(Control(*(up * extra)))
            self._widths = []

    def note(self, text: str) -> None:
        """Print a line above the table."""
        from rich.text import Text

        self._erase_wrapped()
        self._console.print(Text(printable(text)))

    def warn(self, text: str) -> None:
        """Print a warning above the table."""
        from rich.text import Text

        self._erase_wrapped()
        self._console.print(Text(f"warning: {printable(text)}", style="bold yellow"))


def make_display(*, as_json: bool, quiet: bool) -> Quiet:
    """Return the display for the options and for where the output goes."""
    if as_json:
        return JsonEvents()
    if quiet:
        return Quiet()
    return LiveTable() if sys.stderr.isatty() else PlainLines()


@contextmanager
def error_events(*, enabled: bool) -> Iterator[None]:
    """Print an error event for an error that ends the command, and raise it on."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (PassbandError, OSError) as error:
        if enabled:
            lines = error.lines() if isinstance(error, PassbandError) else [str(error)]
            code = error.exit_code if isinstance(error, PassbandError) else ExitCode.FAILED
            JsonEvents().event("error", text="\n".join(lines), exit_code=code)
        raise


def line(task: TaskProgress, progress: RunProgress) -> str:
    """Return one task's progress as a line of text."""
    cells = [printable(task.task), f"{task.done}/{task.planned}{_percent(task)}", *_pace(progress)]
    if sum(task.tokens):
        cells.append(f"tokens {task.tokens[0]} in, {task.tokens[1]} out")
    if task.cost:
        cells.append(f"cost {money(task.cost)}")
    cells += [f"{count} {status}" for status, count in task.failed.items()]
    if task.estimate is not None:
        cells.append(str(task.estimate))
    cells += [*_shards(progress), *_trouble(progress)]
    return "  ".join(cells)


def wrapped_rows(widths: Sequence[int], width: int) -> int:
    """Return the rows that lines take beyond one each, on a terminal that wraps them.

    >>> wrapped_rows([60, 40, 41, 0], 60), wrapped_rows([60, 40, 41, 0], 40)
    (0, 2)
    """
    return sum(max(0, -(-wide // max(1, width)) - 1) for wide in widths)


def _percent(task: TaskProgress) -> str:
    """Return the share of finished trials; 100% only when all are."""
    return f" ({100 * task.done // task.planned}%)" if task.planned else ""


def _shards(progress: RunProgress) -> list[str]:
    """Return how many shards have ended, and how many were lost."""
    if progress.shards is None:
        return []
    lost = f", {progress.shards.lost} lost and started again" if progress.shards.lost else ""
    return [f"{progress.shards.ended} of {progress.shards.shards} shards ended{lost}"]


def _trouble(progress: RunProgress) -> list[str]:
    """Return the trials in scoring, retries, waits, and the reason of a pause."""
    counts = [
        f"{count} {_RETRIES.get(outcome, (outcome, outcome))[count != 1]}"
        for outcome, count in progress.retries.items()
    ]
    waits = [f"{progress.backing_off} waiting to retry"] if progress.backing_off else []
    return [
        *([f"{progress.scoring} being scored"] if progress.scoring else []),
        *([f"retried {', '.join(counts)}"] if counts else []),
        *waits,
        *([_wait(progress.waiting)] if progress.waiting else []),
    ]


def _pace(progress: RunProgress) -> list[str]:
    if progress.rate is None:
        return []
    left = progress.seconds_left or 0.0
    return [pace(progress.rate), *([f"{duration(left)} left"] if left else [])]


def _wait(waiting: Waiting) -> str:
    """Return why no request is sent."""
    if waiting.reason == "stopping":
        return "stopping"
    if waiting.reason == "server-down":
        return f"the server is down; next try in {duration(waiting.seconds)}"
    until = time.strftime("%H:%M:%S", time.localtime(time.time() + waiting.seconds))
    return f"the server asks to wait until {until}"


def _table(progress: RunProgress, width: int) -> Group:
    """Return two lines per task and one or two for all, narrow enough for 80 columns."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(no_wrap=True, overflow="ellipsis")
    for task in progress.tasks:
        table.add_row(
            Text(_name(task), style="bold"),
            ProgressBar(total=max(1, task.planned), completed=task.done, width=_bar(width)),
            Text(f"{task.done}/{task.planned}{_percent(task)}"),
            Text("" if task.estimate is None else str(task.estimate), style="cyan"),
        )
    details = [line for task in progress.tasks if (line := _details(task))]
    state = [f"{duration(progress.elapsed)} elapsed", *_pace(progress)]
    state += [] if progress.waiting else [f"{progress.under_way} under way"]
    state += _shards(progress)
    trouble = _trouble(progress)
    lines = [Text(", ".join(state), style="dim")]
    lines += [Text(", ".join(trouble), style="yellow")] if trouble else []
    return Group(table, *details, *lines)


def _bar(width: int) -> int:
    """Return the width of a bar, which leaves room for the numbers.

    >>> _bar(60), _bar(80), _bar(100), _bar(200)
    (8, 12, 32, 40)
    """
    return min(40, max(8, width - 68))


def _details(task: TaskProgress) -> Text | None:
    """Return a task's tokens, cost and failures."""
    from rich.text import Text

    spent = [f"{_short(task.tokens[0])} tokens in, {_short(task.tokens[1])} out"]
    if not any(task.tokens):
        spent = []
    if task.cost:
        spent.append(f"cost {money(task.cost)}")
    failed = [f"{count} {status}" for status, count in task.failed.items()]
    if not spent and not failed:
        return None
    text = Text(f"  {_name(task)}: {', '.join(spent)}", style="dim")
    return (
        text.append(f"{', ' if spent else ''}{', '.join(failed)}", style="red") if failed else text
    )


def _name(task: TaskProgress) -> str:
    """Return a task's name, cut so that it leaves room for the numbers."""
    name = printable(task.task)
    return name if len(name) <= _WIDEST else f"{name[: _WIDEST - 1]}…"


def _short(count: int) -> str:
    """Return a large number in few letters.

    >>> _short(950), _short(12_345), _short(3_200_000)
    ('950', '12k', '3.2M')
    """
    if count < 1_000:
        return str(count)
    return f"{count / 1e3:.0f}k" if count < 1_000_000 else f"{count / 1e6:.1f}M"

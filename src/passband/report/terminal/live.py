"""Displays of a running run, for people and programs: a live table, plain lines, JSON events."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from passband.errors import ExitCode, PassbandError
from passband.report.render import printable
from passband.report.words import duration, money, pace
from passband.run.progress import Progress, TaskProgress, Waiting

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.text import Text

__all__ = ["JsonEvents", "LiveTable", "PlainLines", "Quiet", "error_events", "make_display"]

_WIDEST = 20  # letters of a name in the table


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

    def tick(self, progress: Progress) -> None:
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

    def tick(self, progress: Progress) -> None:
        """Print a line per task, if it is time to and there is news."""
        if self._clock() < self._next:
            return
        self._next = self._clock() + self._every
        lines = [line(task, progress) for task in progress.tasks if task.planned]
        if lines != self._printed:
            print("\n".join(lines), file=self._out, flush=True)
            self._printed = lines


class JsonEvents(Quiet):
    """One JSON object per line, for programs."""

    shows_estimates = True
    shows_guesses = True

    def __init__(self, out: IO[str] | None = None) -> None:
        super().__init__(out or sys.stdout)

    def tick(self, progress: Progress) -> None:
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
    """A table on a terminal, redrawn in place."""

    shows_estimates = True
    shows_guesses = True

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__()
        self._console = console or Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> LiveTable:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def tick(self, progress: Progress) -> None:
        """Redraw the table."""
        self._live.update(_table(progress), refresh=True)

    def note(self, text: str) -> None:
        """Print a line above the table."""
        from rich.text import Text

        self._console.print(Text(printable(text)))

    def warn(self, text: str) -> None:
        """Print a warning above the table."""
        from rich.text import Text

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


def line(task: TaskProgress, progress: Progress) -> str:
    """Return one task's progress as a line of text."""
    cells = [printable(task.task), f"{task.done}/{task.planned}", *_pace(progress)]
    if sum(task.tokens):
        cells.append(f"{task.tokens[0]} + {task.tokens[1]} tokens")
    if task.cost:
        cells.append(f"cost {money(task.cost)}")
    cells += [f"{count} {status}" for status, count in task.failed.items()]
    if task.estimate is not None:
        cells.append(str(task.estimate))
    if progress.waiting:
        cells.append(_wait(progress.waiting))
    return "  ".join(cells)


def _pace(progress: Progress) -> list[str]:
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


def _table(progress: Progress) -> Group:
    """Return two lines per task and one for all, narrow enough for 80 columns."""
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
            ProgressBar(total=max(1, task.planned), completed=task.done, width=16),
            Text(f"{task.done}/{task.planned}"),
            Text("" if task.estimate is None else str(task.estimate), style="cyan"),
        )
    details = [line for task in progress.tasks if (line := _details(task))]
    state = _wait(progress.waiting) if progress.waiting else f"{progress.under_way} under way"
    return Group(table, *details, Text(", ".join([*_pace(progress), state]), style="dim"))


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

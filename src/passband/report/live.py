"""A run as people and programs watch it: a live table, plain lines, or JSON events."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from passband.report.progress import Meter, Progress, TaskProgress, duration, money, pace
from passband.report.render import printable
from passband.run.loop import Runner

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.text import Text

__all__ = ["JsonEvents", "LiveTable", "PlainLines", "Quiet", "make_display"]

_WIDEST = 20  # letters of a name in the table


class Quiet:
    """Says only what must be said."""

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

    def tick(self, runner: Runner) -> None:
        """Take note of how far the run is."""

    def warn(self, text: str) -> None:
        """Say what should not be missed."""
        print(f"warning: {printable(text)}", file=self._out, flush=True)


class PlainLines(Quiet):
    """A line per task every few seconds, for logs and pipes."""

    def __init__(
        self,
        out: IO[str] | None = None,
        *,
        every: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(out)
        self._meter = Meter(clock)
        self._clock = clock
        self._every = every
        self._next = clock() + every
        self._said: list[str] = []

    def tick(self, runner: Runner) -> None:
        """Print a line per task, if it is time to."""
        if self._clock() < self._next:
            return
        self._next = self._clock() + self._every
        progress = self._meter.read(runner)
        lines = [line(task, progress) for task in progress.tasks if task.planned]
        if lines != self._said:
            print("\n".join(lines), file=self._out, flush=True)
            self._said = lines


class JsonEvents(Quiet):
    """One JSON object per line, for programs."""

    def __init__(self, out: IO[str] | None = None) -> None:
        super().__init__(out or sys.stdout)
        self._meter = Meter()

    def tick(self, runner: Runner) -> None:
        """Say how far the run is."""
        self.say("progress", **asdict(self._meter.read(runner)))

    def warn(self, text: str) -> None:
        """Say what should not be missed."""
        self.say("warning", text=text)

    def say(self, event: str, **fields: Any) -> None:
        """Write an event."""
        print(json.dumps({"event": event, **fields}), file=self._out, flush=True)


class LiveTable(Quiet):
    """A table that is drawn over and over, while the output is a terminal."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__()
        self._console = console or Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._meter = Meter()

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

    def tick(self, runner: Runner) -> None:
        """Draw the table anew."""
        self._live.update(_table(self._meter.read(runner)), refresh=True)

    def warn(self, text: str) -> None:
        """Print a warning above the table."""
        from rich.text import Text

        self._console.print(Text(f"warning: {printable(text)}", style="bold yellow"))


def make_display(*, as_json: bool, quiet: bool) -> Quiet:
    """Return the display that suits who is watching."""
    if as_json:
        return JsonEvents()
    if quiet:
        return Quiet()
    return LiveTable() if sys.stderr.isatty() else PlainLines()


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
        cells.append(progress.waiting)
    return "  ".join(cells)


def _pace(progress: Progress) -> list[str]:
    if progress.rate is None:
        return []
    left = progress.seconds_left or 0.0
    return [pace(progress.rate), *([f"{duration(left)} left"] if left else [])]


def _table(progress: Progress) -> Group:
    """Return two lines per task, and one for all: narrow enough for 80 columns."""
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
    state = progress.waiting or f"{progress.under_way} under way"
    return Group(table, *details, Text(", ".join([*_pace(progress), state]), style="dim"))


def _details(task: TaskProgress) -> Text | None:
    """Return a task's tokens, cost and failures."""
    from rich.text import Text

    said = [f"{_short(task.tokens[0])} tokens in, {_short(task.tokens[1])} out"]
    if not any(task.tokens):
        said = []
    if task.cost:
        said.append(f"cost {money(task.cost)}")
    failed = [f"{count} {status}" for status, count in task.failed.items()]
    if not said and not failed:
        return None
    line = Text(f"  {_name(task)}: {', '.join(said)}", style="dim")
    return (
        line.append(f"{', ' if said else ''}{', '.join(failed)}", style="red") if failed else line
    )


def _name(task: TaskProgress) -> str:
    """Return a task's name, cut so that it leaves room for the numbers."""
    name = printable(task.task)
    return name if len(name) <= _WIDEST else f"{name[: _WIDEST - 1]}…"


def _short(count: int) -> str:
    """Write a large number in few letters.

    >>> _short(950), _short(12_345), _short(3_200_000)
    ('950', '12k', '3.2M')
    """
    if count < 1_000:
        return str(count)
    return f"{count / 1e3:.0f}k" if count < 1_000_000 else f"{count / 1e6:.1f}M"

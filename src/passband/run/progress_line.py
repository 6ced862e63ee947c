"""The progress of a run as one line, for programs and notebooks."""

from __future__ import annotations

import sys
from typing import IO

from passband.errors import warn
from passband.run.progress import Progress

__all__ = ["ProgressLine", "Silent", "make_watcher"]

_WIDTH = 78


class Silent:
    """A watcher that passes warnings on, and nothing else."""

    def tick(self, progress: Progress) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def warn(self, text: str) -> None:
        """Issue a Python warning."""
        warn(text)

    def close(self) -> None:
        """Show nothing."""


class ProgressLine(Silent):
    """A line that is written over twice a second: how many trials, how fast, how long."""

    def __init__(self, out: IO[str] | None = None) -> None:
        self._out = out or sys.stderr
        self._shown = ""

    def tick(self, progress: Progress) -> None:
        """Show how far the run is."""
        self._write(_line(progress))

    def warn(self, text: str) -> None:
        """Issue a Python warning, on a line of its own."""
        self._write("")
        warn(text)

    def close(self) -> None:
        """Leave the last line standing."""
        if self._shown:
            self._out.write("\n")
            self._out.flush()
            self._shown = ""

    def _write(self, line: str) -> None:
        if line != self._shown:
            self._out.write(f"\r{line.ljust(len(self._shown))}\r{line}")
            self._out.flush()
            self._shown = line


def make_watcher(progress: bool | None) -> Silent:
    """Return a watcher that shows progress; None shows it on terminals and in notebooks."""
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    return ProgressLine() if progress else Silent()


def _line(progress: Progress) -> str:
    done = sum(task.done for task in progress.tasks)
    planned = sum(task.planned for task in progress.tasks)
    failed = sum(sum(task.failed.values()) for task in progress.tasks)
    share = f"{100 * done // planned} %" if planned else "0 %"
    pieces = [f"{done} of {planned} trials", share]
    if failed:
        pieces.append(f"{failed} failed")
    if progress.rate:
        pieces.append(f"{progress.rate:.3g}/s")
    if progress.seconds_left:
        pieces.append(f"{_clock(progress.seconds_left)} left")
    if progress.waiting is not None:
        pieces.append(f"waiting ({progress.waiting.reason})")
    return ", ".join(pieces)[:_WIDTH]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

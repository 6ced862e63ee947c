"""Watching runs: warnings become Python warnings, all else is silent."""

from __future__ import annotations

from passband.errors import warn


class Watching:
    """A watcher that passes warnings on."""

    def tick(self, progress: object) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def warn(self, text: str) -> None:
        """Issue a Python warning."""
        warn(text)

"""One zygote as seen from passband: started, asked for one trial after another, ended."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

from passband.score.sandbox.box import wire
from passband.score.sandbox.box.client import ZygoteGone, converse
from passband.score.sandbox.recipe import Recipe
from passband.score.workers.launch import end, start

__all__ = ["Worker"]

END_SECONDS = 2.0  # for a zygote to notice that it is no longer needed
START_SECONDS = 60.0  # for an interpreter to start and import what programs use


class Worker:
    """A zygote in a sandbox; raises `ZygoteGone` where it does not start or has ended."""

    def __init__(self, recipe: Recipe) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = start(
                    recipe.command,
                    theirs,
                    recipe.variables,
                    user=recipe.user,
                    answers=recipe.is_remote,
                )
            except OSError as error:
                self._control.close()
                raise ZygoteGone(f"{recipe.command[0]}: {error.strerror}") from None
        self._is_remote = recipe.is_remote
        self.facts: Mapping[str, Any] = self._begun(recipe)

    def _begun(self, recipe: Recipe) -> Mapping[str, Any]:
        """Send the program; return the facts that the zygote gives as its sign of life."""
        self._control.settimeout(START_SECONDS)
        try:
            wire.send(self._control, recipe.first_frame())
            facts = wire.receive(self._control)
        except (OSError, wire.BadFrame) as error:
            facts, reason = None, str(error)
        else:
            reason = "it ended"
        if not isinstance(facts, dict) or not facts.get("ready"):
            raise ZygoteGone(self._last_words() or reason)
        return facts

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """Run one trial and return the report."""
        return self._asked(job) if self._is_remote else converse(self._control, job)

    def _asked(self, job: dict[str, Any]) -> dict[str, Any]:
        """Have the trial run by the first process of a container."""
        self._control.settimeout(job["limits"]["wall"] + START_SECONDS)
        try:
            wire.send(self._control, job)
            report = wire.receive(self._control)
        except (OSError, wire.BadFrame) as error:
            raise ZygoteGone(str(error)) from None
        if not isinstance(report, dict) or "gone" in report:
            raise ZygoteGone(report["gone"] if report else "it ended")
        return report

    def _last_words(self) -> str:
        """End the process; return the line of what it wrote to standard error that says why."""
        stderr = self._process.stderr
        assert stderr is not None
        self._process.kill()
        os.set_blocking(stderr.fileno(), False)
        text = (stderr.read(1 << 14) or b"").decode("utf-8", "replace").strip()
        self.kill()
        lines = text.splitlines() or [""]
        return lines[-1 if lines[0].startswith("Traceback") else 0]

    def kill(self) -> None:
        """End the zygote, and with it whatever runs in the sandbox."""
        self._control.close()  # at which it ends by itself, and removes what it made
        end(self._process, END_SECONDS)

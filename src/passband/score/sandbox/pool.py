"""Keep a few zygotes, each with one trial at a time, and talk to them."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from passband.score.sandbox.box import wire
from passband.score.sandbox.box.client import ZygoteGone, converse
from passband.score.sandbox.box.wire import Message
from passband.score.sandbox.recipe import ZygoteRecipe
from passband.system import PooledProcess, ProcessPool, available_cpus, end_process, start_on_socket

END_SECONDS = 2.0  # for a zygote to notice that it is no longer needed
START_SECONDS = 60.0  # for an interpreter to start and import what programs use


class ZygoteClient(PooledProcess):
    """A zygote in a sandbox; raises `ZygoteGone` where it does not start or has ended."""

    def __init__(self, recipe: ZygoteRecipe) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = start_on_socket(
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
        self.facts: Message = self._begun(recipe)

    def _begun(self, recipe: ZygoteRecipe) -> Message:
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

    def ask(self, job: Message) -> Message:
        """Run one trial and return the report."""
        return self._asked(job) if self._is_remote else converse(self._control, job)

    def _asked(self, job: Message) -> Message:
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
        """End the process; return the line of its standard error that gives the reason."""
        stderr = self._process.stderr
        assert stderr is not None
        self._process.kill()
        os.set_blocking(stderr.fileno(), False)
        text = (stderr.read(1 << 14) or b"").decode("utf-8", "replace").strip()
        self.kill()
        lines = text.splitlines() or [""]
        return lines[-1 if lines[0].startswith("Traceback") else 0]

    def kill(self) -> None:
        """End the zygote and with it everything in its sandbox."""
        self._control.close()  # at which it ends by itself, and removes what it made
        end_process(self._process, END_SECONDS)


class ZygotePool(ProcessPool[int, ZygoteClient]):
    """Zygotes by hash seed; one more than processors by default, as some trials only wait."""

    def __init__(self, recipe: Callable[[int], ZygoteRecipe], size: int | None = None) -> None:
        super().__init__(size)
        self._recipe = recipe
        self._starter: ThreadPoolExecutor | None = None
        self._starter_of: int | None = None  # the process that the thread belongs to

    def _usual_size(self) -> int:
        return available_cpus() + 1

    def _start(self, kind: int) -> ZygoteClient:
        # A sandbox dies with the thread that started it, so that thread has to outlive all trials.
        with self._lock:
            if self._starter is None or self._starter_of != os.getpid():
                self._starter, self._starter_of = ThreadPoolExecutor(1, "sandbox"), os.getpid()
            starter = self._starter
        return starter.submit(ZygoteClient, self._recipe(kind)).result()

    def ask(self, job: Message, hash_seed: int = 0, alone: bool = False) -> Message:
        """Run a trial on any zygote of a hash seed, alone if no other is to run beside it.

        Raises `ZygoteGone` if the zygote did not start, or ended; it is then used no more.
        """
        with self._slot(self.size if alone else 1), self._lent(hash_seed) as zygote:
            return zygote.ask(job)

    def facts(self, hash_seed: int = 0) -> Message:
        """Return the facts that a zygote reports; start one if none is idle."""
        with self._slot(), self._lent(hash_seed) as zygote:
            return dict(zygote.facts)

    def close(self) -> None:
        """End the idle zygotes and the thread that started them; a later call starts new ones."""
        super().close()
        if self._owner != os.getpid():
            return
        with self._lock:
            starter, self._starter = self._starter, None
        if starter is not None:
            starter.shutdown()

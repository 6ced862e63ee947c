"""A sandbox made of zygotes: the part that all backends share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TypeVar

from passband.score.sandbox.box.client import ZygoteGone
from passband.score.sandbox.box.wire import Message
from passband.score.sandbox.pool import ZygotePool
from passband.score.sandbox.protocol import (
    CommandJob,
    Limits,
    ProgramExit,
    ProgramVerdict,
    SandboxFailed,
    UnitTests,
)
from passband.score.sandbox.recipe import ZygoteRecipe
from passband.score.sandbox.verdicts import NoVerdict, Starved, finished, verdict

_ADVICE = (
    ("ENOSPC", "user namespaces are off: see user.max_user_namespaces"),
    ("uid map", "user namespaces are forbidden: see kernel.apparmor_restrict_unprivileged_userns"),
    ("namespace", "this kernel, or the container around, forbids user namespaces"),
    ("Unknown option", "bubblewrap 0.8 or newer is needed"),
    ("execvp", "name a Python in PASSBAND_SANDBOX_PYTHON that programs can see"),
    ("image", "pull the image first, or name another one in PASSBAND_SANDBOX_IMAGE"),
    ("daemon", "start the engine, or ask for access to it"),
)


def advice(message: str) -> str:
    """Return the message of a sandbox that does not start, with a remedy where one is known.

    >>> advice("bwrap: Unknown option --disable-userns")
    'bwrap: Unknown option --disable-userns; bubblewrap 0.8 or newer is needed'
    >>> advice("it ended")
    'it ended'
    """
    for words, remedy in _ADVICE:
        if words in message:
            return f"{message.rstrip('.')}; {remedy}"
    return message


ATTEMPTS = 3
_PATIENCE = 5  # times the wall clock, for a trial that others kept waiting
VERSION = "2"  # goes up when the same program and tests get another verdict

Result = TypeVar("Result", ProgramVerdict, ProgramExit)


class Zygotes:
    """Runs trials on a pool of zygotes; one that fails is tried again, and never a verdict."""

    def __init__(
        self,
        name: str,
        recipe: Callable[[int], ZygoteRecipe],
        *,
        is_isolated: bool = True,
        size: int | None = None,
    ) -> None:
        self.name, self.is_isolated = name, is_isolated
        self.pool = ZygotePool(recipe, size)
        self._identity: dict[str, str] | None = None

    @property
    def identity(self) -> Mapping[str, str]:
        """The backend, the Python that runs programs, and its numpy."""
        if self._identity is None:
            facts = self.facts()
            self._identity = {
                "sandbox": VERSION,
                "backend": self.name,
                "python": f"{facts['implementation']} {facts['python']}",
                "numpy": facts["numpy"] or "none",
            }
        return self._identity

    def facts(self) -> Message:
        """Return the facts that a zygote reports; start one if there is none."""
        try:
            return self.pool.facts()
        except ZygoteGone as gone:
            reason = advice(str(gone))
            raise SandboxFailed(f"the sandbox {self.name} does not start: {reason}.") from None

    def check(self, tests: UnitTests, limits: Limits, hash_seed: int = 0) -> ProgramVerdict:
        """Run unit tests."""
        body = asdict(tests)
        return self._result(body.pop("verdict"), {"body": body}, limits, hash_seed, verdict)

    def run_program(
        self, program: str, stdin: str, limits: Limits, hash_seed: int = 0
    ) -> ProgramExit:
        """Run a Python program in a warm interpreter."""
        job = {"body": {"program": program}, "stdin": _letters(stdin)}
        return self._result("script", job, limits, hash_seed, finished)

    def run(self, command: CommandJob) -> ProgramExit:
        """Run a command in a folder with some files."""
        files = {name: data.decode("latin-1") for name, data in command.files.items()}
        body = {"command": list(command.command), "files": files}
        job = {"body": body, "stdin": _letters(command.stdin)}
        return self._result("command", job, command.limits, 0, finished)

    def close(self) -> None:
        """End the zygotes that wait for work; they start again when needed."""
        self.pool.close()

    def _result(
        self,
        kind: str,
        job: Message,
        limits: Limits,
        hash_seed: int,
        read: Callable[[Message, Limits], Result],
    ) -> Result:
        alone, reason, relaxed = False, "", limits
        for _ in range(ATTEMPTS):
            try:
                request = {**job, "kind": kind, "limits": asdict(relaxed)}
                result = read(self.pool.ask(request, hash_seed, alone), relaxed)
                # Alone it had more time on the clock, of which it may have waited most.
                return (
                    replace(result, seconds=min(result.seconds, limits.wall)) if alone else result
                )
            except Starved as starved:
                # Alone, and with time enough for the limit on processor time to decide.
                alone, reason = True, f"the machine is too busy: {starved}"
                relaxed = replace(relaxed, wall=_PATIENCE * relaxed.wall)
            except (NoVerdict, ZygoteGone) as failure:
                reason = str(failure)
        raise SandboxFailed(
            f"the sandbox {self.name} failed {ATTEMPTS} times on a trial, which gets no score: "
            f"{reason}. The same command tries it again; see passband doctor."
        )


def _letters(text: str | bytes) -> str:
    """Return bytes as a text of one character each, as JSON can carry them."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return data.decode("latin-1")

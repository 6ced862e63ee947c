"""Examine the sandboxes of this machine: which one holds, and what gets through others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from passband.errors import PassbandError
from passband.score.sandbox.bubblewrap import user_of_trials
from passband.score.sandbox.find import ISOLATED, make_sandbox
from passband.score.sandbox.interpreter import find_interpreter
from passband.score.sandbox.probes.escapes import ESCAPES
from passband.score.sandbox.probes.forgeries import FORGERIES, HONEST, unit_tests
from passband.score.sandbox.probes.leaks import LEAKS
from passband.score.sandbox.protocol import Limits, SandboxFailed, UnitTests
from passband.score.sandbox.zygotes import Zygotes
from passband.system import is_supported

PROBES = (*ESCAPES, *LEAKS, *FORGERIES)
_LIMITS = Limits(wall=20, cpu=10)


@dataclass(frozen=True)
class SandboxFinding:
    """The result of one check."""

    kind: str  # "setup", "escape", "leak" or "forgery"
    name: str
    is_good: bool
    detail: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """The findings about one backend."""

    backend: str
    findings: tuple[SandboxFinding, ...] = field(default=())

    @property
    def holds(self) -> bool:
        """Whether programs may be run in it."""
        return all(finding.is_good for finding in self.findings)


def examine(notify: Callable[[str], None] = lambda name: None) -> list[Diagnosis]:
    """Examine backends in the order in which they are used, until one holds.

    notify: called with the name of each thing before it is tried.
    """
    diagnoses = []
    for name in ISOLATED:
        diagnoses.append(Diagnosis(name, tuple(_findings(name, notify))))
        if diagnoses[-1].holds:
            break
    return diagnoses


def _findings(name: str, notify: Callable[[str], None]) -> Iterator[SandboxFinding]:
    """Yield the findings about a backend; one that does not start is not probed."""
    notify(f"{name}: start")
    try:
        sandbox = make_sandbox(name, size=1)
        facts = sandbox.facts()
    except PassbandError as error:
        yield SandboxFinding("setup", "start", False, str(error))
        return
    try:
        yield SandboxFinding("setup", "start", True, f"{name} runs {facts['executable']}")
        yield from _setup(name, facts["python"], facts["numpy"])
        yield _honest(sandbox)
        yield from _probed(sandbox, notify)
    finally:
        sandbox.close()


def _setup(name: str, python: str, numpy: str | None) -> Iterator[SandboxFinding]:
    """Yield remarks on how trials run."""
    packages = f"numpy {numpy}" if numpy else "without numpy"
    yield SandboxFinding(
        "setup", "Python of programs", True, f"{python}, {packages}{_instead(name)}"
    )
    user = user_of_trials()
    who = f"uid {os.getuid()}, yours" if user is None else f"uid {user}, as you are root"
    if name == "bubblewrap":
        yield SandboxFinding("setup", "user of programs", True, who)
    has_filter = "on" if is_supported() else "none for this architecture"
    yield SandboxFinding("setup", "filter of system calls", True, has_filter)


def _instead(name: str) -> str:
    if name != "bubblewrap":
        return ""
    instead_of = find_interpreter(user_of_trials()).instead_of
    return f"; {instead_of} is in a folder closed to them" if instead_of else ""


def _honest(sandbox: Zygotes) -> SandboxFinding:
    """Run programs that are right, in both ways."""
    same = UnitTests(HONEST, "assert square(2) == 4", "square", verdict="same")
    threads = "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\n"
    try:
        verdicts = [
            sandbox.check(tests, _LIMITS)
            for tests in (unit_tests(HONEST), same, unit_tests(threads + HONEST))
        ]
    except SandboxFailed as failed:
        return SandboxFinding("setup", "right programs pass", False, str(failed))
    wrong = [verdict for verdict in verdicts if not verdict.passed]
    detail = f"{wrong[0].status}: {wrong[0].detail}" if wrong else ""
    return SandboxFinding("setup", "right programs pass", not wrong, detail)


def _probed(sandbox: Zygotes, notify: Callable[[str], None]) -> Iterator[SandboxFinding]:
    for probe in PROBES:
        notify(f"{sandbox.name}: {probe.name}")
        try:
            reached = probe.got_through(sandbox)
        except SandboxFailed as failed:
            reached = str(failed)
        yield SandboxFinding(probe.kind, probe.name, reached is None, reached or "")

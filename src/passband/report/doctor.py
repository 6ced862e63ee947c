"""Render what `doctor` found about the sandboxes of a machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

_HEADS = {
    "setup": "how programs run",
    "escape": "getting out",
    "leak": "leaving something for the next trial",
    "forgery": "passing a test without being right",
}
_WIDTH = 34  # of the column of names


class SandboxFinding(Protocol):
    """One thing that was looked at."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def is_good(self) -> bool: ...
    @property
    def detail(self) -> str: ...


class Diagnosed(Protocol):
    """The diagnosis of one backend."""

    @property
    def backend(self) -> str: ...
    @property
    def findings(self) -> Sequence[SandboxFinding]: ...
    @property
    def holds(self) -> bool: ...


def doctor_lines(diagnoses: Sequence[Diagnosed]) -> Iterator[str]:
    """Yield a line for each thing that was looked at, and the verdict."""
    for diagnosis in diagnoses:
        yield diagnosis.backend
        for kind, head in _HEADS.items():
            findings = [found for found in diagnosis.findings if found.kind == kind]
            if findings:
                yield f"  {head}"
                yield from (_line(found) for found in findings)
        yield ""
    yield _verdict(diagnoses)


def _line(found: SandboxFinding) -> str:
    good = "ok" if found.kind == "setup" else "held"
    bad = "no" if found.kind == "setup" else "GOT THROUGH"
    word = good if found.is_good else bad
    return f"    {found.name:<{_WIDTH}} {word:<5} {found.detail}".rstrip()


def _verdict(diagnoses: Sequence[Diagnosed]) -> str:
    held = [diagnosis for diagnosis in diagnoses if diagnosis.holds]
    if held:
        number = sum(found.kind != "setup" for found in held[0].findings)
        return f"{held[0].backend} holds: all {number} probes were stopped. Programs run in it."
    return (
        "No sandbox holds here: programs of models are refused. --unsafe-code runs them with all "
        "that you may do, and is recorded."
    )

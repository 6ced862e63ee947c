"""Notes on the answers behind a run's numbers: where they look misread, or their keys wrong."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from passband import notes
from passband.notes import Note
from passband.summary.diagnosis import diagnose
from passband.summary.same_wrong import striking
from passband.trials.reader import RunRecord, ScorerRecord, Trials

__all__ = ["answer_notes"]


def answer_notes(trials: Trials, run: RunRecord, scorer: ScorerRecord) -> Iterator[Note]:
    """Yield notes on answers that look odd; nothing where they do not.

    A result that looks misread is said to be so, and nothing more: its wrong answers agree because
    they are no answers.
    """
    directory = str(trials.directory)
    diagnosis = diagnose(trials, run, scorer)
    if diagnosis is not None:
        yield from diagnosis.notes(directory)
        return
    if found := striking(trials, run, scorer):
        first = found[0]
        command = shlex.join(["passband", "show", directory, "--same-wrong"])
        target = " or ".join(first.targets)
        yield notes.same_wrong(
            len(found), first.problem, first.answer, target, first.times, first.scored, command
        )

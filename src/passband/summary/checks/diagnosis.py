"""The note on wrong answers that agree, of which the key may be the wrong one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from passband import notes
from passband.notes import Note
from passband.readers import stored_outcomes
from passband.stats.data import Outcomes
from passband.summary.checks.same_wrong import striking
from passband.trials import RunRecord, ScorerRecord, Trials


def answer_notes(trials: Trials, run: RunRecord, scorer: ScorerRecord) -> Iterator[Note]:
    """Yield the note on wrong answers that agree; nothing where they do not.

    Of a result that looks misread nothing more is said: its wrong answers agree because they are no
    answers.
    """
    directory = str(trials.directory)
    if run.adaptive is None and _is_misread(stored_outcomes(trials, run, scorer)):
        return
    if found := striking(trials, run, scorer):
        first = found[0]
        command = shlex.join(["passband", "show", directory, "--same-wrong"])
        target = " or ".join(first.targets)
        yield notes.same_wrong(
            len(found), first.problem, first.answer, target, first.times, first.scored, command
        )


def _is_misread(outcomes: Outcomes) -> bool:
    codes = {finding.code for finding in outcomes.found.findings}
    return bool(codes & {"looks-wrong", "looks-misread"})

"""The note on wrong answers that agree, of which the key may be the wrong one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from passband.notes import Note, plural, tail_of
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
        yield same_wrong(
            len(found), first.problem, first.answer, target, first.times, first.scored, command
        )


def _is_misread(outcomes: Outcomes) -> bool:
    codes = {finding.code for finding in outcomes.found.findings}
    return bool(codes & {"looks-wrong", "looks-misread"})


def same_wrong(
    problems: int, problem: str, answer: str, target: str, times: int, scored: int, command: str
) -> Note:
    """Return the note on problems whose wrong trials agree far more than those of others.

    >>> print(same_wrong(1, "mix-14", "130", "140", 13, 16, "passband show RUN --same-wrong"))
    wrong in the same way: mix-14 is answered 130 in 13 of 16 trials, and 140 is expected; a wrong \
key, or a firm error of the model? passband show RUN --same-wrong
    """
    others = f" (and {plural(problems - 1, 'other problem')})" if problems > 1 else ""
    return Note(
        "same-wrong",
        f"wrong in the same way: {problem}{others} is answered {tail_of(answer)} in {times} of "
        f"{scored} trials, and {tail_of(target)} is expected; a wrong key, or a firm error of the "
        f"model? {command}",
    )

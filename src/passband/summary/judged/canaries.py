"""What judges said of null answers, which no judge should pass."""

from __future__ import annotations

from collections.abc import Iterator

from passband.notes import Note
from passband.readers import title_of
from passband.score import PASSED, canary_names
from passband.trials import RunRecord, ScorerRecord, Trials


def canary_notes(trials: Trials, run: RunRecord) -> Iterator[Note]:
    """Yield how many null answers each judge of a run passes, where any were judged."""
    known = {
        (scorer.name, scorer.identity): scorer.number
        for number, _, scorer in trials.all_scorers()
        if number == run.number
    }
    for judge in (scorer for scorer in run.scorers if scorer.is_judge):
        number = known.get(canary_names(judge.name, judge.identity))
        votes = () if number is None else trials.votes(number)
        values = [sum(one.values) / len(one.values) for one in votes]
        if values:
            passed = sum(value >= PASSED for value in values)
            yield judge_canaries(_title(judge), passed, len(values))


def _title(judge: ScorerRecord) -> str:
    model = (judge.spec or {}).get("model")
    return title_of(judge.name, model if isinstance(model, str) else None)


def judge_canaries(judge: str, passed: int, judged: int) -> Note:
    """Return the note on a judge that was shown answers without content.

    >>> print(judge_canaries("openai:large", 5, 9))
    the judge openai:large passes 5 of 9 null answers (empty, a mere claim, the answer to another \
problem): do not trust its rate
    """
    said = f"the judge {judge} passes {passed} of {judged} null answers"
    why = " (empty, a mere claim, the answer to another problem): do not trust its rate"
    return Note("judge-canaries", said + (why if passed else ""))

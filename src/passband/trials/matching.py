"""How many trials of each problem a choice finds, as far as the tallies say it."""

from __future__ import annotations

from collections.abc import Iterator

from passband.trials.chosen import Choice
from passband.trials.rows import SCORE_STATUSES, STATUSES
from passband.trials.tally_columns import ScoreTallies, TrialTallies

__all__ = ["count_matches"]

_TRIAL_STATUSES = {str(status): number for number, status in enumerate(STATUSES)}
_SCORE_WORDS = {
    "no_answer": SCORE_STATUSES.index("no_answer"),
    "scorer_error": SCORE_STATUSES.index("error"),
    "scorer_timeout": SCORE_STATUSES.index("timeout"),
    "scorer_no_verdict": SCORE_STATUSES.index("no_verdict"),
}

Counted = dict[int, int | None]


def count_matches(choice: Choice, trials: TrialTallies, scores: ScoreTallies | None) -> Counted:
    """Return the number of such trials by problem; problems without one are left out.

    The number is None where only the rows say it: of several conditions at once, and of right and
    wrong where scores are graded.
    """
    conditions: list[Counted] = []
    if choice.problems:
        conditions.append(dict.fromkeys(choice.problems))
    if choice.trials:
        conditions.append(dict.fromkeys(trials.problems))
    if choice.statuses:
        words = [_of_word(word, trials, scores) for word in dict.fromkeys(choice.statuses)]
        conditions.append(words[0] if len(words) == 1 else dict.fromkeys(set().union(*words)))
    if choice.differs is not None:
        conditions.append(dict.fromkeys(trials.problems))
    if choice.right is not None and scores is not None:
        conditions.append(_of_scores(choice, scores))
    if not conditions:
        return _added(zip(trials.problems, trials.trials, strict=True))
    if len(conditions) == 1:
        return conditions[0]
    return dict.fromkeys(set(conditions[0]).intersection(*conditions[1:]))


def _of_word(word: str, trials: TrialTallies, scores: ScoreTallies | None) -> Counted:
    if word in _TRIAL_STATUSES:
        return _added(_of_status(_TRIAL_STATUSES[word], trials))
    if scores is None:
        return _added(_of_status(_TRIAL_STATUSES["ok"], trials)) if word == "unscored" else {}
    if word in _SCORE_WORDS:
        columns = zip(scores.problems, scores.statuses, scores.scores, strict=True)
        return _added((p, n) for p, status, n in columns if status == _SCORE_WORDS[word])
    return _added(_unscored(trials, scores))


def _of_status(status: int, trials: TrialTallies) -> Iterator[tuple[int, int]]:
    for problem, each, count in zip(trials.problems, trials.statuses, trials.trials, strict=True):
        if each == status:
            yield problem, count


def _unscored(trials: TrialTallies, scores: ScoreTallies) -> Iterator[tuple[int, int]]:
    """Yield trials that were answered, and those of them with a score as negative numbers."""
    yield from _of_status(_TRIAL_STATUSES["ok"], trials)
    columns = zip(scores.problems, scores.trial_statuses, scores.scores, strict=True)
    for problem, status, count in columns:
        if status == _TRIAL_STATUSES["ok"]:
            yield problem, -count


def _of_scores(choice: Choice, scores: ScoreTallies) -> Counted:
    """Return how many scores are the best, or are not; None where some are neither 0 nor 1."""
    ones, zeros = (choice.scale.is_right(value) == choice.right for value in (1.0, 0.0))
    counted = _added(
        (problem, int(total) * ones + (valued - int(total)) * zeros)
        for problem, valued, total in zip(
            scores.problems, scores.valued, scores.totals, strict=True
        )
    )
    graded = {p for p, odd in zip(scores.problems, scores.odd, strict=True) if odd}
    return {**counted, **dict.fromkeys(graded)}


def _added(counts: Iterator[tuple[int, int]] | zip[tuple[int, int]]) -> Counted:
    sums: dict[int, int] = {}
    for problem, count in counts:
        sums[problem] = sums.get(problem, 0) + count
    return {problem: count for problem, count in sums.items() if count}

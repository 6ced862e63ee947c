"""Repeat trials until a verdict: of one function, over several cases, of two in turn.

Several cases, or two functions, are tried in rounds: one trial of each, then an interim look.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from passband.errors import InvalidInput
from passband.pytest.plugin import session
from passband.pytest.result import RateResult
from passband.pytest.trial import Caller, Errors, Outcome, Trial, seed_of
from passband.stats import as_whole
from passband.stats.data import AskedScores
from passband.stats.evidence import order_findings
from passband.stats.sequential import BernsteinSequence, RatePlan, RateVerdict, rate_interval
from passband.types import Floats

_FARTHEST = 2000  # rounds, in the search for how many would do


@dataclass
class RoundsTest:
    """The mean over cases, looked at after every round, with an interval that holds at all of them.

    The interval is the empirical-Bernstein sequence of `passband.stats.sequential.bernstein`, whose
    proof needs no large samples and no likeness of the cases. Each of the two false verdicts has
    probability (1 - level) / 2 at most.
    """

    threshold: float  #: the mean below which it fails
    lowest: float  #: above which it passes
    half_width: float  #: that the bets aim at
    level: float
    rounds: int  #: at most
    pair: bool = False  #: whether it is a difference of two means
    made: int = 0
    sums: float = 0.0
    _sequence: BernsteinSequence = field(init=False)

    def __post_init__(self) -> None:
        self._sequence = BernsteinSequence(self.half_width, self.level)

    def check(self, cases: int) -> None:
        """Refuse a test that functions which never fail could not pass."""
        perfect = RoundsTest(
            self.threshold, self.lowest, self.half_width, self.level, _FARTHEST, self.pair
        )
        while perfect.goes_on:
            perfect.add(np.ones(cases), np.ones(cases))
        if perfect.verdict == "pass" and perfect.made <= self.rounds:
            return
        needed = f"{perfect.made} rounds" if perfect.verdict == "pass" else "too many rounds"
        raise InvalidInput(
            f"even without a failure this takes {needed} of {cases} "
            f"case{'s' if cases != 1 else ''} to show at level {self.level:g}; got "
            f"trials={self.rounds}. Allow more trials, or a larger tolerance."
        )

    def add(self, scores: Floats, base: Floats | None = None) -> None:
        """Take a round: the scores of all cases, of two functions those of the new one first."""
        self.made += 1
        if self.pair:
            assert base is not None
            self._sequence.add_pair(base, scores)
            self.sums += float((scores - base).mean())
        else:
            self._sequence.add(scores)
            self.sums += float(scores.mean())

    @property
    def goes_on(self) -> bool:
        """Whether there is another round to make."""
        return self.made < self.rounds and self.verdict == "undecided"

    @property
    def value(self) -> float:
        return self.sums / self.made

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, cut to the scale."""
        ends = self._sequence.ends()
        low, high = max(ends.low, -1.0 if self.pair else 0.0), min(ends.high, 1.0)
        return min(low, self.value), max(high, self.value)

    @property
    def verdict(self) -> RateVerdict:
        if not self.made:
            return "undecided"
        ends = self._sequence.ends()
        if ends.low > self.lowest:
            return "pass"
        return "fail" if ends.high < self.threshold else "undecided"


_KEPT = 3  # examples of failed trials
_WITH_CASES = 200  # trials in all, by default, and at least four of each case
_BOLDEST = 0.1  # the widest half-width that bets aim at


def measure_rate(
    function: Callable[..., object], plan: RatePlan, *, errors: Errors = "raise"
) -> RateResult:
    """Try a function until the plan's verdict."""
    successes, number = 0, 0
    scores: list[float] = []
    examples: list[str] = []
    with Caller(function, errors=errors, graded=False) as caller:
        while number < plan.trials:
            trial = Trial(number, seed_of(session.test, session.seed, number))
            outcome = caller.outcome(trial)
            number, successes = number + 1, successes + int(outcome.score)
            scores.append(outcome.score)
            _keep(examples, trial, outcome)
            if plan.verdict(number, successes) != "undecided":
                break
    return _weighed(_of_plan(plan, number, successes, examples), [scores])


def measure_results(
    results: Sequence[object], at_least: float, tolerance: float, level: float
) -> RateResult:
    """Return the verdict on trials that were made before, in one look."""
    scores = [_score(value) for value in results]
    if not scores:
        raise InvalidInput("there must be at least one result; got none.")
    plan = RatePlan(at_least, len(scores), tolerance, level, looks=(len(scores),))
    return _weighed(_of_plan(plan, len(scores), sum(scores), []), [scores])


def _score(value: object) -> int:
    if isinstance(value, str) or value not in (0, 1):
        raise InvalidInput(f"every result must be True, False, 1 or 0; got {value!r}.")
    return int(value)


def _of_plan(plan: RatePlan, number: int, successes: int, examples: list[str]) -> RateResult:
    low, high = rate_interval(plan, number, successes)
    return RateResult(
        verdict=plan.verdict(number, successes),
        value=successes / number,
        low=low,
        high=high,
        level=plan.level,
        trials=number,
        most=plan.trials,
        threshold=plan.at_least,
        lowest=plan.lowest,
        examples=tuple(examples),
    )


def rounds_of(cases: Sequence[object] | None, trials: int | None) -> int:
    """Return how many rounds there may be."""
    if cases is not None and not len(cases):
        raise InvalidInput("there must be at least one case; got none.")
    if trials is not None:
        return as_whole("trials", trials)
    return max(4, math.ceil(_WITH_CASES / (1 if cases is None else len(cases))))


def measure_cases(
    function: Callable[..., object],
    cases: Sequence[object],
    plan: RatePlan,
    rounds: int,
    *,
    errors: Errors = "raise",
) -> RateResult:
    """Try a function on every case, round by round, until its mean rate is decided."""
    width = min(_BOLDEST, 0.75 * (1.0 - plan.lowest))
    test = RoundsTest(plan.at_least, plan.lowest, width, plan.level, rounds)
    test.check(len(cases))
    examples: list[str] = []
    with Caller(function, errors=errors, graded=True) as caller:
        rounds_made: list[Floats] = []
        while test.goes_on:
            rounds_made.append(_round(caller, test.made, cases, examples))
            test.add(rounds_made[-1])
    return _weighed(_of_rounds(test, len(cases), examples), np.transpose(rounds_made))


def measure_pair(
    new: Callable[..., object],
    base: Callable[..., object],
    test: RoundsTest,
    cases: Sequence[object] | None,
    *,
    errors: Errors = "raise",
) -> RateResult:
    """Try two functions in turn, with the same seeds, until their difference is decided."""
    count = 1 if cases is None else len(cases)
    test.check(count)
    examples: list[str] = []
    with (
        Caller(new, errors=errors, graded=True) as one,
        Caller(base, errors=errors, graded=True) as other,
    ):
        made: list[tuple[Floats, Floats]] = []
        while test.goes_on:
            before = _round(other, test.made, cases, [])
            made.append((_round(one, test.made, cases, examples), before))
            test.add(*made[-1])
    result = _of_rounds(test, count, examples)
    for scores in zip(*made, strict=True):
        result = _weighed(result, np.transpose(scores))
    return result


def _round(
    caller: Caller, number: int, cases: Sequence[object] | None, examples: list[str]
) -> Floats:
    """Make one trial of every case."""
    listed = [None] if cases is None else cases
    scores = np.empty(len(listed))
    for index, case in enumerate(listed):
        trial = Trial(number, seed_of(session.test, session.seed, number, index), case)
        outcome = caller.outcome(trial, has_case=cases is not None)
        scores[index] = outcome.score
        _keep(examples, trial, outcome, has_case=cases is not None)
    return scores


def _keep(examples: list[str], trial: Trial, outcome: Outcome, *, has_case: bool = False) -> None:
    if outcome.score < 1.0 and len(examples) < _KEPT:
        case = f", case {trial.case!r}"[:80] if has_case else ""
        examples.append(f"trial {trial.number}{case} (seed {trial.seed}): {outcome.reason}")


def _weighed(result: RateResult, scores: ArrayLike) -> RateResult:
    """Return a result without a verdict if the trials, a row for each case, cannot be independent.

    How many there are may follow from their results: the verdict allows for that.
    """
    rows = np.asarray(scores, dtype=np.float64)
    sequence = AskedScores.of_rows(rows, np.ones(rows.shape, dtype=bool))
    for finding in order_findings(sequence, counts_explained=True):
        if finding.severity_for("trials", 1) == "invalid":
            return replace(result, verdict="undecided", refused=finding.text)
    return result


def _of_rounds(test: RoundsTest, cases: int, examples: list[str]) -> RateResult:
    low, high = test.ends
    return RateResult(
        verdict=test.verdict,
        value=test.value,
        low=low,
        high=high,
        level=test.level,
        trials=test.made * cases,
        most=test.rounds * cases,
        threshold=test.threshold,
        lowest=test.lowest,
        cases=cases,
        examples=tuple(examples),
    )

"""Estimators for logs in which the outcome of a trial decided whether there was another.

A problem that is tried until it succeeds s times, at most `cap` times, has more successes among its
trials than the model deserves: of the last trial, before the cap, it is known that it succeeded.
The mean of c/n is far too large, the pooled share of successes too small. What is unbiased
(Girshick, Mosteller and Savage 1946, by counting the paths to each end):

    stopped by the s-th success   the ordinary estimator on the first n - 1 trials, which hold s - 1
                                  successes; 1 where n - 1 < k
    stopped by the cap            the ordinary estimator on all n trials

With s = 1 that is "solved within k trials", for every k up to the cap, and as (n, c) of a capped
geometric distribution is complete there is no better unbiased one. For k above the cap there are
only bounds: from the share solved within the cap to 1.

Girshick, Mosteller and Savage (1946), Annals of Mathematical Statistics 17, 13-23.

Two detectors find such logs with a bounded rate of false alarms.

*By counts.* Every problem with fewer trials than the most has exactly one success, and none with
the most has more: see `passband.stats.evidence.counts`.

*By order.* Among problems that succeeded in some trials and failed in others, the last trial is a
success too often. With n fixed beforehand and trials alike, each order of c successes among n is as
likely as any other, so the last is one with probability c/n, and the number of such problems has a
Poisson-binomial distribution: the test is exact. A model that gets better over time sets it off
too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from passband.errors import InvalidInput
from passband.notes import Note, plural
from passband.stats.checks import Over, as_whole
from passband.stats.data.outcomes import Outcomes, check_outcomes
from passband.stats.evidence.counts import STOPPING_LEVEL, stopping_of
from passband.stats.interval.estimation import Estimate, estimate
from passband.stats.metric.components import values_by_problem
from passband.stats.metric.names import parse_name
from passband.stats.metric.registry import parse_metric
from passband.types import ArrayLike, Bools, Floats, Ints

SOLVED_WITHIN = Note(
    "solved-within",
    "trials stopped at the first success: pass@k is the share of problems solved within k trials, "
    "each problem counting once",
)


@dataclass(frozen=True)
class StoppingRule:
    """Trials of a problem go on until it has succeeded `successes` times, or `cap` times in all."""

    successes: int
    cap: int

    def __post_init__(self) -> None:
        as_whole("the successes that end a problem", self.successes)
        as_whole("the cap", self.cap)
        if self.successes > self.cap:
            raise InvalidInput(
                f"a problem cannot succeed {self.successes} times in {self.cap} trials."
            )

    def check(self, outcomes: Outcomes) -> Ints:
        """Return the successes; refuse outcomes that the rule cannot have left."""
        if outcomes.n_unscored:
            raise InvalidInput(
                f"{outcomes.n_unscored} trials have no score; how they counted for stopping is not "
                f"known. Count them as failures with the policy 'fail', if that is what happened."
            )
        n, c = outcomes.trials, outcomes.required_successes()
        wrong = (c > self.successes) | (n > self.cap) | ((c < self.successes) & (n < self.cap))
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            raise InvalidInput(
                f"problem {outcomes.problems[first]!r} has {c[first]} of {n[first]}, which trials "
                f"that end at {self.successes} successes or {self.cap} trials cannot leave."
            )
        return c


def unstopped(outcomes: Outcomes, rule: StoppingRule, k: int = 1) -> Floats:
    """Return an unbiased value of pass@k for every problem, for k up to the cap.

    >>> outcomes = Outcomes.from_counts([1, 1, 1, 0], [1, 2, 4, 4])
    >>> unstopped(outcomes, StoppingRule(1, 4), k=2).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    check_outcomes("outcomes", outcomes)
    if as_whole("k", k) > rule.cap:
        raise InvalidInput(f"k must not exceed the cap; got k={k} and a cap of {rule.cap}.")
    successes = rule.check(outcomes)
    ended = successes == rule.successes
    n = outcomes.trials - ended
    c = successes - ended
    enough = n >= k
    values = np.ones(outcomes.n_problems)
    if enough.any():
        parts = parse_metric(f"pass@{k}").parts
        values[enough] = values_by_problem(parts[0], Outcomes.from_counts(c[enough], n[enough]), k)
    return values


def estimate_stopped(
    outcomes: Outcomes,
    metric: str,
    rule: StoppingRule,
    *,
    level: float = 0.95,
    over: Over = "problems",
) -> Estimate:
    """Return pass@k of trials that were stopped by their own outcome, with its interval.

    With s = 1 each problem counts as one trial, solved within k or not. With more, the unbiased
    values are averaged, and the interval is that of scores between problems. Where k exceeds the
    cap the ends are bounds, and there is no value between them to prefer: it is the lower one.

    >>> outcomes = Outcomes.from_counts([1, 1, 1, 0] * 10, [1, 2, 4, 4] * 10)
    >>> print(estimate_stopped(outcomes, "pass@1", StoppingRule(1, 4)))
    pass@1 0.25 [0.14, 0.40]
    """
    name = parse_name(metric)
    if name.key != "pass@" or len(name.ks or ()) != 1:
        raise InvalidInput(
            f"trials that were stopped by their outcome give pass@k; got {metric!r}."
        )
    if over != "problems":
        raise InvalidInput(
            "of trials that were stopped by their outcome the interval is over problems; one trial "
            "of each is left, which cannot show the noise of sampling."
        )
    k = max(name.ks or (1,))
    if k > rule.cap:
        return _bounds(outcomes, metric, rule, level)
    values = unstopped(outcomes, rule, k)
    recoded = Outcomes.from_array(
        values[:, None], problems=outcomes.problems, clusters=outcomes.clusters
    )
    measured = estimate(recoded, "avg", over="problems", level=level)
    note = SOLVED_WITHIN if rule.successes == 1 else unstopped_values(rule.successes)
    return replace(
        measured,
        metric=metric,
        method="unstopped",
        n_trials=outcomes.n_trials,
        notes=(note, *measured.notes),
    )


def _bounds(outcomes: Outcomes, metric: str, rule: StoppingRule, level: float) -> Estimate:
    """Return the bounds of pass@k beyond the cap: more trials can only solve more."""
    within = estimate_stopped(outcomes, f"pass@{rule.cap}", rule, level=level)
    notes = (within_cap(rule.cap), *within.notes)
    return replace(within, metric=metric, high=1.0, se=None, method="unstopped-bounds", notes=notes)


LEVEL = STOPPING_LEVEL  #: at which a table is taken to be stopped by its outcomes


@dataclass(frozen=True)
class Detection:
    """The p-value of "the outcomes had no say in the number of trials", and how it was found."""

    by: Literal["counts", "order"]
    p_value: float
    problems: int  #: that it rests on

    @property
    def is_alarm(self) -> bool:
        """Whether the trials look stopped by their own outcome."""
        return self.p_value <= LEVEL


def detect_by_counts(outcomes: Outcomes) -> Detection:
    """Test whether every problem was tried until its first success, up to the most trials.

    >>> tried_until_solved = Outcomes.from_counts([1] * 8 + [0], [2, 3, 2, 4, 3, 2, 5, 2, 8])
    >>> detection = detect_by_counts(tried_until_solved)
    >>> round(detection.p_value, 4), detection.is_alarm
    (0.0021, True)
    """
    check_outcomes("outcomes", outcomes)
    if outcomes.successes is None or not outcomes.most_trials():
        return Detection("counts", 1.0, 0)
    found = stopping_of(outcomes.histogram)
    return Detection("counts", found.p_value, found.problems)


def detect_by_order(scores: ArrayLike) -> Detection:
    """Test whether the last trial of a problem succeeds more often than its share of successes.

    `scores` has a row per problem and a column per trial, in the order in which they were made;
    NaN where there was none.

    >>> detect_by_order([[0, 1], [0, 0, 1], [0, 1], [0, 0, 0, 1], [1, 1]]).p_value
    0.020833333333333332
    """
    matrix, present = _matrix(scores)
    n = present.sum(axis=1)
    c = np.where(present, matrix, 0.0).sum(axis=1)
    mixed = (c > 0) & (c < n)
    if not mixed.any():
        return Detection("order", 1.0, 0)
    last = matrix.shape[1] - 1 - np.argmax(present[mixed][:, ::-1], axis=1)
    ended = int((matrix[mixed][np.arange(len(last)), last] == 1.0).sum())
    tail = poisson_binomial(c[mixed] / n[mixed])[ended:].sum()
    return Detection("order", min(float(tail), 1.0), int(mixed.sum()))


def poisson_binomial(rates: Floats) -> Floats:
    """Return the probabilities of 0, 1, ... successes of trials with these rates."""
    result = np.ones(1)
    for rate in rates.tolist():
        result = np.convolve(result, [1.0 - rate, rate])
    return result


def _matrix(scores: ArrayLike) -> tuple[Floats, Bools]:
    """Return the scores, and which of them there are; rows of a list may differ in length."""
    rows = [np.array(row, dtype=np.float64).ravel() for row in scores]  # type: ignore[union-attr]
    if not rows:
        raise InvalidInput("there must be at least one problem; got none.")
    matrix = np.full((len(rows), max(1, *map(len, rows))), np.nan)
    for index, row in enumerate(rows):
        matrix[index, : len(row)] = row
    present = ~np.isnan(matrix)
    odd = present & (matrix != 0.0) & (matrix != 1.0)
    if odd.any():
        raise InvalidInput(f"scores must be 0 or 1; got {matrix[odd][0]:g}.")
    return matrix, present


def unstopped_values(successes: int) -> Note:
    """Return the note on problems that were tried until they succeeded several times."""
    return Note(
        "unstopped",
        f"trials stopped at {successes} successes: without the last trial of a problem that "
        f"reached them",
    )


def within_cap(cap: int) -> Note:
    """Return the note on a k beyond the trials that any problem could have."""
    return Note(
        "beyond-cap",
        f"no problem was tried more than {plural(cap, 'time')}: the value is the share solved "
        f"within that, and a lower bound; the upper one is 1",
    )

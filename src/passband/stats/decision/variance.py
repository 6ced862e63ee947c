"""Split the variance of an estimate into the problems' part and the sampling's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from passband.display import Displayed
from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.checks import check_text
from passband.stats.data.outcomes import Outcomes, Policy, check_outcomes
from passband.stats.evidence.collect import data_notes
from passband.stats.interval.default.clusters import over_clusters
from passband.stats.interval.default.wilson import over_problems, over_trials
from passband.stats.interval.fit.count_grid import CountGrid, is_too_large
from passband.stats.interval.fit.mixture import Mixture
from passband.stats.interval.notes import CONSTANT_METRIC, K_ABOVE_HALF, TOO_MANY_COUNTS
from passband.stats.interval.registry import interval_for
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.components import values_of
from passband.stats.metric.metric import Metric
from passband.stats.metric.registry import parse_metric
from passband.types import Floats

NO_SPLIT_ONE_TRIAL = Note(
    "no-split-one-trial",
    "one trial per problem cannot separate sampling noise from the spread of the problems; run a "
    "second trial of some problems",
)
NO_SPLIT_ONE_PROBLEM = Note(
    "no-split-one-problem", "a single problem does not show how problems differ; add problems"
)
NO_SPLIT_SAME_VALUE = Note(
    "no-split-same-value", "all problems have the same value, which does not show how they differ"
)
ONLY_NOISE = Note("only-noise", "the problems differ no more than sampling noise explains")
NOISE_FALLS = Note(
    "noise-falls", "scores are not 0 or 1, so sampling noise is assumed to fall as 1/n"
)
CLUSTERED_PROBLEMS = Note(
    "clustered-problems",
    "problems come in clusters; a further problem is assumed to bring its share of a cluster",
)

Grow = Callable[[int], int]


@dataclass(frozen=True)
class VarianceSplit(Displayed):
    """The variance of an estimate over problems, in two parts, and what more data would bring.

    With M problems of n trials the variance of the mean is ``(between + within) / M``. More
    trials make `within` smaller, more problems divide both.
    """

    metric: str
    n_problems: int
    fewest_trials: int  #: of any problem that counts
    most_trials: int
    between: float | None  #: variance, across problems, of the values at unlimited trials
    within: float | None  #: variance of one problem's value when it is sampled again, on average
    share_between: float | None  #: of the variance of the estimate
    share_within: float | None
    variance: float | None  #: of the estimate
    se: float | None
    se_one_more_trial: float | None  #: with one more trial of every problem
    se_double_trials: float | None
    se_one_more_problem: float | None
    se_double_problems: float | None
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        """Format the standard error and the shares.

        >>> print(split_variance(Outcomes.from_counts([3, 0, 8, 5] * 10, 8), "pass@1"))
        pass@1 se 0.059: 88% between problems, 12% sampling
        """
        if self.se is None:
            return f"{self.metric} se unknown"
        if self.share_between is None or self.share_within is None:
            return f"{self.metric} se {self.se:.2g}"
        shares = f"{self.share_between:.0%} between problems, {self.share_within:.0%} sampling"
        return f"{self.metric} se {self.se:.2g}: {shares}"


def split_variance(outcomes: Outcomes, metric: str, *, policy: Policy = "drop") -> VarianceSplit:
    """Split the variance of an estimate into the problems' part and the sampling's part.

    Use it to decide what to buy next. If most of the variance lies between problems, more trials
    hardly help; if most is sampling, they help as much as problems do and are easier to get. It
    is about the target "problems like these"; for these problems alone only `within` counts.

    The total is the one that the default interval uses, which never vanishes at 0 or 1. The part
    of sampling is the variance of a value at each success probability, averaged over the fitted
    spread of them; for one more trial it is computed again at n + 1 for the same k. Where the data
    cannot show the parts (one problem, or problems of all the same value) they are None, and a
    note says why.

    Miller (2024), Adding Error Bars to Evals, arXiv 2411.00640: Var = (w² + s²/n) / M.

    >>> split = split_variance(Outcomes.from_counts([3, 0, 8, 5] * 10, 8), "pass@1")
    >>> round(split.se, 4), round(split.se_double_trials, 4), round(split.se_double_problems, 4)
    (0.0588, 0.0571, 0.0416)
    """
    check_outcomes("outcomes", outcomes)
    check_text("metric", metric, "pass@1")
    scored = outcomes.counted(policy)
    wanted = parse_metric(metric, max(1, scored.most_trials()))
    scored.require(wanted.k)
    spread = spread_of(scored, wanted)
    now, between, within = spread.total, spread.between, spread.within
    one_more = spread.total_at(lambda n: n + 1)
    double = spread.total_at(lambda n: 2 * n)
    m = spread.n_problems
    return VarianceSplit(
        metric=wanted.name,
        n_problems=m,
        fewest_trials=spread.fewest_trials,
        most_trials=spread.most_trials,
        between=between,
        within=within,
        share_between=None if not now or between is None else between / now,
        share_within=None if not now or within is None else within / now,
        variance=None if now is None else now / m,
        se=_error(now, m),
        se_one_more_trial=_error(one_more, m),
        se_double_trials=_error(double, m),
        se_one_more_problem=_error(now, m + 1),
        se_double_problems=_error(now, 2 * m),
        notes=spread.notes,
    )


def _error(variance: float | None, problems: int) -> float | None:
    return None if variance is None else (variance / problems) ** 0.5


@dataclass(frozen=True, eq=False)
class VarianceParts:
    """Variances per problem, and how the part of sampling changes with the number of trials."""

    n_problems: int
    fewest_trials: int
    most_trials: int
    total: float | None  #: M times the variance of the estimate
    within: float | None  #: None where it cannot be separated from the total
    noise: Callable[[Grow], float]  # the part of sampling if a problem with n trials had grow(n)
    notes: tuple[Note, ...]
    is_flat: bool = False  #: one problem, or all of the same value: the total is the prior's

    @property
    def between(self) -> float | None:
        if self.total is None or self.within is None:
            return None
        return self.total - self.within

    def total_at(self, grow: Grow) -> float | None:
        """Return the total if every problem with n trials had grow(n) instead."""
        if self.between is None or self.within is None:
            return None
        return self.between + self.within_at(grow)

    def within_at(self, grow: Grow) -> float:
        """Return the part of sampling if every problem with n trials had grow(n) instead."""
        now = self.noise(lambda n: n)
        return (self.within or 0.0) * self.noise(grow) / now if now > 0.0 else 0.0


def spread_of(outcomes: Outcomes, metric: Metric) -> VarianceParts:
    """Return the variance components of a metric; the policy must have been applied."""
    k = metric.k
    used = int(outcomes.trial_tally[max(k, 1) :].sum())
    trials = outcomes.trials[outcomes.trials >= max(k, 1)]
    fewest, most = int(trials.min()), int(trials.max())
    parts = [values_of(part, outcomes, k) for part in metric.parts]
    means = tuple(values.mean() for values in parts)
    if metric.has_zero_factor(means):
        raise InvalidInput(
            f"{metric.name} is a product with a factor of 0, so its variance cannot be split."
        )
    value = metric.combine(list(means))
    request = IntervalRequest(outcomes, metric, means, value, "problems", 0.95, None)
    reason = _flat(request, used, all(np.ptp(values.values) == 0.0 for values in parts))
    total, within, noise, notes = _builder(request)(request, used)
    if reason:
        within, notes = None, (reason, *(note for note in notes if note != reason))
    elif most == 1:
        within, notes = None, (*notes, NO_SPLIT_ONE_TRIAL)
    elif total is not None and within is not None and within >= total:
        within, notes = total, (*notes, ONLY_NOISE)
    if outcomes.is_clustered:
        notes = (*notes, CLUSTERED_PROBLEMS)
    notes = (*notes, *data_notes(outcomes, metric.k, "problems"))
    return VarianceParts(used, fewest, most, total, within, noise, notes, is_flat=bool(reason))


def _flat(request: IntervalRequest, used: int, alike: bool) -> Note | None:
    """Return why the data show no spread to split, or None if they do."""
    if request.outcomes.is_binary and np.ptp(request.range()) == 0.0:
        return CONSTANT_METRIC
    if used == 1:
        return NO_SPLIT_ONE_PROBLEM
    return NO_SPLIT_SAME_VALUE if alike else None


_Parts = tuple[float | None, float | None, Callable[[Grow], float], tuple[Note, ...]]


def _builder(request: IntervalRequest) -> Callable[[IntervalRequest, int], _Parts]:
    if not request.outcomes.is_binary:
        return _of_graded
    too_large = is_too_large(request.outcomes.histogram.at_least(request.k))
    constant = np.ptp(request.range()) == 0.0
    return _too_large if too_large else _constant if constant else _of_counts


def _too_large(request: IntervalRequest, used: int) -> _Parts:
    return None, None, lambda _: 0.0, (TOO_MANY_COUNTS,)


def _constant(request: IntervalRequest, used: int) -> _Parts:
    return 0.0, None, lambda _: 0.0, (CONSTANT_METRIC,)


def _of_counts(request: IntervalRequest, used: int) -> _Parts:
    mixture = request.mixture()
    low, high = request.range()
    scale = (high - low) or 1.0
    values = (request.values(mixture) - low) / scale
    if request.outcomes.is_clustered:
        ends = over_clusters(request.outcomes, mixture, values, request.k, request.level)
    else:
        ends = over_problems(mixture, values, request.level)
    total = used * (scale * float(ends.se)) ** 2
    noise = _measured_noise(request, mixture, values, scale)
    notes = (K_ABOVE_HALF,) if mixture.grid.ns[0] > 1 and 2 * request.k > mixture.grid.ns[0] else ()
    return total, noise(lambda n: n), noise, notes


def _measured_noise(
    request: IntervalRequest, mixture: Mixture, values: Floats, scale: float
) -> Callable[[Grow], float]:
    """Return the noise at grown numbers of trials: as measured now, growing as the fit does."""
    squares = request.squares(mixture, values)
    ends = over_trials(mixture, values, request.k, request.level, squares=squares)
    now = float(mixture.counts.sum()) * (scale * float(ends.se)) ** 2
    fitted = _mean_noise(request, mixture, lambda n: n)
    factor = now / fitted if fitted > 0.0 else 1.0
    return lambda grow: factor * _mean_noise(request, mixture, grow)


def _mean_noise(request: IntervalRequest, mixture: Mixture, grow: Grow) -> float:
    """Average the variance of a value over the fitted probabilities, at grown numbers of trials."""
    ns = [grow(n) for n in mixture.grid.ns]
    noise = {n: _noise_at(request, mixture, n) for n in set(ns)}
    return float(sum(share * noise[n] for n, share in zip(ns, mixture.shares, strict=True)))


def _noise_at(request: IntervalRequest, mixture: Mixture, n: int) -> float:
    grid = CountGrid((n,))
    values = request.values(replace(mixture, grid=grid))
    mean = grid.binomial @ values
    square = grid.binomial @ values**2
    return float(mixture.mixing(request.k).weights @ np.maximum(square - mean**2, 0.0))


_UNMEASURED = {"one-trial", "few-repeats", "noise-unmeasured"}  # the interval is over problems


def _of_graded(request: IntervalRequest, used: int) -> _Parts:
    whole = interval_for("auto", request)
    sampling = interval_for("auto", replace(request, over="trials"))
    trials = request.outcomes.trials[request.outcomes.trials >= max(request.k, 1)]

    def noise(grow: Grow) -> float:
        ns, counts = np.unique(trials, return_counts=True)
        return float(counts @ [1.0 / grow(int(n)) for n in ns]) / used

    total = None if whole.se is None else used * whole.se**2
    unmeasured = any(note.code in _UNMEASURED for note in sampling.notes)
    within = None if sampling.se is None or unmeasured else used * sampling.se**2
    notes = whole.notes + tuple(note for note in sampling.notes if note not in whole.notes)
    return total, within, noise, notes if within is None else (*notes, NOISE_FALLS)

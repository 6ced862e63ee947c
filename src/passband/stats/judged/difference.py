"""Correct the difference of two models with one judge by labels of both.

Each side has its corrected value, with a prediction p of every trial and weighted residuals of the
labelled ones (see `strata` and `regression`). With d_i the difference of the mean predictions of
problem i, r_i that of its sums of weighted residuals, and m problems labelled on either side,

    V = var(d_i) / M + (2 / M) sum_i (d_i - mean) r_i + m / (m - 2) (sum_i r_i^2 + floor),

so that whatever the two models share on a problem, difficulty or the judge's taste, cancels as far
as it is shared. The floor is one residual of 1, as for a single model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.notes import Note, of_side
from passband.stats.checks import Over, as_level, check_over, check_text
from passband.stats.decision.comparison import Comparison, compare
from passband.stats.decision.paired import Ends, Tested, Unseen
from passband.stats.decision.verdict import as_margin, decide, rare_losses
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.interval.estimation import estimate
from passband.stats.interval.notes import NO_SPREAD
from passband.stats.judged.judged import Judged
from passband.stats.judged.notes import (
    TRIALS_AS_PROBLEMS,
    check_labels,
    check_metric,
    is_mean_score,
    label_notes,
)
from passband.stats.judged.regression import Prediction, regressed
from passband.stats.judged.sample import (
    UNMEASURED,
    judge_values,
    label_outcomes,
    limits_of,
    problem_units,
    sample_of,
)
from passband.stats.judged.strata import strata_of
from passband.stats.metric.metric import Metric
from passband.stats.metric.registry import parse_metric
from passband.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Matched:
    """Two sides with the same problems in the same order, each with at least k trials."""

    a: Judged
    b: Judged
    n_shared: int
    only_a: int
    only_b: int
    left_out: int


def match_judged(a: Judged, b: Judged, k: int) -> Matched:
    """Return two sides on the problems that both have, and that have k trials on both."""
    shared = sorted(set(a.problems) & set(b.problems))
    sides = [_positions(side, shared) for side in (a, b)]
    enough = (a.trials[sides[0]] >= k) & (b.trials[sides[1]] >= k)
    if enough.sum() < 2:
        raise InvalidInput(
            f"a difference needs at least 2 problems that both models have, with {k} trials each; "
            f"got {int(enough.sum())}."
        )
    return Matched(
        _on(a, sides[0][enough]),
        _on(b, sides[1][enough]),
        len(shared),
        len(a.problems) - len(shared),
        len(b.problems) - len(shared),
        int((~enough).sum()),
    )


def _positions(side: Judged, names: list[str]) -> Ints:
    place = {name: position for position, name in enumerate(side.problems)}
    return np.array([place[name] for name in names], dtype=np.int64)


def _on(side: Judged, positions: Ints) -> Judged:
    """Return the trials of some problems."""
    if len(positions) == side.n_problems:
        return side
    new = np.full(side.n_problems, -1)
    new[positions] = np.arange(len(positions))
    rows = new[side.problem] >= 0
    return replace(
        side,
        problems=tuple(side.problems[position] for position in positions.tolist()),
        problem=new[side.problem][rows],
        trial=side.trial[rows],
        score=side.score[rows],
        label=side.label[rows],
        probability=None if side.probability is None else side.probability[rows],
        votes=None if side.votes is None else side.votes[rows],
        vote_variance=None if side.vote_variance is None else side.vote_variance[rows],
    )


@dataclass(frozen=True, eq=False)
class JudgedSide:
    """A corrected value with everything that its part of a difference's variance needs."""

    value: float
    limits: tuple[float, float]
    prediction: Prediction
    floor: float  # the square of one residual of 1, weighted
    noise: float | None  # the part over trials, beside that of the residuals; None if unknown

    @property
    def n_problems(self) -> int:
        return self.prediction.sample.n_problems

    @property
    def means(self) -> Floats:
        """The mean prediction of each problem."""
        return self.prediction.sample.means(self.prediction.predicted)

    @property
    def labelled_problems(self) -> Bools:
        sample = self.prediction.sample
        return np.bincount(sample.label_problem, minlength=sample.n_problems) > 0


def side_of(judged: Judged, metric: Metric, over: Over) -> JudgedSide:
    """Return a side: by verdict for a mean of labels of 0 or 1, else by regression."""
    limits, noise = limits_of(judged, metric), None
    is_mean, is_binary = is_mean_score(metric), judged.has_binary_labels
    if is_mean and is_binary:
        strata = strata_of(sample_of(judged))
        value, prediction = strata.value, strata.prediction
    elif is_mean:
        fit = regressed(sample_of(judged), judge_values(judged), bounded=False)
        value, prediction = fit.value, fit.prediction
    else:
        units = problem_units(judged, metric)
        fit = regressed(units.sample, units.judge, bounded=is_binary)
        value, prediction = fit.value, fit.prediction
        if over == "trials":
            judge = estimate(units.outcomes, metric.name, over="trials")
            known = judge.se is not None and not {n.code for n in judge.notes} & UNMEASURED
            noise = (fit.slope * judge.se) ** 2 if known and judge.se is not None else None
    if is_mean and over == "trials" and int(judged.trials.max()) > 1:
        noise = prediction.within()
    weight = prediction.sample.label_weight
    floor = float(weight @ weight) ** 2 if is_binary else 0.0
    return JudgedSide(min(max(value, limits[0]), limits[1]), limits, prediction, floor, noise)


BY_LABELS = "corrected by labels, paired by problem"
_LEAST_SHARE = 0.3  # of the labels' noise that is left when the trials' cancels it


def corrected_difference(
    a: Judged,
    b: Judged,
    metric: str = "pass@1",
    *,
    over: Over = "problems",
    level: float = 0.95,
    margin: float | None = None,
) -> Comparison:
    """Return the difference b - a of a metric of the labels.

    Problems are matched by name, those of one side alone are left out and counted. The values of
    the two sides are those of `corrected` on the shared problems. Both sides need labels: a judge
    that likes the style of one model makes a difference where there is none, and the labels of one
    side do not show it. Label the same problems for both: what they share then cancels.

    Raises what `corrected` does, naming the side.
    """
    check_over(over)
    check_text("metric", metric, "pass@1")
    level = as_level(level)
    fewest = min(int(side.trials.max()) for side in (a, b))
    wanted = parse_metric(metric, fewest)
    match = match_judged(a, b, wanted.k)
    for name, side in (("a", match.a), ("b", match.b)):
        _check_side(name, side, wanted)
    if match.a.is_fully_labelled and match.b.is_fully_labelled:
        sides = label_outcomes(match.a), label_outcomes(match.b)
        return compare(*sides, wanted.name, over=over, level=level, margin=margin)
    return _compared(match, wanted, over, level, margin)


def _check_side(name: str, side: Judged, metric: Metric) -> None:
    """Refuse labels of a side that do not allow its correction."""
    try:
        check_metric(side, metric)
        check_labels(side)
    except NotEnoughData as error:
        raise NotEnoughData(f"side {name}: {error}") from None
    except InvalidInput as error:
        raise InvalidInput(f"side {name}: {error}") from None


def _compared(
    match: Matched, metric: Metric, over: Over, level: float, margin: float | None
) -> Comparison:
    sides = side_of(match.a, metric, over), side_of(match.b, metric, over)
    contrast = JudgedContrast(*sides, over)
    spans = [side.limits[1] - side.limits[0] for side in sides]
    span = max(spans) if np.isfinite(spans).all() else None
    margin = None if margin is None else as_margin(margin, span)
    decision = decide(contrast, level, margin, None)
    ends = contrast.ends(level)
    labels = [
        of_side(name, n)
        for name, j in zip("ab", (match.a, match.b), strict=True)
        for n in label_notes(j)
    ]
    return Comparison(
        metric=metric.name,
        value=contrast.value,
        value_a=sides[0].value,
        value_b=sides[1].value,
        low=None if ends is None else ends[0],
        high=None if ends is None else ends[1],
        se=contrast.se,
        p_value=contrast.p_value,
        confidence=contrast.confidence,
        level=level,
        over=over,
        paired=True,
        n_problems=match.n_shared - match.left_out,
        n_shared=match.n_shared,
        only_a=match.only_a,
        only_b=match.only_b,
        left_out=match.left_out,
        improved=None,
        worsened=None,
        flipped=None,
        flips=(),
        method=contrast.method,
        test=contrast.test,
        decision=decision,
        influence=None,
        policy="drop",
        seed=None,
        notes=(*contrast.notes, *rare_losses(contrast, level, margin), *labels),
    )


class JudgedContrast(Tested):
    """The difference of two corrected values, with an interval at any level."""

    method = BY_LABELS
    test = "interval"

    def __init__(self, a: JudgedSide, b: JudgedSide, over: Over) -> None:
        self.value = b.value - a.value
        self._limits = a.limits[1] - b.limits[0], b.limits[1] - a.limits[0]
        noise, labelled = _label_noise(a, b)
        rest, notes = _rest(a, b, over)
        variance = max(noise + rest, _LEAST_SHARE * noise)
        divisor = noise**2 / (labelled - 2.0) + rest**2 / (a.n_problems - 1.0)
        self._freedom = variance**2 / divisor if divisor > 0.0 else labelled - 2.0
        self.se = variance**0.5 or None
        span = max(self._limits)
        if over == "problems" and 0.0 < span < np.inf:
            self.unseen = Unseen(float(a.n_problems), span)
        self.notes = notes if self.se else (*notes, NO_SPREAD)

    def ends(self, level: float) -> Ends | None:
        if self.se is None:
            return None
        reach = student_quantile(level, self._freedom) * self.se
        return max(self.value - reach, -self._limits[0]), min(self.value + reach, self._limits[1])

    def tail(self, at: float) -> float | None:
        from passband.stats.special import stdtr

        if self.se is None:
            return None
        return float(stdtr(self._freedom, -abs(self.value - at) / self.se))


def _label_noise(a: JudgedSide, b: JudgedSide) -> tuple[float, float]:
    """Return the labels' part of the variance, and the problems labelled on either side."""
    sums = b.prediction.residual_sums() - a.prediction.residual_sums()
    has_labels = [side.labelled_problems for side in (a, b)]
    either = float((has_labels[0] | has_labels[1]).sum())
    both = float((has_labels[0] & has_labels[1]).sum()) / either
    floors = a.floor, b.floor
    floor = both * max(floors) + (1.0 - both) * sum(floors)
    return either / (either - 2.0) * (float(sums @ sums) + floor), either


def _rest(a: JudgedSide, b: JudgedSide, over: Over) -> tuple[float, tuple[Note, ...]]:
    """Return the variance not due to residuals."""
    count = a.n_problems
    away: Floats = b.means - a.means
    away = away - away.mean()
    sums = b.prediction.residual_sums() - a.prediction.residual_sums()
    whole = float(away @ away) / (count - 1.0) / count + 2.0 / count * float(away @ sums)
    if over == "problems":
        return whole, ()
    if a.noise is None or b.noise is None:
        return whole, (TRIALS_AS_PROBLEMS,)
    return a.noise + b.noise, ()

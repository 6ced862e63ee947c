"""A metric of the labels, estimated from a judge's verdicts and the labelled part of the trials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from passband.notes import Note
from passband.stats.checks import Over, as_level, check_over, check_text
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.interval.estimation import Estimate, estimate
from passband.stats.interval.notes import NO_SPREAD
from passband.stats.judged.judged import Judged
from passband.stats.judged.notes import (
    TRIALS_AS_PROBLEMS,
    check_labels,
    check_metric,
    is_mean_score,
    judge_notes,
    label_notes,
    target_notes,
    verdict_notes,
)
from passband.stats.judged.regression import Regression, regressed
from passband.stats.judged.sample import (
    UNMEASURED,
    ProblemUnits,
    judge_values,
    label_outcomes,
    limits_of,
    problem_units,
    sample_of,
)
from passband.stats.judged.strata import Bounds, jeffreys, mover, strata_of
from passband.stats.metric.metric import Metric
from passband.stats.metric.registry import parse_metric

FULLY_LABELLED = Note(
    "fully-labelled", "every trial has a label, so the judge is not used: this is the labels' own"
)

BY_VERDICT = "corrected by labels, by verdict"
BY_REGRESSION = "corrected by labels, by regression"


def corrected(
    judged: Judged, metric: str = "pass@1", *, over: Over = "problems", level: float = 0.95
) -> Estimate:
    """Return a metric of the labels, from the judge's scores of all trials and the labels of some.

    Use it wherever a judge scored all trials and people labelled some that were drawn at random.
    The interval has the judge's errors, the labels' own noise, the model's sampling and, over
    problems, the choice of problems in it; it shrinks as the judge gets better, and holds whatever
    the judge does. docs/how-intervals-work.md has the formulas and the measured coverage.

    Labels of 0 and 1 and a mean score (pass@1, avg): post-stratified by the judge's verdict.
    Other labels, and pass@k or any other k > 1: by regression, over problems with k labels or more.
    Where all trials are labelled the judge is ignored.

    Raises `NotEnoughData` with a sentence for the user where there are fewer than 10 labels, or too
    few in each labelled problem for this k; `InvalidInput` where labels were chosen by eye, or
    their values do not fit the metric.

    >>> scores = [1, 0, 1, 1, 0, 1, 1, 1] * 15
    >>> labels = [1, 0, None, None, None, 0, None, 1] * 15
    >>> judged = Judged.of(range(120), [0] * 120, scores, labels, design="spread")
    >>> print(corrected(judged))
    pass@1 0.50 [0.38, 0.61]
    """
    check_over(over)
    check_text("metric", metric, "pass@1")
    level = as_level(level)
    wanted = parse_metric(metric, int(judged.trials.max()))
    check_metric(judged, wanted)
    if judged.is_fully_labelled:
        return _of_labels(judged, wanted, over, level)
    check_labels(judged)
    if judged.has_binary_labels and is_mean_score(wanted):
        return _by_verdict(judged, wanted, over, level)
    return _by_regression(judged, wanted, over, level)


def _of_labels(judged: Judged, metric: Metric, over: Over, level: float) -> Estimate:
    """Return the ordinary estimate of trials that all have a label."""
    whole = estimate(label_outcomes(judged), metric.name, over=over, level=level)
    return replace(whole, notes=(*whole.notes, FULLY_LABELLED))


def _by_verdict(judged: Judged, metric: Metric, over: Over, level: float) -> Estimate:
    strata = strata_of(sample_of(judged))
    bounds = mover(strata, _target(judged, over), level)
    notes = (*target_notes(judged, over), *verdict_notes(judged, strata, bounds))
    return _estimate(judged, metric, strata.value, bounds, over, level, BY_VERDICT, notes)


def _target(judged: Judged, over: Over) -> Over:
    """Return the target; with one trial per problem, noise and spread are confounded."""
    return "problems" if int(judged.trials.max()) == 1 else over


def _by_regression(judged: Judged, metric: Metric, over: Over, level: float) -> Estimate:
    limits = limits_of(judged, metric)
    if is_mean_score(metric):
        fit = regressed(sample_of(judged), judge_values(judged), bounded=False)
        rest = fit.rest(_target(judged, over))
        notes, left_out = target_notes(judged, over), 0
    else:
        units = problem_units(judged, metric)
        fit = regressed(units.sample, units.judge, bounded=judged.has_binary_labels)
        rest, notes = _rest_by_problem(fit, units, metric, over)
        left_out = units.left_out
    bounds = student_bounds(fit, rest, level, limits)
    notes += [] if bounds is not None else [NO_SPREAD]
    notes += judge_notes(fit.explained, judged.n_labels)
    value = min(max(fit.value, limits[0]), limits[1])
    whole = _estimate(judged, metric, value, bounds, over, level, BY_REGRESSION, notes)
    return replace(whole, n_problems=whole.n_problems - left_out, left_out=left_out)


def _rest_by_problem(
    fit: Regression, units: ProblemUnits, metric: Metric, over: Over
) -> tuple[float, list[Note]]:
    """Return the variance not due to residuals, for values by problem.

    Over trials it is the noise of the judge's mean alone, where that can be measured, and at most
    what it is over problems.
    """
    whole = fit.rest("problems")
    if over == "problems":
        return whole, []
    judge = estimate(units.outcomes, metric.name, over="trials")
    if judge.se is None or any(note.code in UNMEASURED for note in judge.notes):
        return whole, [TRIALS_AS_PROBLEMS]
    # Only the part of the judge's noise that the regression carries over counts.
    return min(whole, (fit.slope * judge.se) ** 2), []


def student_bounds(
    fit: Regression, rest: float, level: float, limits: tuple[float, float]
) -> Bounds | None:
    """Return Student's interval around a regression estimate, cut to its limits.

    Where every label has the largest value, or the least, the interval reaches at least as far as
    Jeffreys' for as many problems that all succeed, or all fail. Without any spread there is none.
    """
    variance, freedom = fit.variance(rest)
    reach = student_quantile(level, freedom) * variance**0.5
    value = min(max(fit.value, limits[0]), limits[1])
    low, high = max(fit.value - reach, limits[0]), min(fit.value + reach, limits[1])
    label, weight = fit.prediction.sample.label, fit.prediction.sample.label_weight
    if np.ptp(label) == 0.0 and label[0] in limits:
        # Kish's number of labels
        size = np.array([1.0 / float(weight @ weight)])
        missed = float(jeffreys(0.0 * size, size, (1.0 - level) / 2.0)[1][0])
        other = label[0] + missed * (limits[0] + limits[1] - 2.0 * label[0])
        low, high = min(low, other), max(high, other)
    elif variance == 0.0:
        return None
    return Bounds(min(low, value), max(high, value), variance**0.5)


def _estimate(
    judged: Judged,
    metric: Metric,
    value: float,
    bounds: Bounds | None,
    over: Over,
    level: float,
    method: str,
    notes: Iterable[Note],
) -> Estimate:
    return Estimate(
        metric=metric.name,
        value=value,
        low=None if bounds is None else bounds.low,
        high=None if bounds is None else bounds.high,
        se=None if bounds is None else bounds.se,
        level=level,
        over=over,
        method=method,
        n_problems=judged.n_problems,
        n_trials=judged.n_trials,
        left_out=0,
        n_unscored=judged.n_failed,
        policy="drop",
        seed=None,
        notes=(*label_notes(judged), *notes),
    )

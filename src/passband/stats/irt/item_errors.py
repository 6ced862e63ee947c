"""Standard errors and fit of calibrated items.

The information in the responses is that with known abilities, less the part lost by not knowing
them (Louis 1982, Journal of the Royal Statistical Society B 44)::

    information = Σ items' curvature - Σ people Cov(slope of the complete log-likelihood | data)

The curvature is the expected one given abilities, which for 3pl differs from the observed: errors
of 3pl items came out 1 to 20 % above those of a numerical Hessian (5 items, 2,000 people).
Up to `MOST_TOGETHER` parameters this is one matrix. Beyond, each item has a matrix of its own,
which takes the other items' parameters as known; errors that all items share, of about
1/√people in units of the spread of the abilities, are then left out.

`ItemFit` tests whether scores scatter around the model as they should. A score y is compared with
its prediction π from the same person's other scores, so that y is not held against itself. Under
the model the residuals y - π have mean 0 and variance π (1 - π)::

    infit   Σ (y - π)² / Σ π (1 - π)          1 if the model holds; above, the item is noisier
    outfit  mean of (y - π)² / (π (1 - π))    the same, with weight on surprises far off
    chi²    Σ over ten groups of people by π of (Σ y - π)² / Σ π (1 - π)

The p-value is that of chi² with as many degrees of freedom as groups, less two for slope and place.
For sums of n scores the variance is that of n correlated trials, plus that of the prediction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from passband.stats.irt.em import (
    REACH,
    ExpectedCounts,
    FitProblem,
    add_priors,
    item_information,
    present,
)
from passband.stats.irt.responses import Responses
from passband.types import Bools, Floats, Ints

MOST_TOGETHER = 100


class ItemErrors(NamedTuple):
    """Standard errors by item; NaN where a parameter is fixed, or the data do not determine it."""

    a: Floats
    b: Floats
    c: Floats
    steps: Floats | None


def item_errors(problem: FitProblem, rows: Floats, expected: ExpectedCounts) -> ItemErrors:
    """Return the standard errors of items' parameters, by the delta method from slopes."""
    free = problem.free & present(rows)
    if problem.is_shared:
        covariance = _of_shared(problem, rows, expected, free)
    elif rows.size <= MOST_TOGETHER:
        free_too = np.append(free.ravel(), [problem.moves] * 2)
        covariance = _blocks(_inverse(_together(problem, expected), free_too), rows.shape)
    else:
        covariance = _each(problem, expected, free)
    return _of_parameters(problem, rows, np.where(free, 1.0, np.nan), covariance)


def _together(problem: FitProblem, expected: ExpectedCounts) -> Floats:
    """Return the information of all parameters in one matrix.

    The last two are mean and log spread of the abilities, in units of that spread.
    """
    slope, data = expected.terms.slope, problem.responses
    grades = (data.trials - sum(data.grades), *data.grades)
    count, size = slope.shape[2], slope.shape[1]
    missing = np.zeros((count * size + 2, count * size + 2))
    average = np.zeros((len(data.trials), count * size + 2))
    gradient = np.zeros_like(average)
    nodes = np.linspace(-REACH, REACH, len(expected.nodes))
    for node, z in enumerate(nodes):
        parts = [matrix[:, :, None] * slope[g, :, :, node].T for g, matrix in enumerate(grades)]
        gradient[:, :-2] = np.sum(parts, axis=0).reshape(len(average), -1)
        gradient[:, -2:] = z, z * z - 1.0
        share = expected.posterior[:, node, None] * gradient
        missing += gradient.T @ share
        average += share
    missing -= average.T @ average
    complete = np.zeros_like(missing)
    for item, block in enumerate(_complete(problem, expected)):
        at = slice(item * size, (item + 1) * size)
        complete[at, at] = block
    people, first, second = (expected.posterior.sum(axis=0) @ nodes**power for power in range(3))
    complete[-2:, -2:] = [[people, 2.0 * first], [2.0 * first, 2.0 * second]]
    result: Floats = complete - missing
    return result


def _complete(problem: FitProblem, expected: ExpectedCounts) -> Floats:
    """Return the information on items if abilities were known, plus their priors'."""
    matrix = item_information(expected.counts.sum(axis=0), expected.terms)
    rows = expected.rows
    add_priors(problem, rows, np.zeros_like(rows), matrix)
    return matrix


def _own(problem: FitProblem, expected: ExpectedCounts) -> Floats:
    """Return the information of each item by itself."""
    slope, data = expected.terms.slope, problem.responses
    grades = (data.trials - sum(data.grades), *data.grades)
    size = slope.shape[1]
    matrix = _complete(problem, expected)
    for g, one in enumerate(grades):
        for h, other in enumerate(grades):
            weight = (one * other).T @ expected.posterior
            for p in range(size):
                for q in range(size):
                    matrix[:, p, q] -= (weight * slope[g, p] * slope[h, q]).sum(axis=1)
    averages = [
        sum(one * (expected.posterior @ slope[g, p].T) for g, one in enumerate(grades))
        for p in range(size)
    ]
    for p in range(size):
        for q in range(size):
            matrix[:, p, q] += (averages[p] * averages[q]).sum(axis=0)
    return matrix


def _each(problem: FitProblem, expected: ExpectedCounts, free: Bools) -> Floats:
    blocks = _own(problem, expected)
    return np.array([_inverse(block, row) for block, row in zip(blocks, free, strict=True)])


def _of_shared(problem: FitProblem, rows: Floats, expected: ExpectedCounts, free: Bools) -> Floats:
    """Return the covariance of the common slope and each item's intercept."""
    if rows.size <= MOST_TOGETHER:
        whole, count = _together(problem, expected)[:-2, :-2], len(rows)
        turn = np.zeros((1 + count, rows.size))
        turn[0, 0::2] = 1.0
        turn[1 + np.arange(count), 2 * np.arange(count) + 1] = 1.0
        together = _inverse(turn @ whole @ turn.T, np.append(free[:, 0].all(), free[:, 1]))
        return _blocks(turn.T @ together @ turn, rows.shape)
    own = _own(problem, expected)
    slope, cross, intercept = own[:, 0, 0], own[:, 0, 1], own[:, 1, 1]
    of_slope = 1.0 / np.sum(slope - cross**2 / intercept) if free[:, 0].all() else 0.0
    ratio = cross / intercept
    both = -ratio * of_slope
    return np.array(
        [[np.full(len(rows), of_slope), both], [both, 1.0 / intercept + ratio**2 * of_slope]]
    ).transpose(2, 0, 1)


def _inverse(matrix: Floats, free: Bools) -> Floats:
    """Return the covariance of the free parameters: 0 for fixed ones, NaN if undetermined."""
    result = np.zeros_like(matrix)
    index = np.flatnonzero(free)
    if len(index):
        try:
            block = np.linalg.inv(matrix[np.ix_(index, index)])
        except np.linalg.LinAlgError:
            block = np.full((len(index), len(index)), np.nan)
        if (np.diag(block) <= 0.0).any():
            block = np.full_like(block, np.nan)
        result[np.ix_(index, index)] = block
    return result


def _blocks(covariance: Floats, shape: tuple[int, ...]) -> Floats:
    count, size = shape
    at = np.arange(count)
    items = covariance[: count * size, : count * size]
    return items.reshape(count, size, count, size)[at, :, at]


def _of_parameters(
    problem: FitProblem, rows: Floats, is_free: Floats, covariance: Floats
) -> ItemErrors:
    a, d = rows[:, :1], rows[:, 1 : 2 if problem.model == "3pl" else None]
    errors_a = np.sqrt(covariance[:, 0, 0]) * is_free[:, 0]
    of_slope, count = d / a**2, d.shape[1]  # step = -d / a
    cross = covariance[:, 0, 1 : 1 + count]
    intercepts = covariance[:, 1 : 1 + count, 1 : 1 + count]
    there = present(d)
    weight = np.where(there, of_slope, 0.0)
    variance = weight**2 * covariance[:, :1, 0] - 2.0 * weight * cross / a
    steps = (
        np.sqrt(variance + np.diagonal(intercepts, axis1=1, axis2=2) / a**2)
        * is_free[:, 1 : 1 + count]
    )
    c = np.full(len(rows), np.nan)
    if problem.model == "3pl":
        chance = 1.0 / (1.0 + np.exp(-rows[:, 2]))
        c = np.sqrt(covariance[:, 2, 2]) * chance * (1.0 - chance) * is_free[:, 2]
    if problem.model != "graded":
        return ItemErrors(errors_a, steps[:, 0], c, None)
    share = there / there.sum(axis=1, keepdims=True)
    gradient = np.column_stack([(share * weight).sum(axis=1), -share / a])
    b = np.sqrt(np.einsum("np,npq,nq->n", gradient, covariance, gradient))
    return ItemErrors(errors_a, b, c, np.where(there, steps, np.nan))


GROUPS = 10
_LEAST = 1e-12
_TIE = 1e-9  # predictions closer than this are the same


class ItemFit(NamedTuple):
    """Fit of each item; NaN where too few people answered it."""

    infit: Floats
    outfit: Floats
    chi2: Floats
    degrees: Ints
    p: Floats


def item_fit(
    problem: FitProblem, data: Responses, expected: ExpectedCounts, rho: float, phi: Floats
) -> ItemFit:
    """Return the fit of each item's responses; `problem` holds them as weighted."""
    from passband.stats.special import chdtrc

    has_trials = data.trials > 0
    is_single = len(data.grades) == 1 and bool(np.isin(data.trials, (0.0, 1.0)).all())
    if is_single and np.isin(data.scores, (0.0, 1.0)).all():
        chance = _left_out(expected, data.scores)
        spread = chance * (1.0 - chance)
    else:
        chance, spread = _left_out_slowly(problem, data, expected, rho, phi)
    residual = np.where(has_trials, data.scores - data.trials * chance, 0.0)
    variance = np.where(has_trials, np.maximum(spread, _LEAST), 0.0)
    count = np.maximum(has_trials.sum(axis=0), 1)
    infit = (residual**2).sum(axis=0) / np.maximum(variance.sum(axis=0), _LEAST)
    outfit = (residual**2 / np.where(has_trials, variance, 1.0)).sum(axis=0) / count
    chi2, groups = _by_group(residual, variance, chance)
    degrees = groups - np.minimum(problem.free.sum(axis=1), 2)  # of its mean curve
    p = np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), chi2), np.nan)
    return ItemFit(infit, outfit, np.where(degrees > 0, chi2, np.nan), degrees, p)


def _left_out(expected: ExpectedCounts, scores: Floats) -> Floats:
    """Return the chance of a right answer, from the posterior without the answer itself.

    Dividing an answer's likelihood out of a posterior h over the nodes leaves 1 / Σ h/P for a
    right one, and 1 - 1 / Σ h/(1-P) for a wrong one.
    """
    wrong, right = expected.terms.log
    if_right = 1.0 / (expected.posterior @ np.exp(np.minimum(-right, 700.0)).T)
    if_wrong = 1.0 - 1.0 / (expected.posterior @ np.exp(np.minimum(-wrong, 700.0)).T)
    chance: Floats = np.where(scores == 1.0, if_right, if_wrong)
    return np.clip(chance, _LEAST, 1.0 - _LEAST)


def _left_out_slowly(
    problem: FitProblem, data: Responses, expected: ExpectedCounts, rho: float, phi: Floats
) -> tuple[Floats, Floats]:
    """Return the mean score and the variance of the sum of scores, from the other items."""
    weighed = problem.responses
    counts = (weighed.trials - sum(weighed.grades), *weighed.grades)
    log = np.log(np.maximum(expected.posterior, 1e-300))
    means, variances = np.empty_like(data.trials), np.empty_like(data.trials)
    for item, n in enumerate(data.trials.T):
        own = sum(np.outer(c[:, item], expected.terms.log[g, item]) for g, c in enumerate(counts))
        rest = log - own
        rest = np.exp(rest - rest.max(axis=1, keepdims=True))
        rest /= rest.sum(axis=1, keepdims=True)
        worth = np.arange(len(counts)) / data.steps[item]
        chances = np.exp(expected.terms.log[:, item])
        mean = worth @ chances
        within = phi[item] * (worth**2 @ chances - mean**2)
        average = rest @ mean
        between = np.maximum(rest @ mean**2 - average**2, 0.0)
        means[:, item] = average
        repeats = 1.0 + np.maximum(n - 1.0, 0.0) * rho
        variances[:, item] = n * repeats * (rest @ within) + n**2 * between
    return means, variances


def _by_group(residual: Floats, variance: Floats, chance: Floats) -> tuple[Floats, Ints]:
    """Return chi² and its number of groups; people with the same prediction are not parted."""
    groups = min(GROUPS, max(1, len(chance) // 5))
    places = np.arange(1, groups) * len(chance) // groups
    cuts = np.sort(chance, axis=0)[places] - _TIE
    chi2, count = np.zeros(chance.shape[1]), np.zeros(chance.shape[1], dtype=np.intp)
    done_sum, done_spread = np.zeros(chance.shape[1]), np.zeros(chance.shape[1])
    for cut in [*cuts, np.full(chance.shape[1], np.inf)]:
        below = chance < cut
        sums, spread = (np.where(below, part, 0.0).sum(axis=0) for part in (residual, variance))
        size = spread - done_spread
        there = size > _TIE
        chi2 += np.where(there, (sums - done_sum) ** 2 / np.maximum(size, _TIE), 0.0)
        count += there
        done_sum, done_spread = sums, spread
    return chi2, count

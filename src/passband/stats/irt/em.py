"""Marginal maximum likelihood: EM over nodes of ability, accelerated, until it has converged.

Bock and Aitkin (1981), Psychometrika 46: the E-step spreads each person over the nodes, the M-step
fits each item to the counts that fall to each node. Plain EM creeps; squared extrapolation
(SQUAREM: Varadhan and Roland 2008, Scandinavian Journal of Statistics 35) takes the long steps
that two short ones point at, and goes back where the likelihood would fall.

`ItemTerms` are the log-probabilities and their derivatives. Items are written with slopes and
intercepts, x_j = a θ + d_j, in which the likelihood is close to quadratic: a row (a, d) for 1pl,
2pl and continuous items, (a, d, logit c) for 3pl items, and (a, d_1 > ... > d_m) for graded ones.
An intercept that an item lacks is `ABSENT`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from passband.stats.irt.items import ItemModel, Items, log_sigmoid, sigmoid
from passband.stats.irt.responses import Responses
from passband.types import Bools, Floats

ABSENT = -700.0  # exp of it is 1e-304
_SMALLEST_GAP = 1e-9


class ItemTerms(NamedTuple):
    """Log-probabilities (grades, items, nodes), and their derivatives (grades, rows, ...)."""

    log: Floats
    slope: Floats


def terms(model: ItemModel, rows: Floats, nodes: Floats) -> ItemTerms:
    """Return the log-probability of every grade of every item, and its derivatives."""
    if model == "3pl":
        return _guessing(rows, nodes)
    return _binary(rows, nodes) if rows.shape[1] == 2 else _graded(rows, nodes)


def _binary(rows: Floats, nodes: Floats) -> ItemTerms:
    x = rows[:, :1] * nodes + rows[:, 1:]
    right = log_sigmoid(x)
    chance = np.exp(right)
    rest = 1.0 - chance
    slope = np.array([[-chance * nodes, -chance], [rest * nodes, rest]])
    return ItemTerms(np.array([right - x, right]), slope)


def _guessing(rows: Floats, nodes: Floats) -> ItemTerms:
    a, d, logit = rows[:, :1], rows[:, 1:2], rows[:, 2:]
    s, c = sigmoid(a * nodes + d), sigmoid(logit)
    right = c + (1.0 - c) * s
    wrong = log_sigmoid(-logit) + log_sigmoid(-(a * nodes + d))
    bell = (1.0 - c) * s * (1.0 - s) / right
    guess = np.broadcast_to(c, s.shape)
    slope = np.array(
        [[-s * nodes, -s, -guess], [bell * nodes, bell, (1.0 - s) * c * (1 - c) / right]]
    )
    return ItemTerms(np.array([wrong, np.log(right)]), slope)


def _graded(rows: Floats, nodes: Floats) -> ItemTerms:
    a, d = rows[:, :1, None], rows[:, 1:]
    x = a * nodes + d[:, :, None]  # items, steps, nodes
    passed, failed = log_sigmoid(x), log_sigmoid(-x)
    gap = np.maximum(d[:, :-1] - d[:, 1:], _SMALLEST_GAP)[:, :, None]
    count = rows.shape[1]
    log = np.zeros((count, len(rows), len(nodes)))
    slope = np.zeros((count, count, len(rows), len(nodes)))
    log[1:] += passed.transpose(1, 0, 2)
    log[:-1] += failed.transpose(1, 0, 2)
    log[1:-1] += np.log(-np.expm1(-gap)).transpose(1, 0, 2)
    up, down = np.exp(failed).transpose(1, 0, 2), np.exp(passed).transpose(1, 0, 2)
    pull = np.broadcast_to(1.0 / np.expm1(np.minimum(gap, 600.0)), x[:, 1:].shape).transpose(
        1, 0, 2
    )
    for step in range(count - 1):
        slope[step + 1, step + 1] += up[step]
        slope[step, step + 1] -= down[step]
        slope[step + 1, 0] += up[step] * nodes
        slope[step, 0] -= down[step] * nodes
    for step in range(count - 2):
        slope[step + 1, step + 1] += pull[step]
        slope[step + 1, step + 2] -= pull[step]
    return ItemTerms(log, slope)


def present(rows: Floats) -> Bools:
    """Return which entries of the rows an item has."""
    there: Bools = rows != ABSENT
    return there


def rows_of(items: Items) -> Floats:
    """Return the rows of items."""
    if items.steps is not None:
        d = np.where(np.isnan(items.steps), ABSENT, -items.a[:, None] * items.steps)
        return np.column_stack([items.a, d])
    rows = [items.a, -items.a * items.b]
    if items.model == "3pl":
        c = np.clip(items.c, 1e-12, 1.0)
        rows.append(np.log(c) - np.log1p(-c))
    return np.column_stack(rows)


def items_of(model: ItemModel, rows: Floats, phi: Floats | None = None) -> Items:
    """Return the items of rows."""
    a, d = rows[:, 0], rows[:, 1:]
    if model == "graded":
        return Items(model, a, steps=np.where(present(d), -d / a[:, None], np.nan))
    c = sigmoid(rows[:, 2]) if model == "3pl" else None
    return Items(model, a, -d[:, 0] / a, c, phi=phi)  # type: ignore[arg-type]


NODES, REACH = 61, 6.0
_MOST_NODES = 481
STEEPEST = 8.0  # slopes end here; one that gets there is not bounded by the data
_SPACE = 1.3  # largest space between nodes, in standard errors of the ability of a person
_TYPICAL = 0.15  # information of a trial, about
_LARGEST_STEP = 1.0  # of Newton, in one parameter
_GUESSING = (np.log(0.2 / 0.8), 0.7)  # mean and spread of logit c where items say little
_SLOPE_SPREAD = 0.5  # of log a, for items that would run away


@dataclass(frozen=True, eq=False)
class FitProblem:
    """Specify a fit: responses, model, fixed parameters and priors."""

    responses: Responses
    model: ItemModel
    free: Bools  #: (items, parameters): False where fixed
    held: Bools  #: items with a weak prior on the slope
    is_shared: bool  #: one slope for all items
    moves: bool  #: whether mean and spread of the abilities are estimated too


@dataclass(frozen=True, eq=False)
class CalibrationFit:
    """Parameters of items and of the distribution of abilities."""

    rows: Floats
    mean: float = 0.0
    sd: float = 1.0
    log_likelihood: float = -np.inf
    iterations: int = 0
    converged: bool = False


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Where people are: their posterior on the nodes, and the counts that fall to each node."""

    nodes: Floats
    posterior: Floats  # (people, nodes)
    counts: Floats  # (grades, items, nodes)
    log_likelihood: float
    terms: ItemTerms
    rows: Floats  # of the items, at which all this is


def enough_nodes(trials: Floats) -> int:
    """Return the number of nodes needed for models with that many trials.

    Where a person's posterior is narrower than the space between nodes, all of it falls to one of
    them, and slopes come out wrong by some percent.

    >>> enough_nodes(np.ones((9, 50))), enough_nodes(np.ones((9, 1000)))
    (61, 115)
    """
    most = float(np.quantile(trials.sum(axis=1), 0.9))
    wanted = 2.0 * REACH * np.sqrt(1.0 + _TYPICAL * most) / _SPACE
    return int(np.clip(2 * np.ceil(wanted / 2.0) + 1, NODES, _MOST_NODES))


def _nodes(mean: float, sd: float, count: int) -> tuple[Floats, Floats]:
    """Return nodes and the log of the normal probabilities on them."""
    z = np.linspace(-REACH, REACH, count)
    log = -0.5 * z * z
    return mean + sd * z, log - np.log(np.exp(log).sum())


def expect(problem: FitProblem, fit: CalibrationFit, count: int | None = None) -> ExpectedCounts:
    """Spread the people over the nodes (E-step)."""
    nodes, log_prior = _nodes(fit.mean, fit.sd, count or enough_nodes(problem.responses.trials))
    parts = terms(problem.model, fit.rows, nodes)
    data = problem.responses
    log = _of_trials(data.trials, parts.log[0]) + log_prior
    for grade, matrix in enumerate(data.grades, start=1):
        log += matrix @ (parts.log[grade] - parts.log[0])
    top = log.max(axis=1, keepdims=True)
    np.exp(log - top, out=log)
    total = log.sum(axis=1, keepdims=True)
    log /= total
    likelihood = float((top + np.log(total)).sum())
    counts = np.empty(parts.log.shape)
    for grade, matrix in enumerate(data.grades, start=1):
        counts[grade] = matrix.T @ log
    counts[0] = _trials_at(data.trials, log) - counts[1:].sum(axis=0)
    return ExpectedCounts(nodes, log, np.maximum(counts, 0.0), likelihood, parts, fit.rows)


def _of_trials(trials: Floats, wrong: Floats) -> Floats:
    """Return ``trials @ wrong``, which is a single row where all were asked alike."""
    if _are_alike(trials):
        return np.repeat((trials[0] @ wrong)[None], len(trials), axis=0)
    product: Floats = trials @ wrong
    return product


def _are_alike(trials: Floats) -> bool:
    return bool((trials[-1] == trials[0]).all() and (trials == trials[0]).all())


def _trials_at(trials: Floats, posterior: Floats) -> Floats:
    if _are_alike(trials):
        return np.outer(trials[0], posterior.sum(axis=0))
    product: Floats = trials.T @ posterior
    return product


# -- the M-step --------------------------------------------------------------------------------


def _maximised(
    problem: FitProblem, fit: CalibrationFit, expected: ExpectedCounts
) -> CalibrationFit:
    """Fit the items to the expected counts, by a few steps of Newton."""
    rows, parts = fit.rows, expected.terms
    for turn in range(3):
        if turn:
            parts = terms(problem.model, rows, expected.nodes)
        moved = _newton(problem, rows, expected.counts, parts)
        rows = _ordered(rows, moved) if problem.model == "graded" else moved
    if not problem.moves:
        return replace(fit, rows=rows)
    share = expected.posterior.mean(axis=0)
    mean = float(share @ expected.nodes)
    sd = float(np.sqrt(share @ (expected.nodes - mean) ** 2))
    return replace(fit, rows=rows, mean=mean, sd=sd)


def _newton(problem: FitProblem, rows: Floats, counts: Floats, parts: ItemTerms) -> Floats:
    gradient = np.einsum("gnk,gpnk->np", counts, parts.slope)
    matrix = item_information(counts.sum(axis=0), parts)
    add_priors(problem, rows, gradient, matrix)
    free = problem.free & present(rows)
    gradient[~free] = 0.0
    matrix *= free[:, :, None] & free[:, None, :]
    entries = np.arange(rows.shape[1])
    matrix[:, entries, entries] += np.where(free, 1e-9, 1.0)
    step = _shared(gradient, matrix, free) if problem.is_shared else _solved(matrix, gradient)
    largest = np.abs(step).max(axis=1, keepdims=True)
    moved: Floats = rows + step * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300))
    moved[:, 0] = np.clip(moved[:, 0], -STEEPEST, STEEPEST)
    return moved


def item_information(trials: Floats, parts: ItemTerms) -> Floats:
    """Return the expected curvature of each item's likelihood, a matrix each."""
    size = parts.slope.shape[1]
    weight = trials * np.exp(parts.log)
    matrix = np.empty((parts.log.shape[1], size, size))
    for p in range(size):
        weighted = weight * parts.slope[:, p]
        for q in range(p + 1):
            matrix[:, p, q] = (weighted * parts.slope[:, q]).sum(axis=(0, 2))
            matrix[:, q, p] = matrix[:, p, q]
    return matrix


def _solved(matrix: Floats, gradient: Floats) -> Floats:
    solution = np.linalg.solve(matrix, gradient[:, :, None])[:, :, 0]
    return np.asarray(solution, dtype=np.float64)


def _shared(gradient: Floats, matrix: Floats, free: Bools) -> Floats:
    """Solve with one slope for all items, eliminating the intercepts first."""
    slope, cross, intercept = matrix[:, 0, 0], matrix[:, 0, 1], matrix[:, 1, 1]
    change: float = 0.0
    if free[:, 0].all():
        rest = max(float(np.sum(slope - cross**2 / intercept)), 1e-9)
        change = float(np.sum(gradient[:, 0] - cross * gradient[:, 1] / intercept)) / rest
        change = min(max(change, -_LARGEST_STEP), _LARGEST_STEP)
    step = (gradient[:, 1] - cross * change) / intercept
    limited: Floats = np.clip(step, -_LARGEST_STEP, _LARGEST_STEP)
    return np.column_stack([np.full(len(intercept), change), limited])


def add_priors(problem: FitProblem, rows: Floats, gradient: Floats, matrix: Floats) -> None:
    """Add the weak priors to the gradient and information of items."""
    held = problem.held & (rows[:, 0] > 0.0)
    if held.any():
        a = rows[held, 0]
        gradient[held, 0] -= np.log(a) / (a * _SLOPE_SPREAD**2)
        matrix[held, 0, 0] += 1.0 / (a * _SLOPE_SPREAD) ** 2
    if problem.model == "3pl":
        mean, sd = _GUESSING
        gradient[:, 2] -= (rows[:, 2] - mean) / sd**2
        matrix[:, 2, 2] += 1.0 / sd**2


def _ordered(before: Floats, after: Floats) -> Floats:
    """Return new rows, half way back as often as it takes to keep the steps of items in order."""
    for _ in range(30):
        wrong = (np.diff(after[:, 1:], axis=1) >= 0.0) & present(after[:, 2:])
        crossed = wrong.any(axis=1)
        if not crossed.any():
            return after
        after[crossed] = (before[crossed] + after[crossed]) / 2.0
    return after


# -- all of it ---------------------------------------------------------------------------------


def fitted(
    problem: FitProblem, start: CalibrationFit, *, tolerance: float, most: int
) -> CalibrationFit:
    """Iterate from a start until no parameter moves by more than the tolerance."""
    fit, iterations, last = start, 0, -np.inf
    while iterations < most:
        found = expect(problem, fit)
        first = _maximised(problem, fit, found)
        again = expect(problem, first)
        second = _maximised(problem, first, again)
        iterations += 2
        change = np.abs(_vector(second) - _vector(first)).max()
        if change < tolerance:
            return replace(
                second, log_likelihood=again.log_likelihood, iterations=iterations, converged=True
            )
        last = again.log_likelihood
        # A SQUAREM step is kept only where it does not lower the likelihood.
        far = _extrapolated(problem, fit, first, second)
        ahead = expect(problem, far)
        iterations += 1
        fit = _maximised(problem, far, ahead) if ahead.log_likelihood >= last else second
    return replace(fit, log_likelihood=last, iterations=iterations)


def _vector(fit: CalibrationFit) -> Floats:
    return np.concatenate([fit.rows.ravel(), [fit.mean, np.log(fit.sd)]])


def _extrapolated(
    problem: FitProblem, zero: CalibrationFit, first: CalibrationFit, second: CalibrationFit
) -> CalibrationFit:
    x0, x1, x2 = _vector(zero), _vector(first), _vector(second)
    r, v = x1 - x0, x2 - 2.0 * x1 + x0
    size = float(np.sqrt((v * v).sum()))
    length = max(1.0, float(np.sqrt((r * r).sum())) / size) if size > 0.0 else 1.0
    # SQUAREM's third scheme: a step of length |r| / |v|
    x = x0 + 2.0 * length * r + length * length * v
    rows = x[:-2].reshape(second.rows.shape)
    if problem.model == "graded":
        rows = _ordered(second.rows, rows)
    return replace(second, rows=rows, mean=float(x[-2]), sd=float(np.exp(x[-1])))

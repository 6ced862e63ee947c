"""Simulated graded scores, whose intervals are made data set by data set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from passband.stats.data.graded import GradedScores, ScoreGroup
from passband.stats.data.labels import problem_labels
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.values import frozen
from passband.stats.interval.certify.copula import Copula, between_variance
from passband.stats.interval.certify.rewards import ValueLaw, pooled_residuals, problem_laws
from passband.stats.interval.certify.simulation import Simulation, SingleSets
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.components import BestScore, MeanScore
from passband.stats.metric.metric import MeanMetric
from passband.types import Floats, Ints

__all__ = ["problem_sets", "trial_sets"]


# -- over problems: one value per problem ------------------------------------------------------


def problem_sets(request: IntervalRequest, sets: int, rng: np.random.Generator) -> list[Simulation]:
    """Draw data sets of as many problems from laws of a problem's value.

    The rule over problems reads one value per problem, so each is simulated as a single score.
    """
    graded = request.outcomes.required_graded()
    values = request.metric.parts[0].of_graded(graded, request.k)
    if request.outcomes.is_clustered:
        order = np.concatenate([g.problem for g in graded.groups if g.n >= request.k])
        return [_clustered(request, values, request.outcomes.cluster_codes(order), sets, rng)]
    low, high = request.range()
    if not np.isfinite(low) and values.min() >= 0.0:
        low = 0.0
    laws = problem_laws(values, low, high)
    each = max(2 * sets // len(laws), 1)
    return [_drawn(request, law, len(values), each, rng) for law in laws]


def _drawn(
    request: IntervalRequest, law: ValueLaw, problems: int, sets: int, rng: np.random.Generator
) -> Simulation:
    rows = law.draw(rng, (sets, problems))
    requests = [_of_values(request, row, None) for row in rows]
    return SingleSets(law.name, np.full(sets, law.mean), requests)


def _clustered(
    request: IntervalRequest, values: Floats, codes: Ints, sets: int, rng: np.random.Generator
) -> Simulation:
    ordered = np.sort(values)
    shares = np.full(len(values), 1.0 / len(values))
    copula = Copula.of(ordered, shares, between_variance(values, codes))
    rows = ordered[copula.draw(codes, 2 * sets, rng)]
    labels = codes.tolist()
    requests = [_of_values(request, row, labels) for row in rows]
    return SingleSets("copula", np.full(len(rows), copula.mean), requests)


def _of_values(
    request: IntervalRequest, row: Floats, clusters: list[int] | None
) -> IntervalRequest:
    """Return the request for problems with these values."""
    if np.isin(row, (0.0, 1.0)).all():  # these would be counts
        outcomes = Outcomes.from_counts(row.astype(np.int64), 1, clusters=clusters)
    else:
        ones = np.ones(len(row), dtype=np.int64)
        outcomes = _outcomes(ones, row, clusters)
    metric = MeanMetric(request.metric.name, 1, MeanScore())
    mean = float(row.mean())
    return replace(request, outcomes=outcomes, metric=metric, means=(mean,), value=mean)


def _outcomes(trials: Ints, scores: Floats, clusters: list[int] | None = None) -> Outcomes:
    graded = GradedScores(frozen(scores.copy()), frozen(np.r_[0, np.cumsum(trials)]))
    labels = None if clusters is None else tuple(map(str, clusters))
    return Outcomes(problem_labels(None, len(trials)), trials, None, graded, labels)


# -- over trials: these problems, their scores drawn again -------------------------------------


def trial_sets(request: IntervalRequest, sets: int, rng: np.random.Generator) -> Simulation | None:
    """Draw the scores of these problems again; None where no problem shows any noise."""
    graded = request.outcomes.required_graded()
    groups = [group for group in graded.groups if group.n >= request.k]
    pool = pooled_residuals([group.ordered for group in groups])
    if not len(pool):
        return None
    trials = np.repeat([group.n for group in groups], [len(group.problem) for group in groups])
    means = np.concatenate([group.ordered.mean(axis=1) for group in groups])
    spread = _spreads(groups)
    truth = float((means + spread * _latent(request, pool)).mean())
    rows = _rows(np.repeat(means, trials), np.repeat(spread, trials), pool, sets, rng)
    requests = [_redrawn(request, trials, row) for row in rows]
    return SingleSets("residuals", np.full(sets, truth), requests)


def _spreads(groups: list[ScoreGroup]) -> Floats:
    """Return the standard deviation of each problem's scores; of a single score, the others'."""
    sds = [g.ordered.std(axis=1, ddof=1) for g in groups if g.n > 1]
    shared = float(np.sqrt((np.concatenate(sds) ** 2).mean()))
    return np.concatenate(
        [
            np.full(len(g.problem), shared) if g.n == 1 else g.ordered.std(axis=1, ddof=1)
            for g in groups
        ]
    )


def _latent(request: IntervalRequest, pool: Floats) -> float:
    """Return the expected value of a problem with mean 0 and standard deviation 1."""
    if not isinstance(request.metric.parts[0], BestScore):
        return 0.0
    ordered = np.sort(pool)
    reached = (np.arange(len(pool) + 1) / len(pool)) ** request.k
    return float(np.diff(reached) @ ordered)


def _rows(
    means: Floats, spread: Floats, pool: Floats, sets: int, rng: np.random.Generator
) -> Iterator[Floats]:
    for _ in range(sets):
        yield means + spread * pool[rng.integers(0, len(pool), len(means), dtype=np.int32)]


def _redrawn(request: IntervalRequest, trials: Ints, row: Floats) -> IntervalRequest:
    outcomes = _outcomes(trials, row)
    means = tuple(request.metric.means(outcomes))
    return replace(request, outcomes=outcomes, means=means, value=request.metric.combine(means))

"""pass@k of one problem, and the bootstrap over problems.

The functions that tinker-cookbook's bootstrapped evaluator is made of, under their names. Two
formulas in its description are wrong, and are right here (docs/from-others.md): the
product in pass@k has as many factors as there are correct generations, and the standard error is
the standard deviation of the bootstrap estimates, which more iterations make surer, not smaller.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from passband.errors import InvalidInput
from passband.eval import pass_at_k as pass_at_k_of_matrix
from passband.stats.interval import bootstrap_means
from passband.types import Floats

T = TypeVar("T")


def pass_at_k(all_scores: Sequence[int], k: int, n: int | None = None) -> float:
    """Return the probability that one of k generations, drawn from these, is correct.

    >>> round(pass_at_k([1, 1, 1, 0, 0, 0, 0, 0, 0, 0], k=1), 12)
    0.3
    >>> pass_at_k([0, 0, 0], k=3), pass_at_k([0, 0, 1], k=3)
    (0.0, 1.0)
    """
    if n is not None and n != len(all_scores):
        raise InvalidInput(f"n is {n}, but there are {len(all_scores)} scores.")
    return pass_at_k_of_matrix([list(all_scores)], k)


def mean_metric(values: Sequence[float]) -> float:
    """Return the mean of values, of which there must be one."""
    if not len(values):
        raise InvalidInput("the mean of no values is undefined.")
    return float(np.mean(values))


def mean_stderr(values: Sequence[float]) -> float:
    """Return the standard error of a mean; NaN for a single value, which has none."""
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def bootstrap_mean(
    metric_fn: Callable[[list[T]], float],
    population: Sequence[T],
    num_iterations: int = 1000,
    seed: int | None = None,
) -> float:
    """Return the mean of a metric over resamples of the population.

    >>> round(bootstrap_mean(mean_metric, [0.0, 0.5, 1.0], seed=42), 2)
    0.5
    """
    return float(np.mean(_estimates(metric_fn, population, num_iterations, seed)))


def bootstrap_stderr(
    metric_fn: Callable[[list[T]], float],
    population: Sequence[T],
    num_iterations: int = 1000,
    seed: int | None = None,
) -> float:
    """Return the standard error of a metric: its standard deviation over resamples.

    NaN for a single problem: resamples of it are all alike.

    >>> round(bootstrap_stderr(mean_metric, [0.0, 1.0] * 50, num_iterations=10_000, seed=42), 3)
    0.05
    """
    estimates = _estimates(metric_fn, population, num_iterations, seed)
    return float("nan") if len(population) < 2 else float(np.std(estimates, ddof=1))


def _estimates(
    metric_fn: Callable[[list[T]], float],
    population: Sequence[T],
    num_iterations: int,
    seed: int | None,
) -> Floats:
    """Return the metric of each resample; that of means is drawn from the distinct values."""
    if not len(population):
        raise InvalidInput("there is nothing to resample: the population is empty.")
    if num_iterations < 2:
        raise InvalidInput(f"num_iterations must be at least 2; got {num_iterations}.")
    if metric_fn is mean_metric:
        values, counts = np.unique(np.asarray(population, dtype=float), return_counts=True)
        return bootstrap_means(values, counts, num_iterations, np.random.default_rng(seed))
    rng, people = random.Random(seed), list(population)
    resamples = (rng.choices(people, k=len(people)) for _ in range(num_iterations))
    return np.array([metric_fn(resample) for resample in resamples], dtype=float)

"""Reproduce the bootstrap of EVA bit for bit, so that published numbers can be checked."""

from __future__ import annotations

import numpy as np

from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.interval.bootstrap.draws import blocks
from passband.stats.interval.registry import Interval, register_method
from passband.stats.interval.request import IntervalRequest
from passband.types import Floats

EVA_CLUSTERS = Note(
    "eva-clusters-ignored", "clusters are ignored: EVA resamples single problems", "weak"
)
EVA_ZERO_WIDTH = Note(
    "eva-zero-width",
    "all problems have the same value; EVA then reports a width of zero, which is no certainty",
    "weak",
)
EVA_OUTSIDE = Note(
    "eva-outside", "the estimate lies outside the interval, which is left as EVA computes it"
)

EVA_REPLICATES = 2000


@register_method(
    "eva", over=("problems",), summary="EVA's bootstrap, bit for bit before EVA's round(x, 4)"
)
def eva(request: IntervalRequest) -> Interval:
    """Return the interval that EVA reports for a run: percentiles of 2000 bootstrap means.

    For comparison with numbers that EVA published; the seed is the name of the run. EVA rounds
    to four decimals, ``round(x, 4)``, which is left to the reader. Nothing is stretched
    or refused, so the interval may have no width or miss the estimate; a note says so.

    >>> from passband import Outcomes, estimate
    >>> outcomes = Outcomes.from_counts([3, 0, 8, 5] * 10, 8)
    >>> result = estimate(outcomes, "pass@1", method="eva", seed="run-1")
    >>> round(result.low, 4), round(result.high, 4), result.seed
    (0.3905, 0.6095, 1315296251)
    """
    if request.seed is None:
        raise InvalidInput(
            "method 'eva' needs a seed, which EVA makes from the name of the run; "
            "give that name, as in seed='my-run', or a number."
        )
    if not request.metric.is_mean:
        raise InvalidInput(
            f"method 'eva' needs one value per problem, and {request.metric.name} has none."
        )
    values = np.ascontiguousarray(request.metric.by_problem(request.outcomes)[:, 0])
    means = eva_means(values, request.seed)
    tail = round(100.0 * request.tail, 9)  # 2.5, and not the 2.5000000000000022 of (1 - 0.95) / 2
    low, high = np.percentile(means, [tail, 100.0 - tail]).tolist()
    notes = _notes(request, values, low, high)
    return Interval(low, high, float(means.std(ddof=1)), notes, request.seed)


def eva_means(values: Floats, seed: int, replicates: int = EVA_REPLICATES) -> Floats:
    """Return the bootstrap means that EVA computes for a seed, bit for bit.

    EVA draws one matrix ``default_rng(seed).integers(0, n, size=(replicates, n))`` and takes the
    means of its rows. Here the rows come in blocks, which uses the same random numbers in the same
    order.

    >>> eva_means(np.array([0.0, 0.5, 1.0]), seed=7)[:3].round(3).tolist()
    [0.833, 0.833, 0.333]
    """
    rng = np.random.default_rng(seed)
    means = np.empty(replicates)
    for block in blocks(replicates, len(values)):
        drawn = rng.integers(0, len(values), size=(len(means[block]), len(values)))
        means[block] = values[drawn].mean(axis=1)
    return means


def _notes(request: IntervalRequest, values: Floats, low: float, high: float) -> tuple[Note, ...]:
    notes = []
    if request.outcomes.is_clustered:
        notes.append(EVA_CLUSTERS)
    if np.ptp(values) == 0.0:
        notes.append(EVA_ZERO_WIDTH)
    elif not low <= request.value <= high:
        notes.append(EVA_OUTSIDE)
    return tuple(notes)

"""Simulated clusters: the interval of each data set is that of `estimate`."""

import numpy as np
import pytest

from passband import Outcomes, estimate
from passband.stats.interval.certify.binary_sets import ClusterSets, cluster_sets
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.registry import parse_metric

SIZES = [7, 1, 1, 4, 2, 2, 3, 5]
CODES = np.repeat(np.arange(len(SIZES)), SIZES)
EQUAL = Outcomes.from_counts(np.arange(25) % 5, 4, clusters=CODES.tolist())
RAGGED = Outcomes.from_counts(
    np.arange(25) % 3, [2, 2, 2, 8, 8] * 5, clusters=[f"c{code}" for code in CODES]
)
RARE = Outcomes.from_counts([1] + [0] * 24, 4, clusters=CODES.tolist())


def simulated(outcomes: Outcomes, metric: str, sets: int) -> ClusterSets:
    parsed = parse_metric(metric)
    means = tuple(parsed.means(outcomes))
    value = parsed.combine(means)
    request = IntervalRequest(outcomes, parsed, means, value, "problems", 0.95, None)
    return cluster_sets(request, sets, np.random.default_rng(5))


@pytest.mark.parametrize("outcomes", [EQUAL, RAGGED, RARE])
@pytest.mark.parametrize(("metric", "level"), [("pass@1", 0.95), ("pass^2", 0.9), ("pass@4", 0.99)])
def test_each_interval_is_that_of_estimate(outcomes: Outcomes, metric: str, level: float) -> None:
    drawn = simulated(outcomes, metric, 10)
    ends = drawn.ends(level)
    grid = drawn.mixture.grid
    for index, places in enumerate(drawn.places):
        each = Outcomes.from_counts(
            grid.successes[places], grid.trials[places], clusters=drawn.codes.tolist()
        )
        single = estimate(each, metric, level=level)
        assert ends.low[index] == pytest.approx(single.low, abs=1e-9)
        assert ends.high[index] == pytest.approx(single.high, abs=1e-9)


def test_clusters_are_kept_and_tied() -> None:
    outcomes = Outcomes.from_counts([0] * 20 + [4] * 20, 4, clusters=[0, 1] * 10 + [2, 3] * 10)
    drawn = simulated(outcomes, "pass@1", 200)
    assert drawn.codes.tolist() == [0, 1] * 10 + [2, 3] * 10
    values = drawn.mixture.grid.successes[drawn.places] / 4
    same = np.mean([np.corrcoef(values[:, 0], values[:, 2])[0, 1]])
    apart = np.mean([np.corrcoef(values[:, 0], values[:, 1])[0, 1]])
    assert same > 0.7 > 0.2 > abs(apart)

"""Which designs a summary certifies by itself."""

import numpy as np
import pytest

from passband import Outcomes
from passband.stats.checks import Over
from passband.stats.interval.certify.certify import needs_simulation
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.registry import parse_metric

EVEN = [0, 3, 5, 8] * 20
TIED = Outcomes.from_counts([0, 1, 0, 2] * 10 + [30, 32, 31, 29] * 10, [2] * 40 + [32] * 40)
SKEWED = np.r_[np.zeros(24), 0.9][:, None] + [[0.01, 0.05]]


def asked(outcomes: Outcomes, metric: str, over: Over) -> bool:
    parsed = parse_metric(metric)
    means = tuple(parsed.means(outcomes))
    value = parsed.combine(means)
    return needs_simulation(IntervalRequest(outcomes, parsed, means, value, over, 0.95, None))


@pytest.mark.parametrize(
    ("outcomes", "metric", "over", "expected"),
    [
        (Outcomes.from_counts(EVEN, 8), "pass@1", "problems", False),
        (Outcomes.from_counts(EVEN, 8), "pass@1", "trials", False),
        (Outcomes.from_counts([3, 5] * 10, 8), "pass@1", "trials", True),
        (Outcomes.from_counts([3], 8), "pass@1", "problems", False),
        (TIED, "pass@1", "trials", True),
        (TIED, "pass@1", "problems", False),
        (Outcomes.from_counts(EVEN, 8, clusters=[*range(40)] * 2), "pass@1", "problems", False),
        (Outcomes.from_counts(EVEN, 8, clusters=[*range(40)] + [40] * 40), "avg", "problems", True),
        (Outcomes.from_counts(EVEN, 8, clusters=[*range(40)] + [40] * 40), "avg", "trials", False),
        (Outcomes.from_counts(EVEN, 8, clusters=[0] * 80), "pass@1", "problems", False),
        (Outcomes.from_array(SKEWED), "avg", "problems", True),
        (Outcomes.from_array(np.arange(50).reshape(25, 2) / 50), "avg", "problems", False),
        (Outcomes.from_array(np.full((25, 2), 0.3)), "avg", "problems", False),
        (Outcomes.from_array(np.tile(SKEWED, (4, 1))), "avg", "problems", False),
    ],
)
def test_unusual(outcomes: Outcomes, metric: str, over: Over, expected: bool) -> None:
    assert asked(outcomes, metric, over) is expected

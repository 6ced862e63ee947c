"""What trials took, as outcomes of their own."""

from dataclasses import dataclass, replace
from math import exp

import numpy as np
import pytest

import passband
from passband import Outcomes
from passband.errors import InvalidInput
from passband.stats.data.spending import SpentColumn, SpentTrials

SCORES = Outcomes.from_array([[1, 0], [1, 1], [0, 0]], problems=["a", "b", "c"])


@dataclass(frozen=True)
class Fixed:
    """Costs that are given."""

    trials: tuple[tuple[str, tuple[float | None, ...]], ...]

    def of(self, column: SpentColumn) -> SpentTrials:
        return {problem: list(row) for problem, row in self.trials} if column == "cost" else {}


COSTS = replace(SCORES, spending=Fixed((("b", (2.0, 4.0)), ("a", (1.0, None)), ("c", (2.0, 3.0)))))


def test_the_mean_is_over_problems() -> None:
    spent = COSTS.spent("cost")
    assert spent.trials.tolist() == [1, 2, 2]
    assert spent.status_counts == {"ok": 5, "without cost": 1}
    estimate = passband.estimate(COSTS, "cost")
    assert estimate.value == pytest.approx((1.0 + 3.0 + 2.5) / 3)
    assert passband.measure(COSTS, "cost").value == pytest.approx(estimate.value)
    cost, rate = passband.estimate(COSTS, ["cost", "pass@1"])
    assert (cost, rate) == (estimate, passband.estimate(COSTS, "pass@1"))


def test_the_cost_of_a_solved_problem() -> None:
    found = passband.estimate(COSTS, "cost-per-solved")
    assert found.value == pytest.approx(6.5 / 3 / 0.5)
    assert found.low is not None
    assert found.low < found.value
    with pytest.raises(InvalidInput, match="over problems only"):
        passband.estimate(COSTS, "cost-per-solved", over="trials")
    none = replace(COSTS, successes=np.zeros(3, dtype=np.int64))
    with pytest.raises(InvalidInput, match="nothing was solved"):
        passband.estimate(none, "cost-per-solved")
    for verb in (passband.measure, lambda o, m: passband.compare(o, o, m)):
        with pytest.raises(InvalidInput, match="estimated for each model"):
            verb(COSTS, "cost-per-solved")


def test_what_is_not_known_is_refused() -> None:
    for outcomes, metric in ((SCORES, "cost"), (COSTS, "tokens"), (SCORES, "latency")):
        with pytest.raises(InvalidInput, match="is not known of these trials"):
            passband.estimate(outcomes, metric)
    with pytest.raises(InvalidInput):
        passband.compare(COSTS, SCORES, "cost")
    with pytest.raises(InvalidInput, match="what trials took"):
        passband.stats.metric.registry.parse_metric("cost").value(SCORES)


def test_less_is_better() -> None:
    dearer = Fixed(
        tuple((p, tuple(3 * (x or 1.0) for x in row)) for p, row in COSTS.spending.trials)  # type: ignore[attr-defined]
    )
    compared = passband.compare(COSTS, replace(COSTS, spending=dearer), "cost")
    assert compared.lower_is_better
    assert compared.value > 0.0
    assert compared.ratio is not None
    assert compared.ratio.value == pytest.approx(3.0)


@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_coverage_for_log_normal_costs(spread: float) -> None:
    rng, hits, sets = np.random.default_rng(3), 0, 300
    names = tuple(map(str, range(40)))
    scores = Outcomes.from_counts([1] * 40, 2, problems=names)
    for _ in range(sets):
        means = np.exp(rng.normal(0.0, spread, (40, 1))) * rng.lognormal(-0.125, 0.5, (40, 2))
        rows = tuple((name, tuple(row)) for name, row in zip(names, means.tolist(), strict=True))
        found = passband.estimate(replace(scores, spending=Fixed(rows)), "cost")
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= exp(spread**2 / 2.0) <= found.high
    assert 0.92 <= hits / sets <= 0.99

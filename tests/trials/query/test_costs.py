"""Sums of costs."""

from fractions import Fraction
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from passband.trials.query.counts import total_cost
from passband.trials.reader import Trials
from support.samples.stores import filled

prices = st.integers(0, 10**8)  # of a token, in units of 1e-12


@given(st.lists(prices, max_size=30), st.randoms())
def test_a_sum_is_exact_in_any_order(units: list[int], random: object) -> None:
    costs = [unit / 10**12 for unit in units]
    exact = float(Fraction(sum(units), 10**12))
    assert total_cost(costs) == exact
    random.shuffle(costs)  # type: ignore[attr-defined]
    half = len(costs) // 2
    assert total_cost([total_cost(costs[:half]), total_cost(costs[half:])]) == exact


def test_a_run_without_prices_has_no_cost(tmp_path: Path) -> None:
    with Trials(filled(tmp_path / "run", [[1, 0], [1, 1]])) as trials:
        (run,) = trials.runs()
        assert not trials.is_priced(run.number)
        costs = trials.costs(run.number)
        assert (costs.priced, costs.unpriced) == (0, 4)

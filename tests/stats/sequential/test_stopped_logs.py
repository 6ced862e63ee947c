"""Detectors of trials stopped by their outcome: exact p-values, and bounded false alarms."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes
from passband.errors import InvalidInput
from passband.stats.sequential.stopped_logs import (
    StoppingRule,
    detect_by_counts,
    detect_by_order,
    estimate_stopped,
    poisson_binomial,
    unstopped,
)


def test_counts_by_hand() -> None:
    """Problems with 2 and 3 trials below the most, 4: 1/2 * (2/3)^2 = 2/9."""
    outcomes = Outcomes.from_counts([1, 1, 1, 0], [1, 2, 3, 4])
    assert detect_by_counts(outcomes).p_value == pytest.approx(2 / 9)
    assert detect_by_counts(outcomes).problems == 2


@pytest.mark.parametrize(
    ("successes", "trials"),
    [([2, 1, 0], [3, 2, 4]), ([1, 1, 2], [3, 2, 4]), ([0, 1, 1], [3, 2, 4]), ([1, 0], [4, 4])],
)
def test_other_counts_are_no_alarm(successes: list[int], trials: list[int]) -> None:
    assert detect_by_counts(Outcomes.from_counts(successes, trials)).p_value == 1.0


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.floats(0.05, 0.95))
def test_the_p_value_bounds_the_chance_of_the_pattern(trials: list[int], p: float) -> None:
    """Whatever the rate, ragged counts look like it no more often than the p-value says."""
    most = max(trials)
    outcomes = Outcomes.from_counts([1 if n < most else 0 for n in trials], trials)
    claimed = detect_by_counts(outcomes).p_value
    chance = math.prod(n * p * (1 - p) ** (n - 1) for n in trials if n < most)
    assert chance <= claimed + 1e-12


def test_order_by_hand() -> None:
    """c/n = 1/2 and 1/3, both ended with a success: 1/6."""
    assert detect_by_order([[0, 1], [0, 0, 1], [1, 1], [0]]).p_value == pytest.approx(1 / 6)
    assert detect_by_order([[1, 1], [0]]).p_value == 1.0


@pytest.mark.parametrize("counts", [[(1, 3), (2, 3), (1, 2)], [(1, 4), (3, 4)], [(2, 5), (1, 2)]])
def test_order_is_exact(counts: list[tuple[int, int]]) -> None:
    """List all orders: P(p-value <= a) <= a, and is equal at every value that it takes."""
    orders = [
        [row for row in itertools.product((0, 1), repeat=n) if sum(row) == c] for c, n in counts
    ]
    values = [detect_by_order(table).p_value for table in itertools.product(*orders)]
    for value in set(values):
        share = Fraction(sum(other <= value + 1e-12 for other in values), len(values))
        assert float(share) == pytest.approx(value)


def test_poisson_binomial_is_the_binomial_for_equal_rates() -> None:
    expected = [math.comb(5, i) * 0.3**i * 0.7 ** (5 - i) for i in range(6)]
    assert poisson_binomial(np.full(5, 0.3)) == pytest.approx(expected)


def test_trials_until_solved_set_off_both() -> None:
    rng = np.random.default_rng(4)
    scores = (rng.random((80, 8)) < rng.beta(0.5, 0.5, 80)[:, None]).astype(float)
    scores[scores.cumsum(axis=1) - scores >= 1] = np.nan
    assert detect_by_order(scores).is_alarm
    assert detect_by_counts(Outcomes.from_array(scores)).is_alarm


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"must be 0 or 1; got 0\.5"):
        detect_by_order([[0.5, 1]])
    with pytest.raises(InvalidInput, match="at least one problem"):
        detect_by_order([])
    graded = Outcomes.from_array([[0.5, 1], [1, 0]])  # type: ignore[arg-type]
    assert detect_by_counts(graded).p_value == 1.0


def endings(s: int, cap: int, p: Fraction) -> Iterator[tuple[int, int, Fraction]]:
    """Yield every (n, c) at which trials can end, with its probability, path by path."""
    alive = {(0, 0): Fraction(1)}
    while alive:
        following: dict[tuple[int, int], Fraction] = {}
        for (n, c), chance in alive.items():
            for c_next, step in ((c + 1, p), (c, 1 - p)):
                place = n + 1, c_next
                if c_next == s or n + 1 == cap:
                    yield *place, chance * step
                else:
                    following[place] = following.get(place, Fraction(0)) + chance * step
        alive = following


@pytest.mark.parametrize(("s", "cap"), [(1, 1), (1, 4), (1, 8), (2, 5), (2, 8), (3, 8)])
@pytest.mark.parametrize("p", [Fraction(1, 20), Fraction(1, 3), Fraction(9, 10)])
def test_the_estimator_is_unbiased(s: int, cap: int, p: Fraction) -> None:
    rule = StoppingRule(s, cap)
    for k in range(1, cap + 1):
        mean = Fraction(0)
        for n, c, chance in endings(s, cap, p):
            (value,) = unstopped(Outcomes.from_counts([c], [n]), rule, k)
            mean += chance * Fraction(value).limit_denominator(10**6)
        assert mean == 1 - (1 - p) ** k


def test_the_mean_of_shares_is_not() -> None:
    """Tried until solved, at most twice, p = 1/2: 1/2 * 1 + 1/4 * 1/2 = 5/8."""
    mean = sum(chance * Fraction(c, n) for n, c, chance in endings(1, 2, Fraction(1, 2)))
    assert mean == Fraction(5, 8)


def test_by_hand() -> None:
    """Stopped at the second success: without the last trial 1 of 3 is left; pass@2 is 2/3."""
    outcomes = Outcomes.from_counts([2, 1, 0, 2], [4, 6, 6, 2])
    rule = StoppingRule(2, 6)
    assert unstopped(outcomes, rule, 1).tolist() == pytest.approx([1 / 3, 1 / 6, 0, 1])
    assert unstopped(outcomes, rule, 2).tolist() == pytest.approx([2 / 3, 1 / 3, 0, 1])


def test_solved_within_k_is_one_trial_per_problem() -> None:
    outcomes = Outcomes.from_counts([1, 1, 1, 0] * 10, [1, 2, 4, 4] * 10)
    result = estimate_stopped(outcomes, "pass@2", StoppingRule(1, 4))
    plain = Outcomes.from_counts([1, 1, 0, 0] * 10, 1)
    from passband import estimate

    expected = estimate(plain, "pass@1")
    assert (result.value, result.low, result.high) == (0.5, expected.low, expected.high)
    assert (result.metric, result.n_trials) == ("pass@2", 110)
    assert result.notes[0].code == "solved-within"


def test_beyond_the_cap_there_are_bounds() -> None:
    outcomes = Outcomes.from_counts([1, 1, 1, 0] * 10, [1, 2, 4, 4] * 10)
    rule = StoppingRule(1, 4)
    at_cap, beyond = (estimate_stopped(outcomes, f"pass@{k}", rule) for k in (4, 9))
    assert (beyond.value, beyond.low, beyond.high) == (at_cap.value, at_cap.low, 1.0)
    assert beyond.notes[0].code == "beyond-cap"
    with pytest.raises(InvalidInput, match="must not exceed the cap"):
        unstopped(outcomes, rule, 5)


def test_values_grow_with_k() -> None:
    rng = np.random.default_rng(2)
    rule = StoppingRule(3, 8)
    ends = list(endings(3, 8, Fraction(1, 2)))
    draws = [ends[i] for i in rng.integers(0, len(ends), 40)]
    outcomes = Outcomes.from_counts([c for _, c, _ in draws], [n for n, _, _ in draws])
    values = np.array([unstopped(outcomes, rule, k) for k in range(1, 9)])
    assert (np.diff(values, axis=0) >= -1e-12).all()
    assert ((values >= 0) & (values <= 1)).all()
    assert estimate_stopped(outcomes, "pass@2", rule).notes[0].code == "unstopped"


@pytest.mark.parametrize(("c", "n"), [(2, 4), (1, 9), (0, 3)])
def test_counts_that_the_rule_cannot_leave_are_refused(c: int, n: int) -> None:
    with pytest.raises(InvalidInput, match=f"has {c} of {n}, which trials that end"):
        unstopped(Outcomes.from_counts([1, c], [1, n]), StoppingRule(1, 8))


def test_what_else_is_refused() -> None:
    outcomes = Outcomes.from_counts([1, 0], [1, 4])
    rule = StoppingRule(1, 4)
    with pytest.raises(InvalidInput, match="give pass@k; got 'pass\\^2'"):
        estimate_stopped(outcomes, "pass^2", rule)
    with pytest.raises(InvalidInput, match="interval is over problems"):
        estimate_stopped(outcomes, "pass@1", rule, over="trials")
    with pytest.raises(InvalidInput, match="have no score"):
        unstopped(Outcomes.from_array([[0, None, 1]]), rule)
    with pytest.raises(InvalidInput, match="cannot succeed 5 times in 4"):
        StoppingRule(5, 4)

"""The empirical-Bernstein sequence: by hand, by its inequality, by listing every outcome."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.stats.sequential.bernstein import (
    BernsteinSequence,
    Rounds,
    bernstein_difference,
    bernstein_interval,
    best_bet,
    psi,
)

SHARES = [0.0, 0.01, 0.2, 0.5, 0.7, 0.99, 1.0]


def test_one_round_by_hand() -> None:
    """The first bet is h / (h + 1/4), every first prediction 1/2, so V = M / 4."""
    h, scores = 0.1, np.array([1.0, 1.0, 0.0, 1.0])
    bet = 0.1 / 0.35
    reach = (math.log(2 / 0.05) + psi(bet) * 4 * 0.25) / (4 * bet)
    ends = bernstein_interval(Rounds(scores[:, None]), h)
    assert ends.low == pytest.approx(0.75 - reach)
    assert ends.high == pytest.approx(0.75 + reach)


def test_two_rounds_by_hand() -> None:
    """Round 2: the common mean is (1 + .5) / 3, the pull 1/4 as no pull has erred less so far."""
    h, bets = 0.2, [0.2 / 0.45, 0.0]
    sequence = BernsteinSequence(h, 0.9)
    sequence.add(np.array([1.0, 0.0]))
    sequence.add(np.array([1.0, 0.0]))
    common, pull = 1.5 / 3, 0.25
    q = [(1 + pull * common) / 1.25, pull * common / 1.25]
    mean = 2 / 4
    bets[1] = 0.2 / (0.2 + mean * (1 - mean))
    paid = psi(bets[0]) * 0.5 + psi(bets[1]) * ((1 - q[0]) ** 2 + q[1] ** 2)
    reach = (math.log(2 / 0.1) + paid) / (2 * sum(bets))
    assert sequence.ends().high == pytest.approx(0.5 + reach)


@pytest.mark.parametrize("bet", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_no_step_gains_on_average(bet: float) -> None:
    """E exp(l (X - p) - psi(l) (X - q)^2) <= 1 for 0/1 scores, and for scores in between."""
    for p, q in itertools.product(SHARES, SHARES):
        gain = p * math.exp(bet * (1 - p) - psi(bet) * (1 - q) ** 2)
        gain += (1 - p) * math.exp(-bet * p - psi(bet) * q**2)
        assert gain <= 1 + 1e-12
    for x, q in itertools.product(SHARES, SHARES):  # the lemma itself
        assert math.exp(bet * (x - q) - psi(bet) * (x - q) ** 2) <= 1 + bet * (x - q) + 1e-12


@pytest.mark.parametrize("rates", [(0.1, 0.9), (0.5, 0.5), (0.02, 0.3), (0.0, 0.99)])
@pytest.mark.parametrize("level", [0.5, 0.8])
def test_every_outcome_of_four_rounds_is_within_the_level(
    rates: tuple[float, float], level: float
) -> None:
    """List all 2^8 outcomes: the truth is ever excluded with probability at most alpha."""
    truth, wrong = sum(rates) / 2, 0.0

    def go_on(prefix: list[tuple[int, int]], chance: float) -> float:
        ends = bernstein_interval(Rounds(np.array(prefix, dtype=float).T), 0.3, level)
        if not ends.low <= truth <= ends.high:
            return chance
        return after(prefix, chance) if len(prefix) < 4 else 0.0

    def after(prefix: list[tuple[int, int]], chance: float) -> float:
        total = 0.0
        for pair in itertools.product((0, 1), repeat=2):
            step = math.prod(p if x else 1 - p for x, p in zip(pair, rates, strict=True))
            if step:
                total += go_on([*prefix, pair], chance * step)  # type: ignore[list-item]
        return total

    wrong = after([], 1.0)
    assert wrong <= 1 - level


def test_the_bet_is_the_best() -> None:
    h, s2 = 0.03, 0.17
    bets = np.linspace(0.001, 0.9, 5000)
    gains = [bet * h - psi(bet) * s2 for bet in bets]
    assert best_bet(h, s2) == pytest.approx(bets[int(np.argmax(gains))], abs=2e-4)


scores = st.lists(
    st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=3, max_size=3), min_size=1, max_size=12
)


@given(scores)
def test_exchanging_success_and_failure_mirrors_the_ends(columns: list[list[float]]) -> None:
    rounds = np.array(columns).T
    plain = bernstein_interval(Rounds(rounds), 0.1)
    mirrored = bernstein_interval(Rounds(1 - rounds), 0.1)
    assert plain.low == pytest.approx(1 - mirrored.high)
    assert plain.high == pytest.approx(1 - mirrored.low)


@given(scores, st.integers(0, 10**6))
def test_a_trial_without_a_score_only_widens(columns: list[list[float]], place: int) -> None:
    rounds = np.array(columns).T
    holes = rounds.copy()
    holes.flat[place % rounds.size] = np.nan
    with_holes = bernstein_interval(Rounds(holes), 0.1)
    filled = [np.nan_to_num(holes, nan=value) for value in (0.0, 1.0)]
    assert with_holes.low == bernstein_interval(Rounds(filled[0]), 0.1).low
    assert with_holes.high == bernstein_interval(Rounds(filled[1]), 0.1).high


def test_a_difference_by_hand() -> None:
    """One round: the bet is h / (h + 1/4 + 1/4), V = M / 4 of each side."""
    a, b = np.array([[1.0], [0.0], [0.0]]), np.array([[1.0], [1.0], [0.0]])
    bet = 0.1 / 0.6
    reach = (math.log(40) + psi(bet) * 6 * 0.25) / (3 * bet)
    ends = bernstein_difference(Rounds(a), Rounds(b), 0.1)
    assert ends.low == pytest.approx(1 / 3 - reach)
    assert ends.high == pytest.approx(1 / 3 + reach)
    back = bernstein_difference(Rounds(b), Rounds(a), 0.1)
    assert (back.low, back.high) == pytest.approx((-ends.high, -ends.low))


def test_the_forecast_is_about_right() -> None:
    rng = np.random.default_rng(3)
    p = rng.beta(0.3, 0.5, 200)
    sequence, forecast = BernsteinSequence(0.02), 0.0
    for t in range(1, 60):
        sequence.add((rng.random(200) < p).astype(float))
        if t == 4:
            forecast = 4 + sequence.rounds_left()
        if sequence.ends().half_width <= 0.02:
            break
    assert 0.7 * t <= forecast <= 1.3 * t


def test_what_is_refused() -> None:
    sequence = BernsteinSequence(0.1)
    with pytest.raises(InvalidInput, match="between 0 and 1; got 2"):
        sequence.add(np.array([0.0, 2.0]))
    sequence.add(np.array([0.0, 1.0]))
    with pytest.raises(InvalidInput, match="must have 2 scores; got 3"):
        sequence.add(np.zeros(3))
    with pytest.raises(InvalidInput, match="same problems and rounds"):
        bernstein_difference(Rounds(np.zeros((2, 1))), Rounds(np.zeros((3, 1))), 0.1)
    with pytest.raises(InvalidInput, match="half_width"):
        BernsteinSequence(0.0)
    assert BernsteinSequence(0.1).ends() == (-math.inf, math.inf)

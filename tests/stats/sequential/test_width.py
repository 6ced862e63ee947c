"""The width rule: the guard by hand, its looks, its stops, and the floor."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes, estimate
from passband.errors import InvalidInput
from passband.stats.sequential.bernstein import Rounds, bernstein_interval
from passband.stats.sequential.width import (
    WidthRule,
    floor_of,
    forecast,
    guard,
    least_half_width,
    look_at,
    most_rounds,
    replay,
)
from support.fuzz.properties import one_in


def drawn(seed: int, problems: int = 40, rounds: int = 40) -> Rounds:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.3, 0.5, problems)
    return Rounds((rng.random((problems, rounds)) < p[:, None]).astype(float))


def test_the_guard_by_hand() -> None:
    """Successes 2, 1, 0 of 2: W = 1 * 1 / 1, g = z sqrt(1 + 4) / (3 * 2)."""
    z = 1.959963984540054
    assert guard(Outcomes.from_counts([2, 1, 0], 2)) == pytest.approx(z * math.sqrt(5) / 6)
    assert guard(Outcomes.from_counts([2, 2, 2], 2)) == pytest.approx(z * 2 / 6)  # never 0


def test_the_guard_of_uneven_trials() -> None:
    """A problem with one trial adds 1/4, one without none; the mean of n is that of the others."""
    outcomes = Outcomes.from_counts([1, 1, 0], [2, 1, 0])
    variance = 1 / 4 + 1 / 4 + 4 / 1.5**2
    assert guard(outcomes, 0.9) == pytest.approx(1.6448536269514722 * math.sqrt(variance) / 2)


def test_the_interval_is_the_hull() -> None:
    rounds = drawn(1)
    look = look_at(WidthRule(0.02, 40), rounds, 8)
    outcomes = rounds.upto(8)
    plain, reach = estimate(outcomes, "pass@1", over="trials"), guard(outcomes)
    assert look.estimate.low == min(plain.low or 0, plain.value - reach)
    assert look.estimate.high == max(plain.high or 0, plain.value + reach)
    assert look.half_width == (look.estimate.high - look.estimate.low) / 2


def test_the_ends_are_cut_to_the_scale_but_the_width_is_not() -> None:
    look = look_at(WidthRule(0.02, 40), Rounds(np.ones((10, 4))), 4)
    assert look.estimate.high == 1.0
    assert look.half_width > (1.0 - look.estimate.low) / 2


def test_with_a_proof_it_is_the_sequence() -> None:
    rounds = drawn(1)
    look = look_at(WidthRule(0.1, 40, proof=True), rounds, 20)
    ends = bernstein_interval(Rounds(rounds.scores[:, :20]), 0.1)
    assert (look.estimate.low, look.estimate.high) == (max(ends.low, 0.0), ends.high)


def test_looks_come_every_round_then_every_twelfth() -> None:
    looks = list(WidthRule(0.02, 100).looks())
    assert looks[:23] == list(range(2, 25))
    assert looks[23:27] == [26, 28, 30, 32]
    assert looks[-1] == 100
    assert next(WidthRule(0.02, 100, "pass@4").looks()) == 5
    assert list(WidthRule(0.02, 10, start=8).looks()) == [8, 9, 10]
    assert list(WidthRule(0.02, 10, start=30).looks()) == [30]


@one_in(10)
@given(st.integers(0, 10**6))
def test_a_stop_does_not_depend_on_what_comes_after(seed: int) -> None:
    rounds, rule = drawn(seed), WidthRule(0.05, 40)
    stop = replay(rule, rounds)
    assert stop is not None
    assert stop.reason in ("reached", "most")
    again = replay(rule, Rounds(rounds.scores[:, : stop.look.rounds]))
    assert again is not None
    assert (again.look.rounds, again.reason) == (stop.look.rounds, stop.reason)
    before = replay(rule, Rounds(rounds.scores[:, : stop.look.rounds - 1]))
    assert before is not None
    assert before.reason is None
    assert before.needed is None or before.needed >= stop.look.rounds - 1


def test_it_stops_at_the_most_rounds() -> None:
    stop = replay(WidthRule(0.001, 6), drawn(2))
    assert stop is not None
    assert (stop.reason, stop.look.rounds) == ("most", 6)
    assert stop.needed is not None
    assert stop.needed > 1000
    assert replay(WidthRule(0.01, 6), Rounds(np.zeros((3, 0)))) is None


def test_problems_like_these_have_a_floor() -> None:
    rounds, rule = drawn(3, rounds=10), WidthRule(0.05, 40, over="problems")
    floor = floor_of(rule, rounds.upto(10))
    assert floor is not None
    between = rounds.scores.mean(axis=1).var(ddof=1)
    within = (rounds.scores.var(axis=1, ddof=1) / 10).mean()
    assert floor == pytest.approx(1.96 * math.sqrt((between - within) / 40), rel=0.1)
    stop = replay(rule, rounds)
    assert stop is not None
    assert (stop.reason, stop.look.rounds) == ("floor", 4)
    assert stop.needed is not None
    assert stop.needed > 200


def test_the_least_half_width_is_that_of_problems_all_alike() -> None:
    alike = estimate(Outcomes.from_counts([64] * 200, 64), "pass@1")
    assert alike.low is not None
    assert least_half_width(200) == pytest.approx((1.0 - alike.low) / 2)


def test_the_default_cap_is_beyond_what_coin_tosses_need() -> None:
    rng = np.random.default_rng(6)
    rule = WidthRule(0.05, 2)
    tosses = Rounds((rng.random((30, 60)) < 0.5).astype(float))
    stop = replay(WidthRule(0.05, most_rounds(rule, 30)), tosses)
    assert stop is not None
    assert stop.reason == "reached"


def test_the_forecast_is_about_right() -> None:
    rounds, rule = drawn(7, problems=200), WidthRule(0.02, 40)
    stop = replay(rule, rounds)
    assert stop is not None
    expected = forecast(rule, look_at(rule, rounds, 4), rounds)
    assert expected is not None
    assert abs(expected - stop.look.rounds) <= 2


def test_trials_without_a_score_are_left_out() -> None:
    scores = drawn(9).scores.copy()
    scores[::3, 1] = np.nan
    look = look_at(WidthRule(0.05, 40), Rounds(scores), 4)
    assert look.estimate.n_unscored == 14
    assert look.estimate.value == pytest.approx(np.nanmean(scores[:, :4], axis=1).mean())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"half_width": 0.0}, "half_width must be a number above 0"),
        ({"half_width": 0.5}, "must be below 0.5"),
        ({"metric": "maj@4"}, "pass@k or pass\\^k; got 'maj@4'"),
        ({"metric": "pass@1,4"}, "one metric"),
        ({"metric": "pass@4", "proof": True}, "the proof is for the mean score"),
        ({"over": "problems", "proof": True}, "the proof is for the mean score"),
        ({"most": 1}, "first looks after 2 rounds; got at most 1"),
        ({"most": 4, "metric": "pass@4"}, "first looks after 5 rounds"),
    ],
)
def test_what_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        WidthRule(**{"half_width": 0.02, "most": 8} | options)  # type: ignore[arg-type]


def test_graded_scores_are_refused() -> None:
    with pytest.raises(InvalidInput, match="needs scores of 0 or 1"):
        look_at(WidthRule(0.02, 8), Rounds.of([[0.5, 1.0], [0.0, 1.0]]), 2)
    with pytest.raises(InvalidInput, match="one score, or None, per round"):
        Rounds.of([[1, 0], [1]])
    with pytest.raises(InvalidInput, match="problems x rounds"):
        Rounds.of([1, 0])


def test_no_rounds_are_promised_where_lost_trials_keep_the_proof_wide() -> None:
    """Two of ten problems never have a score, so that the ends stay 0.2 apart."""
    rng = np.random.default_rng(4)
    scores = (rng.random((10, 400)) < 0.5).astype(float)
    scores[:2] = np.nan
    rounds = Rounds.of(scores)
    stop = replay(WidthRule(0.05, most=400, proof=True), rounds)
    assert stop is not None
    assert (stop.reason, stop.needed) == ("most", None)
    assert stop.look.estimate.n_problems == 10
    wider = replay(WidthRule(0.3, most=500, proof=True), Rounds.of(scores[:, :4]))
    assert wider is not None
    assert wider.needed is not None
    reached = replay(WidthRule(0.3, most=500, proof=True), rounds)
    assert reached is not None
    assert reached.reason == "reached"
    assert wider.needed == pytest.approx(reached.look.rounds, rel=0.5)

"""Scales: ends and direction of scores, and the same statistics whichever way they point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes, estimate
from passband.stats.data.outcomes import on_one_scale
from passband.stats.data.scale import UNIT, Scale
from passband.stats.decision.comparison import compare
from passband.stats.decision.ranking import compare_all
from passband.stats.interval.bands import band
from passband.stats.metric.measurement import bounds, curve, measure

ERRORS = Scale(0.0, 1.0, lower_is_better=True)
TER = Scale(0.0, None, lower_is_better=True)
METRICS = ("pass@1", "pass@3", "pass^2", "maj@3", "g-pass@4:0.5", "geom-ds@2", "bayes")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_scale_whose_low_end_is_above_its_high_end_is_refused() -> None:
    with pytest.raises(InvalidInput, match="low end below its high end; got 2 and 1"):
        Scale(2.0, 1.0)


def test_a_score_outside_its_scale_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"problem 'b' .* 1\.7 in its scored trial 0, outside"):
        Outcomes.from_array([[0.5], [1.7]], problems=["a", "b"], scale=UNIT)
    rounded = Outcomes.from_array([[100.00000000000004]], scale=Scale(0.0, 100.0))
    assert rounded.n_trials == 1


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=4), min_size=2))
def test_mirrored_scores_of_0_and_1_have_the_same_chances(rows: list[list[float]]) -> None:
    higher = Outcomes.from_array(rows)
    lower = Outcomes.from_array([[1.0 - score for score in row] for row in rows], scale=ERRORS)
    for over in ("problems", "trials"):
        for name in METRICS:
            one, other = (estimate(each, name, over=over) for each in (higher, lower))
            assert (one.value, one.low, one.high) == (other.value, other.low, other.high)
    mean, mirrored = estimate(higher, "avg"), estimate(lower, "avg")
    assert mirrored.value == pytest.approx(1.0 - mean.value)
    assert mirrored.low == pytest.approx(1.0 - mean.high)
    assert mirrored.high == pytest.approx(1.0 - mean.low)


def test_the_best_of_k_is_the_lowest_where_lower_is_better() -> None:
    scores = rng().gamma(2.0, 10.0, (20, 4))
    lowest_of_two = np.minimum(scores[:, 0], scores[:, 1]).mean()
    found = estimate(Outcomes.from_array(scores, scale=TER), ["avg", "max@4"])
    assert found[0].value == pytest.approx(scores.mean())
    assert found[1].value == pytest.approx(scores.min(axis=1).mean())
    assert found[1].value < lowest_of_two
    assert all(one.low is not None and one.low <= one.value <= one.high for one in found)


def test_perfect_answers_are_no_failures() -> None:
    perfect = Outcomes.from_array(np.zeros((40, 4)), scale=TER)
    assert estimate(perfect, "avg").value == 0.0
    with pytest.raises(InvalidInput, match="this metric needs scores of 0 or 1"):
        estimate(perfect, "pass@1")
    assert estimate(Outcomes.from_array(np.zeros((40, 4)), scale=ERRORS), "pass@1").value == 1.0


def test_failed_trials_have_the_worst_score_or_are_refused() -> None:
    rows = [[0.25, None], [0.5, 0.25]]
    worst = measure(Outcomes.from_array(rows, scale=ERRORS), "avg", policy="fail")
    assert worst.value == (0.25 / 2 + 1.0 / 2 + 0.375) / 2
    with pytest.raises(InvalidInput, match=r"the worst score is not known \(0 to inf, lower"):
        measure(Outcomes.from_array(rows, scale=TER), "avg", policy="fail")
    rewards = Outcomes.from_array([[-1.0, None], [1.0, 0.0]], scale=Scale(-1.0, 1.0))
    assert measure(rewards, "avg", policy="fail").value == -0.25
    counts = Outcomes.from_counts([1, 2], 3, unscored={"timeout": [1, 0]}, scale=ERRORS)
    low, high = bounds(counts, "pass@1")
    assert (low, high) == pytest.approx(((2 / 4 + 1 / 3) / 2, (3 / 4 + 1 / 3) / 2))


def test_the_stated_scale_decides_and_not_the_sample() -> None:
    drawn = [[0.0], [0.0], [1.0], [0.0], [0.0], [0.0], [1.0], [0.0], [0.0], [0.0]]
    rewards = estimate(Outcomes.from_array(drawn, scale=Scale(-1.0, 1.0)), "avg")
    assert rewards.low is not None
    assert rewards.low < 0.0
    share = estimate(Outcomes.from_array(drawn), "avg")
    assert share.low is not None
    assert share.low >= 0.0


def test_verdicts_mirror_and_differences_are_those_of_the_scores() -> None:
    a, b = (rng(seed).beta(2, 3 - seed, (60, 4)) for seed in (0, 1))
    higher = compare(Outcomes.from_array(a), Outcomes.from_array(b), "avg", margin=0.05)
    sides = [Outcomes.from_array(1.0 - side, scale=ERRORS) for side in (a, b)]
    lower = compare(*sides, "avg", margin=0.05)  # type: ignore[arg-type]
    assert higher.decision.verdict == lower.decision.verdict == "better"
    assert lower.value == pytest.approx(-higher.value)
    assert lower.low == pytest.approx(-higher.high)
    assert lower.p_value == pytest.approx(higher.p_value)
    assert (lower.improved, lower.worsened) == (higher.improved, higher.worsened)
    assert lower.value_a == pytest.approx(1.0 - higher.value_a)
    assert lower.lower_is_better


def test_ranks_curves_and_bands_mirror() -> None:
    draws = {name: rng(7).random((50, 4)) < p for name, p in (("x", 0.3), ("y", 0.6), ("z", 0.8))}
    higher = {name: Outcomes.from_array(1.0 * won) for name, won in draws.items()}
    lower = {name: Outcomes.from_array(1.0 - won, scale=ERRORS) for name, won in draws.items()}
    one, other = (compare_all(models, "avg") for models in (higher, lower))
    assert [s.model for s in one.standings] == [s.model for s in other.standings] == ["z", "y", "x"]
    assert [s.rank_low for s in one.standings] == [s.rank_low for s in other.standings]
    assert other.standings[0].value == pytest.approx(1.0 - one.standings[0].value)
    assert curve(lower["y"], "pass@*").value.tolist() == curve(higher["y"], "pass@*").value.tolist()
    best, mirrored = band(higher["y"], "max@*"), band(lower["y"], "max@*")
    assert mirrored.low.tolist() == pytest.approx((1.0 - best.high).tolist())


def test_two_directions_are_not_put_together() -> None:
    sides = {
        "a": Outcomes.from_array([[0.5]], scale=UNIT),
        "b": Outcomes.from_array([[0.5]], scale=ERRORS),
    }
    with pytest.raises(InvalidInput, match=r"a has scores of 0 to 1, higher is better, and b has"):
        on_one_scale(sides)


def test_what_one_side_states_holds_for_both() -> None:
    sides = {"a": Outcomes.from_array([[0.5]]), "b": Outcomes.from_array([[0.2]], scale=ERRORS)}
    assert [side.scale for side in on_one_scale(sides).values()] == [ERRORS, ERRORS]
    beyond = {"a": Outcomes.from_array([[7.0]]), "b": Outcomes.from_array([[0.2]], scale=UNIT)}
    assert [side.scale for side in on_one_scale(beyond).values()] == [
        Scale(lower_is_better=False)
    ] * 2

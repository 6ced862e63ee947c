"""Corrected differences of two judged models."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from passband import Outcomes, compare
from passband.errors import InvalidInput, NotEnoughData
from passband.stats.judged import Judged, corrected, corrected_difference
from support.samples.judged_samples import simulated


def test_it_is_the_difference_of_the_corrected_values() -> None:
    a, b = simulated(seed=1), simulated(seed=2)
    result = corrected_difference(a, b)
    assert result.value_a == corrected(a).value
    assert result.value_b == corrected(b).value
    assert result.value == result.value_b - result.value_a
    assert result.low < result.value < result.high
    assert (result.p_value < 0.05) == (not result.low <= 0.0 <= result.high)


def test_sides_mirror_each_other() -> None:
    a, b = simulated(seed=1), simulated(seed=2)
    forth, back = corrected_difference(a, b), corrected_difference(b, a)
    assert back.value == -forth.value
    assert (back.low, back.high) == (pytest.approx(-forth.high), pytest.approx(-forth.low))
    assert back.p_value == pytest.approx(forth.p_value)


def test_variance_by_hand() -> None:
    """A judge that is always right on 20 of 40 labelled problems: only the spread and the floor."""
    label_a, label_b = np.tile([1.0, 0.0], 20), np.tile([1.0, 1.0, 0.0, 1.0], 10)
    shown = np.arange(40) < 20
    sides = [
        Judged.of(range(40), [0] * 40, y, np.where(shown, y, np.nan), design="spread")
        for y in (label_a, label_b)
    ]
    result = corrected_difference(*sides)  # type: ignore[arg-type]
    change = label_b - label_a
    variance = change.var(ddof=1) / 40 + 20 / 18 / 20**2
    assert result.value == pytest.approx(0.25)
    assert result.se == pytest.approx(math.sqrt(variance))


def test_what_the_models_share_cancels() -> None:
    """The same answers of two models: no difference, and less noise than two independent sides."""
    a = simulated(100, 2, 50, seed=4)
    same = corrected_difference(a, a)
    other = corrected_difference(a, simulated(100, 2, 50, seed=5))
    assert same.value == 0.0
    assert same.p_value == pytest.approx(1.0)
    assert same.high - same.low < 0.5 * (other.high - other.low)


def test_both_sides_need_labels() -> None:
    a, b = simulated(seed=1), simulated(seed=2)
    nothing = replace(b, label=np.full(240, np.nan))
    with pytest.raises(NotEnoughData, match="side b: there are no labels: this is the judge's"):
        corrected_difference(a, nothing)
    with pytest.raises(InvalidInput, match="side a: the 40 labelled trials were chosen"):
        corrected_difference(replace(a, design="chosen"), b)


def test_problems_are_matched_by_name() -> None:
    a, b = simulated(60, seed=1), simulated(50, seed=2)
    result = corrected_difference(a, b)
    assert (result.n_shared, result.only_a, result.only_b) == (50, 10, 0)
    with pytest.raises(InvalidInput, match="at least 2 problems that both models have"):
        corrected_difference(a, Judged.of(["x"] * 20, range(20), [1] * 20, [1] * 15 + [None] * 5))


def test_fully_labelled_sides_are_compared_as_usual() -> None:
    a, b = (simulated(30, 2, 30, each=2, seed=seed) for seed in (1, 2))
    result = corrected_difference(a, b)
    plain = compare(*(Outcomes.from_array(side.label.reshape(30, 2)) for side in (a, b)), "pass@1")  # type: ignore[arg-type]
    assert (result.value, result.low, result.high) == (plain.value, plain.low, plain.high)


def test_pass_at_k_and_trials() -> None:
    a, b = (simulated(80, 4, 40, each=4, seed=seed) for seed in (1, 2))
    for over in ("problems", "trials"):
        result = corrected_difference(a, b, "pass@2", over=over)
        assert -1.0 <= result.low < result.value < result.high <= 1.0
    assert corrected_difference(a, b, over="trials").se < corrected_difference(a, b).se


def test_a_margin_decides() -> None:
    a = simulated(200, 2, 150, accuracy=0.99, seed=4)
    assert corrected_difference(a, a, margin=0.1).decision.verdict == "equivalent"
    assert corrected_difference(a, a, margin=0.001).decision.verdict == "undecided"

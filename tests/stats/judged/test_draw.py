"""Drawn labels: deterministic, order-free, extendable, and of the probabilities that are said."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.stats.judged import Design, Drawn, Judged, draw_labels
from passband.stats.judged.draw import TrialKeys, drawn_rows
from passband.stats.judged.judged import labels_in_rounds, probability_of_labels
from support.fuzz.properties import one_in

DESIGNS = [name for name in get_args(Design) if name not in ("unknown", "chosen")]
SIZES = [1 + number % 4 for number in range(20)]
PROBLEM = [f"p{code}" for code, size in enumerate(SIZES) for _ in range(size)]
TRIAL = [number for size in SIZES for number in range(size)]
SCORE = [(0.0, 1.0, 1.0, np.nan, 1.0)[row % 5] for row in range(len(TRIAL))]


def draw(count: int, design: Design, order: list[int] | None = None, seed: int = 1) -> Drawn:
    rows = list(range(len(TRIAL))) if order is None else order
    return draw_labels(
        [PROBLEM[row] for row in rows],
        [TRIAL[row] for row in rows],
        count,
        seed=seed,
        design=design,
        score=[SCORE[row] for row in rows],
    )


@one_in(4)
@given(st.sampled_from(DESIGNS), st.integers(1, 24), st.integers(0, 26), st.randoms())
def test_a_larger_draw_begins_with_the_smaller(
    design: Design, count: int, more: int, random: object
) -> None:
    first, longer = draw(count, design), draw(count + more, design)
    assert longer.rows[: len(first)].tolist() == first.rows.tolist()
    assert len(set(longer.rows.tolist())) == len(longer)
    order = list(range(len(TRIAL)))
    random.shuffle(order)  # type: ignore[attr-defined]
    again = draw(count, design, order)
    assert [order[row] for row in again.rows] == first.rows.tolist()
    assert again.probability.tolist() == first.probability.tolist()


@pytest.mark.parametrize("design", DESIGNS)
def test_probabilities_are_those_of_drawing(design: Design) -> None:
    """Over 3000 draws from random keys, within 4.5 standard errors of each trial."""
    sets, count = 3000, 25
    judged = Judged.of(PROBLEM, TRIAL, SCORE)
    rng = np.random.default_rng(3)
    drawn, chance = np.zeros(len(TRIAL)), np.full(len(TRIAL), np.nan)
    for _ in range(sets):
        keys = TrialKeys(rng.random(judged.n_problems), rng.random(judged.n_trials))
        rows, probability = drawn_rows(judged, count, design, keys)
        drawn[rows] += 1.0
        chance[rows] = probability
    error = np.sqrt(chance * (1.0 - chance) / sets)
    assert (np.abs(drawn / sets - chance) <= 4.5 * error + 1e-12).all()


def test_seeds_differ() -> None:
    assert draw(10, "spread").rows.tolist() != draw(10, "spread", seed=2).rows.tolist()


def test_spread_takes_every_problem_before_any_twice() -> None:
    first = draw(20, "spread").rows
    assert len({PROBLEM[row] for row in first}) == 20
    second = {PROBLEM[row] for row in draw(35, "spread").rows[20:]}
    assert len(second) == 15  # the 15 problems with two trials or more, once each


def test_labels_in_rounds_by_hand() -> None:
    # Round 1: 4 labels, one each. Round 2: 2 left for the 3 problems that have a second trial.
    assert labels_in_rounds(np.array([1, 2, 3, 3]), 6) == pytest.approx([1, 5 / 3, 5 / 3, 5 / 3])


def test_by_problem_draws_each() -> None:
    drawn = draw_labels(
        np.repeat(range(30), 8), [*range(8)] * 30, 40, seed="s", design="problem", each=4
    )
    counts = np.bincount(drawn.rows // 8)
    assert sorted(counts[counts > 0].tolist()) == [4] * 10
    assert drawn.probability == pytest.approx([10 / 30 * 4 / 8] * 40)


def test_by_verdict_draws_halves() -> None:
    score = [1.0] * 180 + [0.0] * 20
    drawn = draw_labels(range(200), [0] * 200, 30, seed=0, design="verdict", score=score)
    assert int((drawn.rows < 180).sum()) == 15
    assert sorted(set(drawn.probability.round(6).tolist())) == [round(15 / 180, 6), 0.75]


def test_chance_of_k_labels() -> None:
    trials, labels = np.array([4, 4, 2, 2]), np.array([4, 0, 0, 2])
    assert probability_of_labels("problem", trials, labels, 2).tolist() == [0.5] * 4
    assert probability_of_labels("spread", trials, np.array([2, 1, 1, 1]), 2) == pytest.approx(
        [0.25] * 4
    )
    half = probability_of_labels("trial", trials, labels, 2)
    assert half == pytest.approx([1 - 0.5**4 - 4 * 0.5**4] * 2 + [0.25] * 2)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InvalidInput, match="50 trials to label; got a count of 51"):
        draw(51, "trial")
    with pytest.raises(InvalidInput, match="by spread, trial, problem or verdict"):
        draw(5, "chosen")
    with pytest.raises(InvalidInput, match="needs the judge's score"):
        draw_labels(["a"], [0], 1, seed=0, design="verdict")
    with pytest.raises(InvalidInput, match="each is for the design 'problem'"):
        draw_labels(["a"], [0], 1, seed=0, each=2)

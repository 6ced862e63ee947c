"""Intervals for scores that are not 0 or 1."""

from itertools import combinations
from statistics import NormalDist, mean, stdev, variance

import numpy as np
import pytest

from passband import Outcomes, estimate
from passband.notes import (
    NO_SPREAD,
    NO_TRIAL_NOISE,
    ONE_CLUSTER,
    ONE_PROBLEM_NO_INTERVAL,
    no_repeats,
)
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.interval.estimate import Over

SCORES = [[0.1, 0.5, 0.9], [0.3, 0.2, 0.4], [1.5, 0.9, 2.1], [0.2, 0.3, 0.7]]


def best(scores: list[float], k: int) -> float:
    return mean(max(pick) for pick in combinations(scores, k))


def test_symmetric_scores_have_student_s_interval() -> None:
    outcomes = Outcomes.from_array([[0.1], [0.3], [0.5], [0.7], [0.9]])
    found = estimate(outcomes, "avg", level=0.9)
    se = stdev([0.1, 0.3, 0.5, 0.7, 0.9]) / 5**0.5
    assert found.se == pytest.approx(se)
    reach = student_quantile(0.9, 4) * se
    assert (found.low, found.high) == pytest.approx((0.5 - reach, 0.5 + reach))
    assert found.notes == ()


def test_the_longer_tail_gets_the_longer_end() -> None:
    found = estimate(Outcomes.from_array([[0.1], [0.2], [0.1], [0.3], [5.0]]), "avg")
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.value > found.value - found.low


def test_the_noise_of_a_mean_by_hand() -> None:
    found = estimate(Outcomes.from_array(SCORES), "avg", over="trials")
    se = mean(variance(row) / 3 for row in SCORES) ** 0.5 / 2
    z = NormalDist().inv_cdf(0.975)
    assert found.se == pytest.approx(se)
    assert (found.low, found.high) == pytest.approx((found.value - z * se, found.value + z * se))


@pytest.mark.parametrize(("n", "k"), [(3, 1), (3, 2), (6, 2), (6, 5)])
def test_the_noise_of_the_best_is_the_jackknife(n: int, k: int) -> None:
    rows = np.random.default_rng(8).normal(size=(4, n)).round(2).tolist()
    noise = 0.0
    for row in rows:
        left_out = [best(row[:i] + row[i + 1 :], k) for i in range(n)]
        noise += (n - 1) / n * sum((value - mean(left_out)) ** 2 for value in left_out)
    found = estimate(Outcomes.from_array(rows), f"max@{k}", over="trials")
    assert found.value == pytest.approx(mean(best(row, k) for row in rows))
    assert found.se == pytest.approx((noise / 4) ** 0.5 / 2)


def test_problems_without_repeats_borrow_the_noise_of_the_others() -> None:
    ragged = Outcomes.from_array([[0.1, 0.5], [0.7], [0.2]])
    found = estimate(ragged, "avg", over="trials")
    assert found.se == pytest.approx((variance([0.1, 0.5]) / 2 / 3) ** 0.5)
    (note,) = found.notes
    assert "measured on the 1 of 3 problems with at least 2 trials" in note.text
    ragged = Outcomes.from_array([[0.1, 0.5, 0.3], [0.7, 0.2, 0.1], [0.2, 0.3], [0.9]])
    (note,) = estimate(ragged, "max@2", over="trials").notes
    assert "measured on the 2 of 3 problems with at least 3 trials" in note.text


@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize("name", ["avg", "max@1"])
def test_scores_within_0_and_1_are_bounded_by_them(over: Over, name: str) -> None:
    scores = np.array([[0.7, 1.0], [1.0, 1.0], [0.95, 1.0], [1.0, 0.99]])
    near = estimate(Outcomes.from_array(scores), name, over=over)
    far = estimate(Outcomes.from_array(1 - scores), name, over=over)
    assert near.high == 1.0
    assert far.low == 0.0
    free = estimate(Outcomes.from_array(scores + 0.01), name, over=over)
    assert free.high is not None
    assert near.low is not None
    assert free.low == pytest.approx(near.low + 0.01)
    assert free.high > 1.01
    assert free.se == pytest.approx(near.se)


def test_clusters_by_hand() -> None:
    scores = [0.1, 0.2, 0.6, 0.9, 0.4, 0.5]
    outcomes = Outcomes.from_array([[s] for s in scores], clusters=list("aabbcc"))
    middle = mean(scores)
    sums = [sum(scores[i : i + 2]) - 2 * middle for i in (0, 2, 4)]
    found = estimate(outcomes, "avg")
    assert found.se == pytest.approx((3 / 2 * sum(s * s for s in sums)) ** 0.5 / 6)
    plain = estimate(Outcomes.from_array([[s] for s in scores]), "avg")
    assert plain.se is not None
    assert found.se is not None
    assert found.se > plain.se


def test_clusters_keep_to_their_problems_when_trials_differ() -> None:
    rows = [[0.1, 0.3], [0.9], [0.2, 0.4], [0.8], [0.5]]
    first = estimate(Outcomes.from_array(rows, clusters=list("xyxyz")), "avg")
    order = [3, 0, 4, 2, 1]
    moved = Outcomes.from_array([rows[i] for i in order], clusters=["xyxyz"[i] for i in order])
    second = estimate(moved, "avg")
    assert (first.low, first.high) == pytest.approx((second.low, second.high))


@pytest.mark.parametrize("score", [0.1, -3.7, 1e-200, 0.5])
def test_no_interval_from_scores_that_are_all_the_same(score: float) -> None:
    # the mean of three times 0.1 is not 0.1 in floating point; that is not spread
    outcomes = Outcomes.from_array([[score] * 3, [score] * 3, [score] * 7])
    for name in ("avg", "max@2"):
        like, very = (estimate(outcomes, name, over=over) for over in ("problems", "trials"))
        assert (like.low, like.high, like.se, like.notes) == (None, None, None, (NO_SPREAD,))
        assert (very.low, very.high, very.se, very.notes) == (None, None, None, (NO_TRIAL_NOISE,))


def test_where_there_is_nothing_to_go_by() -> None:
    single = Outcomes.from_array([[0.1, 0.4]])
    assert estimate(single, "avg").notes == (ONE_PROBLEM_NO_INTERVAL,)
    assert estimate(single, "max@2", over="trials").notes == (no_repeats(3),)
    assert estimate(Outcomes.from_array([[0.1], [0.4]]), "avg", over="trials").notes == (
        no_repeats(2),
    )
    together = Outcomes.from_array([[0.1], [0.4]], clusters=["a", "a"])
    assert estimate(together, "avg").notes[0] == ONE_CLUSTER


@pytest.mark.parametrize("largest", [1e-200, 1e-3, 1.0, 1e103, 1e155, 1e300])
def test_the_scale_of_scores_does_not_matter(largest: float) -> None:
    like = estimate(Outcomes.from_array([[0.0], [1024.0], [-8.0]]), "avg")
    scaled = estimate(Outcomes.from_array([[0.0], [largest], [-largest / 128]]), "avg")
    assert like.low is not None
    assert like.se is not None
    assert scaled.low == pytest.approx(like.low / 1024 * largest)
    assert scaled.se == pytest.approx(like.se / 1024 * largest)

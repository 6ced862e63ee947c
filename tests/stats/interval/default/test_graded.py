"""Intervals for scores that are not 0 or 1."""

from collections.abc import Iterator
from itertools import combinations
from statistics import mean, stdev, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes, estimate
from passband.notes import joined
from passband.stats.checks import Over
from passband.stats.data.scale import UNIT, Scale
from passband.stats.interval.default.wilson import roots, student_quantile
from passband.stats.interval.estimation import Estimate
from passband.stats.interval.notes import (
    NO_SPREAD,
    NO_TRIAL_NOISE,
    ONE_CLUSTER,
    ONE_PROBLEM_NO_INTERVAL,
)
from passband.stats.metric.components import BestScore, MeanScore
from passband.stats.metric.metric import BlendMetric, Metric
from passband.stats.metric.names import MetricName
from passband.stats.metric.registry import families, register_family

ROWS = [[0.0, 0.25, 1.0, 0.5], [1.0, 1.0, 0.75, 1.0], [0.0, 0.0, 0.0, 0.5], [0.5, 0.25, 0.0, 1.0]]
SCORES = [[0.1, 0.5, 0.9], [0.3, 0.2, 0.4], [1.5, 0.9, 2.1], [0.2, 0.3, 0.7]]


def codes(found: Estimate) -> set[str]:
    return {note.code for note in found.notes}


def best(scores: list[float], k: int) -> float:
    return mean(max(pick) for pick in combinations(scores, k))


def test_symmetric_scores_have_student_s_interval() -> None:
    outcomes = Outcomes.from_array([[-3], [-1], [1], [3], [5]])
    found = estimate(outcomes, "avg", level=0.9)
    se = stdev([-3, -1, 1, 3, 5]) / 5**0.5
    assert found.se == pytest.approx(se)
    reach = student_quantile(0.9, 4) * se
    assert (found.low, found.high) == pytest.approx((1 - reach, 1 + reach))
    assert codes(found) == {"few-informative"}


def test_scores_of_both_signs_have_the_outer_ends_by_hand() -> None:
    scores = [-1.0, 0.0, 0.5, 0.5, 1.0, 9.0]
    middle, variance_ = mean(scores), variance(scores)
    reach = student_quantile(0.95, 5) * (variance_ / 6) ** 0.5
    third = mean((score - middle) ** 3 for score in scores)
    tilt = third / (variance_ * 5 / 6)
    skewed = roots(middle, variance_, tilt, 0.0, student_quantile(0.95, 5), 6)  # type: ignore[arg-type]
    found = estimate(Outcomes.from_array([[score] for score in scores]), "avg")
    assert found.low == pytest.approx(middle - reach)  # skewness alone would draw it in
    assert found.high == pytest.approx(float(skewed[1]))
    assert middle - reach < skewed[0]
    assert skewed[1] > middle + reach


@given(
    st.lists(st.integers(-50, 50).map(float), min_size=3, max_size=30),
    st.floats(0.5, 0.999),
)
def test_no_interval_over_scores_of_both_signs_is_shorter_than_student_s(
    scores: list[float], level: float
) -> None:
    rows = [[score] for score in [*scores, -1.0, 2.0, 60.0]]
    found = estimate(Outcomes.from_array(rows), "avg", level=level)
    assert found.se is not None
    assert found.low is not None
    assert found.high is not None
    reach = student_quantile(level, len(rows) - 1) * found.se
    assert found.low <= found.value - reach + 1e-9
    assert found.high >= found.value + reach - 1e-9


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=4),
        min_size=2,
        max_size=10,
    ),
    st.sampled_from([(-1.0, 1.0), (0.0, 64.0), (-8.0, -4.0)]),
    st.sampled_from(["problems", "trials"]),
    st.sampled_from(["avg", "max@2"]),
)
def test_a_stated_scale_is_as_good_as_0_to_1(
    rows: list[list[float]], ends: tuple[float, float], over: Over, name: str
) -> None:
    scale = Scale(*ends)
    stretched = [[scale.at_share(share) for share in row] for row in rows]
    if {share for row in rows for share in row} <= {0.0, 1.0}:
        rows[0][0], stretched[0][0] = 0.5, scale.at_share(0.5)  # 0 and 1 alone are counted
    shares = estimate(Outcomes.from_array(rows, scale=UNIT), name, over=over)
    found = estimate(Outcomes.from_array(stretched, scale=scale), name, over=over)
    wanted = (scale.at_share(end) for end in (shares.value, shares.low, shares.high))
    assert (found.value, found.low, found.high) == pytest.approx(tuple(wanted))
    assert codes(found) == codes(shares)


def test_a_scale_that_is_not_stated_is_a_guess_and_said() -> None:
    def guessed(rows: list[list[float]], scale: Scale | None = None) -> bool:
        return "scale-guessed" in codes(estimate(Outcomes.from_array(rows, scale=scale), "avg"))

    assert guessed([[0.5], [1.0], [0.0]])
    assert guessed([[0.5], [4.0], [2.0]])
    assert not guessed([[0.5], [1.0], [0.0]], UNIT)
    assert not guessed([[-1.0], [1.0], [0.0]])  # no ends are assumed
    assert not guessed([[0.5], [4.0], [2.0]], Scale(0.0, None))


def test_0_and_one_other_score_may_be_two_of_three() -> None:
    found = estimate(Outcomes.from_array([[-1.0]] * 2 + [[0.0]] * 8), "avg")
    assert found.high is not None
    assert found.high > 0.0  # no reward was drawn, which does not mean that there is none
    stated = estimate(
        Outcomes.from_array([[-1.0]] * 2 + [[0.0]] * 8, scale=Scale(None, 0.0)), "avg"
    )
    assert stated.high is not None
    assert stated.high < 0.0


def test_the_longer_tail_of_scores_of_one_sign_is_log_normal_by_hand() -> None:
    scores = [1.0, 2.0, 4.0, 8.0]
    middle, variance_ = mean(scores), variance(scores)
    log = np.log(1 + variance_ / middle**2)
    reach = student_quantile(0.95, 3) * (log / 4 + log**2 / 6) ** 0.5
    found = estimate(Outcomes.from_array([[score] for score in scores]), "avg")
    assert found.low == pytest.approx(middle * np.exp(-min(reach, 3)))
    assert found.high == pytest.approx(middle * np.exp(min(reach, 3)))
    mirrored = estimate(Outcomes.from_array([[-score] for score in scores]), "avg")
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))


def test_a_long_tail_is_noted_where_problems_are_few() -> None:
    few = [[score] for score in [1.0, 1.5, 2.0, 1.2, 1.7, 1.1, 9.0, 1.3, 1.4, 1.6, 1.8, 1.9]]
    assert "tail-may-be-missing" in codes(estimate(Outcomes.from_array(few), "avg"))
    even = [[score] for score in range(12)]
    assert codes(estimate(Outcomes.from_array(even, scale=Scale(0.0, None)), "avg")) == set()
    bounded = [[score[0] / 10] for score in few]
    assert codes(estimate(Outcomes.from_array(bounded, scale=UNIT), "avg")) == set()


def test_the_longer_tail_gets_the_longer_end() -> None:
    found = estimate(Outcomes.from_array([[0.1], [0.2], [0.1], [0.3], [5.0]]), "avg")
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.value > found.value - found.low


def test_the_noise_of_a_mean_by_hand() -> None:
    found = estimate(Outcomes.from_array(SCORES), "avg", over="trials")
    se = mean(variance(row) / 3 for row in SCORES) ** 0.5 / 2
    assert found.se == pytest.approx(se)
    noise = [variance(row) / 3 for row in SCORES]
    freedom = sum(noise) ** 2 / sum(w**2 / 4 for w in noise)
    factor = np.exp(student_quantile(0.95, freedom) * se / found.value)
    third = mean(sum((x - mean(row)) ** 3 for x in row) / (2 * 1 * 3) for row in SCORES)
    square = student_quantile(0.95, freedom) ** 2 / 4
    shift = square * third / mean(noise) / 2
    half = (shift**2 + square * mean(noise)) ** 0.5
    assert found.high == pytest.approx(max(found.value + shift + half, found.value * factor))
    assert found.low == pytest.approx(min(found.value + shift - half, found.value / factor))


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
    ragged = Outcomes.from_array([[0.1, 0.5], [0.7, 0.3], [0.2]])
    found = estimate(ragged, "avg", over="trials")
    noise = mean([variance([0.1, 0.5]) / 2, variance([0.7, 0.3]) / 2])
    assert found.se == pytest.approx((noise / 3) ** 0.5)
    assert "measured on the 2 of 3 problems with at least 2 trials" in joined(found.notes)
    ragged = Outcomes.from_array([[0.1, 0.5, 0.3], [0.7, 0.2, 0.1], [0.2, 0.3], [0.9]])
    notes = estimate(ragged, "max@2", over="trials").notes
    assert "measured on the 2 of 3 problems with at least 3 trials" in joined(notes)


def test_too_little_noise_is_measured_over_problems() -> None:
    for rows, name, code in (
        ([[0.1, 0.5], [0.7], [0.2]], "avg", "few-repeats"),
        ([[0.1], [0.7], [0.2]], "avg", "one-trial"),
        ([[0.1, 0.5], [0.7, 0.2], [0.2, 0.4]], "max@2", "noise-unmeasured"),
    ):
        like, very = (
            estimate(Outcomes.from_array(rows), name, over=over) for over in ("problems", "trials")
        )
        assert (very.low, very.high) == pytest.approx((like.low, like.high), abs=0.02)
        assert code in codes(very)


@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize("name", ["avg", "max@1"])
def test_scores_within_0_and_1_are_bounded_by_them(over: Over, name: str) -> None:
    scores = np.array([[0.7, 1.0], [1.0, 1.0], [0.95, 1.0], [1.0, 0.99]])
    near = estimate(Outcomes.from_array(scores), name, over=over)
    far = estimate(Outcomes.from_array(1 - scores), name, over=over)
    assert near.high is not None
    assert near.value < near.high <= 1.0
    assert (near.low, near.high) == pytest.approx((1 - far.high, 1 - far.low))
    free = estimate(Outcomes.from_array(scores + 0.01), name, over=over)
    assert free.high is not None
    assert free.high > 1.01
    assert free.se == pytest.approx(near.se)


def test_clusters_by_hand() -> None:
    scores = [1.0, 2.0, 6.0, 9.0, 4.0, 5.0]
    outcomes = Outcomes.from_array([[s] for s in scores], clusters=list("aabbcc"))
    found = estimate(outcomes, "avg")
    means = [mean(scores[i : i + 2]) for i in (0, 2, 4)]
    assert found.se == pytest.approx((variance(means) / 3) ** 0.5)
    plain = estimate(Outcomes.from_array([[s] for s in scores]), "avg")
    assert plain.se is not None
    assert found.se is not None
    assert found.se > plain.se
    shares = Outcomes.from_array([[s / 10] for s in scores], clusters=list("aabbcc"), scale=UNIT)
    bounded = estimate(shares, "avg")
    assert bounded.se is not None
    assert bounded.se >= found.se / 10
    assert codes(bounded) == {"few-clusters", "few-informative"}


def test_clusters_keep_to_their_problems_when_trials_differ() -> None:
    rows = [[0.1, 0.3], [0.9], [0.2, 0.4], [0.8], [0.5]]
    first = estimate(Outcomes.from_array(rows, clusters=list("xyxyz")), "avg")
    order = [3, 0, 4, 2, 1]
    moved = Outcomes.from_array([rows[i] for i in order], clusters=["xyxyz"[i] for i in order])
    second = estimate(moved, "avg")
    assert (first.low, first.high) == pytest.approx((second.low, second.high))


@pytest.mark.parametrize("score", [2.1, -3.7, -1e-200, 3.3])
def test_no_interval_from_unbounded_scores_that_are_all_the_same(score: float) -> None:
    # the mean of three times 2.1 is not 2.1 in floating point; that is not spread
    outcomes = Outcomes.from_array([[score] * 3, [score] * 3, [score] * 7])
    for name in ("avg", "max@2"):
        like, very = (estimate(outcomes, name, over=over) for over in ("problems", "trials"))
        assert (like.low, like.high, like.se, like.notes) == (None, None, None, (NO_SPREAD,))
        assert (very.low, very.high, very.se, very.notes) == (None, None, None, (NO_TRIAL_NOISE,))


@pytest.mark.parametrize("score", [0.1, 1e-200, 0.5, 0.999])
@pytest.mark.parametrize("name", ["avg", "max@2", "max@3"])
def test_bounded_scores_that_are_all_the_same_leave_what_could_be_missed(
    score: float, name: str
) -> None:
    found = estimate(Outcomes.from_array([[score] * 3] * 8, scale=UNIT), name, level=0.9)
    missed = 1 - 0.05 ** (1 / 8)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= score * (1 - missed) + 1e-12
    assert found.high >= score + (1 - score) * missed - 1e-12
    assert found.high - found.low < 0.6
    assert codes(found) == {"all-same-value"}


def test_problems_without_noise_leave_what_trials_could_have_missed() -> None:
    rows = [[0.2] * 4, [0.6] * 4, [0.9] * 4, [0.4] * 4]
    found = estimate(Outcomes.from_array(rows), "avg", over="trials")
    moved = max(
        r / 4 * (1 - 0.025 ** (1 / (4 * r))) * mean(sorted((0.8, 0.4, 0.1, 0.6))[-r:])
        for r in range(1, 5)
    )
    assert found.low is not None
    assert found.high is not None
    assert found.high >= found.value + 0.999 * moved
    assert found.low < found.value
    # as scores of 0 and 1 have it: nothing succeeded
    zeros = estimate(Outcomes.from_counts([0] * 10, 4), "avg", over="trials")
    tiny = estimate(Outcomes.from_array([[1e-9] * 4] * 10), "avg", over="trials")
    assert tiny.high == pytest.approx(zeros.high, rel=0.02)


def test_where_there_is_nothing_to_go_by() -> None:
    single = Outcomes.from_array([[1.1, 1.4]])
    assert estimate(single, "avg").notes == (ONE_PROBLEM_NO_INTERVAL,)
    assert estimate(single, "max@2", over="trials").notes == (ONE_PROBLEM_NO_INTERVAL,)
    together = Outcomes.from_array([[1.1], [1.4]], clusters=["a", "a"])
    assert estimate(together, "avg").notes == (ONE_CLUSTER,)
    bounded = estimate(Outcomes.from_array([[0.1, 0.4]], scale=UNIT), "avg")
    assert bounded.high is not None
    assert bounded.high > 0.9
    assert codes(bounded) == {"one-problem"}


# -- where the two kinds of scores meet --------------------------------------------------------

BITS = np.random.default_rng(0).random((24, 4)) < np.linspace(0, 1, 24)[:, None] ** 3


@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize("name", ["avg", "max@2", "max@4"])
@pytest.mark.parametrize("clusters", [None, [i // 2 for i in range(24)]])
def test_scores_close_to_0_and_1_have_nearly_the_interval_of_0_and_1(
    over: Over, name: str, clusters: list[int] | None
) -> None:
    bits = BITS.astype(float)
    exact = estimate(Outcomes.from_array(bits, clusters=clusters), name, over=over)
    one = bits.copy()
    one[23, 0] = 0.9999
    for rows in (np.abs(bits - 1e-5), one):
        close = estimate(Outcomes.from_array(rows, clusters=clusters), name, over=over)
        assert (close.low, close.high) == pytest.approx((exact.low, exact.high), abs=2e-3)


@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize("shape", [(30, 4), (10, 8), (100, 1)])
def test_one_partial_score_among_zeros_is_no_proof_that_all_are_small(
    over: Over, shape: tuple[int, int]
) -> None:
    def high(score: float) -> float:
        rows = np.zeros(shape)
        rows[0, 0] = score
        end = estimate(Outcomes.from_array(rows), "avg", over=over).high
        assert end is not None
        return end

    whole = high(1.0)
    assert high(0.5) > whole / 2.2
    assert high(0.9999) == pytest.approx(whole, rel=0.03)
    assert high(0.9) > whole / 1.3


@given(
    rows=st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=5),
        min_size=1,
        max_size=12,
    ),
    level=st.floats(0.5, 0.999),
    over=st.sampled_from(["problems", "trials"]),
    name=st.sampled_from(["avg", "max@1"]),
    scale=st.sampled_from([1.0, 3.0, -2.0]),
)
def test_ends_hold_for_any_scores(
    rows: list[list[float]], level: float, over: Over, name: str, scale: float
) -> None:
    outcomes = Outcomes.from_array([[scale * x for x in row] for row in rows])
    found = estimate(outcomes, name, over=over, level=level)
    if found.low is None or found.high is None:
        assert any(note.code.startswith("no-interval") for note in found.notes)
        assert scale != 1.0
        return
    assert found.low <= found.value <= found.high
    wide = estimate(outcomes, name, over=over, level=(1 + level) / 2)
    assert wide.low is not None
    assert wide.high is not None
    assert wide.low <= found.low + 1e-9
    assert wide.high >= found.high - 1e-9
    if scale == 1.0:
        assert 0.0 <= found.low < found.high <= 1.0


def _blend(name: MetricName, k: int) -> Metric:
    return BlendMetric(name.key, 2, (MeanScore(), BestScore()), (0.5, 0.5))


@pytest.fixture
def blend() -> Iterator[str]:
    register_family("best-and-mean", summary="a blend of the mean and the best score")(_blend)
    yield "best-and-mean"
    families.remove("best-and-mean")


@pytest.mark.parametrize("over", ["problems", "trials"])
def test_blends_of_graded_scores(over: Over, blend: str) -> None:
    found = estimate(Outcomes.from_array(ROWS), blend, over=over)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < found.value < found.high <= 1
    free = estimate(Outcomes.from_array([[3 * x for x in row] for row in ROWS]), blend, over=over)
    assert free.value == pytest.approx(3 * found.value)
    assert free.low is not None
    nothing = estimate(Outcomes.from_array([[2.0, -2.0], [2.0, -2.0]]), blend, over=over)
    assert nothing.low is None or nothing.value == 0.0


@pytest.mark.parametrize("largest", [1e-200, 1e-3, 1.0, 1e30, 1e70])
def test_the_scale_of_scores_does_not_matter(largest: float) -> None:
    like = estimate(Outcomes.from_array([[0.0], [1024.0], [-8.0]]), "avg")
    scaled = estimate(Outcomes.from_array([[0.0], [largest], [-largest / 128]]), "avg")
    assert like.low is not None
    assert like.se is not None
    assert scaled.low == pytest.approx(like.low / 1024 * largest)
    assert scaled.se == pytest.approx(like.se / 1024 * largest)


@pytest.mark.parametrize("largest", [1e80, 1e300])
def test_scores_too_large_to_square_are_refused(largest: float) -> None:
    outcomes = Outcomes.from_array([[0.0, largest], [largest / 2, -largest]])
    with pytest.raises(InvalidInput, match="Divide all scores by a constant"):
        estimate(outcomes, "avg", over="trials")


def test_values_whose_squares_vanish() -> None:
    rows = [[1e-300 * row, 3e-300] for row in range(8)]
    found = estimate(Outcomes.from_array(rows), "avg")
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high

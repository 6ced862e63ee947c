"""Comparing two models: pairing, intervals that are never silently narrow, and sign flips."""

from itertools import product
from math import comb
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, NotEnoughData, Outcomes, estimate
from passband.stats.decision import sign_flips as module
from passband.stats.decision.comparison import MOST_FLIPS, compare
from passband.stats.decision.difference import ZERO_FACTOR_UNPAIRED
from passband.stats.decision.paired import Paired
from passband.stats.decision.pairing import PAIRED_BY_POSITION
from passband.stats.decision.sign_flips import sign_flip_p_value
from passband.stats.interval.default.wilson import student_quantile
from support.fuzz.properties import one_in

counts = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=12)


def sides(pairs: list[tuple[int, int]], n: int = 6) -> tuple[Outcomes, Outcomes]:
    a, b = zip(*pairs, strict=True)
    return Outcomes.from_counts(a, n), Outcomes.from_counts(b, n)


def every_sign(change: list[float], mid: bool = False) -> float:
    sums = [abs(sum(s * d for s, d in zip(signs, change, strict=True))) for signs in flips(change)]
    observed = abs(sum(change))
    tie = float(np.mean(np.abs(np.array(sums) - observed) <= 1e-9)) if mid else 0.0
    tie = 0.0 if observed < 1e-9 else tie
    return float(np.mean(np.array(sums) >= observed - 1e-9)) - tie / 2


def flips(change: list[float]) -> list[tuple[int, ...]]:
    return list(product((-1, 1), repeat=len(change)))


# -- by hand -------------------------------------------------------------------------------


def test_a_paired_difference_by_hand() -> None:
    # d = 1, 2, 3, -2 eighths: mean 1/8; every problem changed, so nothing is added to the spread
    a, b = Outcomes.from_counts([1, 2, 3, 4], 8), Outcomes.from_counts([2, 4, 6, 2], 8)
    found = compare(a, b, "pass@1")
    d = np.array([1, 2, 3, -2]) / 8
    assert found.value == pytest.approx(1 / 8)
    assert (found.value_a, found.value_b) == pytest.approx((10 / 32, 14 / 32))
    assert found.se == pytest.approx(np.sqrt(14 / 64 / 3 / 4))
    assert found.se == pytest.approx(d.std(ddof=1) / 2)
    exact = compare(a, b, "pass@1", test="exact")
    assert exact.p_value == pytest.approx(every_sign(d.tolist()))
    assert (found.improved, found.worsened) == (3, 1)
    assert (found.n_problems, found.n_shared, found.only_a, found.only_b) == (4, 4, 0, 0)
    assert (found.method, found.test, found.seed) == ("paired", "interval", None)
    assert exact.test == "exact sign flips"


def test_symmetric_changes_of_every_problem_give_student_s_interval() -> None:
    d = np.array([-0.3, -0.1, 0.2, 0.5, 0.7])  # no skewness, and no problem without a change
    found = Paired(d, None, 1.0)
    reach = student_quantile(0.9, 4) * d.std(ddof=1) / np.sqrt(5)
    assert found.ends(0.9) == pytest.approx((0.2 - reach, 0.2 + reach))


def test_pairing_halves_the_error_where_problems_differ_more_than_models() -> None:
    hard = np.arange(200) % 7  # 0..6 successes of 8 on either side
    a = Outcomes.from_counts(hard, 8)
    b = Outcomes.from_counts(np.maximum(hard + 1 - 2 * (np.arange(200) % 5 == 0), 0), 8)
    paired, unpaired = compare(a, b, "pass@1"), compare(a, b, "pass@1", paired=False)
    v = [np.asarray(side.successes) / 8 for side in (a, b)]
    separate = np.sqrt(v[0].var(ddof=1) / 200 + v[1].var(ddof=1) / 200)
    assert paired.se == pytest.approx((v[1] - v[0]).std(ddof=1) / np.sqrt(200), rel=0.01)
    assert unpaired.se == pytest.approx(separate, rel=0.03)
    assert paired.value == pytest.approx(unpaired.value)
    assert paired.se is not None
    assert unpaired.se is not None
    assert paired.se < unpaired.se / 2
    assert paired.p_value is not None
    assert unpaired.p_value is not None
    assert paired.p_value < 1e-6 < 0.001 < unpaired.p_value


def test_square_and_add_by_hand() -> None:
    a, b = Outcomes.from_counts([3, 0, 5, 8, 2], 8), Outcomes.from_counts([4, 2, 5, 8, 6], 8)
    found = compare(a, b, "pass@2", over="trials")
    one, two = (estimate(side, "pass@2", over="trials") for side in (a, b))
    assert one.low is not None
    assert one.high is not None
    assert two.low is not None
    assert two.high is not None
    low = found.value - np.hypot(two.value - two.low, one.high - one.value)
    high = found.value + np.hypot(two.high - two.value, one.value - one.low)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert (found.method, found.test) == ("square-and-add", "interval")


def test_flips_are_the_problems_that_crossed_the_middle() -> None:
    a = Outcomes.from_counts([0, 8, 3, 4, 2], 8, problems="pqrst")
    b = Outcomes.from_counts([8, 1, 5, 8, 3], 8, problems="pqrst")
    found = compare(a, b, "pass@1")
    assert found.flips == (("p", 0, 1), ("q", 1, 1 / 8), ("r", 3 / 8, 5 / 8))
    assert found.flips[0].problem == "p"
    assert (found.flipped, found.improved, found.worsened) == (3, 4, 1)


def test_many_flips_are_counted_and_only_some_named() -> None:
    a, b = Outcomes.from_counts([0] * 50, 1), Outcomes.from_counts([1] * 50, 1)
    found = compare(a, b, "pass@1")
    assert (found.flipped, len(found.flips)) == (50, MOST_FLIPS)


# -- sign flips ----------------------------------------------------------------------------


@pytest.mark.parametrize(("up", "down"), [(0, 0), (5, 1), (4, 4), (30, 12), (400, 300)])
def test_one_trial_of_0_or_1_is_mcnemar(up: int, down: int) -> None:
    rows = [(0, 1)] * up + [(1, 0)] * down + [(1, 1)] * 7 + [(0, 0)] * 3
    total = up + down
    tail = sum(comb(total, i) for i in range(min(up, down) + 1))
    exact = min(1.0, 2 * tail / 2**total)
    for over in ("problems", "trials"):
        found = compare(*sides(rows, 1), "pass@1", over=over, test="exact")
        assert found.p_value == pytest.approx(exact, rel=1e-9)
    half = sum(comb(total, i) for i in range(min(up, down))) + comb(total, min(up, down)) / 2
    found = compare(*sides(rows, 1), "pass@1", test="mid-p")
    assert found.p_value == pytest.approx(2 * half / 2**total, rel=1e-9)


@given(counts)
def test_the_p_value_is_that_of_every_sign(pairs: list[tuple[int, int]]) -> None:
    change = [(b - a) / 6 for a, b in pairs]
    found = compare(*sides(pairs), "pass@1", test="exact")
    assert found.p_value == pytest.approx(every_sign(change))
    found = compare(*sides(pairs), "pass@1", test="mid-p")
    assert found.p_value == pytest.approx(every_sign(change, mid=True))


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=9))
def test_the_p_value_of_any_changes_is_that_of_every_sign(change: list[float]) -> None:
    rounded = [round(d, 3) for d in change]
    assert sign_flip_p_value(np.array(rounded)) == pytest.approx(every_sign(rounded))
    middle = sign_flip_p_value(np.array(rounded), mid=True)
    assert middle == pytest.approx(every_sign(rounded, mid=True))


@pytest.mark.parametrize("seed", range(6))
def test_the_fourier_sums_agree_with_the_list(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = rng.integers(-5, 9, 19) / 8
    step, count = np.unique(np.abs(whole[whole != 0]), return_counts=True)
    reached = abs(float(whole.sum())) - 1e-9
    listed = module._by_listing(step, count, reached)
    assert module._on_grid(step * 8, count, reached * 8) == pytest.approx(listed, abs=1e-12)
    middle = module._by_listing(step, count, reached, mid=True)
    assert middle < listed
    assert module._on_grid(step * 8, count, reached * 8, mid=True) == pytest.approx(middle)
    assert module._common_divisor(step / step[-1]) == pytest.approx(1 / 8 / step[-1])
    other = rng.normal(0.4, 1.0, 19)
    step, count = np.unique(np.abs(other), return_counts=True)
    reached, deviation = abs(float(other.sum())) - 1e-9, float(np.sqrt(count @ step**2))
    listed = module._by_listing(step, count, reached)
    smooth = module._smoothed(step, count, reached, deviation)
    assert listed * 0.9999 <= smooth <= listed * 1.01


@pytest.mark.parametrize("problems", [300, 3000, 20_000])
@pytest.mark.parametrize("lattice", [True, False])
def test_many_problems_give_nearly_the_normal_p_value(problems: int, lattice: bool) -> None:
    rng = np.random.default_rng(problems)
    change = rng.normal(1.8 / np.sqrt(problems), 1.0, problems)
    change = np.round(change * 16) / 16 if lattice else change
    z = abs(change.sum()) / np.sqrt(change @ change)
    expected = 2 * NormalDist().cdf(-float(z))
    assert sign_flip_p_value(change) == pytest.approx(expected, rel=0.08)


def test_one_huge_change_is_not_drowned_by_many_small_ones() -> None:
    rng = np.random.default_rng(5)
    small = rng.normal(0, 1e-4, 6000)
    # whatever the sign of the huge one, the small ones must reach what they reached with it
    expected = NormalDist().cdf(-float(small.sum() / np.sqrt(small @ small)))
    assert expected * 0.99 <= sign_flip_p_value(np.append(small, 1.0)) <= 3 * expected


def test_an_overwhelming_difference_has_a_p_value_above_zero() -> None:
    for change in (np.ones(5000), np.linspace(0.5, 1, 3000), np.arange(1.0, 9.0).repeat(900)):
        assert 0.0 < sign_flip_p_value(change) < 1e-30


def test_the_size_of_the_test() -> None:
    # a and b are one model: at most 5% of p-values below 0.05; 4.9 standard deviations allowed
    rng = np.random.default_rng(20)
    p = rng.beta(0.5, 0.8, (1500, 30))
    change = (rng.binomial(4, p) - rng.binomial(4, p)) / 4
    found = np.mean([sign_flip_p_value(row) <= 0.05 for row in change])
    assert found <= 0.05 + 4.9 * np.sqrt(0.05 * 0.95 / 1500)
    assert found >= 0.05 - 6 * np.sqrt(0.05 * 0.95 / 1500)  # and not far too careful


# -- properties ----------------------------------------------------------------------------


@one_in(4)
@given(counts, st.sampled_from(["pass@1", "pass^3", "maj@5", "geom-ds@2", "avg"]), st.booleans())
def test_swapping_the_sides_turns_the_sign(
    pairs: list[tuple[int, int]], metric: str, paired: bool
) -> None:
    a, b = sides(pairs)
    for over in ("problems", "trials"):
        one = compare(a, b, metric, over=over, paired=paired)
        two = compare(b, a, metric, over=over, paired=paired)
        assert one.value == pytest.approx(-two.value)
        assert None not in (one.low, one.high, two.low, two.high)
        assert (one.low, one.high) == pytest.approx((-two.high, -two.low), abs=1e-12)
        assert one.p_value == pytest.approx(two.p_value, rel=1e-6)
        assert one.confidence == pytest.approx(1 - two.confidence, abs=1e-8)
        assert one.low <= one.value <= one.high
        assert one.low < one.high
        assert (one.improved, one.worsened) == (two.worsened, two.improved)


@given(counts, st.sampled_from([0.5, 0.9, 0.99]))
def test_the_confidence_is_the_level_at_which_the_interval_touches_0(
    pairs: list[tuple[int, int]], level: float
) -> None:
    found = compare(*sides(pairs), "pass@1", level=level)
    assert found.low is not None
    assert found.high is not None
    assert found.confidence is not None
    if found.low > 1e-9:
        assert found.confidence >= (1 + level) / 2 - 1e-9
    elif found.high < -1e-9:
        assert found.confidence <= (1 - level) / 2 + 1e-9
    elif abs(found.low) > 1e-9 and abs(found.high) > 1e-9:
        assert (1 - level) / 2 - 1e-9 <= found.confidence <= (1 + level) / 2 + 1e-9


@pytest.mark.parametrize("metric", ["pass@1", "pass@4", "pass^4"])
def test_identical_outcomes_are_no_proof_of_sameness(metric: str) -> None:
    a = Outcomes.from_counts([0, 3, 4, 8] * 5, 8)
    found = compare(a, a, metric)
    reach = 1 - 0.025 ** (1 / 20)
    assert (found.value, found.p_value, found.confidence) == (0, 1, 0.5)
    assert (found.low, found.high) == pytest.approx((-reach, reach))
    assert found.se is None
    assert any("not-yet-seen problem" in note.text for note in found.notes)


def test_the_same_change_everywhere_is_not_certain_either() -> None:
    a, b = Outcomes.from_counts([0] * 10, 1), Outcomes.from_counts([1] * 10, 1)
    found = compare(a, b, "pass@1")
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(1 - 2 * (1 - 0.025**0.1))
    assert found.p_value == pytest.approx(2**-9)


def test_few_changed_problems_are_not_trusted() -> None:
    rows = [(0, 1)] + [(1, 1)] * 49
    found = compare(*sides(rows, 1), "pass@1")
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high
    assert found.high - found.low > 0.1  # Student's interval is 0.08 wide
    assert found.p_value is not None
    assert found.p_value > 0.5
    assert compare(*sides(rows, 1), "pass@1", test="exact").p_value == 1


def test_one_problem() -> None:
    found = compare(*sides([(1, 4)]), "pass@1")
    assert (found.value, found.p_value) == pytest.approx((0.5, 1))
    assert found.low is not None
    assert found.low < 0
    assert any("only one problem" in note.text for note in found.notes)


# -- what counts ---------------------------------------------------------------------------


def test_problems_are_matched_by_name_and_the_others_counted() -> None:
    a = Outcomes.from_counts([1, 2, 3, 4], [4, 4, 4, 8], problems=["x", "y", "only", "z"])
    b = Outcomes.from_counts([5, 2, 1, 1], [5, 5, 3, 3], problems=["z", "x", "new", "newer"])
    found = compare(a, b, "pass@1")
    assert (found.n_shared, found.n_problems, found.only_a, found.only_b) == (2, 2, 2, 2)
    assert found.value == pytest.approx(((2 / 5 - 1 / 4) + (1 - 1 / 2)) / 2)


def test_different_numbers_of_trials_are_fine_and_too_few_are_left_out() -> None:
    a = Outcomes.from_array([[1, 0, 1, 1], [0, 0, None, None], [1, None, None, None]])
    b = Outcomes.from_array([[1, 1], [1, 0], [1, 1]])
    found = compare(a, b, "pass@2")
    assert (found.n_shared, found.n_problems, found.left_out) == (3, 2, 1)
    assert found.value == pytest.approx(((1 - 1) + (1 - 0)) / 2)
    assert any("5 trials without a score (5 of a, 0 of b)" in note.text for note in found.notes)
    assert compare(a, b, "pass@1", policy="fail").value_a == pytest.approx((3 / 4 + 1 / 4) / 3)
    with pytest.raises(InvalidInput, match="without a score"):
        compare(a, b, "pass@1", policy="error")


def test_no_shared_problem_is_an_error_that_helps() -> None:
    a = Outcomes.from_counts([1, 2], 4, problems=["AIME-1", "AIME-2"])
    b = Outcomes.from_counts([1, 2], 4, problems=["aime_1", "aime_2"])
    with pytest.raises(InvalidInput, match=r"a has 'AIME-1', 'AIME-2'.*Did you mean 'aime_1'\?"):
        compare(a, b, "pass@1")
    found = compare(a, b, "pass@1", paired=False)
    assert (found.n_shared, found.only_a, found.n_problems, found.paired) == (0, 2, 4, False)
    assert (found.improved, found.flips, found.test) == (None, (), "interval")


def test_shared_problems_without_enough_trials_are_an_error() -> None:
    a = Outcomes.from_counts([1, 1], [4, 1], problems=["x", "y"])
    b = Outcomes.from_counts([1, 1], [1, 4], problems=["x", "y"])
    with pytest.raises(NotEnoughData, match="none of the 2 shared problems has 4"):
        compare(a, b, "pass@4")
    with pytest.raises(NotEnoughData, match="pass@5 needs 5 trials"):
        compare(a, b, "pass@5")


def test_numbered_problems_of_different_number_are_said_to_be_paired_by_position() -> None:
    found = compare(Outcomes.from_counts([1, 2, 3], 4), Outcomes.from_counts([1, 3], 4), "pass@1")
    assert PAIRED_BY_POSITION in found.notes


def test_nonsense_is_refused() -> None:
    a = Outcomes.from_counts([1, 2], 4)
    for level in (0.0, 1.0, 95):
        with pytest.raises(InvalidInput, match="level"):
            compare(a, a, "pass@1", level=level)
    with pytest.raises(InvalidInput, match="over"):
        compare(a, a, "pass@1", over="problem")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="Did you mean"):
        compare(a, a, "pas@1")
    with pytest.raises(InvalidInput, match="several metrics"):
        compare(a, a, "pass@1,2")
    with pytest.raises(InvalidInput, match="seed"):
        compare(a, a, "pass@1", seed=-1)


# -- clusters ------------------------------------------------------------------------------


@given(counts)
def test_clusters_of_one_are_no_clusters(pairs: list[tuple[int, int]]) -> None:
    a, b = sides(pairs)
    names = [f"c{at}" for at in range(len(pairs))]
    grouped = [
        Outcomes.from_counts(np.asarray(side.successes), 6, clusters=names) for side in (a, b)
    ]
    one, two = compare(a, b, "pass@2"), compare(*grouped, "pass@2")  # type: ignore[arg-type]
    assert (one.low, one.high, one.se) == pytest.approx((two.low, two.high, two.se))
    assert one.p_value == pytest.approx(two.p_value)


def test_clusters_flip_together() -> None:
    rows = [(1, 4)] * 6 + [(4, 1)] * 2 + [(2, 3)] * 4
    names = ["x"] * 6 + ["y"] * 2 + ["z"] * 4
    a, b = (Outcomes.from_counts([row[side] for row in rows], 6, clusters=names) for side in (0, 1))
    found = compare(a, b, "pass@1", test="exact")
    sums = [18 / 6, -6 / 6, 4 / 6]
    assert found.p_value == pytest.approx(every_sign(sums))
    assert found.test == "exact sign flips of clusters"
    whole = sum(sums) / 12
    left_out = [
        (sum(sums) - total) / (12 - size) for total, size in zip(sums, (6, 2, 4), strict=True)
    ]
    jackknife = 2 / 3 * sum((value - whole) ** 2 for value in left_out)
    assert found.se == pytest.approx(np.sqrt(jackknife))  # all moved, so nothing is added
    alone = compare(*sides(rows), "pass@1")
    assert found.high - found.low > alone.high - alone.low
    assert any("clusters" in note.text for note in found.notes)


def test_clusters_may_have_other_names_but_not_other_members() -> None:
    a = Outcomes.from_counts([1, 2, 3], 4, clusters=["p", "p", "q"])
    b = Outcomes.from_counts([2, 2, 4], 4, clusters=["1", "1", "2"])
    bare = Outcomes.from_counts([2, 2, 4], 4)
    assert compare(a, b, "pass@1").low == compare(a, bare, "pass@1").low
    other = Outcomes.from_counts([2, 2, 4], 4, clusters=["p", "q", "q"])
    with pytest.raises(InvalidInput, match="problem '1' is in 'p' and in 'q'"):
        compare(a, other, "pass@1")


# -- other scores and metrics --------------------------------------------------------------


def test_graded_scores() -> None:
    rng = np.random.default_rng(4)
    hard = rng.normal(0, 1, (30, 1))
    a = Outcomes.from_array(hard + rng.normal(0, 0.3, (30, 5)))
    b = Outcomes.from_array(hard + rng.normal(0.4, 0.3, (30, 5)))
    assert a.graded is not None
    assert b.graded is not None
    rows = [side.graded.values.reshape(30, 5) for side in (a, b) if side.graded is not None]
    found = compare(a, b, "avg")
    d = rows[1].mean(axis=1) - rows[0].mean(axis=1)
    assert found.value == pytest.approx(d.mean())
    assert found.se == pytest.approx(d.std(ddof=1) / np.sqrt(30))
    best = compare(a, b, "max@5")
    assert best.value == pytest.approx((rows[1].max(axis=1) - rows[0].max(axis=1)).mean())
    assert compare(a, b, "max@3", over="trials").se is not None
    with pytest.raises(InvalidInput, match="0 or 1"):
        compare(a, b, "pass@2")


def test_graded_scores_of_some_problems() -> None:
    a = Outcomes.from_array([[0.5, 1.5], [2.5], [0.25, 0.75]], problems="xyz")
    b = Outcomes.from_array([[1.5, 2.5], [0, 1]], problems="zx")  # type: ignore[arg-type]
    found = compare(a, b, "avg")
    assert found.value == pytest.approx(((0.5 - 1) + (2 - 0.5)) / 2)


def test_graded_scores_without_any_spread_have_no_interval() -> None:
    a = Outcomes.from_array([[5.0, 5.0]] * 4)
    found = compare(a, a, "avg")
    assert (found.low, found.high, found.confidence, found.p_value) == (None,) * 4
    assert found.decision.verdict == "undecided"
    assert found.notes


def test_a_blend_with_a_zero_factor_falls_back() -> None:
    a, b = Outcomes.from_counts([0, 0, 0, 0], 4), Outcomes.from_counts([4, 3, 4, 2], 4)
    found = compare(a, b, "geom-ds@2")
    assert found.method == "square-and-add"
    assert ZERO_FACTOR_UNPAIRED in found.notes


def test_one_trial_over_trials_is_the_interval_over_problems() -> None:
    a, b = Outcomes.from_counts([0, 1, 1, 0, 1], 1), Outcomes.from_counts([1, 1, 1, 0, 0], 1)
    one, two = compare(a, b, "pass@1", over="trials"), compare(a, b, "pass@1")
    assert (one.low, one.high) == (two.low, two.high)
    assert any("one trial" in note.text for note in one.notes)


# -- coverage ------------------------------------------------------------------------------


def share_covered(change: np.ndarray, truth: float) -> float:
    hits = 0
    for row in change:
        ends = Paired(row, None, 1.0).ends(0.95)
        assert ends is not None
        hits += ends[0] <= truth <= ends[1]
    return hits / len(change)


def test_coverage_with_several_trials() -> None:
    # p_b = p_a + 0.1 with p_a uniform on [0, 0.9]; nominal 95%, and 4.9 standard deviations
    rng = np.random.default_rng(11)
    p = rng.uniform(0, 0.9, (2000, 60))
    change = (rng.binomial(4, p + 0.1) - rng.binomial(4, p)) / 4
    assert 0.926 <= share_covered(change, 0.1) <= 0.974


def test_coverage_with_few_changes() -> None:
    # one trial, 6% of the problems get solved and 2% lost: about four changed problems in all
    rng = np.random.default_rng(12)
    u = rng.random((2000, 50))
    change = np.where(u < 0.06, 1.0, np.where(u < 0.08, -1.0, 0.0))
    assert share_covered(change, 0.04) >= 0.926


def test_sides_with_different_numbers_of_trials() -> None:
    # The rough side never succeeded in its single trial, which says little at a rate of 4 %.
    rough = Outcomes.from_counts([0] * 10, 1)
    fine = Outcomes.from_counts([2, 3, 1, 2, 4, 1, 2, 3, 2, 1], 50)
    found = compare(rough, fine, "pass@1")
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high
    assert found.p_value is not None
    assert found.p_value > 0.5
    assert any("different trial counts" in note.text for note in found.notes)
    back = compare(fine, rough, "pass@1")
    assert (back.value, back.low, back.high) == pytest.approx(
        (-found.value, -found.high, -found.low)
    )


@pytest.mark.slow
def test_size_of_the_test_with_uneven_trials() -> None:
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(60):
        p = rng.beta(5, 1, 30)
        a = Outcomes.from_counts(rng.binomial(4, p), 4)
        b = Outcomes.from_counts(rng.binomial(16, p), 16)
        found = compare(a, b, "pass@4").p_value
        assert found is not None
        rejected += found <= 0.05
    assert rejected <= 15  # 5 % would be 3; more than 15 has a chance below 1e-6


def test_the_p_value_is_where_the_interval_touches_zero_over_trials() -> None:
    rng = np.random.default_rng(12)
    p = rng.beta(0.6, 0.5, 12)
    a, b = (Outcomes.from_counts(rng.binomial(4, np.clip(p + up, 0, 1)), 4) for up in (0.0, 0.1))
    found = compare(a, b, "pass@2", over="trials")
    assert found.p_value is not None
    touching = compare(a, b, "pass@2", over="trials", level=1.0 - found.p_value)
    assert touching.low == pytest.approx(0.0, abs=1e-9)


def test_majority_is_the_vote_of_all_trials() -> None:
    a = Outcomes.from_answers([["x", "y", "x", "y"], ["y", "y", "x", "z"]] * 4, targets=["x"] * 8)
    b = Outcomes.from_answers([["x", "x", "x", "y"], ["y", "x", "x", "z"]] * 4, targets=["x"] * 8)
    found = compare(a, b, "majority")
    assert (found.metric, found.value) == ("vote@4", 0.75)
    with pytest.raises(NotEnoughData, match="vote@900000000 needs"):  # and no table of that size
        compare(a, b, "vote@900000000")


@pytest.mark.parametrize("scale", [1e-40, 1e-12, 1e9])
def test_the_scale_of_scores_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(0)
    scores = 2.0 + rng.random((12, 3))
    better = scores + 0.2 * rng.random((12, 3))
    plain = compare(Outcomes.from_array(scores), Outcomes.from_array(better), "avg")
    scaled = compare(
        Outcomes.from_array(scores * scale), Outcomes.from_array(better * scale), "avg"
    )
    assert scaled.p_value == pytest.approx(plain.p_value)
    assert plain.low is not None
    assert scaled.low == pytest.approx(plain.low * scale)
    assert plain.influence is not None
    assert scaled.influence is not None
    assert [one.problem for one in scaled.influence.problems] == [
        one.problem for one in plain.influence.problems
    ]


def test_trials_that_ended_with_a_success_are_said() -> None:
    stopped = Outcomes.from_counts([1] * 12, [1, 1, 2, 3, 1, 5, 8, 1, 2, 2, 4, 1])
    fixed = Outcomes.from_counts([3, 4, 2, 1, 4, 0, 0, 4, 2, 3, 1, 4], 4)
    again, wider = (
        compare(stopped, fixed, "pass@1", over="trials"),
        compare(stopped, fixed, "pass@1"),
    )
    for found in (again, wider):
        sides = [note.text[:2] for note in found.notes if note.code == "stopped-by-outcome"]
        assert sides == ["a:"]

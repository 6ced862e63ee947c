"""Means over strata: by hand, in fractions, and what they equal where strata do not matter."""

import pickle
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import passband
from passband import Outcomes, Stratified, combine, estimate
from passband.errors import InvalidInput, NotEnoughData, WrongType

ALGEBRA = Outcomes.from_counts([4, 3, 4, 2, 4, 1], 4)
GEOMETRY = Outcomes.from_counts([0, 2], 4)
BOTH = Outcomes.from_counts([4, 3, 4, 2, 4, 1, 0, 2], 4)
LABELS = ["algebra"] * 6 + ["geometry"] * 2


def test_value_by_hand() -> None:
    """Algebra is 18 of 24, geometry 2 of 8: half of each is 1/2, by size 20/32."""
    equal = estimate(BOTH, "pass@1", by=LABELS, weights="equal")
    size = estimate(BOTH, "pass@1", by=LABELS, weights="size")
    given = estimate(BOTH, "pass@1", by=LABELS, weights={"algebra": 0.1, "geometry": 0.9})
    assert (equal.value, size.value) == pytest.approx((0.5, 20 / 32))
    assert given.value == pytest.approx(0.1 * 0.75 + 0.9 * 0.25)
    assert (equal.method, size.method) == ("strata, equal weights", "strata, by size")
    assert given.method == "strata, given weights"
    assert (equal.n_problems, equal.n_trials, equal.over) == (8, 32, "problems")


strata_lists = st.lists(
    st.lists(st.integers(0, 5), min_size=1, max_size=12), min_size=2, max_size=6
)


def _exact(successes: list[int], n: int, k: int) -> Fraction:
    values = [1 - Fraction(comb(n - c, k), comb(n, k)) for c in successes]
    return sum(values, Fraction(0)) / len(values)


@given(strata_lists, st.sampled_from([1, 2, 5]), st.sampled_from(["problems", "trials"]))
def test_value_in_fractions_and_inside_the_interval(
    strata: list[list[int]], k: int, over: str
) -> None:
    parts = {f"s{i}": Outcomes.from_counts(counts, 5) for i, counts in enumerate(strata)}
    exact = {name: _exact(counts, 5, k) for name, counts in zip(parts, strata, strict=True)}
    total = sum(map(len, strata))
    by_size = {f"s{i}": Fraction(len(counts), total) for i, counts in enumerate(strata)}
    for weights, shares in (
        ("equal", dict.fromkeys(parts, Fraction(1, len(parts)))),
        ("size", by_size),
    ):
        result = combine(parts, f"pass@{k}", weights=weights, over=over)  # type: ignore[arg-type]
        value = sum(shares[name] * exact[name] for name in parts)
        assert result.combined.value == pytest.approx(float(value))
        low, high = result.combined.low, result.combined.high
        assert low is not None
        assert high is not None
        assert 0.0 <= low <= result.combined.value + 1e-12
        assert result.combined.value - 1e-12 <= high <= 1.0
        assert result.weights == pytest.approx({n: float(s) for n, s in shares.items()})


@pytest.mark.parametrize("over", ["problems", "trials"])
def test_one_stratum_is_the_plain_estimate(over: passband.stats.checks.Over) -> None:
    plain = estimate(BOTH, "pass@2", over=over)
    one = estimate(BOTH, "pass@2", over=over, by=["x"] * 8, weights="equal")
    assert (one.value, one.low, one.high, one.se) == (plain.value, plain.low, plain.high, plain.se)
    assert one.notes[0].code == "one-stratum"


def test_strata_of_equal_size_have_the_plain_mean() -> None:
    outcomes = Outcomes.from_counts([8, 7, 6, 8, 1, 0, 2, 3], 8)
    labels = ["easy"] * 4 + ["hard"] * 4
    equal = estimate(outcomes, "pass@1", by=labels, weights="equal")
    size = estimate(outcomes, "pass@1", by=labels, weights="size")
    plain = estimate(outcomes, "pass@1")
    assert equal.value == pytest.approx(plain.value)
    assert (equal.low, equal.high) == pytest.approx((size.low, size.high))
    # The strata differ much, and that they do is no uncertainty of their mean.
    assert equal.se is not None
    assert plain.se is not None
    assert equal.se < 0.5 * plain.se


def test_over_trials_and_by_size_strata_do_not_matter() -> None:
    plain = estimate(BOTH, "pass@1", over="trials")
    strata = estimate(BOTH, "pass@1", over="trials", by=LABELS, weights="size")
    assert (strata.low, strata.high) == pytest.approx((plain.low, plain.high))
    assert strata.se == pytest.approx(plain.se)


def test_standard_error_of_large_strata_is_the_textbook_one() -> None:
    """sqrt(sum w^2 s^2 / M), Cochran chapter 5."""
    rng = np.random.default_rng(4)
    parts = {name: rng.binomial(8, rng.beta(2, 1, 400)) for name in "abc"}
    strata = {name: Outcomes.from_counts(counts, 8) for name, counts in parts.items()}
    weights = {"a": 0.5, "b": 0.3, "c": 0.2}
    result = combine(strata, "pass@1", weights=weights).combined
    variance = sum(weights[n] ** 2 * np.var(c / 8, ddof=1) / 400 for n, c in parts.items())
    assert result.se == pytest.approx(np.sqrt(variance), rel=0.02)
    assert (result.high or 0) - (result.low or 0) == pytest.approx(3.92 * variance**0.5, rel=0.02)


@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize("successes", [0, 4])
def test_all_trials_alike(over: passband.stats.checks.Over, successes: int) -> None:
    outcomes = Outcomes.from_counts([successes] * 10, 4)
    labels = ["a"] * 5 + ["b"] * 5
    strata = estimate(outcomes, "pass@1", by=labels, weights="equal", over=over)
    plain = estimate(outcomes, "pass@1", over=over)
    assert (strata.low, strata.high) == pytest.approx((plain.low, plain.high), abs=0.01)
    assert [note.code for note in strata.notes] == ["all-same-value"]


def test_graded_scores_clusters_and_blends() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((24, 3)) * 10
    graded = Outcomes.from_array(scores)
    labels = ["a", "b", "c"] * 8
    mean = estimate(graded, "avg", by=labels, weights="equal")
    parts = [scores[i::3].mean(axis=1) for i in range(3)]
    assert mean.value == pytest.approx(np.mean([part.mean() for part in parts]))
    textbook = np.sqrt(sum(part.var(ddof=1) / 8 for part in parts)) / 3
    assert mean.se == pytest.approx(textbook)
    again = estimate(graded, "avg", by=labels, weights="equal", over="trials")
    assert again.low is not None
    clustered = Outcomes.from_counts([3, 4, 1, 0] * 6, 4, clusters=[i // 2 for i in range(24)])
    halves = ["a"] * 12 + ["b"] * 12
    assert estimate(clustered, "pass@1", by=halves, weights="equal").low is not None
    with pytest.raises(InvalidInput, match=r"cluster '0' has problems in the strata 'a' and 'b'"):
        estimate(clustered, "pass@1", by=["a", "b"] * 12, weights="equal")
    blend = Outcomes.from_counts([3, 4, 1, 0] * 6, 4)
    assert estimate(blend, "geom-ds@2", by=halves, weights="equal").low is not None


def test_single_problems_borrow_the_spread_of_the_others() -> None:
    outcomes = Outcomes.from_counts([4, 3, 0, 1, 2, 4, 3, 0, 1, 2, 4, 1, 2, 0] * 2, 4)
    labels = ["a"] * 13 + ["b"] * 13 + ["c", "d"]
    result = estimate(outcomes, "pass@1", by=labels, weights="equal")
    assert result.notes[0].code == "single-problem-strata"
    alone = estimate(outcomes, "pass@1", by=[str(i) for i in range(28)], weights="equal")
    assert "every stratum has a single problem" in alone.notes[0].text
    plain = estimate(outcomes, "pass@1")
    assert alone.se == pytest.approx(plain.se, rel=0.1)


def test_refusals() -> None:
    with pytest.raises(NotEnoughData, match=r"stratum 'b' has no problem with 3 scored trials"):
        combine({"a": ALGEBRA, "b": Outcomes.from_counts([1, 2], 2)}, "pass@3")
    with pytest.raises(InvalidInput, match="at least one stratum"):
        combine({}, "pass@1")
    with pytest.raises(WrongType, match="mapping from name to Outcomes"):
        combine([[1, 0]], "pass@1")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="'Algebra' and 'algebra' differ only in"):
        combine({"Algebra": ALGEBRA, "algebra": GEOMETRY}, "pass@1")
    with pytest.raises(InvalidInput, match="by goes with weights"):
        estimate(BOTH, "pass@1", by=LABELS)
    with pytest.raises(InvalidInput, match="weights goes with by"):
        estimate(BOTH, "pass@1", weights="equal")
    with pytest.raises(InvalidInput, match="method='auto' alone"):
        estimate(BOTH, "pass@1", by=LABELS, weights="equal", method="percentile")


def test_curve_ends_where_the_poorest_stratum_does() -> None:
    outcomes = Outcomes.from_counts([3, 1, 2, 1], [4, 4, 2, 2])
    results = estimate(outcomes, ["pass@*"], by=["a", "a", "b", "b"], weights="equal")
    assert [result.metric for result in results] == ["pass@1", "pass@2"]


def test_any_source_policy_and_pickle() -> None:
    result = combine({"a": [[1, 0], [1, 1]], "b": [[0, None], [1, 0]]}, "pass@1", policy="fail")
    assert isinstance(result, Stratified)
    assert result.combined.value == pytest.approx((0.75 + 0.25) / 2)
    assert result.combined.n_unscored == 1
    assert pickle.loads(pickle.dumps(result)) == result
    assert result.as_json()["strata"]["b"]["metric"] == "pass@1"
    mapped = estimate(BOTH, "pass@1", by=dict(enumerate_names()), weights="equal")
    assert mapped == estimate(BOTH, "pass@1", by=LABELS, weights="equal")


def enumerate_names() -> list[tuple[str, str]]:
    return [(str(index), label) for index, label in enumerate(LABELS)]


def test_a_small_stratum_that_weighs_much_is_noted() -> None:
    rng = np.random.default_rng(0)
    strata = {
        "few": Outcomes.from_counts([5, 7, 8], 8),
        "many": Outcomes.from_counts(rng.binomial(8, rng.random(100)), 8),
    }
    assert combine(strata, "pass@1").combined.notes[0].code == "heavy-stratum"
    assert combine(strata, "pass@1", weights="size").combined.notes == ()


def test_graded_scores_that_are_all_alike_have_no_interval_of_no_width() -> None:
    alike = Outcomes.from_array([[0.5, 0.5]] * 12)
    labels = ["a", "b"] * 6
    result = estimate(alike, "avg", by=labels, weights="equal")
    plain = estimate(alike, "avg")
    assert (result.low is None) == (plain.low is None)
    if result.low is not None:
        assert result.high is not None
        assert result.high - result.low > 0.1
    nearly = Outcomes.from_array([[0.5, 0.5]] * 11 + [[0.0, 1.0]])
    thin = estimate(nearly, "avg", by=labels, weights="equal")
    assert thin.notes or thin.low is None


def test_votes_are_means_over_problems_too() -> None:
    answers = [["1", "1", "2", "3"]] * 6 + [["2", "1", "2", "3"]] * 6
    outcomes = Outcomes.from_answers(answers, targets=["1"] * 12)
    labels = ["a"] * 6 + ["b"] * 6
    for over in ("problems", "trials"):
        result = combine(
            {name: outcomes.take(np.flatnonzero(np.array(labels) == name)) for name in "ab"},
            "vote@3",
            over=over,
        )
        own = [one.value for one in result.strata.values()]
        assert result.combined.value == pytest.approx(sum(own) / 2)
        assert result.combined.low is not None


def test_labels_and_weights_of_any_type() -> None:
    outcomes = Outcomes.from_counts([4, 3, 4, 2, 4, 1, 0, 2], 4)
    text = estimate(outcomes, "pass@1", by=["0", "1"] * 4, weights={"0": 0.25, "1": 0.75})
    for labels in (np.array([0, 1] * 4), [0.0, 1.0] * 4):
        found = estimate(outcomes, "pass@1", by=labels, weights={0: 0.25, 1: 0.75})  # type: ignore[arg-type, dict-item]
        assert found == text


def test_strata_of_one_problem_are_not_said_to_be_alike() -> None:
    single = estimate(BOTH, "pass@1", by=list("abcdefgh"), weights="equal")
    assert "no problem differs from the others of its stratum" in str(single.notes[-1])


def test_trials_that_ended_with_a_success_are_said() -> None:
    stopped = Outcomes.from_counts([1] * 12, [1, 1, 2, 3, 1, 5, 8, 1, 2, 2, 4, 1])
    found = estimate(stopped, "pass@1", by=["a", "b"] * 6, weights="equal")
    assert "stopped-by-outcome" in [note.code for note in found.notes]

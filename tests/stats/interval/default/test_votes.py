"""Intervals and bands of votes: what they contain, where they agree, and what they say."""

import numpy as np
import pytest

from passband import InvalidInput, Outcomes, band, compare, compare_all, estimate
from passband.stats.checks import Over
from passband.stats.interval.default.votes import AnswerModel, replicates_of

TARGETS: tuple[Over, ...] = ("problems", "trials")


def drawn(problems: int, trials: int, seed: int, sharper: float = 1.0) -> Outcomes:
    rng = np.random.default_rng(seed)
    chances = np.random.default_rng(99).dirichlet([2.0, 1.0, 0.5, 0.5, 0.5], problems) ** sharper
    chances /= chances.sum(axis=1, keepdims=True)
    answers = [rng.choice(list("abcde"), trials, p=row).tolist() for row in chances]
    return Outcomes.from_answers(answers, targets=["a"] * problems)


def codes(found: object) -> set[str]:
    return {note.code for note in found.notes}  # type: ignore[attr-defined]


@pytest.mark.parametrize("over", TARGETS)
def test_a_vote_of_one_has_the_interval_of_pass_at_1(over: Over) -> None:
    outcomes = drawn(40, 8, 0)
    one, other = (estimate(outcomes, name, over=over) for name in ("vote@1", "pass@1"))
    assert (one.value, one.low, one.high, one.se) == (other.value, other.low, other.high, other.se)
    mean, avg = (estimate(outcomes, name, over=over) for name in ("avg@8", "avg"))
    assert (mean.low, mean.high) == (avg.low, avg.high)
    assert codes(mean) == codes(avg)


@pytest.mark.parametrize("over", TARGETS)
@pytest.mark.parametrize("k", [2, 4, 8])
def test_an_interval_contains_the_value_and_widens_with_its_level(over: Over, k: int) -> None:
    outcomes = drawn(25, 8, 1)
    small, large = (
        estimate(outcomes, f"vote@{k}", over=over, level=level) for level in (0.8, 0.99)
    )
    assert small.low is not None
    assert small.high is not None
    assert 0.0 <= large.low < small.low < small.value < small.high < large.high <= 1.0


def test_over_problems_a_vote_is_a_score_of_each_problem() -> None:
    outcomes = drawn(30, 6, 2)
    values = np.array([estimate(outcomes.take(np.array([i])), "vote@3").value for i in range(30)])
    by_hand = estimate(Outcomes.from_array(values[:, None]), "avg")
    found = estimate(outcomes, "vote@3")
    assert (found.low, found.high) == pytest.approx((by_hand.low, by_hand.high), abs=1e-12)
    assert estimate(outcomes, "vote@3", method="percentile").low is not None


def test_replicates_of_one_draw_spread_as_the_mean_of_trials() -> None:
    # the variance of c/n is p(1-p)/n, and n/(n-1) makes its plug-in estimate unbiased
    outcomes = drawn(200, 16, 3)
    share = outcomes.required_successes() / 16
    expected = float((share * (1 - share)).mean()) / 15
    assert replicates_of(outcomes, 1).variance(1) == pytest.approx(expected, rel=0.15)


def test_the_interval_over_trials_does_not_depend_on_the_process() -> None:
    first, second = (estimate(drawn(20, 8, 4), "vote@4", over="trials") for _ in range(2))
    assert first == second
    assert first.seed is None


@pytest.mark.parametrize("answer", ["a", "b", None])
def test_trials_that_all_agree_leave_a_one_sided_bound(answer: str | None) -> None:
    outcomes = Outcomes.from_answers([[answer] * 8] * 10, targets=["a"] * 10)
    for over in TARGETS:
        found = estimate(outcomes, "vote@4", over=over)
        assert found.low is not None
        assert found.high is not None
        assert found.low == found.value == 0.0 or found.high == found.value == 1.0
        assert 0.0 < found.high - found.low < 0.5
        assert ("no-answers" in codes(found)) == (answer is None)


def test_what_answers_and_scores_disagree_on_is_noted() -> None:
    mixed = Outcomes.from_answers([["a", "a", "b"]] * 3, [[1, 0, 0]] * 3)
    assert "mixed-answers" in codes(estimate(mixed, "vote@3"))
    several = Outcomes.from_answers([["1/2", "0.5", "b"]] * 3, [[1, 1, 0]] * 3)
    assert "several-right-answers" in codes(estimate(several, "vote@3"))
    assert "k-above-half" in codes(estimate(drawn(30, 8, 5), "vote@8", over="trials"))


def test_clusters_widen_a_vote() -> None:
    plain = drawn(60, 8, 6)
    best = estimate(plain, "vote@4")
    order = np.argsort([estimate(plain.take(np.array([i])), "vote@4").value for i in range(60)])
    labels = [str(i // 3) for i in np.argsort(order)]
    clustered = Outcomes(
        plain.problems, plain.trials, plain.successes, clusters=labels, votes=plain.votes
    )
    grouped = estimate(clustered, "vote@4")
    assert grouped.high - grouped.low > 1.2 * (best.high - best.low)


@pytest.mark.parametrize("over", TARGETS)
def test_a_band_contains_its_curve_and_is_wider_than_its_points(over: Over) -> None:
    outcomes = drawn(40, 8, 7)
    whole = band(outcomes, "vote@*", over=over)
    assert (whole.low <= whole.value).all()
    assert (whole.value <= whole.high).all()
    assert whole.critical > 1.95
    for k in (2, 4, 8):
        point = estimate(outcomes, f"vote@{k}", over=over)
        assert whole.low[k - 1] <= point.low + 1e-9
        assert whole.high[k - 1] >= point.high - 1e-9


def test_a_band_over_ragged_trials_counts_who_is_left() -> None:
    outcomes = Outcomes.from_answers([["a", "b", "a"], ["a", "a"], ["b"]], targets=["a"] * 3)
    assert band(outcomes, "vote@*").left_out.tolist() == [0, 1, 2]
    assert len(band(outcomes, "vote@*", over="trials")) == 3


@pytest.mark.parametrize("over", TARGETS)
def test_models_are_compared_by_their_votes(over: Over) -> None:
    one, other = drawn(40, 8, 8), drawn(40, 8, 9, sharper=2.0)
    found = compare(one, other, "vote@4", over=over)
    by_hand = estimate(other, "vote@4").value - estimate(one, "vote@4").value
    assert found.value == pytest.approx(by_hand, abs=1e-12)
    assert found.low is not None
    assert found.low <= found.value
    assert len(compare_all({"a": one, "b": other, "c": one}, "vote@4", over=over).standings) == 3


@pytest.mark.parametrize(("method", "over"), [("uniform", "trials"), ("hierarchical", "problems")])
def test_methods_that_know_only_scores_are_refused(method: str, over: Over) -> None:
    with pytest.raises(InvalidInput, match=r"has no interval over .* for vote@4.*method='auto'"):
        estimate(drawn(20, 8, 10), "vote@4", method=method, over=over)


def test_an_answer_that_nobody_else_gives_is_drawn_apart() -> None:
    votes = Outcomes.from_answers([list("bcdefghi")], targets=["a"]).required_votes()
    tables = AnswerModel.of(votes).tables(50, 8, np.random.default_rng(0))
    assert tables.shape == (1, 50, 8)
    # eight wrong answers that never meet: one right trial among eight wins an eighth, two win
    assert set(np.round(tables[0, :, 7], 6)) <= {0.0, 0.125, 1.0}


def test_answers_that_were_not_recorded_are_told_of() -> None:
    scores = [[1.0, 0.0, 1.0]] * 4
    result = estimate(Outcomes.from_answers([["7", None, None]] * 4, scores), "vote@3")
    assert "missing-answers" in {note.code for note in result.notes}
    with pytest.raises(InvalidInput, match="not one has an answer"):
        estimate(Outcomes.from_answers([[None] * 3] * 4, scores), "vote@3")
    assert estimate(Outcomes.from_answers([[None] * 3] * 4, [[0.0] * 3] * 4), "vote@3").value == 0

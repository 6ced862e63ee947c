"""Point values: what counts, what is left out, what the policy does, and the whole curve."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, NotEnoughData, Outcomes, curve, measure, measure_all
from passband.stats.data.outcomes import Policy

RAGGED = Outcomes.from_array([[1, 0, 1, 1], [0, 0, None], [1]], problems="abc")

rows = st.lists(st.sampled_from([0, 1, None]), max_size=6)
matrices = st.lists(rows, min_size=1, max_size=8).filter(
    lambda matrix: any(score is not None for row in matrix for score in row)
)


def test_problems_with_too_few_trials_are_left_out_and_counted() -> None:
    found = measure(RAGGED, "pass@2")
    assert found.value == pytest.approx((1 + 0) / 2)
    assert (found.n_problems, found.left_out, found.n_trials) == (2, 1, 6)
    assert (found.n_unscored, found.policy, found.metric) == (1, "drop", "pass@2")


def test_the_point_estimate_is_the_mean_over_problems() -> None:
    assert measure(RAGGED, "pass@1").value == pytest.approx((3 / 4 + 0 + 1) / 3)


def test_policies() -> None:
    assert measure(RAGGED, "pass@3").n_problems == 1
    failed = measure(RAGGED, "pass@3", policy="fail")
    assert (failed.n_problems, failed.left_out, failed.n_trials) == (2, 1, 7)
    assert (failed.value, failed.n_unscored, failed.policy) == (0.5, 1, "fail")
    with pytest.raises(InvalidInput, match="1 missing without a score"):
        measure(RAGGED, "pass@1", policy="error")
    with pytest.raises(InvalidInput, match="1 missing without a score"):
        measure_all(RAGGED, ["pass@1"], policy="error")
    with pytest.raises(InvalidInput, match="1 missing without a score"):
        curve(RAGGED, "pass@*", policy="error")


def test_a_policy_never_changes_what_it_was_given() -> None:
    measure(RAGGED, "pass@1", policy="fail")
    assert RAGGED.trials.tolist() == [4, 2, 1]
    assert RAGGED.n_unscored == 1


def test_k_is_never_changed() -> None:
    for ask in (measure, lambda outcomes, metric: measure_all(outcomes, [metric])):
        with pytest.raises(NotEnoughData, match="5"):
            ask(RAGGED, "pass@5")
        with pytest.raises(InvalidInput, match="k must be at least 1"):
            ask(RAGGED, "pass@0")
        with pytest.raises(InvalidInput, match=r"no metric named 'pas@'. Did you mean 'pass@'\?"):
            ask(RAGGED, "pas@2")


def test_one_number_needs_one_k() -> None:
    for several in ("pass@1,2", "pass@*"):
        with pytest.raises(InvalidInput, match="several"):
            measure(RAGGED, several)


def test_several_at_once_keep_their_order() -> None:
    found = measure_all(RAGGED, ["pass^2,1", "avg", "pass@*"])
    assert [m.metric for m in found] == [
        "pass^2", "pass^1", "avg", "pass@1", "pass@2", "pass@3", "pass@4",
    ]  # fmt: skip
    assert [m.left_out for m in found] == [1, 0, 0, 0, 1, 2, 2]
    assert [m.n_unscored for m in found] == [1] * 7
    assert measure_all(RAGGED, []) == []


@pytest.mark.parametrize("metric", ["pass@1", "avg", "bayes", "max@1"])
def test_no_scored_trial_is_not_enough_data(metric: str) -> None:
    nothing = Outcomes.from_array([[None, None], []])
    with pytest.raises(NotEnoughData):
        measure(nothing, metric)
    with pytest.raises(NotEnoughData):
        measure_all(nothing, [metric])
    failed = measure(nothing, "pass@1", policy="fail")
    assert (failed.value, failed.n_problems, failed.left_out) == (0, 1, 1)


def test_graded_scores_need_a_threshold_for_a_binary_metric() -> None:
    graded = Outcomes.from_array([[0.2, 0.8]])
    for ask in (measure, curve):
        with pytest.raises(InvalidInput, match=r"got 0\.2, 0\.8\."):
            ask(graded, "pass@1" if ask is measure else "pass@*")
    assert measure(graded.binarize(0.5), "pass@1").value == 0.5


@given(matrices, st.sampled_from(["pass@", "pass^", "maj@", "auc@", "geom@", "geom-ds@", "max@"]))
def test_the_curve_is_the_metric_at_every_k(matrix: list[list[int | None]], family: str) -> None:
    outcomes = Outcomes.from_array(matrix)
    found = curve(outcomes, family)
    assert found.metric == f"{family}*"
    assert len(found) == outcomes.most_trials()
    for k, value, problems in zip(found.k, found.value, found.n_problems, strict=True):
        one = measure(outcomes, f"{family}{k}")
        assert value == pytest.approx(one.value, abs=1e-12)
        assert problems == one.n_problems
    starred = measure_all(outcomes, [f"{family}*"])
    assert [point.value for point in starred] == found.value.tolist()
    assert [point.metric for point in starred] == [f"{family}{k}" for k in found.k]


@given(matrices, st.sampled_from(["drop", "fail"]), st.integers(1, 4))
def test_every_problem_is_counted_or_left_out(
    matrix: list[list[int | None]], policy: Policy, k: int
) -> None:
    outcomes = Outcomes.from_array(matrix)
    judged = outcomes.under(policy)
    if judged.most_trials() < k:
        return
    found = measure(outcomes, f"pass@{k}", policy=policy)
    assert found.n_problems + found.left_out == len(matrix)
    assert found.n_problems == (judged.trials >= k).sum()
    assert found.n_trials == judged.trials[judged.trials >= k].sum()


@given(matrices, st.randoms(use_true_random=False))
def test_the_order_of_problems_and_trials_does_not_matter(
    matrix: list[list[int | None]], random: Any
) -> None:
    shuffled = [random.sample(row, len(row)) for row in random.sample(matrix, len(matrix))]
    before, after = (
        measure_all(Outcomes.from_array(rows), ["pass@*"]) for rows in (matrix, shuffled)
    )
    np.testing.assert_allclose([m.value for m in before], [m.value for m in after], atol=1e-12)


def test_a_curve_needs_a_star() -> None:
    with pytest.raises(InvalidInput, match=r"star for k, as in pass@\*; got 'avg'"):
        curve(RAGGED, "avg")
    assert curve(RAGGED, "g-pass@*:0.5").metric == "g-pass@*:0.5"

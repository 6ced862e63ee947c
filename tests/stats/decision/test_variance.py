"""The two parts of an estimate's variance: known cases, the value of more data, the edges."""

import numpy as np
import pytest

from passband import InvalidInput, NotEnoughData, Outcomes, estimate
from passband.stats.decision.variance import split_variance


def sample(p: np.ndarray, n: int, seed: int = 0, **options: object) -> Outcomes:
    drawn = np.random.default_rng(seed).binomial(n, p)
    return Outcomes.from_counts(drawn, n, **options)  # type: ignore[arg-type]


def test_the_parts_are_found_where_they_are_known() -> None:
    # uniform p: Var p = 1/12, E p(1-p) / 8 = 1/48
    p = (np.arange(4000) + 0.5) / 4000
    found = split_variance(sample(p, 8), "pass@1")
    assert found.between == pytest.approx(1 / 12, rel=0.05)
    assert found.within == pytest.approx(1 / 48, rel=0.05)
    assert found.share_within == pytest.approx(0.2, abs=0.02)
    assert found.se == pytest.approx(np.sqrt((1 / 12 + 1 / 48) / 4000), rel=0.03)


def test_more_trials_and_more_problems() -> None:
    found = split_variance(sample((np.arange(300) + 0.5) / 300, 8), "pass@1")
    assert found.between is not None
    assert found.within is not None
    m = found.n_problems
    # at k = 1 the part of sampling falls as 1/n
    assert found.se_one_more_trial == pytest.approx(
        np.sqrt((found.between + found.within * 8 / 9) / m), rel=1e-9
    )
    assert found.se_double_trials == pytest.approx(
        np.sqrt((found.between + found.within / 2) / m), rel=1e-9
    )
    total = found.between + found.within
    assert found.variance == pytest.approx(total / m)
    assert found.se_one_more_problem == pytest.approx(np.sqrt(total / (m + 1)))
    assert found.se_double_problems == pytest.approx(np.sqrt(total / m / 2))


def test_the_se_is_that_of_the_estimate() -> None:
    outcomes = sample((np.arange(50) + 0.5) / 50, 8)
    for metric in ("pass@1", "pass@4", "pass^4", "geom-ds@3", "avg", "bayes"):
        assert split_variance(outcomes, metric).se == pytest.approx(estimate(outcomes, metric).se)
    trials = estimate(outcomes, "pass@2", over="trials").se
    within = split_variance(outcomes, "pass@2").within
    assert trials is not None
    assert within is not None
    assert within == pytest.approx(trials**2 * 50)


def test_one_more_trial_is_computed_for_the_same_k() -> None:
    # all p = 1/2: Var of pass@2 at n is known exactly, by every outcome
    outcomes = sample(np.full(5000, 0.5), 4)

    def exact(n: int) -> float:
        from math import comb

        c = np.arange(n + 1)
        law = np.array([comb(n, i) for i in c]) / 2.0**n
        v = np.array([1 - comb(n - i, 2) / comb(n, 2) for i in c])
        return float(law @ v**2 - (law @ v) ** 2)

    found = split_variance(outcomes, "pass@2")
    assert found.within == pytest.approx(exact(4), rel=0.05)
    assert found.between is not None
    assert found.se_one_more_trial is not None
    ratio = (found.se_one_more_trial**2 * 5000 - found.between) / found.within
    assert ratio == pytest.approx(exact(5) / exact(4), rel=0.03)


def test_noise_alone_leaves_nothing_between() -> None:
    found = split_variance(Outcomes.from_counts([2] * 39 + [1], 4), "pass@1")
    assert found.between == 0
    assert found.share_within == 1
    assert any("no more than sampling noise" in note.text for note in found.notes)


@pytest.mark.parametrize(
    ("counts", "n", "metric", "reason"),
    [
        ([2] * 40, 4, "pass@1", "the same value"),
        ([0] * 5, 4, "pass@2", "the same value"),
        ([2], 4, "pass@1", "a single problem"),
        ([0, 2, 4], 4, "mg-pass@1", "the same value whatever"),
    ],
)
def test_no_split_is_made_up(counts: list[int], n: int, metric: str, reason: str) -> None:
    found = split_variance(Outcomes.from_counts(counts, n), metric)
    assert (found.between, found.within, found.share_between) == (None, None, None)
    assert found.se_double_trials is None
    assert any(reason in note.text for note in found.notes)


def test_too_many_trials_are_not_split() -> None:
    found = split_variance(Outcomes.from_counts([3, 500_000], 10**6), "pass@1")
    assert (found.se, found.between, found.within) == (None, None, None)
    assert any("too many trials" in note.text for note in found.notes)


def test_no_success_at_all_still_has_an_error() -> None:
    for successes in (0, 8):
        found = split_variance(Outcomes.from_counts([successes] * 20, 8), "pass@2")
        assert found.se is not None
        assert 0 < found.se_double_problems < found.se
        assert found.se_one_more_trial is None


def test_one_trial_cannot_tell() -> None:
    found = split_variance(Outcomes.from_counts([0, 1, 1, 0, 1, 1], 1), "pass@1")
    assert (found.between, found.within, found.share_within) == (None, None, None)
    assert (found.se_one_more_trial, found.se_double_trials) == (None, None)
    assert found.se is not None
    assert found.se_double_problems == pytest.approx(found.se / np.sqrt(2))
    assert any("one trial per problem" in note.text for note in found.notes)
    assert str(found) == f"pass@1 se {found.se:.2g}"


def test_ragged_trials_and_policies() -> None:
    rows = [[1, 0, None], [1, 1, 0], [0, 0, None], [1, 0, 1], [0, None, None]]
    outcomes = Outcomes.from_array(rows)
    found = split_variance(outcomes, "pass@2")
    assert (found.n_problems, found.fewest_trials, found.most_trials) == (4, 2, 3)
    assert any("k > n/2" in note.text for note in found.notes)
    assert split_variance(outcomes, "pass@2", policy="fail").n_problems == 5
    with pytest.raises(NotEnoughData):
        split_variance(outcomes, "pass@4")
    with pytest.raises(InvalidInput, match="factor of 0"):
        split_variance(Outcomes.from_counts([0, 0], 4), "geom-ds@2")


def test_clusters() -> None:
    p = np.repeat((np.arange(30) + 0.5) / 30, 5)
    names = np.repeat(np.arange(30), 5)
    grouped = split_variance(sample(p, 8, clusters=names.tolist()), "pass@1")
    alone = split_variance(sample(p, 8), "pass@1")
    assert grouped.within == pytest.approx(alone.within)
    assert grouped.se > 1.5 * alone.se
    assert grouped.se == pytest.approx(estimate(sample(p, 8, clusters=names.tolist()), "pass@1").se)


def test_graded_scores() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(0, 2, (400, 1)) + rng.normal(0, 1, (400, 5))
    found = split_variance(Outcomes.from_array(scores), "avg")
    assert found.within == pytest.approx(scores.var(axis=1, ddof=1).mean() / 5)
    assert found.within + found.between == pytest.approx(scores.mean(axis=1).var(ddof=1))
    expected = np.sqrt((found.between + found.within * 5 / 6) / 400)
    assert found.se_one_more_trial == pytest.approx(expected)
    flat = split_variance(Outcomes.from_array([[2.5, 2.5]] * 3), "avg")
    assert (flat.se, flat.within, flat.se_double_problems) == (None, None, None)
    assert flat.notes
    assert str(flat) == "avg se unknown"

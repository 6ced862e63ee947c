"""Extrapolation beyond the trials: contains the truth, and says what it rests on."""

import numpy as np
import pytest
from scipy.special import betaln

from passband import InvalidInput, Outcomes, estimate
from passband.stats.interval.extrapolation import MODEL, extrapolate
from passband.types import Floats


def pass_of_beta(a: float, b: float, k: int) -> float:
    """1 - B(a, b+k) / B(a, b)."""
    return float(1.0 - np.exp(betaln(a, b + k) - betaln(a, b)))


def sample(p: Floats, n: int, seed: int) -> Outcomes:
    return Outcomes.from_counts(np.random.default_rng(seed).binomial(n, p), n)


def test_check_value() -> None:
    assert pass_of_beta(0.3, 0.5, 1) == pytest.approx(0.375)
    assert pass_of_beta(0.3, 0.5, 8) == pytest.approx(0.650, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("problems", [100, 1000, 20_000])
@pytest.mark.parametrize("k", [16, 64, 500])
def test_contains_the_truth(problems: int, k: int) -> None:
    p = np.random.default_rng(problems).beta(0.3, 0.5, problems)
    found = extrapolate(sample(p, 8, 1), f"pass@{k}")
    assert found.low < pass_of_beta(0.3, 0.5, k) < found.high
    assert found.low < found.value < found.high


def test_more_problems_make_it_sharper() -> None:
    p = np.random.default_rng(7).beta(0.3, 0.5, 20_000)
    few, many = (extrapolate(sample(some, 8, 1), "pass@64") for some in (p[:100], p))
    # what no number of problems tells, hard from hopeless, remains
    assert many.high - many.low < 0.75 * (few.high - few.low)
    assert few.low < many.low < pass_of_beta(0.3, 0.5, 8) < many.high < few.high


def two_levels(problems: int, seed: int) -> Floats:
    return np.where(np.random.default_rng(seed).random(problems) < 0.5, 0.02, 0.7)


@pytest.mark.slow
def test_hard_problems_that_look_hopeless() -> None:
    """Half of the problems at .02: the fit reads a spike at 0, the interval must not believe it."""
    missed = dict.fromkeys((12, 16, 32, 64), 0)
    for seed in range(15):
        outcomes = sample(two_levels(100, seed), 8, 1000 + seed)
        for k in missed:
            found = extrapolate(outcomes, f"pass@{k}")
            missed[k] += not found.low <= 1.0 - (0.98**k + 0.3**k) / 2.0 <= found.high
    assert max(missed.values()) <= 1


@pytest.mark.slow
def test_the_interval_grows_with_the_reach() -> None:
    outcomes = sample(two_levels(100, 1), 8, 2)
    found = [extrapolate(outcomes, f"pass@{k}") for k in (9, 12, 16, 32, 64, 256)]
    widths = [at.high - at.low for at in found]
    assert widths == sorted(widths)
    assert widths[0] < 0.3 < 0.4 < widths[-1]
    few = extrapolate(Outcomes.from_counts([0] * 5 + [1] + [4, 6, 8, 8] * 24, 8), "pass@16")
    assert few.low > 0.85  # few were never solved: little is open


def test_the_value_is_no_less_than_what_was_solved() -> None:
    outcomes = sample(two_levels(100, 3), 8, 4)
    solved = estimate(outcomes, "pass@8").value
    assert extrapolate(outcomes, "pass@9").value >= solved
    assert extrapolate(outcomes, "pass^9").value <= estimate(outcomes, "pass^8").value


def test_pass_hat_mirrors_pass() -> None:
    counts = np.array([0, 1, 1, 3, 5, 7, 8, 8, 8, 8])
    hat = extrapolate(Outcomes.from_counts(counts, 8), "pass^32")
    plain = extrapolate(Outcomes.from_counts(8 - counts, 8), "pass@32")
    assert (hat.low, hat.high) == pytest.approx((1 - plain.high, 1 - plain.low), abs=1e-6)


def test_continues_the_estimate() -> None:
    """Just beyond the trials it agrees with the estimate just within them."""
    rng = np.random.default_rng(8)
    outcomes = sample(rng.beta(0.3, 0.5, 5000), 16, 2)
    within, beyond = estimate(outcomes, "pass@16"), extrapolate(outcomes, "pass@17")
    assert abs(beyond.value - within.value) < 0.02


def test_hopeless_problems_stay_unsolved() -> None:
    rng = np.random.default_rng(9)
    p = np.where(rng.random(400) < 0.4, 0.0, rng.beta(2.0, 2.0, 400))
    found = extrapolate(sample(p, 8, 3), "pass@1000")
    assert found.low < 0.6 < found.high
    assert 0.5 < found.value < 0.7
    assert any("a few hard levels would look the same" in note.text for note in found.notes)
    assert not any("probability" in note.text for note in found.notes)


def test_few_problems_leave_hard_and_hopeless_open() -> None:
    """Half of 20 problems never solved in 4 trials: pass@256 may be a half, or nearly all."""
    found = extrapolate(
        Outcomes.from_counts([0] * 10 + [1, 1, 1, 1, 2, 2, 2, 3, 3, 4], 4), "pass@256"
    )
    assert found.low < 0.55
    assert found.high > 0.95
    assert any("never solved" in note.text and "at most 0.5" in note.text for note in found.notes)


def test_labels() -> None:
    outcomes = Outcomes.from_counts([0, 0, 1, 2, 5, 8, 8] * 5, 8)
    near, far = extrapolate(outcomes, "pass@16"), extrapolate(outcomes, "pass@80", level=0.8)
    assert (near.metric, near.k, near.n_trials_max, near.factor) == ("pass@16", 16, 8, 2.0)
    assert (far.level, far.factor, far.model) == (0.8, 10.0, MODEL)
    assert near.notes[0].text.startswith("model-based")
    assert any("2 times the trials" in note.text for note in near.notes)
    assert any("10 times the trials" in note.text for note in far.notes)
    assert "model-based" in str(near)


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric", ["pass@64", "pass^64", "maj@64", "auc@64", "mg-pass@64", "geom@64", "geom-ds@64"]
)
@pytest.mark.parametrize("counts", [[0] * 12, [8] * 12, [0, 0, 3, 5, 8, 8]])
def test_every_metric_and_the_edges(metric: str, counts: list[int]) -> None:
    found = extrapolate(Outcomes.from_counts(counts, 8), metric)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0


def test_ragged_trials_and_policy() -> None:
    outcomes = Outcomes.from_array([[1, None, None], [0, 0, 1], [1, 0, None], [0, 0, None]] * 10)
    dropped, failed = (extrapolate(outcomes, "pass@8", policy=p) for p in ("drop", "fail"))
    assert dropped.n_trials_max == 3
    assert failed.value < dropped.value


@pytest.mark.parametrize("k", [1, 4, 8])
def test_within_the_trials_is_for_estimate(k: int) -> None:
    with pytest.raises(InvalidInput, match=r"use estimate\(\)"):
        extrapolate(Outcomes.from_counts([1, 2], [4, 8]), f"pass@{k}")


def test_other_refusals() -> None:
    outcomes = Outcomes.from_counts([1, 2], 4)
    with pytest.raises(InvalidInput, match="level"):
        extrapolate(outcomes, "pass@8", level=95.0)
    with pytest.raises(InvalidInput, match="0 or 1"):
        extrapolate(Outcomes.from_array([[0.5, 0.2]]), "pass@8")


def test_is_deterministic_and_monotone_in_level() -> None:
    counts = [0, 0, 0, 1, 2, 5, 8, 8] * 4
    first, again = (extrapolate(Outcomes.from_counts(counts, 8), "pass@32") for _ in range(2))
    assert first == again
    wider = extrapolate(Outcomes.from_counts(counts, 8), "pass@32", level=0.99)
    assert wider.low < first.low < first.high < wider.high

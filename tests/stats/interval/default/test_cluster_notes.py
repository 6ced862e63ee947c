"""Notes on clusters."""

import numpy as np
import pytest
from scipy.stats import pearsonr

from passband import Outcomes, estimate
from passband.stats.interval.default.clusters import clusters_of, size_effect

SIZES = np.array([1, 2, 3, 5, 8, 13, 21, 30] * 3)
CODES = np.repeat(np.arange(len(SIZES)), SIZES)


def codes_of(outcomes: Outcomes, metric: str = "avg") -> set[str]:
    return {note.code for note in estimate(outcomes, metric).notes}


def test_an_effect_tied_to_size_is_said_with_both_means() -> None:
    rates = np.clip(0.1 + 0.2 * np.log(SIZES), 0, 1)
    successes = np.random.default_rng(1).binomial(8, rates[CODES])
    found = estimate(Outcomes.from_counts(successes, 8, clusters=CODES), "pass@1")
    (note,) = [note for note in found.notes if note.code == "tied-to-size"]
    means = np.bincount(CODES, weights=successes / 8) / SIZES
    assert "larger clusters have higher values" in note.text
    assert f"{found.value:.3g} over problems and {means.mean():.3g} over clusters" in note.text
    graded = Outcomes.from_array((successes / 9)[:, None], clusters=CODES)
    assert "tied-to-size" in codes_of(graded)
    assert "tied-to-size" not in codes_of(Outcomes.from_counts(successes, 8))


def test_chance_is_not_taken_for_an_effect() -> None:
    rng = np.random.default_rng(2)
    said = 0
    for _ in range(200):
        effect = size_effect(
            rng.normal(size=len(SIZES))[CODES] + rng.normal(size=len(CODES)), CODES
        )
        assert effect is not None
        said += effect.p_value < 0.01
    assert said <= 8  # 2 expected


def test_clusters_of_precise_means_count_alike() -> None:
    means = np.random.default_rng(5).normal(size=len(SIZES))
    effect = size_effect(means[CODES], CODES)
    expected = pearsonr(means, np.log(SIZES))
    assert effect is not None
    assert effect.correlation == pytest.approx(expected.statistic)
    assert effect.p_value == pytest.approx(expected.pvalue)


def test_where_size_can_tell_nothing() -> None:
    assert size_effect(np.arange(6.0), np.repeat(np.arange(3), 2)) is None  # three clusters
    assert size_effect(np.arange(8.0), np.repeat(np.arange(4), 2)) is None  # of equal size
    assert size_effect(np.full(len(CODES), 0.3), CODES) is None


def test_unequal_clusters_count_by_their_effective_number() -> None:
    rng = np.random.default_rng(6)
    even = Outcomes.from_counts(rng.binomial(8, 0.5, 100), 8, clusters=np.repeat(range(20), 5))
    assert "few-clusters" not in codes_of(even)
    sizes = [24] + [4] * 19
    uneven = Outcomes.from_counts(
        rng.binomial(8, 0.5, 100), 8, clusters=np.repeat(range(20), sizes)
    )
    (note,) = [note for note in estimate(uneven, "avg").notes if note.code == "few-clusters"]
    assert "20 clusters of unequal size, worth 11 equal ones" in note.text


def test_clusters_are_those_of_problems_with_enough_trials() -> None:
    outcomes = Outcomes.from_counts([1, 1, 1, 1], [1, 2, 2, 2], clusters=list("abca"))
    assert clusters_of(outcomes, 1).tolist() == [0, 1, 2, 0]
    assert clusters_of(outcomes, 2).tolist() == [1, 2, 0]
    assert clusters_of(outcomes, 1).tolist() == [0, 1, 2, 0]

"""Corrected estimates: by hand, by property, against an exact twin, and their refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes, estimate
from passband.errors import InvalidInput, NotEnoughData
from passband.stats.interval.default.wilson import student_quantile
from passband.stats.judged import Judged, corrected
from passband.stats.judged.sample import sample_of
from passband.stats.judged.strata import jeffreys, strata_of
from support.fuzz.properties import one_in
from support.samples.judged_samples import exact, judged_trials, simulated


def codes(result: object) -> set[str]:
    return {note.code for note in result.notes}  # type: ignore[attr-defined]


def by_hand() -> Judged:
    """100 problems of one trial, 60 passed: of 10 labels 8 are right, of 10 among the failed 1."""
    score = [1.0] * 60 + [0.0] * 40
    label = np.full(100, np.nan)
    label[:10] = [1] * 8 + [0] * 2
    label[60:70] = [1] + [0] * 9
    return Judged.of(range(100), [0] * 100, score, label, design="trial")


def test_a_share_by_hand() -> None:
    result = corrected(by_hand())
    assert result.value == pytest.approx(0.6 * 0.8 + 0.4 * 0.1)  # 0.52
    # One label a problem: no design effect. The predictions are 0.8 and 0.1, around 0.52.
    spread = (60 * 0.28**2 + 40 * 0.42**2) / 99 / 100
    (low_1, low_0), (high_1, high_0) = jeffreys(np.array([8.0, 1.0]), np.array([10.0, 10.0]), 0.025)
    # Residuals: 8 of 0.2 and 2 of -0.8 among the passed, which cancel in each stratum.
    t = student_quantile(0.95, 99.0)
    down = 0.36 * (0.8 - low_1) ** 2 + 0.16 * (0.1 - low_0) ** 2 + t * t * spread
    up = 0.36 * (high_1 - 0.8) ** 2 + 0.16 * (high_0 - 0.1) ** 2 + t * t * spread
    assert result.low == pytest.approx(0.52 - math.sqrt(down))
    assert result.high == pytest.approx(0.52 + math.sqrt(up))


def test_labels_drawn_by_verdict_are_weighted() -> None:
    """Half of the labels are from the 10 % that pass: the plain mean of labels would be far off."""
    score = [1.0] * 20 + [0.0] * 180
    label = np.full(200, np.nan)
    label[:10], label[20:30] = 1.0, 0.0
    judged = Judged.of(range(200), [0] * 200, score, label, design="verdict")
    assert corrected(judged).value == pytest.approx(0.1)


def test_problems_count_the_same_whatever_their_trials() -> None:
    """One problem of 20 trials that all pass, 19 of one that all fail: 1/20, not 20/39."""
    problem = [0] * 20 + list(range(1, 20))
    trial = [*range(20), *([0] * 19)]
    score = [1.0] * 20 + [0.0] * 19
    label = np.full(39, np.nan)
    label[[0, 1, *range(20, 33)]] = [1.0] * 2 + [0.0] * 13
    result = corrected(Judged.of(problem, trial, score, label, design="trial"))
    assert result.value == pytest.approx(0.05)


@one_in(3)
@given(judged_trials())
def test_against_the_exact_twin(judged: Judged) -> None:
    chance = [Fraction(3 + row % 5, 20) for row in range(judged.n_trials)]
    judged = replace(judged, probability=np.array([float(each) for each in chance]))
    strata = strata_of(sample_of(judged))
    twin = exact(judged, chance)
    assert strata.value == pytest.approx(float(twin.value), abs=1e-12)
    assert strata.label_noise() == pytest.approx(float(twin.label_noise), abs=1e-12)
    rest = strata.prediction.rest("problems")
    assert rest == pytest.approx(float(twin.over_problems), abs=1e-12)
    assert strata.prediction.within() == pytest.approx(float(twin.within), abs=1e-12)


@one_in(3)
@given(judged_trials(), st.sampled_from(["problems", "trials"]), st.sampled_from([0.5, 0.95]))
def test_the_value_is_inside_its_interval(judged: Judged, over: str, level: float) -> None:
    result = corrected(judged, over=over, level=level)  # type: ignore[arg-type]
    assert 0.0 <= result.low <= result.value <= result.high <= 1.0
    assert result.se > 0.0
    assert result.high > result.low


@one_in(3)
@given(judged_trials(), st.integers(0, 1000))
def test_the_order_of_rows_changes_nothing(judged: Judged, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(judged.n_trials)
    names = np.array(judged.problems)[judged.problem]
    again = Judged.of(
        names[order],
        judged.trial[order],
        judged.score[order],
        judged.label[order],
        design=judged.design,
    )
    assert corrected(again) == corrected(judged)


@one_in(3)
@given(judged_trials())
def test_right_and_wrong_mirror_each_other(judged: Judged) -> None:
    """With labels and verdicts turned round, the interval is turned round."""
    mirrored = replace(judged, score=1.0 - judged.score, label=1.0 - judged.label, threshold=0.75)
    a, b = corrected(replace(judged, threshold=0.25)), corrected(mirrored)
    assert b.value == pytest.approx(1.0 - a.value)
    assert (b.low, b.high) == (pytest.approx(1.0 - a.high), pytest.approx(1.0 - a.low))


@one_in(3)
@given(judged_trials())
def test_a_higher_level_is_wider(judged: Judged) -> None:
    narrow, wide = corrected(judged, level=0.8), corrected(judged, level=0.99)
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


def test_labels_that_agree_narrow_the_interval() -> None:
    """The judge is right everywhere: more labels never widen, and 0 disagreements stay a width."""
    widths = []
    for count in (10, 20, 40, 80, 160):
        judged = simulated(200, 2, count, accuracy=1.0, seed=3)
        result = corrected(judged)
        widths.append(result.high - result.low)
        assert "no-disagreement" in codes(result)
    assert all(later < earlier for earlier, later in pairwise(widths))
    assert widths[0] < 0.5


def test_fully_labelled_is_the_ordinary_estimate() -> None:
    judged = simulated(30, 4, 30, each=4)
    result = corrected(judged, over="trials")
    outcomes = Outcomes.from_array(judged.label.reshape(30, 4))
    plain = estimate(outcomes, "pass@1", over="trials")
    assert (result.value, result.low, result.high) == (plain.value, plain.low, plain.high)
    assert "fully-labelled" in codes(result)


def test_one_trial_a_problem_is_the_interval_over_problems() -> None:
    judged = simulated(80, 1, 30)
    over_trials = corrected(judged, over="trials")
    assert "one-trial" in codes(over_trials)
    assert over_trials.low == corrected(judged).low


def test_failed_verdicts_are_a_class_of_their_own() -> None:
    judged = simulated(100, 2, 50)
    score = judged.score.copy()
    score[::20] = np.nan
    result = corrected(replace(judged, score=score))
    assert result.n_unscored == 10
    assert "failed-verdicts" in codes(result)
    strata = strata_of(sample_of(replace(judged, score=score)))
    assert strata.share[2] == pytest.approx(0.05)


def test_failed_verdicts_without_labels_could_all_be_right_or_wrong() -> None:
    judged = simulated(100, 1, 50)
    score = np.where(np.isnan(judged.label), np.nan, judged.score)
    result = corrected(replace(judged, score=score))
    assert "unlabelled-verdict" in codes(result)
    assert result.high - result.low > 0.45


def test_a_judge_that_always_says_yes_adds_nothing() -> None:
    judged = simulated(200, 2, 60)
    blind = corrected(replace(judged, score=np.ones(400)))
    labels = judged.label[judged.is_labelled]
    assert blind.value == pytest.approx(labels.mean())
    assert "judge-adds-nothing" in codes(blind)


def test_labels_of_unknown_origin_are_remarked_on() -> None:
    judged = replace(simulated(), design="unknown")
    assert "labels-taken-as-random" in codes(corrected(judged))
    assert "labels-taken-as-random" not in codes(corrected(simulated()))


def test_few_labels_are_remarked_on() -> None:
    assert "few-labels" in codes(corrected(simulated(labels=29)))
    assert "few-labels" not in codes(corrected(simulated(labels=30)))


# -- pass@k and graded labels ----------------------------------------------------------------------


def test_pass_at_k_is_by_problem() -> None:
    judged = simulated(80, 4, 40, each=4)
    result = corrected(judged, "pass@2")
    assert 0.0 <= result.low < result.value < result.high <= 1.0
    assert result.method.endswith("by regression")
    over_trials = corrected(judged, "pass@2", over="trials")
    assert over_trials.value == result.value
    assert over_trials.high - over_trials.low <= result.high - result.low + 1e-12


def test_pass_at_k_by_hand() -> None:
    """Labels say 1 and 0 by turns, the judge agrees: slope 1, no residuals but the added one."""
    y = np.tile([[1.0, 1.0], [0.0, 0.0]], (20, 1))
    label = np.full((40, 2), np.nan)
    label[:20] = y[:20]
    problem = np.repeat(np.arange(40), 2)
    judged = Judged.of(problem, [0, 1] * 40, y.ravel(), label.ravel(), design="problem")
    result = corrected(judged, "pass@2")
    noise = 20 / 18 / 20**2
    rest = 0.25 * 40 / 39 / 40
    freedom = (noise + rest) ** 2 / (noise**2 / 18 + rest**2 / 39)
    reach = student_quantile(0.95, freedom) * math.sqrt(noise + rest)
    assert result.value == pytest.approx(0.5)
    assert result.low == pytest.approx(0.5 - reach)
    assert result.se == pytest.approx(math.sqrt(noise + rest))


def test_pass_at_k_that_always_succeeds_reaches_jeffreys_bound() -> None:
    label = np.full((60, 4), np.nan)
    label[:30] = 1.0
    problem, trial = np.repeat(np.arange(60), 4), [0, 1, 2, 3] * 60
    judged = Judged.of(problem, trial, np.ones(240), label.ravel(), design="problem")
    result = corrected(judged, "pass@4")
    assert (result.value, result.high) == (1.0, 1.0)
    bound = 1.0 - float(jeffreys(np.zeros(1), np.full(1, 30.0), 0.025)[1][0])
    assert result.low == pytest.approx(bound)


def test_graded_labels_are_regressed_on_scores() -> None:
    """Labels are 2 f + 1 exactly: the value is 2 F + 1, with no noise of the labels' own."""
    rng = np.random.default_rng(2)
    score = rng.integers(0, 5, 120) / 4
    label = np.where(np.arange(120) % 3 == 0, 2 * score + 1, np.nan)
    judged = Judged.of(np.repeat(range(60), 2), [0, 1] * 60, score, label, design="trial")
    result = corrected(judged, "avg")
    assert result.value == pytest.approx(2 * score.mean() + 1)
    spread = 2 * score.reshape(60, 2).mean(axis=1)
    assert result.se == pytest.approx(spread.std(ddof=1) / math.sqrt(60))


def test_graded_labels_without_spread_have_no_interval() -> None:
    label = np.where(np.arange(60) % 2 == 0, 3.0, np.nan)
    result = corrected(Judged.of(range(60), [0] * 60, [0.5] * 60, label), "avg")
    assert result.value == 3.0
    assert result.low is None
    assert "no-interval-no-spread" in codes(result)


# -- refusals --------------------------------------------------------------------------------------


def test_without_labels_it_is_the_judges_pass_rate() -> None:
    judged = replace(simulated(), label=np.full(240, np.nan))
    with pytest.raises(NotEnoughData, match="judge's pass rate, not the task's"):
        corrected(judged)


def test_nine_labels_are_too_few() -> None:
    with pytest.raises(NotEnoughData, match="9 labels: at least 10"):
        corrected(simulated(labels=9))
    assert corrected(simulated(labels=10)).low is not None


def test_labels_chosen_by_eye_are_refused() -> None:
    with pytest.raises(InvalidInput, match="chosen, not drawn"):
        corrected(replace(simulated(), design="chosen"))


def test_labels_on_few_problems_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="on 4 problems"):
        corrected(simulated(60, 4, 4, each=4))


def test_pass_at_k_needs_k_labels_in_a_problem() -> None:
    with pytest.raises(NotEnoughData, match="pass@4 needs 4 labelled trials in each"):
        corrected(simulated(), "pass@4")


def test_pass_at_k_of_labels_by_verdict_is_refused() -> None:
    with pytest.raises(InvalidInput, match="without regard to the verdict"):
        corrected(replace(simulated(60, 4, 30, each=4), design="verdict"), "pass@2")


@pytest.mark.parametrize("metric", ["vote@2", "bayes", "geom-ds@2"])
def test_metrics_that_labels_do_not_determine_are_refused(metric: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be corrected"):
        corrected(simulated(), metric)


def test_pass_at_1_of_graded_labels_is_refused() -> None:
    judged = simulated()
    with pytest.raises(InvalidInput, match=r"needs labels of 0 or 1; got 0\.5"):
        corrected(replace(judged, label=0.5 * judged.label))


def test_labels_of_probability_zero_are_refused() -> None:
    with pytest.raises(InvalidInput, match="probability of being drawn"):
        corrected(replace(simulated(), probability=np.zeros(240)))

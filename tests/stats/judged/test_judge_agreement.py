"""Agreement of a judge with labels: by hand, with weights, and where there is nothing to say."""

import math
from dataclasses import replace

import numpy as np
import pytest

from passband.errors import InvalidInput, NotEnoughData
from passband.stats.judged import JudgeAgreement, Judged, agreement
from passband.stats.judged.strata import jeffreys
from support.samples.judged_samples import simulated


def table(right_passed: int, right_failed: int, wrong_passed: int, wrong_failed: int) -> Judged:
    counts = (right_passed, right_failed, wrong_passed, wrong_failed)
    label = np.repeat([1.0, 1.0, 0.0, 0.0], counts)
    score = np.repeat([1.0, 0.0, 1.0, 0.0], counts)
    return Judged.of(range(len(label)), [0] * len(label), score, label, design="trial")


def test_a_table_by_hand() -> None:
    result = agreement(table(40, 10, 5, 45))
    assert result.sensitivity.value == 0.8
    assert (result.sensitivity.count, result.sensitivity.of) == (40, 50)
    assert result.specificity.value == 0.9
    assert result.passed_right.value == pytest.approx(40 / 45)
    assert result.failed_wrong.value == pytest.approx(45 / 55)
    assert (result.judge_rate, result.label_rate) == (pytest.approx(0.45), pytest.approx(0.5))
    assert result.agree.value == 0.85
    # chance: kappa 0.45 * 0.5 + 0.55 * 0.5 = 0.5; AC1 2 * 0.475 * 0.525 = 0.49875
    assert result.kappa.value == pytest.approx(0.7)
    assert result.ac1.value == pytest.approx((0.85 - 0.49875) / (1 - 0.49875))
    low, high = jeffreys(np.array([40.0]), np.array([50.0]), 0.025)
    assert (result.sensitivity.low, result.sensitivity.high) == (
        pytest.approx(low[0]),
        pytest.approx(high[0]),
    )


def test_the_interval_of_kappa_by_hand() -> None:
    """Fleiss, Cohen and Everitt's variance, on the table with half a trial added to each cell."""
    cells = (np.array([[45.0, 5.0], [10.0, 40.0]]) + 0.5) / 102
    rows, columns = cells.sum(axis=1), cells.sum(axis=0)
    po, pe = np.trace(cells), rows @ columns
    kappa = (po - pe) / (1 - pe)
    diagonal = sum(cells[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    off = (1 - kappa) ** 2 * sum(cells[i, 1 - i] * (columns[i] + rows[1 - i]) ** 2 for i in (0, 1))
    variance = (diagonal + off - (kappa - pe * (1 - kappa)) ** 2) / (1 - pe) ** 2 / 100
    result = agreement(table(40, 10, 5, 45)).kappa
    assert result.low == pytest.approx(kappa - 1.959964 * math.sqrt(variance), abs=1e-6)
    assert result.high == pytest.approx(kappa + 1.959964 * math.sqrt(variance), abs=1e-6)


def test_kappa_is_low_where_nearly_all_are_right() -> None:
    result = agreement(table(461, 24, 1, 14))
    assert result.kappa.value is not None
    assert result.ac1.value is not None
    assert result.kappa.value < 0.55
    assert result.ac1.value > 0.93


def test_a_judge_and_labels_that_always_pass() -> None:
    result = agreement(table(40, 0, 0, 0))
    assert result.sensitivity.value == 1.0
    assert result.specificity.value is None
    assert (result.specificity.low, result.specificity.high) == (0.0, 1.0)
    assert result.kappa.value is None
    assert result.ac1.value == 1.0
    assert "no label says fail" in str(result)


def test_labels_by_verdict_are_weighted() -> None:
    """Of 200 trials 20 pass; labels are half and half, so failed trials count nine times."""
    label = np.full(200, np.nan)
    label[:20] = [1.0] * 16 + [0.0] * 4
    label[20:40] = [1.0] * 2 + [0.0] * 18
    score = [1.0] * 20 + [0.0] * 180
    result = agreement(Judged.of(range(200), [0] * 200, score, label, design="verdict"))
    assert result.passed_right.value == pytest.approx(0.8)
    assert result.sensitivity.value == pytest.approx(16 / (16 + 9 * 2))
    assert result.judge_rate == pytest.approx(0.1)
    assert (result.sensitivity.count, result.sensitivity.of) == (16, 18)


def test_labels_of_one_problem_count_as_far_as_they_differ() -> None:
    """Four labels of each problem that are all alike are worth little more than one."""
    label, score = np.tile(np.repeat([1.0, 0.0], 4), 20), np.tile(np.repeat([1.0, 0.0], 4), 20)
    score[:8] = 1.0 - score[:8]
    trials = [0, 1, 2, 3] * 40
    judged = Judged.of(np.repeat(range(40), 4), trials, score, label, design="problem")
    alone = Judged.of(range(160), [0] * 160, score, label, design="trial")
    clustered, plain = agreement(judged), agreement(alone)
    assert clustered.sensitivity.value == plain.sensitivity.value
    assert _width(clustered) > 1.7 * _width(plain)
    assert "agreement-clustered" in {note.code for note in clustered.notes}


def _width(result: JudgeAgreement) -> float:
    return result.sensitivity.high - result.sensitivity.low


def test_failed_verdicts_are_counted_apart() -> None:
    judged = simulated(labels=40)
    score = judged.score.copy()
    score[np.flatnonzero(judged.is_labelled)[:5]] = np.nan
    result = agreement(replace(judged, score=score))
    assert (result.n_labels, result.n_failed) == (35, 5)


def test_what_says_nothing_is_refused() -> None:
    judged = simulated()
    with pytest.raises(NotEnoughData, match="no labels"):
        agreement(replace(judged, label=np.full(240, np.nan)))
    with pytest.raises(InvalidInput, match="labels of 0 or 1"):
        agreement(replace(judged, label=judged.label * 0.5))
    with pytest.raises(NotEnoughData, match="has a verdict"):
        agreement(replace(judged, score=np.full(240, np.nan)))

"""Certificates end to end: what they predict, bad input, the same bytes every time."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from passband import Certificate, Estimate, InvalidInput, Outcomes, estimate
from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.interval.certify.certify import certified
from passband.stats.interval.estimation import with_certificate
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.registry import parse_metric

EVEN = Outcomes.from_counts([0, 1, 3, 4, 6, 8] * 10, 8)
TAIL = Outcomes.from_array([*([1.0 + i / 8, 1.0] for i in range(10)), [1.5, -60.0]])
SPIKES = Outcomes.from_counts([5, 0, 5, 5, 0, 4, 0, 5, 0, 1, 5, 0], 5)  # two carry all the noise
GRADED = Outcomes.from_array(np.r_[np.zeros(6), 0.02, 0.03, 0.2, 0.9][:, None] + [[0.0, 0.05]])


def request_for(outcomes: Outcomes, metric: str, over: Over, level: float) -> IntervalRequest:
    parsed = parse_metric(metric, outcomes.most_trials())
    means = tuple(parsed.means(outcomes))
    return IntervalRequest(outcomes, parsed, means, parsed.combine(means), over, level, None)


def codes(result: Estimate) -> list[str]:
    return [note.code for note in result.notes]


def test_usual_design_covers() -> None:
    plain = estimate(EVEN, "pass@1")
    result = estimate(EVEN, "pass@1", certify=True)
    certificate = result.certificate
    assert isinstance(certificate, Certificate)
    assert 0.92 < certificate.low <= certificate.coverage <= certificate.high
    assert (certificate.sets, [law.law for law in certificate.laws]) == (1000, ["sharp", "close"])
    assert (result.low, result.high, result.notes) == (plain.low, plain.high, plain.notes)
    assert plain.certificate is None


def test_a_long_tail_is_flagged_and_widened_on_request() -> None:
    result = estimate(TAIL, "avg", certify=True)
    assert result.certificate is not None
    assert result.certificate.coverage < 0.92
    assert "low-coverage" in codes(result)
    assert {note.severity for note in result.notes if note.code == "low-coverage"} == {"weak"}
    wide = estimate(TAIL, "avg", calibrate=True)
    assert wide.certificate is not None
    assert wide.certificate.z is not None
    assert wide.certificate.z > 1.96
    assert wide.certificate.uncalibrated == result.certificate.coverage
    assert wide.method == "auto, calibrated"
    assert "calibrated" in codes(wide)
    ends = [wide.low, result.low, result.value, result.high, wide.high]
    assert ends == sorted(set(ends))


def test_two_problems_that_carry_all_the_noise_are_enough() -> None:
    certificate = estimate(SPIKES, "pass@1", over="trials", certify=True).certificate
    assert certificate is not None
    assert certificate.coverage > 0.93


def test_data_that_allow_no_interval_are_not_certified() -> None:
    stopped = Outcomes.from_counts([1] * 12, [1, 1, 2, 3, 1, 5, 8, 1, 2, 2, 4, 1])
    for over in ("problems", "trials"):
        found = certified(request_for(stopped, "pass@1", over, 0.95))
        assert isinstance(found, Note)
        assert found.code == "no-certificate"
        assert "succeeded in exactly one" in found.text
    accepted = stopped.accepting(["stopped-by-outcome"])
    certificate = certified(request_for(accepted, "pass@1", "problems", 0.95))
    assert isinstance(certificate, Certificate)
    assert "stopped by results" in str(certificate)


def test_an_exact_interval_is_not_simulated() -> None:
    single = estimate(Outcomes.from_counts([3], 8), "pass@1", over="trials", certify=True)
    assert single.certificate is None
    assert single.notes[-1].text.endswith("the interval of a single problem is exact")


def test_enough_coverage_is_not_calibrated() -> None:
    result = estimate(EVEN, "pass@1", calibrate=True)
    plain = estimate(EVEN, "pass@1")
    assert (result.low, result.high, result.method) == (plain.low, plain.high, "auto")


@pytest.mark.parametrize("outcomes", [EVEN, GRADED])
@pytest.mark.parametrize("over", ["problems", "trials"])
def test_same_bytes_every_time(outcomes: Outcomes, over: Over) -> None:
    again = pickle.loads(pickle.dumps(outcomes))  # without what is kept
    requests = [request_for(each, "avg", over, 0.95) for each in (outcomes, again)]
    first, second = (certified(request, sets=60) for request in requests)
    assert isinstance(first, Certificate)
    assert first == second
    assert pickle.loads(pickle.dumps(first)) == first
    other = certified(replace(requests[0], seed=3), sets=60)
    assert isinstance(other, Certificate)
    assert other.seed == 3 != first.seed


def test_json() -> None:
    values = estimate(EVEN, "pass@1", certify=True).as_json()["certificate"]
    assert values["laws"][0]["law"] == "sharp"
    assert estimate(EVEN, "pass@1").as_json()["certificate"] is None


def test_only_the_default_method() -> None:
    with pytest.raises(InvalidInput, match="method='auto'; got 'percentile'"):
        estimate(EVEN, "pass@1", certify=True, method="percentile")
    with pytest.raises(InvalidInput, match="got 'bca'"):
        estimate(EVEN, "pass@1", calibrate=True, method="bca")


BAD = {
    "one problem": Outcomes.from_counts([3], 8),
    "two problems": Outcomes.from_counts([3, 8], 8),
    "all failed": Outcomes.from_counts([0] * 5, 8),
    "all solved": Outcomes.from_counts([8] * 5, 8),
    "no trials of some": Outcomes.from_counts([0, 3, 1], [0, 8, 2]),
    "one trial each": Outcomes.from_counts([0, 1, 1], 1),
    "one cluster": Outcomes.from_counts([0, 3, 1], 4, clusters=["a"] * 3),
    "own clusters": Outcomes.from_counts([0, 3, 1], 4, clusters=["a", "b", "c"]),
    "one graded": Outcomes.from_array([[0.2, 0.3]]),
    "graded constants": Outcomes.from_array([[0.5, 0.5]] * 4),
    "graded, no noise": Outcomes.from_array([[0.5, 0.5], [0.2, 0.2], [0.1, 0.1]]),
    "graded, single": Outcomes.from_array([[0.5], [0.2], [0.1]]),
    "graded, ragged": Outcomes.from_array([[0.5, 0.1, 0.2], [0.2], [0.1, 0.3], [7.0, -1.0]]),
    "graded, one cluster": Outcomes.from_array([[0.5], [0.2], [0.1]], clusters=["a"] * 3),
    "graded, clusters": Outcomes.from_array([[0.5, 0.1], [0.2, 0.4]] * 4, clusters=[*"aabbccdd"]),
    "huge scores": Outcomes.from_array([[1e70, 2e70], [3e70, 1e69], [1.0, 2.0]]),
    "tiny scores": Outcomes.from_array([[1e-90, 2e-90], [3e-90, 1e-89], [0.0, 2e-300]]),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize("level", [0.95, 0.999])
def test_any_data_have_a_defined_answer(name: str, over: Over, level: float) -> None:
    plain = estimate(BAD[name], "avg", over=over, level=level)
    request = request_for(BAD[name], "avg", over, level)
    result = with_certificate(plain, request, sets=30, calibrate=True)
    assert (result.certificate is None) == ("no-certificate" in codes(result))
    if result.certificate is not None:
        assert 0.0 <= result.certificate.low <= result.certificate.high <= 1.0
    if result.low is not None and result.high is not None:
        assert result.low <= result.value <= result.high


def test_one_cluster_says_why() -> None:
    result = estimate(BAD["one cluster"], "pass@1", certify=True)
    assert any("a single cluster" in note.text for note in result.notes)


@pytest.mark.parametrize("metric", ["geom-ds@2", "geom@2", "bayes", "maj@3", "spectrum@2:0.5,0.5"])
@pytest.mark.parametrize("over", ["problems", "trials"])
def test_every_kind_of_metric(metric: str, over: Over) -> None:
    certificate = certified(request_for(EVEN, metric, over, 0.95), sets=40)
    assert isinstance(certificate, Certificate)
    assert certificate.coverage > 0.8


def test_constant_metric_says_why() -> None:
    result = estimate(EVEN, "spectrum@2:0,0", certify=True)
    assert result.certificate is None
    assert any("whatever the trials show" in note.text for note in result.notes)


def test_metrics_share_a_simulation() -> None:
    outcomes = Outcomes.from_counts([0, 2, 3, 8] * 5, 8)
    results = estimate(outcomes, ["pass@1", "pass@2", "pass^2"], certify=True)
    assert len([key for key in outcomes.memo if key[0] == "certify"]) == 1  # type: ignore[index]
    assert all(result.certificate is not None for result in results)


@pytest.mark.parametrize("score", [0.5, 2.5])
def test_problems_of_the_same_value_are_not_simulated(score: float) -> None:
    outcomes = Outcomes.from_array([[0.0, 2 * score], [score, score]])
    assert "no-certificate" in codes(estimate(outcomes, "avg", certify=True))

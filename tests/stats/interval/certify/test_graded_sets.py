"""Simulated graded scores: the interval of each data set is that of `estimate`."""

import numpy as np
import pytest

from passband import Outcomes, estimate
from passband.stats.checks import Over
from passband.stats.interval.certify.graded_sets import GradedSets, problem_sets, trial_sets
from passband.stats.interval.default.graded_sample import GradedSample
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.registry import parse_metric

RNG = np.random.default_rng(11)
UNIT = RNG.uniform(0.35, 0.65, (12, 4))
ROWS = {
    "bounded": UNIT,
    "positive": np.exp(3 * UNIT),
    "signed": 9 * (UNIT - 0.5),
}
RAGGED = [row[: 2 + index % 3].tolist() for index, row in enumerate(UNIT)]


def sample_of(outcomes: Outcomes, metric: str, over: Over) -> GradedSample:
    parsed = parse_metric(metric)
    means = tuple(parsed.means(outcomes))
    value = parsed.combine(means)
    return GradedSample.of(IntervalRequest(outcomes, parsed, means, value, over, 0.95, None))


def assert_same(drawn: GradedSets, singles: list[Outcomes], metric: str, over: Over) -> None:
    ends = drawn.ends(0.9)
    for low, high, each in zip(ends.low, ends.high, singles, strict=True):
        single = estimate(each, metric, over=over, level=0.9)
        assert low == pytest.approx(single.low, abs=1e-9)
        assert high == pytest.approx(single.high, abs=1e-9)


@pytest.mark.parametrize("kind", ROWS)
def test_over_problems(kind: str) -> None:
    sample = sample_of(Outcomes.from_array(ROWS[kind][:, :1]), "avg", "problems")
    for drawn in problem_sets(sample, 4, np.random.default_rng(1)):
        assert isinstance(drawn, GradedSets)
        rows = [Outcomes.from_array(each.values[:, None]) for each in drawn.samples]
        assert_same(drawn, rows, "avg", "problems")


def test_over_problems_in_clusters() -> None:
    clusters = [*"aaabbbbccdde"]
    outcomes = Outcomes.from_array(UNIT[:, :1], clusters=clusters)
    (drawn,) = problem_sets(sample_of(outcomes, "avg", "problems"), 4, np.random.default_rng(1))
    assert isinstance(drawn, GradedSets)
    rows = [Outcomes.from_array(each.values[:, None], clusters=clusters) for each in drawn.samples]
    assert_same(drawn, rows, "avg", "problems")


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("metric", ["avg", "max@2"])
def test_over_trials(kind: str, metric: str) -> None:
    sample = sample_of(Outcomes.from_array(ROWS[kind]), metric, "trials")
    drawn = trial_sets(sample, 5, np.random.default_rng(1))
    assert drawn is not None
    rows = [Outcomes.from_array(each.groups[0].ordered) for each in drawn.samples]
    assert_same(drawn, rows, metric, "trials")


def test_ragged_trials_are_kept() -> None:
    sample = sample_of(Outcomes.from_array(RAGGED), "avg", "trials")
    drawn = trial_sets(sample, 3, np.random.default_rng(1))
    assert drawn is not None
    assert [group.n for group in drawn.samples[0].groups] == [2, 3, 4]
    scores = np.concatenate([group.ordered.ravel() for group in drawn.samples[0].groups])
    assert scores.min() >= 0.0
    assert scores.max() <= 1.0


def test_truth_of_the_best_of_two() -> None:
    """Over very many data sets the expected best of two is the truth of the law."""
    sample = sample_of(Outcomes.from_array(UNIT), "max@2", "trials")
    drawn = trial_sets(sample, 400, np.random.default_rng(1))
    assert drawn is not None
    values = np.array([each.values.mean() for each in drawn.samples])
    error = values.std() / len(values) ** 0.5
    assert abs(values.mean() - drawn.truth[0]) < 4 * error


def test_no_noise_is_not_simulated() -> None:
    sample = sample_of(Outcomes.from_array([[0.5, 0.5], [0.2, 0.2]]), "avg", "trials")
    assert trial_sets(sample, 3, np.random.default_rng(1)) is None

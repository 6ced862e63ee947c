"""Simulated clusters: the interval of each data set is that of `estimate`."""

import numpy as np
import pytest

from passband import Outcomes, estimate
from passband.stats.checks import Over
from passband.stats.data.evidence import COUNTS_FIXED
from passband.stats.interval.certify.binary_sets import (
    ClusterSets,
    CountSets,
    DrawnCounts,
    blend_sets,
    cluster_sets,
    draw_counts,
    latent_values,
)
from passband.stats.interval.certify.laws import ProbabilityLaw, fitted_laws
from passband.stats.interval.certify.simulation import SimulatedDesign
from passband.stats.interval.fit.count_grid import CountGrid, points
from passband.stats.interval.request import IntervalRequest, mixture_of
from passband.stats.metric.registry import parse_metric

SIZES = [7, 1, 1, 4, 2, 2, 3, 5]
CODES = np.repeat(np.arange(len(SIZES)), SIZES)
EQUAL = Outcomes.from_counts(np.arange(25) % 5, 4, clusters=CODES.tolist())
RAGGED = Outcomes.from_counts(
    np.arange(25) % 3, [2, 2, 2, 8, 8] * 5, clusters=[f"c{code}" for code in CODES]
)
RARE = Outcomes.from_counts([1] + [0] * 24, 4, clusters=CODES.tolist())


def simulated(outcomes: Outcomes, metric: str, sets: int) -> ClusterSets:
    parsed = parse_metric(metric)
    means = tuple(parsed.means(outcomes))
    value = parsed.combine(means)
    request = IntervalRequest(outcomes, parsed, means, value, "problems", 0.95, None)
    return cluster_sets(request, sets, np.random.default_rng(5))


@pytest.mark.parametrize("outcomes", [EQUAL, RAGGED, RARE])
@pytest.mark.parametrize(("metric", "level"), [("pass@1", 0.95), ("pass^2", 0.9), ("pass@4", 0.99)])
def test_each_interval_is_that_of_estimate(outcomes: Outcomes, metric: str, level: float) -> None:
    drawn = simulated(outcomes, metric, 10)
    ends = drawn.ends(level)
    grid = drawn.mixture.grid
    for index, places in enumerate(drawn.places):
        each = Outcomes.from_counts(
            grid.successes[places], grid.trials[places], clusters=drawn.codes.tolist()
        )
        single = estimate(each, metric, level=level)
        assert ends.low[index] == pytest.approx(single.low, abs=1e-9)
        assert ends.high[index] == pytest.approx(single.high, abs=1e-9)


def test_clusters_are_kept_and_tied() -> None:
    outcomes = Outcomes.from_counts([0] * 20 + [4] * 20, 4, clusters=[0, 1] * 10 + [2, 3] * 10)
    drawn = simulated(outcomes, "pass@1", 200)
    assert drawn.codes.tolist() == [0, 1] * 10 + [2, 3] * 10
    values = drawn.mixture.grid.successes[drawn.places] / 4
    same = np.mean([np.corrcoef(values[:, 0], values[:, 2])[0, 1]])
    apart = np.mean([np.corrcoef(values[:, 0], values[:, 1])[0, 1]])
    assert same > 0.7 > 0.2 > abs(apart)


SETS = 8


def request_for(design: SimulatedDesign, metric: str, over: Over, level: float) -> IntervalRequest:
    trials = design.trials()
    outcomes = Outcomes.from_counts(0 * trials, trials)
    parsed = parse_metric(metric)
    return IntervalRequest(outcomes, parsed, (0.0,) * len(parsed.parts), 0.0, over, level, None)


def drawn_from(outcomes: Outcomes, k: int) -> DrawnCounts:
    design = SimulatedDesign.of(outcomes.histogram.at_least(k), k)
    law = fitted_laws(mixture_of(outcomes, k))[0]
    return draw_counts(design, law, SETS, np.random.default_rng(7))


def outcomes_in(drawn: DrawnCounts) -> list[Outcomes]:
    grid = drawn.mixture.grid
    return [
        Outcomes.from_counts(
            np.repeat(grid.successes, counts.astype(int)),
            np.repeat(grid.trials, counts.astype(int)),
        )
        for counts in drawn.mixture.counts
    ]


DESIGNS = {
    "equal": Outcomes.from_counts([0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 0, 3], 8),
    "ragged": Outcomes.from_counts([0, 3, 2, 2, 1, 5, 1, 4, 8, 1, 0, 3] * 2, [2, 4, 8] * 8),
    "tied": Outcomes.from_counts([0, 1, 1, 2, 0, 1] * 2 + [30, 32, 31] * 4, [2] * 12 + [32] * 12),
    "rare": Outcomes.from_counts([0] * 11 + [1], 4),  # some data sets have no success
    "few repeats": Outcomes.from_counts([1, 0] * 12 + [2], [1] * 24 + [3]),
    "single trials": Outcomes.from_counts([1, 0, 0] * 5, 1),
}


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize(("metric", "level"), [("pass@1", 0.95), ("pass@2", 0.9), ("pass^2", 0.99)])
def test_all_at_once_is_one_by_one(name: str, over: Over, metric: str, level: float) -> None:
    k = parse_metric(metric).k
    if DESIGNS[name].most_trials() < k:
        pytest.skip("no problem has that many trials")
    if over == "trials" and (DESIGNS[name].trials >= k).sum() == 1:
        pytest.skip("the interval of a single problem is exact, and not simulated")
    drawn = drawn_from(DESIGNS[name], k)
    ends = CountSets(drawn, request_for(drawn.design, metric, over, level)).ends(level)
    data = [each.accepting(COUNTS_FIXED) for each in outcomes_in(drawn)]
    singles = [estimate(each, metric, over=over, level=level) for each in data]
    assert np.allclose(ends.low, [single.low for single in singles], rtol=0, atol=1e-9)
    assert np.allclose(ends.high, [single.high for single in singles], rtol=0, atol=1e-9)


def test_blends_are_asked_about_one_by_one() -> None:
    drawn = drawn_from(DESIGNS["equal"], 2)
    request = request_for(drawn.design, "geom-ds@2", "problems", 0.95)
    ends = blend_sets(drawn, request).ends(0.95)
    singles = [estimate(each, "geom-ds@2") for each in outcomes_in(drawn)]
    assert np.allclose(ends.low, [single.low for single in singles], rtol=0, atol=1e-9)


def test_data_sets_keep_the_design() -> None:
    drawn = drawn_from(DESIGNS["ragged"], 1)
    grid = drawn.mixture.grid
    assert (grid.per_n(drawn.mixture.counts) == [8, 8, 8]).all()
    assert (drawn.places.sum(axis=-1) == [8, 8, 8]).all()


def test_truth_by_hand() -> None:
    """All problems at p = 1/2 or 1, one of each on average: pass@2 is 3/4 or 1."""
    weights = np.zeros((1, len(points())))
    weights[0, [30, 60]] = 0.5
    design = SimulatedDesign((2,), (10,))
    law = ProbabilityLaw("two", (2,), weights)
    drawn = draw_counts(design, law, 5, np.random.default_rng(1))
    over_problems = CountSets(drawn, request_for(design, "pass@2", "problems", 0.95)).truth
    assert np.allclose(over_problems, 0.875)
    over_trials = CountSets(drawn, request_for(design, "pass@2", "trials", 0.95)).truth
    halves = drawn.places[:, 0, 30]
    assert np.allclose(over_trials, (0.75 * halves + (10 - halves)) / 10)


def test_latent_values_with_a_prior_depend_on_the_trials() -> None:
    latent = latent_values(parse_metric("bayes"), CountGrid((2, 6)))
    p = points()
    assert np.allclose(latent[0, 0], (2 * p + 1) / 4)
    assert np.allclose(latent[0, 1], (6 * p + 1) / 8)

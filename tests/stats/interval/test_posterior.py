"""Posterior intervals: against exact Beta quantiles, against simulation, and at the edges."""

import itertools

import numpy as np
import pytest
from scipy.special import betaincinv, betaln

from passband import Estimate, InvalidInput, Outcomes, estimate
from passband.eval import maj_at_k_ci, pass_at_k_ci, pass_hat_k_ci
from passband.stats.data.counts import Histogram
from passband.stats.interval.fit.spiked_beta import fit_spiked, fitted_prior
from passband.stats.interval.posterior import ALL_TRIALS_ALIKE
from passband.stats.metric.metric import BlendMetric
from passband.stats.metric.registry import parse_metric
from passband.types import Floats

pytestmark = pytest.mark.slow

FIXED = {"uniform": (1.0, 1.0), "jeffreys": (0.5, 0.5)}
OVER_TRIALS = [*FIXED, "empirical-bayes", "hierarchical"]
EVERY = [*((name, "trials") for name in OVER_TRIALS), ("hierarchical", "problems")]
TAILS = [0.025, 0.975]


def over_trials(outcomes: Outcomes, metric: str, method: str, level: float = 0.95) -> Estimate:
    return estimate(outcomes, metric, over="trials", method=method, level=level)


def observed(found: Estimate) -> float:
    assert found.notes[0].code == "posterior-mean"
    return float(found.notes[0].text.rpartition(" ")[2])


def some_counts(problems: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(problems)
    return rng.binomial(n, rng.beta(0.3, 0.5, problems))


# -- one problem: exact ------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "prior"), FIXED.items())
@pytest.mark.parametrize(("c", "n"), [(0, 1), (0, 8), (3, 8), (8, 8), (500, 1000)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_one_problem_has_the_quantiles_of_its_beta(
    method: str, prior: tuple[float, float], c: int, n: int, level: float
) -> None:
    a, b = prior[0] + c, prior[1] + n - c
    sd = (a * b / (a + b + 1.0)) ** 0.5 / (a + b)
    tail = (1.0 - level) / 2.0
    for metric, map_to in [("pass@1", lambda p: p), (f"pass@{n}", lambda p: 1 - (1 - p) ** n)]:
        found = over_trials(Outcomes.from_counts([c], n), metric, method, level)
        wanted = map_to(betaincinv(a, b, [tail, 1.0 - tail]))
        assert [found.low, found.high] == pytest.approx(wanted, abs=2e-3)
        if metric == "pass@1":
            assert [found.low, found.high] == pytest.approx(wanted, abs=0.01 * sd)
            assert found.se == pytest.approx(sd, rel=1e-6)


def test_one_problem_with_a_blend_of_means() -> None:
    """With a single problem the blend of the means is the blend within the problem."""
    one = Outcomes.from_counts([3], 5)
    ends = [over_trials(one, name, "uniform") for name in ("geom@3", "geom-ds@3")]
    assert ends[0].low == ends[1].low
    assert ends[0].high == ends[1].high


# -- many problems: moments --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "seed_function"),
    [("pass@4", pass_at_k_ci), ("pass^4", pass_hat_k_ci), ("maj@4", maj_at_k_ci)],
)
def test_mean_and_sd_are_those_of_the_seed_functions(metric: str, seed_function: object) -> None:
    counts = some_counts(30, 8)
    matrix = (np.arange(8) < counts[:, None]).astype(int)
    found = over_trials(Outcomes.from_array(matrix), metric, "uniform")
    mean, sd, _, _ = seed_function(matrix, 4)  # type: ignore[operator]
    assert found.value == pytest.approx(mean, rel=1e-7)
    assert found.se == pytest.approx(sd, rel=1e-7)


def test_failures_alone_under_a_uniform_prior() -> None:
    """The published trap: 240 failures, and a posterior mean pass@8 of 0.47."""
    found = over_trials(Outcomes.from_counts([0] * 30, 8), "pass@8", "uniform")
    assert round(found.value, 4) == 0.4706
    assert observed(found) == 0.0
    assert found.low is not None
    assert found.low > 0.36
    assert any(
        note.code == "prior-dominates" and "0.4706, observed value 0," in note.text
        for note in found.notes
    )
    assert any("lies outside" in note.text for note in found.notes)


# -- many problems: simulation -----------------------------------------------------------------


def simulated(metric: str, p: Floats) -> Floats:
    """Return the metric of whole data sets of success probabilities, one per row."""
    asked = parse_metric(metric)
    means = [part.latent(p, asked.k).mean(axis=1) for part in asked.parts]
    if not isinstance(asked, BlendMetric):
        return means[0]
    return np.prod([m**power for m, power in zip(means, asked.powers, strict=True)], axis=0)


def close_to(found: Estimate, sample: Floats, within: float) -> None:
    """Compare ends and sd with a sample, in standard deviations of it."""
    sd = sample.std()
    low, high = np.quantile(sample, TAILS)
    assert found.low is not None
    assert found.high is not None
    assert found.se is not None
    assert abs(found.low - low) < within * sd
    assert abs(found.high - high) < within * sd
    assert abs(found.se / sd - 1.0) < within / 2.0
    assert abs(found.value - sample.mean()) < within / 2.0 * sd + 1e-4


METRICS = ["avg", "pass@4", "pass^4", "maj@4", "auc@4", "geom@4", "geom-ds@4", "geospectrum@4"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", FIXED)
def test_quantiles_against_simulation(metric: str, method: str) -> None:
    counts, n = some_counts(12, 6), 6
    a, b = FIXED[method]
    rng = np.random.default_rng(11)
    p = rng.beta(a + counts, b + n - counts, size=(100_000, len(counts)))
    close_to(
        over_trials(Outcomes.from_counts(counts, n), metric, method), simulated(metric, p), 0.04
    )


def test_ragged_outcomes_against_simulation() -> None:
    counts, trials = np.array([0, 1, 3, 5, 2, 16, 7, 4]), np.array([4, 5, 6, 5, 2, 16, 9, 4])
    rng = np.random.default_rng(12)
    keep = trials >= 4
    p = rng.beta(1 + counts[keep], 1 + (trials - counts)[keep], size=(100_000, keep.sum()))
    found = over_trials(Outcomes.from_counts(counts, trials), "pass@4", "uniform")
    assert found.left_out == 1
    close_to(found, simulated("pass@4", p), 0.04)


@pytest.mark.parametrize(
    ("metric", "mean"), [("geom@5", 0.2585), ("geom-ds@5", 0.3045), ("geospectrum@5", 0.3655)]
)
def test_blends_without_the_bias_of_linearisation(metric: str, mean: float) -> None:
    """Means that two million draws gave for three problems of five trials."""
    found = over_trials(Outcomes.from_counts([0, 3, 4], 5), metric, "uniform")
    assert found.value == pytest.approx(mean, abs=3e-4)


def test_empirical_bayes_is_the_posterior_under_the_fitted_prior() -> None:
    counts, n = some_counts(40, 8), 8
    outcomes = Outcomes.from_counts(counts, n)
    prior = fitted_prior(outcomes.histogram)
    rng = np.random.default_rng(13)
    p = rng.beta(prior.alpha + counts, prior.beta + n - counts, size=(50_000, len(counts)))
    found = over_trials(outcomes, "pass@8", "empirical-bayes")
    close_to(found, simulated("pass@8", p), 0.05)
    assert f"prior Beta({prior.alpha:.3g}, {prior.beta:.3g})" in found.notes[-1].text


# -- the fitted prior --------------------------------------------------------------------------


def log_likelihood(pairs: Histogram, a: float, b: float) -> float:
    c, f = pairs.successes, pairs.trials - pairs.successes
    return float(pairs.problems @ (betaln(a + c, b + f) - betaln(a, b)))


@pytest.mark.parametrize("ragged", [False, True])
def test_fitted_prior_is_the_top(ragged: bool) -> None:
    rng = np.random.default_rng(2)
    trials = rng.integers(3, 20, 200) if ragged else np.full(200, 8)
    counts = rng.binomial(trials, rng.beta(0.7, 2.0, 200))
    pairs = Histogram.of_counts(trials, counts)
    found = fitted_prior(pairs)
    top = log_likelihood(pairs, found.alpha, found.beta)
    for a, b in [(1.002, 1.0), (0.998, 1.0), (1.0, 1.002), (1.0, 0.998), (1.002, 1.002)]:
        assert log_likelihood(pairs, a * found.alpha, b * found.beta) <= top + 1e-9
    assert not found.on_edge


def test_fitted_prior_finds_the_truth() -> None:
    rng = np.random.default_rng(3)
    counts = rng.binomial(16, rng.beta(0.3, 0.5, 100_000))
    found = fitted_prior(Histogram.of_counts(np.full(100_000, 16), counts))
    assert [found.alpha, found.beta] == pytest.approx([0.3, 0.5], rel=0.02)


def test_fitted_prior_says_when_it_is_at_the_edge() -> None:
    found = over_trials(Outcomes.from_counts([4] * 10, 8), "pass@1", "empirical-bayes")
    assert any("edge" in note.text for note in found.notes)


@pytest.mark.parametrize("trials", [[8] * 10, [1] * 10, [3, 8] * 5])
@pytest.mark.parametrize("solved", [0, 1])
def test_no_prior_is_fitted_to_trials_that_are_all_alike(trials: list[int], solved: int) -> None:
    outcomes = Outcomes.from_counts([solved * n for n in trials], trials)
    for metric in ("avg", "pass@1", "geom-ds@1"):
        found = over_trials(outcomes, metric, "empirical-bayes")
        assert (found.low, found.high, found.se) == (None, None, None)
        assert found.notes == (ALL_TRIALS_ALIKE,)


@pytest.mark.parametrize("method", OVER_TRIALS)
def test_a_posterior_mean_has_no_posterior_of_its_own(method: str) -> None:
    with pytest.raises(InvalidInput, match="use avg; got 'bayes'"):
        over_trials(Outcomes.from_counts([3, 0, 8], 8), "bayes", method)


# -- the hierarchical model --------------------------------------------------------------------


def brute_force(counts: list[int], n: int, k: int) -> tuple[Floats, Floats]:
    """Draw the whole model from its prior, weigh by likelihood; return pass@k for both targets."""
    rng = np.random.default_rng(14)
    size = 300_000
    mean = np.sin(rng.uniform(0.0, np.pi / 2.0, size)) ** 2
    s = 1.0 / rng.uniform(0.02, 0.99, size) ** 2 - 1.0
    a, b = mean * s, (1.0 - mean) * s
    has, both = rng.random((2, size)) < 0.5, rng.dirichlet([1.0, 1.0, 1.0], size).T
    single = rng.random((2, size))
    z0, z1 = np.where(has.all(axis=0), both[:2], has * single)
    rest = 1.0 - z0 - z1
    likelihood = np.zeros(size)
    for c in counts:
        here = rest * np.exp(betaln(a + c, b + n - c) - betaln(a, b))
        likelihood += np.log(here + z0 * (c == 0) + z1 * (c == n) + 1e-300)
    weights = np.exp(likelihood - likelihood.max())
    at = rng.choice(size, 60_000, p=weights / weights.sum())
    a, b, z0, z1, rest = a[at], b[at], z0[at], z1[at], rest[at]
    population = rest * (1.0 - np.exp(betaln(a, b + k) - betaln(a, b))) + z1
    values = np.zeros(len(at))
    for c in counts:
        p = rng.beta(a + c, b + n - c)
        here = rest * np.exp(betaln(a + c, b + n - c) - betaln(a, b))
        spike, end = (z0, 0.0) if c == 0 else (z1, 1.0)
        if c in (0, n):
            p = np.where(rng.random(len(p)) < spike / (spike + here), end, p)
        values += (1.0 - (1.0 - p) ** k) / len(counts)
    return population, values


@pytest.mark.parametrize(
    ("counts", "n", "k"),
    [
        ([0, 0, 1, 3, 5, 5], 5, 3),
        ([0] * 10 + [1, 2, 5, 8, 8, 8, 8], 8, 8),
        ([2, 3, 2, 3, 4, 2], 6, 4),
        ([0] * 5, 4, 4),
    ],
)
def test_hierarchical_against_brute_force(counts: list[int], n: int, k: int) -> None:
    population, values = brute_force(counts, n, k)
    outcomes = Outcomes.from_counts(counts, n)
    close_to(estimate(outcomes, f"pass@{k}", method="hierarchical"), population, 0.08)
    close_to(over_trials(outcomes, f"pass@{k}", "hierarchical"), values, 0.25)


def test_hierarchical_closes_in_on_the_truth() -> None:
    rng = np.random.default_rng(4)
    p = rng.beta(0.3, 0.5, 20_000)
    outcomes = Outcomes.from_counts(rng.binomial(8, p), 8)
    found = estimate(outcomes, "pass@8", method="hierarchical")
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.6500 < found.high < found.low + 0.03
    these = over_trials(outcomes, "pass@8", "hierarchical")
    assert these.low < 1.0 - ((1.0 - p) ** 8).mean() < these.high


def test_spikes_are_found_where_they_are() -> None:
    rng = np.random.default_rng(5)
    p = np.where(rng.random(500) < 0.4, 0.0, rng.beta(2.0, 2.0, 500))
    models = fit_spiked(Outcomes.from_counts(rng.binomial(16, p), 16), 1)
    assert sum(model.weight for model in models) == pytest.approx(1.0)
    assert sum(model.weight for model in models if model.has_zero) > 0.999
    best = max(models, key=lambda model: model.weight)
    assert float((best.weights * best.zero).sum()) == pytest.approx(0.4, abs=0.06)


def test_clusters_are_said_to_be_ignored() -> None:
    grouped = Outcomes.from_counts([1, 2, 3, 4], 5, clusters=["a", "a", "b", "b"])
    found = estimate(grouped, "pass@1", method="hierarchical")
    assert any("clusters are ignored" in note.text for note in found.notes)


# -- every method ------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "over"), EVERY)
@pytest.mark.parametrize(
    ("counts", "trials"),
    [
        ([0] * 10, 8),
        ([8] * 10, 8),
        ([0, 8], 8),
        ([3], 8),
        ([0, 1, 2, 16], [8, 9, 12, 16]),
        ([0, 1, 1], [1, 1, 1]),
    ],
)
def test_ends_are_in_order_and_within_bounds(
    method: str, over: str, counts: list[int], trials: object
) -> None:
    outcomes = Outcomes.from_counts(counts, trials)  # type: ignore[arg-type]
    k = min(int(outcomes.trials.min()), 8)
    names = ["avg", f"pass@{k}", f"pass^{k}", f"max@{k}", f"geom@{k}", f"geom-ds@{k}"]
    for name in [*names, f"mg-pass@{k}", f"geospectrum@{k}"]:
        found = estimate(outcomes, name, over=over, method=method)  # type: ignore[call-overload]
        if ALL_TRIALS_ALIKE in found.notes:
            assert found.low is found.high is None, name
            continue
        assert 0.0 <= found.low <= found.high <= 1.0, name
        assert found.se >= 0.0, name
        assert found.seed is None, name


@pytest.mark.parametrize(("method", "over"), EVERY)
@pytest.mark.parametrize("metric", ["pass@4", "geom-ds@4"])
def test_higher_levels_are_wider(method: str, over: str, metric: str) -> None:
    outcomes = Outcomes.from_counts(some_counts(20, 8), 8)
    ends = [
        estimate(outcomes, metric, over=over, method=method, level=level)  # type: ignore[call-overload]
        for level in (0.1, 0.5, 0.9, 0.95, 0.99)
    ]
    assert all(a.low > b.low for a, b in itertools.pairwise(ends))
    assert all(a.high < b.high for a, b in itertools.pairwise(ends))


@pytest.mark.parametrize(("method", "over"), EVERY)
def test_the_same_data_give_the_same_ends(method: str, over: str) -> None:
    counts = some_counts(25, 8)
    first, again = (
        estimate(Outcomes.from_counts(c, 8), "pass@8", over=over, method=method)  # type: ignore[call-overload]
        for c in (counts, counts[::-1])
    )
    assert (first.low, first.high, first.se) == (again.low, again.high, again.se)


@pytest.mark.parametrize(("method", "over"), EVERY)
def test_failures_are_the_mirror_of_successes(method: str, over: str) -> None:
    """What is not pass@k of the failures is pass^k of the successes."""
    counts = some_counts(20, 8)
    one = estimate(Outcomes.from_counts(counts, 8), "pass@4", over=over, method=method)  # type: ignore[call-overload]
    two = estimate(Outcomes.from_counts(8 - counts, 8), "pass^4", over=over, method=method)  # type: ignore[call-overload]
    assert [one.low, one.high] == pytest.approx([1.0 - two.high, 1.0 - two.low], abs=1e-6)


@pytest.mark.parametrize("method", ["uniform", "jeffreys", "empirical-bayes"])
def test_only_over_trials(method: str) -> None:
    with pytest.raises(InvalidInput, match="over='trials'"):
        estimate(Outcomes.from_counts([1, 2], 4), "pass@1", method=method)


@pytest.mark.parametrize("method", OVER_TRIALS)
def test_scores_between_0_and_1_are_refused(method: str) -> None:
    with pytest.raises(InvalidInput, match="scores of 0 or 1"):
        over_trials(Outcomes.from_array([[0.5, 1.0], [0.2, 0.3]]), "avg", method)


@pytest.mark.parametrize(("method", "over"), EVERY)
def test_the_printed_value_lies_within_the_interval(method: str, over: str) -> None:
    """37 x 8 with a pull towards the middle: the observed value of pass@4 lies below."""
    counts = [0] * 12 + [1] * 8 + [8] * 17
    for metric in ("pass@1", "pass@4", "pass@8"):
        outcomes = Outcomes.from_counts(counts, 8)
        found = estimate(outcomes, metric, over=over, method=method)  # type: ignore[call-overload]
        assert found.low < found.value < found.high
        assert observed(found) == pytest.approx(estimate(outcomes, metric).value, abs=1e-4)
        assert found.as_json()["value"] == found.value

"""The posterior of an ability: next to quadrature, in any order, with any evidence."""

from collections import Counter

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.irt.items import Items, log_likelihood
from passband.stats.irt.posterior import AbilityPosterior, Grid
from passband.stats.irt.responses import ItemEvidence
from support.fuzz.properties import one_in
from support.samples.irt_banks import MODELS, bank, banks, scores, thetas

seeds = st.integers(0, 2**32 - 1)


def answered(items: Items, theta: float, seed: int) -> list[ItemEvidence]:
    got = scores(items, theta, np.random.default_rng(seed))
    return [ItemEvidence(item, score) for item, score in enumerate(got.tolist())]


def by_quadrature(items: Items, evidence: list[ItemEvidence], sd: float) -> tuple[float, float]:
    """Return mean and spread on 40,001 nodes."""
    nodes = np.linspace(-12 * sd - 3, 12 * sd + 3, 40_001)
    log = -0.5 * (nodes / sd) ** 2
    for one, times in Counter(evidence).items():
        single = log_likelihood(items.take([one.item]), nodes, np.array([one.score]))
        log += times * one.trials * single[0]
    chance = np.exp(log - log.max())
    chance /= chance.sum()
    mean = float(chance @ nodes)
    return mean, float(np.sqrt(chance @ (nodes - mean) ** 2))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("trials", [1, 40, 2000])
@pytest.mark.parametrize("sd", [0.5, 3.0])
def test_moments_agree_with_quadrature(model: str, trials: int, sd: float) -> None:
    items = bank(model, 12)
    seen = answered(items, 0.7, 1)
    if model == "graded":
        seen *= min(trials, 40)
    else:
        seen = [one._replace(trials=trials) for one in seen]
    posterior = AbilityPosterior(Grid.of(items, prior_sd=sd))
    for one in seen:
        posterior.add(one)
    mean, spread = by_quadrature(items, seen, sd)
    assert posterior.theta == pytest.approx(mean, abs=1e-6)
    assert posterior.se == pytest.approx(spread, rel=1e-5)


def test_one_answer_by_mpmath() -> None:
    def integral(power: int) -> mpmath.mpf:
        return mpmath.quad(
            lambda t: t**power * mpmath.npdf(t) / (1 + mpmath.exp(-2 * (t - 0.5))), [-12, 0, 12]
        )

    posterior = AbilityPosterior(Grid.of(Items("2pl", a=np.array([2.0]), b=np.array([0.5]))))
    posterior.add(ItemEvidence(0, 1.0))
    mean = integral(1) / integral(0)
    assert posterior.theta == pytest.approx(float(mean), abs=1e-7)
    spread = mpmath.sqrt(integral(2) / integral(0) - mean**2)
    assert posterior.se == pytest.approx(float(spread), abs=1e-6)


@given(banks, thetas, seeds, st.floats(0.0, 1.0), st.randoms(use_true_random=False))
def test_order_does_not_matter(
    items: Items, theta: float, seed: int, rho: float, chance: object
) -> None:
    seen = answered(items, theta, seed) + answered(items, theta, seed + 1)
    mixed = list(seen)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    grid = Grid.of(items, rho=rho)
    one, other = AbilityPosterior(grid), AbilityPosterior(grid)
    one.extend(seen)
    for evidence in mixed:
        other.add(evidence)
    assert other.theta == pytest.approx(one.theta, abs=1e-6)
    assert other.se == pytest.approx(one.se, rel=1e-5)


@given(st.sampled_from(["1pl", "2pl", "3pl", "continuous"]), st.integers(1, 30), st.data())
def test_k_of_n_is_k_right_and_the_rest_wrong(model: str, n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    grid = Grid.of(bank(model, 3))
    counted, single = AbilityPosterior(grid), AbilityPosterior(grid)
    counted.add(ItemEvidence(1, k / n, n))
    single.extend([ItemEvidence(1, 1.0)] * k + [ItemEvidence(1, 0.0)] * (n - k))
    assert counted.theta == pytest.approx(single.theta, abs=1e-9)
    assert counted.se == pytest.approx(single.se, rel=1e-9)


def test_correlated_trials_tell_less() -> None:
    items = bank("2pl", 3)
    spread = []
    for rho in (0.0, 0.3, 1.0):
        posterior = AbilityPosterior(Grid.of(items, rho=rho))
        posterior.add(ItemEvidence(0, 0.5, 10))
        spread.append(posterior.se)
    assert spread == sorted(spread)
    assert spread[0] < spread[1] < spread[2]
    single = AbilityPosterior(Grid.of(items))
    single.add(ItemEvidence(0, 0.5))  # at rho 1, ten trials are worth one
    assert spread[2] == pytest.approx(single.se)


@given(st.sampled_from(["1pl", "2pl", "continuous"]), seeds, st.data())
def test_a_better_score_raises_theta(model: str, seed: int, data: st.DataObject) -> None:
    items = bank(model, 6, seed)
    seen = answered(items, 0.0, seed)
    which = data.draw(st.integers(0, 5))
    score = seen[which].score
    if score == 1.0:
        return
    better = [*seen[:which], ItemEvidence(which, (1.0 + score) / 2.0), *seen[which + 1 :]]
    before, after = AbilityPosterior(Grid.of(items)), AbilityPosterior(Grid.of(items))
    before.extend(seen)
    after.extend(better)
    assert after.theta > before.theta


def test_quantiles_of_the_prior_are_normal() -> None:
    posterior = AbilityPosterior(Grid.of(bank("2pl", 1), prior_mean=2.0, prior_sd=3.0))
    low, high = posterior.interval(0.95)
    assert low == pytest.approx(2 - 3 * 1.959964, abs=2e-4)
    assert high == pytest.approx(2 + 3 * 1.959964, abs=2e-4)


@one_in(4)
@given(banks, thetas, seeds, st.integers(1, 400))
def test_quantiles_cut_off_what_they_say(items: Items, theta: float, seed: int, times: int) -> None:
    posterior = AbilityPosterior(Grid.of(items))
    seen = answered(items, theta, seed)
    if items.steps is None:
        seen = [one._replace(trials=times) for one in seen]
    posterior.extend(seen)
    nodes = np.linspace(
        posterior.theta - 14 * posterior.se, posterior.theta + 14 * posterior.se, 20_001
    )
    log = posterior._log_density(nodes)
    chance = np.exp(log - log.max())
    below = np.cumsum(chance) / chance.sum()
    for share, at in zip((0.025, 0.5, 0.9), posterior.quantiles([0.025, 0.5, 0.9]), strict=True):
        assert np.interp(at, nodes, below) == pytest.approx(share, abs=5e-4)


def test_evidence_beyond_the_prior_moves_the_nodes() -> None:
    posterior = AbilityPosterior(
        Grid.of(Items("2pl", a=np.array([1.0]), b=np.array([12.0])), prior_sd=1.0)
    )
    posterior.add(ItemEvidence(0, 0.5, 1_000_000))
    assert posterior.theta == pytest.approx(12.0, abs=0.01)
    assert posterior.se == pytest.approx(0.002, rel=0.01)  # 1 / √(1e6 / 4)


def test_copies_learn_apart() -> None:
    posterior = AbilityPosterior(Grid.of(bank("2pl", 3)))
    posterior.add(ItemEvidence(0, 1.0))
    before = posterior.theta
    other = posterior.copy()
    other.add(ItemEvidence(1, 1.0))
    assert (posterior.theta, len(posterior.evidence)) == (before, 1)
    assert other.theta > before


@pytest.mark.parametrize("model", MODELS)
def test_best_items_are_those_with_most_information(model: str) -> None:
    items = bank(model, 200)
    grid = Grid.of(items)
    free = np.ones(200, dtype=bool)
    info = grid.information(0.4)
    order = np.argsort(-info, kind="stable")
    assert grid.best(0.4, free).tolist() == [order[0]]
    free[order[:3]] = False
    assert grid.best(0.4, free, 5).tolist() == order[3:8].tolist()
    free[:] = False
    assert grid.best(0.4, free).tolist() == []
    free[[3, 7]] = True
    assert sorted(grid.best(0.4, free, 5).tolist()) == [3, 7]


@pytest.mark.parametrize("slope", [20.0, 100.0, 1000.0])
def test_an_interval_holds_beside_a_cliff(slope: float) -> None:
    items = Items("2pl", a=np.array([1.0, slope]), b=np.array([0.0, 0.3]))
    posterior = AbilityPosterior(Grid.of(items))
    posterior.extend([ItemEvidence(0, 1.0), ItemEvidence(1, 1.0)])
    nodes = np.linspace(-8, 8, 400_001)
    log = -0.5 * nodes**2 + log_likelihood(items, nodes, np.array([1.0, 1.0])).sum(axis=0)
    below = np.cumsum(np.exp(log - log.max()))
    expected = np.interp([0.025, 0.975], below / below[-1], nodes)
    assert posterior.interval(0.95) == pytest.approx(tuple(expected), abs=0.05)

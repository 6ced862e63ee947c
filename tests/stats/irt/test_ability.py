"""Ability by four methods: published scores, extremes, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import NotEnoughData, UnknownName
from passband.stats.irt.ability import AbilityMethod, estimate_ability
from passband.stats.irt.items import Items, log_likelihood, slopes
from passband.stats.irt.responses import ItemEvidence
from support.samples.irt_banks import MODELS, bank, banks, scores, thetas

METHODS: tuple[AbilityMethod, ...] = ("eap", "map", "mle", "wle")
LSAT6 = Items(
    "2pl",
    a=np.array([0.8254, 0.7229, 0.8905, 0.6886, 0.6575]),
    b=np.array([-3.3597, -1.3696, -0.2799, -1.8659, -3.1236]),
)  # as ltm estimates them


@pytest.mark.parametrize(
    ("pattern", "theta", "se"),
    [("00000", -1.895, 0.795), ("11111", 0.606, 0.855), ("11011", -0.022, 0.827)],
)
def test_modes_are_those_of_ltm(pattern: str, theta: float, se: float) -> None:
    """Empirical Bayes scores that ltm prints for patterns of LSAT6."""
    seen = [ItemEvidence(item, float(digit)) for item, digit in enumerate(pattern)]
    found = estimate_ability(LSAT6, seen, method="map")
    assert found.theta == pytest.approx(theta, abs=1.1e-3)
    assert found.se == pytest.approx(se, abs=1.1e-3)


def test_maximum_likelihood_by_hand() -> None:
    """Of equal items, P is the share that is right: θ = b + logit(3/4) / a."""
    items = Items("1pl", a=np.array([2.0] * 4), b=np.array([0.5] * 4))
    seen = [ItemEvidence(i, score) for i, score in enumerate([1.0, 1.0, 1.0, 0.0])]
    found = estimate_ability(items, seen, method="mle")
    assert found.theta == pytest.approx(0.5 + np.log(3) / 2)
    assert found.se == pytest.approx(1 / np.sqrt(4 * 4 * 3 / 16))
    assert (found.low, found.high) == pytest.approx(
        (found.theta - 1.959964 * found.se, found.theta + 1.959964 * found.se), abs=1e-6
    )


def test_weighted_likelihood_by_hand() -> None:
    """Warm's estimate for equal 1pl items adds half a success and half a failure."""
    items = Items("1pl", a=np.array([1.0] * 4), b=np.array([0.0] * 4))
    for right in range(5):
        seen = [ItemEvidence(i, float(i < right)) for i in range(4)]
        found = estimate_ability(items, seen, method="wle")
        assert found.theta == pytest.approx(np.log((right + 0.5) / (4 - right + 0.5)))
        assert not found.notes


def test_weighted_likelihood_is_a_mode_under_jeffreys_prior() -> None:
    """For 2pl items: the maximum of l + log(I) / 2."""
    items = bank("2pl", 20)
    got = scores(items, 0.5, np.random.default_rng(3))
    nodes = np.linspace(-3, 3, 60_001)
    total = log_likelihood(items, nodes, got).sum(axis=0)
    total += np.log(slopes(items, nodes).information.sum(axis=0)) / 2
    seen = [ItemEvidence(i, s) for i, s in enumerate(got)]
    found = estimate_ability(items, seen, method="wle")
    assert found.theta == pytest.approx(nodes[total.argmax()], abs=1e-4)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("score", [0.0, 1.0])
def test_extreme_scores_are_finite(model: str, method: AbilityMethod, score: float) -> None:
    items = bank(model, 10)
    found = estimate_ability(items, [ItemEvidence(i, score) for i in range(10)], method=method)
    assert np.isfinite([found.theta, found.se, found.low, found.high]).all()
    assert (found.theta > 0) == (score == 1.0)
    codes = [note.code for note in found.notes]
    if method in ("eap", "map"):
        assert codes == []
    elif method == "mle":
        assert codes[0].endswith("likelihood-without-maximum")
    json.dumps(found.as_json(), allow_nan=False)


@given(banks, thetas, st.integers(0, 2**32 - 1), st.sampled_from(METHODS))
def test_estimates_are_finite_and_inside(
    items: Items, theta: float, seed: int, method: AbilityMethod
) -> None:
    got = scores(items, theta, np.random.default_rng(seed)).tolist()
    found = estimate_ability(items, [ItemEvidence(i, s) for i, s in enumerate(got)], method=method)
    assert found.low < found.theta < found.high
    assert found.se > 0
    assert (found.n_items, found.n_trials) == (len(items), len(items))


@given(banks, thetas, st.integers(0, 2**32 - 1))
def test_estimates_solve_their_equations(items: Items, theta: float, seed: int) -> None:
    """Nothing on a dense grid is more likely than the estimate."""
    got = scores(items, theta, np.random.default_rng(seed))
    seen = [ItemEvidence(i, s) for i, s in enumerate(got.tolist())]
    nodes = np.linspace(-9, 9, 3001)
    for method in ("mle", "map"):
        found = estimate_ability(items, seen, method=method)
        if found.notes:
            continue
        at = np.append(nodes, found.theta)
        total = log_likelihood(items, at, got).sum(axis=0) - (method == "map") * at**2 / 2
        assert total[-1] >= total.max() - 1e-9


def test_methods_agree_with_much_evidence() -> None:
    items = bank("3pl", 400)
    got = scores(items, 0.8, np.random.default_rng(5))
    seen = [ItemEvidence(i, s) for i, s in enumerate(got)]
    found = [estimate_ability(items, seen, method=method) for method in METHODS]
    assert np.ptp([one.theta for one in found]) < 0.03
    assert np.ptp([one.se for one in found]) < 0.005


def test_repeats_count_as_trials() -> None:
    items = bank("2pl", 2)
    found = estimate_ability(
        items, [ItemEvidence(0, 0.5, 8), ItemEvidence(0, 1.0, 2), ItemEvidence(1, 0.0)]
    )
    assert (found.n_items, found.n_trials) == (2, 11)


def test_no_evidence_leaves_the_prior() -> None:
    items = bank("2pl", 2)
    for method in ("eap", "map"):
        found = estimate_ability(items, [], method=method, prior_mean=1.0, prior_sd=2.0)
        assert (found.theta, found.se) == (1.0, 2.0)
    with pytest.raises(NotEnoughData, match="at least one item; use 'eap'"):
        estimate_ability(items, [], method="wle")


def test_a_misspelt_method_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'eap'"):
        estimate_ability(bank("2pl", 2), [], method="eapp")  # type: ignore[arg-type]

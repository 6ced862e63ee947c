"""Tail profiles: exact arithmetic, brute force, recorded values of scorio 0.2.3, and refusals."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from passband import InvalidInput
from passband import eval as ev
from passband.eval import _banks
from passband.eval._tailpass_draws import profile_of

R = np.array([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1], [0, 0, 0, 0, 0]])
GRADED = np.array([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]])
W = [0.0, 0.25, 1.0]


# -- exact twins -----------------------------------------------------------------------------------


def rise(start: Fraction, steps: int) -> Fraction:
    return math.prod((start + step for step in range(steps)), start=Fraction(1))


def bank_probability(sequence: tuple[int, ...], alpha: list[Fraction]) -> Fraction:
    """Return the probability of attempts in order, when probabilities are Dirichlet."""
    counts = [sequence.count(category) for category in range(len(alpha))]
    above = math.prod(rise(a, c) for a, c in zip(alpha, counts, strict=True))
    return above / rise(sum(alpha, Fraction(0)), len(sequence))


def exact_moments(
    matrix: Any, k: int, scores: list[Fraction], threshold: Fraction
) -> tuple[Fraction, Fraction]:
    """Return mean and variance of one entry of the profile, over all sequences of attempts."""
    mean, variance = Fraction(0), Fraction(0)
    for row in matrix.tolist():
        alpha = [Fraction(1 + row.count(category)) for category in range(len(scores))]
        banks = [
            bank
            for bank in itertools.product(range(len(scores)), repeat=k)
            if sum(scores[category] for category in bank) >= threshold * k
        ]
        first = sum((bank_probability(bank, alpha) for bank in banks), Fraction(0))
        both = (bank_probability(a + b, alpha) for a in banks for b in banks)
        mean += first
        variance += sum(both, Fraction(0)) - first**2
    return mean / len(matrix), variance / len(matrix) ** 2


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize(("matrix", "w"), [(R, [0.0, 1.0]), (GRADED, W)])
def test_posterior_against_fractions(matrix: Any, w: list[float], k: int) -> None:
    profile = ev.tailpass(matrix, k, w)
    scores = [Fraction(score) for score in w]
    for place in range(k):
        mean, variance = exact_moments(matrix, k, scores, Fraction(place + 1, k))
        assert profile.mean[place] == pytest.approx(float(mean), rel=1e-12)
        assert profile.std[place] == pytest.approx(float(variance) ** 0.5, rel=1e-9)


@pytest.mark.parametrize("k", [1, 2, 4, 5])
@pytest.mark.parametrize(("matrix", "w"), [(R, [0.0, 1.0]), (GRADED, W)])
def test_recorded_trials_against_every_subset(matrix: Any, w: list[float], k: int) -> None:
    scores = np.array(w)[matrix]
    subsets = list(itertools.combinations(range(matrix.shape[1]), k))
    sums = np.array([[row[list(subset)].sum() for subset in subsets] for row in scores])
    wanted = [(sums >= t).mean() for t in range(1, k + 1)]
    assert ev.tailpass_empirical(matrix, k, w) == pytest.approx(wanted, rel=1e-12)


def test_the_ends_of_a_profile_are_known_metrics() -> None:
    profile = ev.tailpass_empirical(R, 3)
    assert profile[0] == pytest.approx(ev.pass_at_k(R, 3), rel=1e-14)
    assert profile[-1] == pytest.approx(ev.pass_hat_k(R, 3), rel=1e-14)
    assert profile[1] == pytest.approx(ev.maj_at_k(R, 3), rel=1e-14)
    posterior = ev.tailpass(R, 5)
    for found, known in [
        ((posterior.mean[0], posterior.std[0]), ev.pass_at_k_ci),
        (posterior.discovery(), ev.pass_at_k_ci),
        ((posterior.mean[-1], posterior.std[-1]), ev.pass_hat_k_ci),
        (posterior.stability(), ev.pass_hat_k_ci),
    ]:
        assert found == pytest.approx(known(R, 5)[:2], rel=1e-9)


# -- recorded values -------------------------------------------------------------------------------


def test_recorded_values() -> None:
    """Printed by scorio 0.2.3."""
    profile = ev.tailpass(R, 4)
    assert profile.mean == pytest.approx(RECORDED["bmean"], rel=1e-12)
    assert profile.std == pytest.approx(RECORDED["bstd"], rel=1e-10)
    assert profile.moment(2.5) == pytest.approx(RECORDED["bm2.5"], rel=1e-10)
    graded = ev.tailpass(GRADED, 5, [0.0, 0.3, 1.0])
    assert graded.mean == pytest.approx(RECORDED["gmean"], rel=1e-12)
    assert graded.std == pytest.approx(RECORDED["gstd"], rel=1e-10)
    for power in (1, 2, 4):
        assert graded.moment(power) == pytest.approx(RECORDED[f"gm{power}"], rel=1e-10)
    earlier = ev.tailpass(R, 7, R0=[[1, 0], [0, 0], [1, 1]], eta=0.5, prior=[0.5, 0.7])
    assert earlier.mean == pytest.approx(RECORDED["b7mean"], rel=1e-12)
    assert ev.tailpass_empirical(GRADED, 3, [0.0, 0.3, 1.0]) == pytest.approx(RECORDED["eg3"])
    draws = profile.sample(60, rng=5)
    assert draws.summary(draws.qrs()) == pytest.approx(RECORDED["bsu"], rel=1e-9)


RECORDED: dict[str, list[float]] = {
    "bmean": [0.768253968254, 0.584126984127, 0.384126984127, 0.168253968254],
    "bstd": [0.09480067528656, 0.1048047823938, 0.1208064107566, 0.09498634725719],
    "bm2.5": [0.3145235031697, 0.09723327994188],
    "gmean": [
        0.905303030303,
        0.6325757575758,
        0.3106060606061,
        0.1212121212121,
        0.02651515151515,
    ],
    "gstd": [
        0.08289335598967,
        0.172225846454,
        0.1699221922932,
        0.1051754408659,
        0.03667841257811,
    ],
    "gm1": [0.4875, 0.09749465797331],
    "gm2": [0.2870833333333, 0.1001651871141],
    "gm4": [0.1368507242424, 0.07994782928404],
    "b7mean": [
        0.9037455395137,
        0.7821461124178,
        0.6475603796725,
        0.5000762372779,
        0.3432585484038,
        0.1909606350156,
        0.06743773288399,
    ],
    "eg3": [0.9, 0.3, 0.0],
    "bsu": [0.5355289322667, 0.08122817806216, 0.3899967349717, 0.6865298775876],
}


# -- properties ------------------------------------------------------------------------------------


def test_utilities_are_sums_of_the_profile() -> None:
    profile = ev.tailpass(R, 4)
    assert profile.linear([0.25] * 4) == pytest.approx(profile.moment(1), rel=1e-10)
    assert profile.linear([0, 1, 0, 0]) == pytest.approx((profile.mean[1], profile.std[1]))
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    sd = float(weights @ profile.covariance @ weights) ** 0.5
    assert profile.linear(weights) == pytest.approx((float(profile.mean @ weights), sd))
    assert profile.question_mean.mean(axis=0) == pytest.approx(profile.mean)
    assert (np.diff(profile.mean) < 0.0).all()
    assert profile.at_k(2).mean == pytest.approx(ev.tailpass(R, 2).mean)
    assert profile.question_count == 3


@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_closed_powers_are_those_of_the_banks(power: int) -> None:
    counts, payoff = _banks.power_payoff(np.array(W), 6, power)
    alpha = np.array([1.5, 2.0, 0.7])
    banks = _banks.bank_counts(6, 3)
    scores = _banks.bank_scores(banks, np.array(W), 6)
    known = _banks.posterior_probabilities(banks, alpha) @ scores**power
    assert _banks.posterior_probabilities(counts, alpha) @ payoff == pytest.approx(known)


def test_draws_agree_with_the_exact_moments() -> None:
    profile = ev.tailpass(GRADED, 3, W)
    draws = profile.sample(4000, rng=1)
    assert draws.profile.mean(axis=0) == pytest.approx(profile.mean, abs=0.01)
    assert draws.moment(2).mean() == pytest.approx(profile.moment(2)[0], abs=0.01)
    assert draws.discovery().mean() == pytest.approx(profile.discovery()[0], abs=0.01)
    assert draws.stability().mean() == pytest.approx(profile.stability()[0], abs=0.01)
    assert draws.power_mean(1.0) == pytest.approx(draws.linear([1 / 3] * 3))
    assert draws.qrs(aggregation="profile") == pytest.approx(
        np.sqrt((draws.profile**2).mean(axis=1))
    )
    one = ev.tailpass([0, 1, 1], 3).sample(50, rng=2)  # of one problem: no average in between
    assert one.rollout(2) == pytest.approx(one.power_mean(2.0) ** 2)
    short = draws.shortfall([1.0, 1.0, 1.0], epsilon=0.5)
    assert (short >= 0.0).all()
    mean, sd, low, high = profile.moment_ci(2, rng=1)
    assert low < mean < high
    assert sd == pytest.approx(profile.moment(2)[1], rel=0.1)
    assert len(draws.summary()) == 4
    assert draws.at_k(2).profile.shape == (4000, 2)
    normal = profile.ci(method="normal")
    assert normal[0] == pytest.approx(profile.mean)
    assert profile.linear_ci([1, 0, 0], method="normal")[0] == pytest.approx(profile.mean[0])
    assert profile.linear_ci([1, 0, 0], rng=0)[0] == pytest.approx(profile.mean[0], abs=0.02)
    assert profile.ci(rng=0)[0] == pytest.approx(profile.mean, abs=0.02)


def test_thresholds_between_scores() -> None:
    banks, scores = np.array([0.2, 0.5, 0.3]), np.array([0.5, 0.0, 1.0])
    profile = profile_of(banks, scores, np.array([0.0, 0.4, 0.5, 0.9, 1.0]))
    assert profile == pytest.approx([1.0, 0.5, 0.5, 0.3, 0.3])


def test_large_k() -> None:
    profile = ev.tailpass(R, 5000, thresholds=[0.1, 0.5])
    assert profile.moment(2)[0] == pytest.approx(ev.tailpass(R, 19_999).moment(2)[0], rel=1e-3)
    assert profile.discovery()[0] < 1.0
    with pytest.raises(InvalidInput, match="use sample"):
        _ = profile.std


def test_masked_trials_are_not_there() -> None:
    masked = np.ma.masked_array([[0, 1, 1], [0, 0, 1]], mask=np.array([[0, 0, 1], [0, 0, 1]], bool))
    assert ev.tailpass_empirical(masked, 1).tolist() == [0.25]
    assert ev.tailpass(masked, 2).mean == pytest.approx(ev.tailpass([[0, 1], [0, 0]], 2).mean)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be >= 1"),
        ({"w": [0.0, 2.0]}, r"w must lie in \[0, 1\]"),
        ({"eta": 2.0}, "eta"),
        ({"prior": 0.0}, "prior"),
        ({"prior": [1.0, 1.0, 1.0]}, "prior must be a number, 2 numbers, or 3 x 2"),
        ({"prior": 1e308}, "prior must be smaller"),
        ({"thresholds": [0.5, 0.5]}, "thresholds must increase"),
        ({"thresholds": [0.5, 1.5]}, "thresholds must increase"),
        ({"R": [[0, 2]]}, "R is not binary"),
        ({"k": 50_000}, "too many thresholds"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ev.tailpass(**{"R": R, "k": 4, **options})


def test_refusals_of_utilities() -> None:
    profile = ev.tailpass(R, 2)
    draws = profile.sample(5, rng=0)
    wrong: list[Any] = [
        lambda: profile.linear([0.5, 0.6]),
        lambda: profile.linear([1.0]),
        lambda: profile.moment(-1),
        lambda: profile.sample(1),
        lambda: profile.ci(method="exact"),  # type: ignore[arg-type]
        lambda: profile.ci(2.0, rng=0),
        lambda: draws.rollout(1),
        lambda: draws.power_mean(2, aggregation="all"),  # type: ignore[arg-type]
        lambda: draws.shortfall([0.1, 0.2]),
        lambda: draws.shortfall([0.2, 0.1], [0.0, 1.0]),
        lambda: draws.harmonic(2.0),
        lambda: draws.summary([1.0]),
        lambda: ev.tailpass_empirical(R, 6),
    ]
    for ask in wrong:
        with pytest.raises(InvalidInput):
            ask()

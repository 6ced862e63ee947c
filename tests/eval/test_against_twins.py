"""Every function of the interface against the exact twins, on random matrices."""

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import mpmath
import numpy as np
import pytest

from passband import eval as ev
from support.samples import exact
from support.samples.exact import Draws

SEEDS = range(4)
Z = NormalDist().inv_cdf(0.975)


def rows_of(seed: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """A matrix of 0 and 1, every other time with trials masked, and the (n, c) of its rows."""
    rng = np.random.default_rng(seed)
    rows, trials = rng.integers(2, 9), rng.integers(6, 15)
    scores = (rng.random((rows, trials)) < rng.beta(0.5, 0.5, (rows, 1))).astype(int)
    if seed % 2:
        mask = rng.random(scores.shape) < 0.2
        mask[:, :6] = False
        scores = np.ma.masked_array(scores, mask)
    counted = zip(np.ma.count(scores, axis=1), scores.sum(axis=1), strict=True)
    return scores, [(int(n), int(c)) for n, c in counted]


def graded(seed: int) -> tuple[np.ndarray, list[float], list[list[int]]]:
    """A matrix of three categories, their rewards, and the rewards' counts in each row."""
    rng = np.random.default_rng([seed, 1])
    scores = rng.integers(0, 3, (rng.integers(2, 6), rng.integers(5, 10)))
    scores[0, :3] = [0, 1, 2]
    rewards = rng.normal(size=3).round(3).tolist()
    return scores, rewards, [np.bincount(row, minlength=3).tolist() for row in scores]


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def twin(name: str, pairs: list[tuple[int, int]], k: int, *extra) -> float:
    function = getattr(exact, name)
    return float(mean([function(Draws(n, c, k), *extra) for n, c in pairs]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("k", [2, 3, 6])
def test_observed_values(seed: int, k: int) -> None:
    R, pairs = rows_of(seed)
    weights = [Fraction(r, k * (k + 1)) for r in range(1, k + 1)]
    one, all_of, halves = (twin(t, pairs, k) for t in ("pass_at", "pass_hat", "mg_pass"))
    spectrum = twin("spectrum", pairs, k, weights)
    found_and_wanted = {
        "pass": (ev.pass_at_k(R, k), one),
        "pass^": (ev.pass_hat_k(R, k), all_of),
        "g-pass": (ev.g_pass_at_k(R, k), all_of),
        "maj": (ev.maj_at_k(R, k), twin("maj", pairs, k)),
        "auc": (ev.auc_at_k(R, k), twin("auc", pairs, k)),
        "mg-pass": (ev.mg_pass_at_k(R, k), halves),
        "max": (ev.max_at_k(R, k), one),
        "spectrum": (ev.threshold_spectrum_at_k(R, k, [float(w) for w in weights]), spectrum),
        "geom": (
            ev.geom_at_k(R, k),
            float(np.mean([math.sqrt(exact.geom_squared(Draws(n, c, k))) for n, c in pairs])),
        ),
        "geom-ds": (ev.geom_ds_at_k(R, k, 0.75, 0.25), one**0.75 * all_of**0.25),
        "geospectrum": (ev.geo_spectrum_at_k(R, k, 0.3), one**0.3 * halves**0.7),
        "geospectrum, weights": (
            ev.geo_spectrum_at_k(R, k, weights=[float(w) for w in weights], lambda_=0.2),
            one**0.2 * spectrum**0.8,
        ),
        "geospectrum*": (ev.geo_spectrum_star_at_k(R, k), math.sqrt(one * halves)),
        "avg": (ev.avg(R)[0], float(mean([Fraction(c, n) for n, c in pairs]))),
    }
    for tau in (0.0, 0.25, 0.5, 0.6, 1.0):
        wanted = twin("g_pass", pairs, k, Fraction(str(tau)))
        found_and_wanted[f"g-pass {tau}"] = (ev.g_pass_at_k_tau(R, k, tau), wanted)
    for name, (found, wanted) in found_and_wanted.items():
        assert found == pytest.approx(wanted, rel=1e-12), name


# -- posteriors --------------------------------------------------------------------------------


def average(pairs, prior, *credits) -> tuple[list[mpmath.mpf], list[list[mpmath.mpf]]]:
    """Moments of the average over problems, from those of each."""
    each = [exact.beta_moments(n, c, *prior, *credits) for n, c in pairs]
    count, size = len(each), range(len(credits))
    means = [mpmath.fsum(m[i] for m, _ in each) / count for i in size]
    covariances = [[mpmath.fsum(v[i][j] for _, v in each) / count**2 for j in size] for i in size]
    return means, covariances


def normal(mu: mpmath.mpf, variance: mpmath.mpf) -> tuple[float, ...]:
    mu, sigma = float(mu), float(mpmath.sqrt(variance))
    return mu, sigma, min(max(mu - Z * sigma, 0.0), 1.0), max(min(mu + Z * sigma, 1.0), 0.0)


def delta(means, covariances, powers: tuple[float, float]) -> tuple[mpmath.mpf, mpmath.mpf]:
    """The product of powers at the means, and its variance to first order."""
    value = means[0] ** powers[0] * means[1] ** powers[1]
    slope = [value * power / mu for power, mu in zip(powers, means, strict=True)]
    terms = [slope[i] * slope[j] * covariances[i][j] for i in range(2) for j in range(2)]
    return value, mpmath.fsum(terms)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.3, 0.5)])
def test_posteriors_of_counting_metrics(seed: int, prior: tuple[float, float]) -> None:
    R, pairs = rows_of(seed)
    k = 2 + seed
    belief: dict[str, Any] = {"alpha0": prior[0], "beta0": prior[1]}
    credits = exact.latent_credits(k)
    weights = [Fraction(r, k * (k + 1)) for r in range(1, k + 1)]
    credits["spectrum@"] = [exact.spectrum(Draws(k, j, k), weights) for j in range(k + 1)]
    credits["g-pass@"] = exact.threshold_credit(k, max(1, math.ceil(Fraction(7, 10) * k)))
    order = list(credits)
    means, covariances = average(pairs, prior, *credits.values())

    def moments(*names: str):
        rows = [order.index(name) for name in names]
        return [means[i] for i in rows], [[covariances[i][j] for j in rows] for i in rows]

    def single(name: str) -> tuple[float, ...]:
        at = order.index(name)
        return normal(means[at], covariances[at][at])

    floats = [float(w) for w in weights]
    ends, halves = ("pass@", "pass^"), ("pass@", "mg-pass@")
    found_and_wanted = {
        "pass": (ev.pass_at_k_ci(R, k, **belief), single("pass@")),
        "pass^": (ev.pass_hat_k_ci(R, k, **belief), single("pass^")),
        "g-pass": (ev.g_pass_at_k_ci(R, k, **belief), single("pass^")),
        "g-pass tau": (ev.g_pass_at_k_tau_ci(R, k, 0.7, **belief), single("g-pass@")),
        "maj": (ev.maj_at_k_ci(R, k, **belief), single("maj@")),
        "mg-pass": (ev.mg_pass_at_k_ci(R, k, **belief), single("mg-pass@")),
        "auc": (ev.auc_at_k_ci(R, k, **belief), single("auc@")),
        "spectrum": (ev.threshold_spectrum_at_k_ci(R, k, floats, **belief), single("spectrum@")),
        "geom-ds": (
            ev.geom_ds_at_k_ci(R, k, 0.75, 0.25, **belief),
            normal(*delta(*moments(*ends), (0.75, 0.25))),  # type: ignore[call-arg]
        ),
        "geospectrum": (
            ev.geo_spectrum_at_k_ci(R, k, 0.3, **belief),
            normal(*delta(*moments(*halves), (0.3, 0.7))),  # type: ignore[call-arg]
        ),
        "geospectrum*": (
            ev.geo_spectrum_star_at_k_ci(R, k, **belief),
            normal(*delta(*moments(*halves), (0.5, 0.5))),  # type: ignore[call-arg]
        ),
    }
    for name, (found, wanted) in found_and_wanted.items():
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("seed", SEEDS)
def test_posterior_of_the_blend_within_problems(seed: int) -> None:
    R, pairs = rows_of(seed)
    k, prior = 3, (0.5, 2.0)
    ends = [exact.threshold_credit(k, 1), exact.threshold_credit(k, k)]
    each = [delta(*exact.beta_moments(n, c, *prior, *ends), (0.5, 0.5)) for n, c in pairs]
    values, variances = zip(*each, strict=True)
    count = len(each)
    wanted = normal(mpmath.fsum(values) / count, mpmath.fsum(variances) / count**2)
    found = ev.geom_at_k_ci(R, k, alpha0=prior[0], beta0=prior[1])
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)


# -- categories --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_categories(seed: int) -> None:
    R, w, counts = graded(seed)
    worth = [np.repeat(w, row).tolist() for row in counts]
    a, sigma = ev.avg(R, w)
    assert a == pytest.approx(float(mean([exact.avg(row) for row in worth])), rel=1e-12)
    mu, sd = dirichlet([exact.dirichlet_mean_moments(row, w) for row in counts])
    assert ev.bayes(R, w) == pytest.approx((mu, sd), rel=1e-9)
    assert sigma == pytest.approx(sd * (R.shape[1] + 3) / R.shape[1], rel=1e-9)
    for k in (1, 2, 4):
        best = float(mean([exact.max_at(row, k) for row in worth]))
        assert ev.max_at_k(R, k, w) == pytest.approx(best, rel=1e-12, abs=1e-13)
        latent = dirichlet([exact.dirichlet_max_moments(row, w, k) for row in counts])
        assert ev.max_at_k_ci(R, k, w)[:2] == pytest.approx(latent, rel=1e-9, abs=1e-13)


def test_earlier_outcomes_are_counts_of_the_prior() -> None:
    R, w, counts = graded(0)
    earlier = (np.arange(2 * len(R)) % 3).reshape(len(R), 2)
    joined = [
        (np.array(row) + np.bincount(before, minlength=3)).tolist()
        for row, before in zip(counts, earlier, strict=True)
    ]
    mu, sd = dirichlet([exact.dirichlet_mean_moments(row, w) for row in joined])
    assert ev.bayes(R, w, earlier) == pytest.approx((mu, sd), rel=1e-9)
    mu, sd = dirichlet([exact.dirichlet_max_moments(row, w, 3) for row in joined])
    assert ev.max_at_k_ci(R, 3, w, earlier)[:2] == pytest.approx((mu, sd), rel=1e-9)


def dirichlet(moments: list[tuple[mpmath.mpf, mpmath.mpf]]) -> tuple[float, float]:
    means, variances = zip(*moments, strict=True)
    count = len(moments)
    sd = mpmath.sqrt(mpmath.fsum(variances)) / count
    return float(mpmath.fsum(means) / count), float(sd)

"""Metrics that require a share of k successes: majority, G-Pass, mG-Pass, threshold spectra."""

from __future__ import annotations

from passband.errors import warn
from passband.eval import _checks
from passband.eval._checks import Four
from passband.eval._credit import observed, posterior
from passband.stats.metric import credits
from passband.types import ArrayLike


def maj_at_k(R: ArrayLike, k: int) -> float:
    r"""Return the probability that more than half of k trials succeed, averaged over problems.

    A stand-in for majority voting when only correctness is known; a tie counts as failure. It
    asks for :math:`\lfloor k/2 \rfloor + 1` successes.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(maj_at_k(R, 2), 6), round(maj_at_k(R, 3), 6)
    (0.45, 0.85)
    """
    histogram, k = _checks.binary_draws(R, k)
    return observed(histogram, credits.majority(k))


def maj_at_k_ci(
    R: ArrayLike,
    k: int,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    """Return posterior mean, sd and normal credible interval of latent maj@k.

    The model and its limits are those of `pass_at_k_ci`.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> tuple(round(x, 4) for x in maj_at_k_ci(R, 3))
    (0.6845, 0.152, 0.3867, 0.9824)
    """
    histogram, k = _checks.binary_draws(R, k)
    return posterior(histogram, credits.majority(k), confidence, bounds, alpha0, beta0)


def g_pass_at_k(R: ArrayLike, k: int) -> float:
    """Return the probability that all of k trials succeed, which is G-Pass at tau = 1.

    The same number as `pass_hat_k`.

    Reference: Liu et al. (2024), Are Your LLMs Capable of Stable Reasoning?, arXiv:2412.13147.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(g_pass_at_k(R, 2), 6)
    0.45
    """
    histogram, k = _checks.binary_draws(R, k)
    return observed(histogram, credits.all_of(k))


def g_pass_at_k_ci(
    R: ArrayLike,
    k: int,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    """Return posterior mean, sd and normal credible interval of latent G-Pass@k.

    The same numbers as `pass_hat_k_ci`.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> tuple(round(x, 4) for x in g_pass_at_k_ci(R, 2))
    (0.4464, 0.1462, 0.1599, 0.7329)
    """
    histogram, k = _checks.binary_draws(R, k)
    return posterior(histogram, credits.all_of(k), confidence, bounds, alpha0, beta0)


def g_pass_at_k_tau(R: ArrayLike, k: int, tau: float) -> float:
    r"""Return the probability that a share of at least tau of k trials succeeds.

    It asks for :math:`\max(1, \lceil \tau k \rceil)` successes, so tau = 0 is pass@k and tau = 1
    is pass^k. The product is taken as a person would: 0.28 of 25 is 7. A Fraction is exact.

    Reference: Liu et al. (2024), Are Your LLMs Capable of Stable Reasoning?, arXiv:2412.13147.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(g_pass_at_k_tau(R, 2, 0.5), 6), round(g_pass_at_k_tau(R, 2, 1.0), 6)
    (0.95, 0.45)
    """
    histogram = _checks.binary(R)
    share = _checks.unit("tau", tau)
    k = _checks.draws(k, histogram.trials)
    return observed(histogram, credits.at_least_share(k, share))


def g_pass_at_k_tau_ci(
    R: ArrayLike,
    k: int,
    tau: float,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    """Return posterior mean, sd and normal credible interval of latent G-Pass@k_tau.

    The model and its limits are those of `pass_at_k_ci`.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> g_pass_at_k_tau_ci(R, 2, 1.0) == g_pass_at_k_ci(R, 2)
    True
    """
    histogram = _checks.binary(R)
    share = _checks.unit("tau", tau)
    k = _checks.draws(k, histogram.trials)
    credit = credits.at_least_share(k, share)
    return posterior(histogram, credit, confidence, bounds, alpha0, beta0)


def mg_pass_at_k(R: ArrayLike, k: int) -> float:
    r"""Return the mean of G-Pass@k over the thresholds above one half, averaged over problems.

    .. math:: \frac{2}{k} \sum_{j=m+1}^{k} (j - m)\, P(j \text{ successes}),
              \quad m = \lceil k/2 \rceil

    The discrete sum of the paper. At odd k it differs from the integral over tau: a
    perfect model scores 0 at k = 1 and 2/3 at k = 3. The metric ``mg-pass-integral@k`` is the
    integral; the two agree at even k.

    Reference: Liu et al. (2024), Are Your LLMs Capable of Stable Reasoning?, arXiv:2412.13147.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(mg_pass_at_k(R, 2), 6), round(mg_pass_at_k(R, 3), 6)
    (0.45, 0.166667)
    """
    histogram, k = _checks.binary_draws(R, k)
    warn_if_empty(k)
    return observed(histogram, credits.mean_over_shares(k))


def mg_pass_at_k_ci(
    R: ArrayLike,
    k: int,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    """Return posterior mean, sd and normal credible interval of latent mG-Pass@k.

    The model and its limits are those of `pass_at_k_ci`.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> mg_pass_at_k_ci(R, 2) == g_pass_at_k_ci(R, 2)
    True
    """
    histogram, k = _checks.binary_draws(R, k)
    warn_if_empty(k)
    return posterior(histogram, credits.mean_over_shares(k), confidence, bounds, alpha0, beta0)


def threshold_spectrum_at_k(R: ArrayLike, k: int, weights: ArrayLike) -> float:
    r"""Return the weighted sum of the probabilities of at least 1, 2, ..., k successes.

    .. math:: \sum_{r=1}^{k} w_r\, P(\text{at least } r \text{ of } k)

    The weights are not negative and add up to at most 1.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(threshold_spectrum_at_k(R, 2, [0.5, 0.5]), 6)
    0.7
    """
    histogram, k = _checks.binary_draws(R, k)
    return observed(histogram, credits.spectrum(credits.spectrum_weights(weights, k)))


def threshold_spectrum_at_k_ci(
    R: ArrayLike,
    k: int,
    weights: ArrayLike,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    """Return posterior mean, sd and normal credible interval of a latent spectrum.

    k may exceed the number of recorded trials: the latent value asks for new ones. The model and
    its limits are those of `pass_at_k_ci`.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> threshold_spectrum_at_k_ci(R, 2, [0, 1]) == g_pass_at_k_ci(R, 2)
    True
    """
    k = _checks.draws(k)
    credit = credits.spectrum(credits.spectrum_weights(weights, k))
    return posterior(_checks.binary(R), credit, confidence, bounds, alpha0, beta0)


def warn_if_empty(k: int) -> None:
    """Warn that the discrete mG spectrum has no threshold at k = 1."""
    if k == 1:
        warn(
            "at k = 1 there is no threshold above one half, so this is 0 whatever the data; "
            "mg-pass-integral@1 is pass@1."
        )

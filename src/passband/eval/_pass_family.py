"""Pass@k, pass^k and the area under the pass curve."""

from __future__ import annotations

from passband.eval import _checks
from passband.eval._checks import Four
from passband.eval._credit import observed, posterior
from passband.stats.metric import credits
from passband.types import ArrayLike


def pass_at_k(R: ArrayLike, k: int) -> float:
    r"""Return the probability that at least one of k trials succeeds, averaged over problems.

    Use it where a checker can pick the good answer among k. Use `pass_hat_k` where every answer
    must be good. The estimator is unbiased: it averages over all subsets of k recorded trials.

    .. math:: 1 - \binom{n-c}{k} \Big/ \binom{n}{k}

    Reference: Chen et al. (2021), Evaluating Large Language Models Trained on Code,
    arXiv:2107.03374.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(pass_at_k(R, 2), 6)
    0.95
    """
    histogram, k = _checks.binary_draws(R, k)
    return observed(histogram, credits.at_least(k, 1))


def pass_at_k_ci(
    R: ArrayLike,
    k: int,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    r"""Return posterior mean, sd and normal credible interval of latent pass@k.

    Every problem has a success probability p with a Beta(alpha0, beta0) prior of its own, and the
    latent value is :math:`1-(1-p)^k`. With few trials per problem the uniform prior dominates:
    thirty problems failed eight times each give a posterior mean of 0.47 for pass@8. See
    docs/known-errors.md before publishing such an interval.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> tuple(round(x, 4) for x in pass_at_k_ci(R, 2))
    (0.8393, 0.0973, 0.6487, 1.0)
    """
    histogram, k = _checks.binary_draws(R, k)
    return posterior(histogram, credits.at_least(k, 1), confidence, bounds, alpha0, beta0)


def pass_hat_k(R: ArrayLike, k: int) -> float:
    r"""Return the probability that all of k trials succeed (pass^k), averaged over problems.

    Use it where a system must work every time. Unbiased, as `pass_at_k` is.

    .. math:: \binom{c}{k} \Big/ \binom{n}{k}

    Reference: Yao et al. (2024), tau-bench, arXiv:2406.12045.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(pass_hat_k(R, 2), 6)
    0.45
    """
    histogram, k = _checks.binary_draws(R, k)
    return observed(histogram, credits.all_of(k))


def pass_hat_k_ci(
    R: ArrayLike,
    k: int,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    r"""Return posterior mean, sd and normal credible interval of latent pass^k.

    The latent value is :math:`p^k`. The model and its limits are those of `pass_at_k_ci`.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> tuple(round(x, 4) for x in pass_hat_k_ci(R, 2))
    (0.4464, 0.1462, 0.1599, 0.7329)
    """
    histogram, k = _checks.binary_draws(R, k)
    return posterior(histogram, credits.all_of(k), confidence, bounds, alpha0, beta0)


unanimous_at_k = pass_hat_k
unanimous_at_k_ci = pass_hat_k_ci


def auc_at_k(R: ArrayLike, k: int) -> float:
    r"""Return the area under pass@1 .. pass@k by the trapezoidal rule, divided by k - 1.

    One number for a whole budget of up to k trials; it lies between pass@1 and pass@k, and is
    pass@1 at k = 1.

    .. math:: \frac{1}{k-1} \sum_{j=1}^{k-1} \frac{\mathrm{pass@}j + \mathrm{pass@}(j+1)}{2}

    Reference: Hu et al. (2026), Rewarding the Rare, arXiv:2601.08763.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(auc_at_k(R, 3), 6)
    0.9
    """
    histogram, k = _checks.binary_draws(R, k)
    return observed(histogram, credits.auc(k))


def auc_at_k_ci(
    R: ArrayLike,
    k: int,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Four:
    """Return posterior mean, sd and normal credible interval of the latent area.

    The model and its limits are those of `pass_at_k_ci`.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> auc_at_k_ci(R, 1) == pass_at_k_ci(R, 1)
    True
    """
    histogram, k = _checks.binary_draws(R, k)
    return posterior(histogram, credits.auc(k), confidence, bounds, alpha0, beta0)

"""Metrics on a matrix of outcomes: rows are problems, columns are repeated trials.

Each metric is a function of the matrix; its companion ending in ``_ci`` returns the posterior
mean, the posterior standard deviation, and a normal-approximation credible interval for the
latent value, as ``(mu, sigma, lo, hi)``.

`tailpass` returns the posterior of a whole profile of thresholds, `tailpass_empirical` the profile
of the recorded trials; neither has a companion.

Binary metrics take entries 0 and 1. Categorical ones take 0..C with a weight vector w. A masked
entry is a missing trial; anything else that is missing is refused. `passband.Outcomes` counts it.
"""

from passband.eval._blends import (
    geo_spectrum_at_k,
    geo_spectrum_at_k_ci,
    geo_spectrum_star_at_k,
    geo_spectrum_star_at_k_ci,
    geom_at_k,
    geom_at_k_ci,
    geom_ds_at_k,
    geom_ds_at_k_ci,
)
from passband.eval._pass_family import (
    auc_at_k,
    auc_at_k_ci,
    pass_at_k,
    pass_at_k_ci,
    pass_hat_k,
    pass_hat_k_ci,
    unanimous_at_k,
    unanimous_at_k_ci,
)
from passband.eval._rewards import avg, avg_ci, bayes, bayes_ci, max_at_k, max_at_k_ci
from passband.eval._tailpass import tailpass, tailpass_empirical
from passband.eval._thresholds import (
    g_pass_at_k,
    g_pass_at_k_ci,
    g_pass_at_k_tau,
    g_pass_at_k_tau_ci,
    maj_at_k,
    maj_at_k_ci,
    mg_pass_at_k,
    mg_pass_at_k_ci,
    threshold_spectrum_at_k,
    threshold_spectrum_at_k_ci,
)

__all__ = [
    "auc_at_k",
    "auc_at_k_ci",
    "avg",
    "avg_ci",
    "bayes",
    "bayes_ci",
    "g_pass_at_k",
    "g_pass_at_k_ci",
    "g_pass_at_k_tau",
    "g_pass_at_k_tau_ci",
    "geo_spectrum_at_k",
    "geo_spectrum_at_k_ci",
    "geo_spectrum_star_at_k",
    "geo_spectrum_star_at_k_ci",
    "geom_at_k",
    "geom_at_k_ci",
    "geom_ds_at_k",
    "geom_ds_at_k_ci",
    "maj_at_k",
    "maj_at_k_ci",
    "max_at_k",
    "max_at_k_ci",
    "mg_pass_at_k",
    "mg_pass_at_k_ci",
    "pass_at_k",
    "pass_at_k_ci",
    "pass_hat_k",
    "pass_hat_k_ci",
    "tailpass",
    "tailpass_empirical",
    "threshold_spectrum_at_k",
    "threshold_spectrum_at_k_ci",
    "unanimous_at_k",
    "unanimous_at_k_ci",
]

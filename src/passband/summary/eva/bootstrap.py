"""EVA's bootstrap as functions: names, arguments and values are those of ``eva.utils.bootstrap``.

`metrics_summary` with ``method="eva"`` is built on them. They resample plain means, and are too
narrow for a few scenarios (docs/measured.md); `passband.estimate` has better intervals.

>>> seed = run_seed("run_2026-06-01_example")
>>> seed
1906410363
>>> mean_ci_fields([2 / 3, 1.0, 0.0], seed=seed)
{'mean_ci_lower': 0.0, 'mean_ci_upper': 1.0, 'mean_ci_n_scenarios': 3}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from passband.errors import InvalidInput, WrongType
from passband.stats.interval import EVA_REPLICATES, eva_means, seed_of
from passband.types import Floats

N_BOOT = EVA_REPLICATES
ALPHA = 0.05


def run_seed(run_id: str) -> int:
    """Return the seed of a run: the first four bytes of the SHA-256 of its name, modulo 2**31.

    The same in every process, which Python's own `hash` is not.

    >>> run_seed("run-1")
    1315296251
    """
    if not isinstance(run_id, str):
        raise WrongType(f"run_id must be the name of a run; got {run_id!r}.")
    seed = seed_of(run_id)
    assert seed is not None
    return seed


def bootstrap_resample(values: Sequence[float] | Floats, n_boot: int, seed: int) -> Floats:
    """Return `n_boot` means of resampled values; none for no values.

    >>> bootstrap_resample([0.0, 0.5, 1.0], 3, seed=7).round(3).tolist()
    [0.833, 0.833, 0.333]
    """
    sample = _checked(values)
    if int(n_boot) != n_boot or n_boot < 1:
        raise InvalidInput(f"n_boot must be a whole number of at least 1; got {n_boot!r}.")
    if not len(sample):
        return np.empty(0)
    number = seed_of(seed)
    if number is None:
        raise WrongType("seed must be a whole number of at least 0 or a name; got None.")
    return eva_means(sample, number, int(n_boot))


def bootstrap_ci(
    values: Sequence[float] | Floats, n_boot: int = N_BOOT, *, seed: int, alpha: float = ALPHA
) -> tuple[float | None, float | None]:
    """Return percentiles of the resampled means, at `alpha` / 2 on either side.

    The seed has no default: with one, all runs would share their random numbers.

    >>> bootstrap_ci([0.0, 0.5, 1.0, 0.25], seed=42)
    (0.125, 0.8125)
    >>> bootstrap_ci([], seed=42)
    (None, None)
    """
    if not 0 < alpha < 1:
        raise InvalidInput(f"alpha must be between 0 and 1; got {alpha!r}.")
    means = bootstrap_resample(values, n_boot, seed)
    if not len(means):
        return None, None
    low, high = np.percentile(means, [100 * alpha / 2, 100 * (1 - alpha / 2)]).tolist()
    return low, high


def named_ci_fields(
    samples: Mapping[str, Sequence[float]], *, seed: int, decimals: int = 4
) -> dict[str, float | None]:
    """Return ``NAME_ci_lower`` and ``NAME_ci_upper`` of each sample, rounded.

    >>> named_ci_fields({"pass_at_1": [0.0, 1.0, 1.0]}, seed=1)
    {'pass_at_1_ci_lower': 0.0, 'pass_at_1_ci_upper': 1.0}
    """
    fields: dict[str, float | None] = {}
    for name, sample in samples.items():
        low, high = bootstrap_ci(sample, seed=seed)
        fields[f"{name}_ci_lower"] = _rounded(low, decimals)
        fields[f"{name}_ci_upper"] = _rounded(high, decimals)
    return fields


bootstrap_ci_fields = named_ci_fields  #: its first name


def mean_ci_fields(
    scenario_values: Sequence[float] | Floats, *, seed: int, decimals: int = 4
) -> dict[str, Any]:
    """Return ``mean_ci_lower``, ``mean_ci_upper`` and ``mean_ci_n_scenarios``, bounds rounded.

    >>> mean_ci_fields([], seed=1)
    {'mean_ci_lower': None, 'mean_ci_upper': None, 'mean_ci_n_scenarios': 0}
    """
    low, high = bootstrap_ci(scenario_values, seed=seed)
    return {
        "mean_ci_lower": _rounded(low, decimals),
        "mean_ci_upper": _rounded(high, decimals),
        "mean_ci_n_scenarios": len(scenario_values),
    }


def _checked(values: Sequence[float] | Floats) -> Floats:
    try:
        sample = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise WrongType("values must be a list of numbers.") from None
    if sample.ndim != 1:
        raise InvalidInput(f"values must be a list of numbers; got {sample.ndim} dimensions.")
    if not np.isfinite(sample).all():
        raise InvalidInput("values must be finite; leave out those that are missing.")
    return sample


def _rounded(value: float | None, decimals: int) -> float | None:
    return None if value is None else round(value, decimals)

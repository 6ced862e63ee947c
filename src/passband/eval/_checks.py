"""Checks of the arguments that the functions of `passband.eval` share.

Each check returns what the computation works on, or raises `InvalidInput` (a ValueError) with
the argument, the rule and the value. Reading the data and checking it is one pass; only when it
fails does a second pass find the reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Real
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passband.errors import ConflictingArguments, InvalidInput, WrongType, warn
from passband.stats.data import Histogram, binary_tally, byte_row_sums
from passband.stats.metric import CategoryCounts
from passband.types import Bools, Floats, Ints

Two = tuple[float, float]
Four = tuple[float, float, float, float]


class _Unset(float):
    """A default that differs in type from the same number given by the caller."""


DEFAULT_LAM = _Unset(0.5)
_MOST_DRAWS = 100_000  # of a latent value, whose cost grows with the square of k


# -- the outcome matrix --------------------------------------------------------------------


def binary(R: Any) -> Histogram:
    """Read a matrix of 0 and 1; a masked entry is a missing trial."""
    values, present = matrix("R", R)
    if present is not None:
        return _masked_binary(values, present)
    tally = binary_tally(values)
    if tally is None:
        raise _not_categories("R", values, 2)
    return Histogram.of_tally(values.shape[1], tally)


def categories(
    R: Any, w: Any, R0: Any = None, *, averaging: bool = False, prior: bool = True
) -> tuple[CategoryCounts, Floats]:
    """Read a matrix of categories with its rewards and, if given, earlier outcomes as a prior."""
    values, present = matrix("R", R)
    rewards = np.array([0.0, 1.0]) if w is None else vector("w", w)
    count = len(rewards)
    if present is not None:
        _trials(present)
    if R0 is not None:
        values, present = _joined(values, present, R0, count)
    counts = CategoryCounts.of_matrix(values, count, present)
    expected = values.size if present is None else int(present.sum())
    if int(counts.problems @ counts.vectors.sum(axis=1)) != expected:
        seen = values if present is None else values[present]
        named = w is not None or averaging
        raise _not_categories("R", seen, count) if named else _not_binary(seen)
    if prior:
        _warn_about_prior(counts, rewards)
    return counts, rewards


def matrix(
    name: str, given: Any, *, may_be_empty: bool = False
) -> tuple[NDArray[np.generic], Bools | None]:
    """Return a 2-D numeric array and, for a masked array, which entries are present."""
    if isinstance(given, (list, tuple)) and any(np.ma.isMaskedArray(row) for row in given):
        given = np.ma.stack(given)
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        values, _ = matrix(name, given.data)
        present = ~np.ma.getmaskarray(given).reshape(values.shape)
        filled: NDArray[np.generic] = np.where(present, values, np.zeros((), values.dtype))
        return filled, present
    try:
        values = np.asarray(given)
    except ValueError:
        raise InvalidInput(f"{name} must be a rectangular numeric or boolean array.") from None
    if values.ndim == 1:
        values = values[None, :]
    if values.ndim != 2:
        raise InvalidInput(f"{name} must be a 1D or 2D array; got {values.ndim} dimensions.")
    if values.shape[0] == 0 and not may_be_empty:
        raise InvalidInput(f"{name} must contain at least one question (M >= 1).")
    if values.shape[1] == 0 and not may_be_empty:
        raise InvalidInput(f"{name} must contain at least one trial (N >= 1).")
    if values.dtype.kind == "c":
        raise InvalidInput(f"{name} must contain real values, not complex values.")
    if values.dtype.kind not in "biuf":
        raise InvalidInput(f"{name} must contain only numeric or boolean values.")
    return values, None


def _masked_binary(values: NDArray[np.generic], present: Bools) -> Histogram:
    if binary_tally(values) is None:
        raise _not_categories("R", values[present], 2)
    return Histogram.of_counts(_trials(present), byte_row_sums((values == 1) & present))


def _trials(present: Bools) -> Ints:
    trials = byte_row_sums(present)
    if not trials.all():
        raise InvalidInput(
            f"R must contain at least one trial of every question; row {int(trials.argmin())} "
            "is masked throughout. passband.Outcomes leaves such problems out and counts them."
        )
    return trials


def _not_categories(name: str, values: NDArray[np.generic], count: int) -> InvalidInput:
    """Return the error that explains why the values are not category numbers."""
    if values.dtype.kind in "uf":
        if not np.isfinite(values).all():
            return InvalidInput(f"{name} must contain only finite values.")
        if (values != np.floor(values)).any():
            return InvalidInput(f"{name} must contain only integer-valued entries.")
        if (np.abs(values) >= 2**63).any():
            return InvalidInput(f"{name} entries must fit in a signed 64-bit integer.")
    return InvalidInput(f"Entries of {name} must be integers in [0, {count - 1}].")


def _not_binary(values: NDArray[np.generic]) -> InvalidInput:
    """Return the error that explains why a matrix without weights is not of 0 and 1."""
    reason = _not_categories("R", values, 2)
    if not str(reason).startswith("Entries"):
        return reason
    levels = np.unique(values)
    seen = ", ".join(str(int(value)) for value in levels[:20]) + ", ..." * (len(levels) > 20)
    return InvalidInput(
        f"R is not binary (observed: {seen}), so weight vector 'w' must be provided."
    )


def vector(name: str, given: Any) -> Floats:
    """Return a finite, non-empty vector."""
    if np.ma.is_masked(given):
        raise InvalidInput(f"{name} must not be masked; got {given!r}.")
    try:
        values = np.asarray(given)
    except ValueError:
        raise InvalidInput(f"{name} must be a finite, non-empty 1D numeric array.") from None
    if values.ndim != 1 or values.size == 0:
        raise InvalidInput(f"{name} must be a non-empty 1D array; got shape {values.shape}.")
    if values.dtype.kind == "c":
        raise InvalidInput(f"{name} must contain real values, not complex values.")
    if values.dtype.kind not in "biuf":
        raise InvalidInput(f"{name} must contain only numeric values.")
    with np.errstate(over="ignore"):
        result: Floats = values.astype(np.float64)
    if not np.isfinite(result).all():
        raise InvalidInput(f"{name} must contain only finite values.")
    return result


def _joined(
    values: NDArray[np.generic], present: Bools | None, R0: Any, count: int
) -> tuple[NDArray[np.generic], Bools | None]:
    """Join the outcomes of R0 and R row by row."""
    prior, prior_present = matrix("R0", R0, may_be_empty=True)
    if np.ndim(R0) == 1 and (len(values) > 1 or prior.size == 0):
        prior = _reshaped(prior[0], len(values))
        prior_present = None if prior_present is None else prior_present.reshape(prior.shape)
    if len(prior) != len(values):
        raise InvalidInput(
            "R0 must have the same number of rows (M) as R. "
            f"R has {len(values)}, R0 has {len(prior)}."
        )
    if not np.isin(prior, np.arange(count)).all():
        raise _not_categories("R0", prior, count)
    if present is not None or prior_present is not None:
        present = np.ones(values.shape, bool) if present is None else present
        rest = np.ones(prior.shape, bool) if prior_present is None else prior_present
        present = np.concatenate([present, rest], axis=1)
    return np.concatenate([values, prior], axis=1), present


def _reshaped(prior: NDArray[np.generic], rows: int) -> NDArray[np.generic]:
    if prior.size % rows:
        raise InvalidInput(
            "A 1D R0 must contain a multiple of M entries so it can be reshaped to one row per "
            f"question; got {prior.size} entries and M={rows}."
        )
    if prior.size:
        warn(
            f"R0 has one dimension and R has {rows} rows: it is read question by question, "
            f"{prior.size // rows} outcomes each. Give it {rows} rows to be sure."
        )
    return prior.reshape(rows, -1)


def _warn_about_prior(counts: CategoryCounts, rewards: Floats) -> None:
    """Warn of unused or equal categories, to each of which the prior adds one outcome."""
    if len(rewards) <= 2:
        return
    unused = np.flatnonzero(counts.vectors.sum(axis=0) == 0)
    if len(unused):
        warn(
            f"no outcome fell into category {_listed(unused)} of w; the prior still gives each "
            "one outcome per question, which moves the posterior. Leave unused categories out of w."
        )
    levels, repeats = np.unique(rewards, return_counts=True)
    if (repeats > 1).any():
        warn(
            f"w gives several categories the weight {_listed(levels[repeats > 1])}; the prior "
            "counts each of them, which moves the posterior. Merge categories of equal weight."
        )


def _listed(numbers: NDArray[Any]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


# -- scalars -------------------------------------------------------------------------------


def draws(k: Any, trials: Ints | None = None) -> int:
    """Check k: a whole number of at least 1 and, given `trials`, at most the least of them."""
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)):
        raise WrongType(f"k must be an integer; got {k!r}.")
    if trials is None:
        if k < 1:
            raise InvalidInput(f"k must be >= 1; got k={k}")
        if k > _MOST_DRAWS:
            raise InvalidInput(f"k must be <= {_MOST_DRAWS}; got k={k}")
        return int(k)
    n = int(trials.min())
    if not 1 <= k <= n:
        raise InvalidInput(f"k must satisfy 1 <= k <= N (N={n}); got k={k}")
    return int(k)


def binary_draws(R: Any, k: Any) -> tuple[Histogram, int]:
    """Check a 0/1 matrix and the number of trials drawn from each of its rows."""
    histogram = binary(R)
    return histogram, draws(k, histogram.trials)


def several(name: str, given: Any) -> int:
    """Check a whole number of at least 2."""
    whole = isinstance(given, (int, np.integer)) and not isinstance(given, (bool, np.bool_))
    if not whole or given < 2:
        raise InvalidInput(f"{name} must be a whole number of at least 2; got {given!r}.")
    return int(given)


def prior(name: str, given: Any) -> float:
    """Check a parameter of the Beta prior."""
    scalar = isinstance(given, (int, float, np.integer, np.floating))
    if not scalar or isinstance(given, bool) or not 0 < given <= 1e300:
        raise InvalidInput(f"{name} must be a finite positive scalar; got {given!r}.")
    return float(given)


def number(name: str, given: Any) -> float | Fraction:
    """Check that an argument is one real number; a Fraction stays one."""
    if isinstance(given, Fraction):
        return given
    if isinstance(given, np.floating):
        return float(str(given))  # a float32 of 0.6 means 0.6, not 0.60000002384
    single = isinstance(given, Real) or (isinstance(given, np.ndarray) and given.ndim == 0)
    if not single and not hasattr(given, "__float__"):
        raise WrongType(f"{name} must be a number; got {given!r}.")
    try:
        return float(given)
    except (TypeError, ValueError):
        raise WrongType(f"{name} must be a number; got {given!r}.") from None
    except OverflowError:
        raise InvalidInput(f"{name} must fit in a float; got {given!r}.") from None


def unit(name: str, given: Any) -> float | Fraction:
    """Check a number between 0 and 1."""
    value = number(name, given)
    if not 0 <= value <= 1:
        raise InvalidInput(f"{name} must be in [0, 1]; got {given}")
    return value


def coupling(lam: Any, lambda_: Any) -> float:
    """Return the one of `lam` and `lambda_` that was given."""
    if lambda_ is None:
        return float(unit("lam", lam))
    if lam is not DEFAULT_LAM:
        raise ConflictingArguments(
            f"Specify at most one of 'lam' and 'lambda_'. Got lam={lam!r} and lambda_={lambda_!r}."
        )
    return float(unit("lam", lambda_))


def powers(pass_power: Any, unanimous_power: Any) -> tuple[float, float]:
    """Check the exponents of a geometric blend."""
    exponents = (
        float(number("pass_power", pass_power)),
        float(number("unanimous_power", unanimous_power)),
    )
    for name, value in zip(("pass_power", "unanimous_power"), exponents, strict=True):
        if not math.isfinite(value):
            raise InvalidInput(f"{name} must be finite; got {value}.")
    if exponents == (0.0, 0.0):
        raise InvalidInput("at least one power must be non-zero; got 0 and 0.")
    return exponents


# -- intervals -----------------------------------------------------------------------------


def interval(mean: float, sd: float, confidence: Any, bounds: Any) -> Four:
    """Return (mean, sd, low, high): mean plus and minus z sd, clipped to the bounds."""
    level = float(number("confidence", confidence))
    if not 0 < level < 1 or isinstance(confidence, bool):
        raise InvalidInput(f"confidence must be in (0,1); got {confidence}")
    reach = NormalDist().inv_cdf((1 + level) / 2) * sd if level < 1 - 2**-53 else math.inf
    low, high = mean - reach, mean + reach
    if bounds is not None:
        least, most = _bounds(bounds)
        low, high = min(max(low, least), most), max(min(high, most), least)
    return float(mean), float(sd), float(low), float(high)


def _bounds(bounds: Sequence[Any]) -> tuple[float, float]:
    try:
        least, most = bounds
    except TypeError:
        raise WrongType(f"bounds must be a pair of numbers; got {bounds!r}.") from None
    except ValueError:
        raise InvalidInput(f"bounds must be a pair of numbers; got {bounds!r}.") from None
    low, high = float(number("bounds[0]", least)), float(number("bounds[1]", most))
    if math.isnan(low) or math.isnan(high):
        raise InvalidInput(f"bounds must not be NaN; got {bounds!r}.")
    if low > high:
        raise InvalidInput(f"bounds must satisfy bounds[0] <= bounds[1]; got {bounds!r}.")
    return low, high

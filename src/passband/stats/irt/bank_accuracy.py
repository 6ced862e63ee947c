"""Accuracy over a whole bank of which only some items were asked.

The mean over items that were chosen for an ability says little about the bank. Two other numbers
do. `bank_accuracy` takes the seen items as they were seen, and the rest as the model expects them:
precise, and as right as the model is. `stratum_accuracy` uses items that were drawn at random with
known probabilities, and nothing else: less precise, and right whatever the model.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.notes import FEW_RANDOM, MODEL_ACCURACY, Note, misfit, notes_as_json
from passband.stats.checks import as_level, as_whole
from passband.stats.irt.curves import expected_scores
from passband.stats.irt.evidence import weighted
from passband.stats.irt.posterior import Posterior
from passband.types import ArrayLike, Floats

__all__ = ["BankAccuracy", "bank_accuracy", "stratum_accuracy"]

_FEW = 30
_UNLIKELY = 0.01  # p-value of the fit below which the model is doubted
_LEAST_SPREAD = 0.02  # of a score, in judging the fit


@dataclass(frozen=True)
class BankAccuracy:
    """Expected accuracy on every item of a bank."""

    value: float
    low: float
    high: float
    se: float
    level: float
    method: Literal["model", "stratum"]
    n_items: int  #: of the bank
    n_seen: int  #: that the number rests on
    notes: tuple[Note, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        return {**asdict(self), "notes": notes_as_json(self.notes)}


def bank_accuracy(posterior: Posterior, *, level: float = 0.95) -> BankAccuracy:
    """Return the mean score over the bank, one trial of each item, through the model.

    Items that were asked count with the mean of their trials, the others with the expected score,
    averaged over the posterior of the ability. The interval has the uncertainty of the ability,
    and the noise of the scores that were not seen (of graded ones, an upper bound): it is for the
    mean that asking the rest of the bank would give. A note says so if the scores seen do not fit
    the model.

    >>> from passband.stats.irt.evidence import Evidence
    >>> from passband.stats.irt.items import Items
    >>> from passband.stats.irt.posterior import Grid
    >>> posterior = Posterior(Grid.of(Items("2pl", a=[1.0] * 4, b=[0.0] * 4)))
    >>> posterior.extend([Evidence(0, 1.0), Evidence(1, 0.0)])
    >>> found = bank_accuracy(posterior)
    >>> round(found.value, 3), round(found.low, 2), round(found.high, 2)
    (0.5, 0.25, 0.75)
    """
    from scipy.special import ndtri

    level = as_level(level)
    items, size = posterior.grid.items, len(posterior.grid.items)
    seen_sum, unseen = _seen(posterior)
    rest = items.take(np.flatnonzero(unseen)) if unseen.any() else None
    value, variance = seen_sum, 0.0
    if rest is not None:
        nodes, chance = posterior.density()
        mean = expected_scores(rest, nodes)
        total = mean.sum(axis=0)
        value += float(chance @ total)
        noise = (rest.phi[:, None] * mean * (1.0 - mean)).sum(axis=0)
        variance = float(chance @ noise + chance @ (total - chance @ total) ** 2)
    se = float(np.sqrt(variance)) / size
    half, centre = float(ndtri(0.5 + level / 2.0)) * se, value / size
    low, high = seen_sum / size, (seen_sum + float(unseen.sum())) / size
    return BankAccuracy(
        value=centre,
        low=max(centre - half, low),
        high=min(centre + half, high),
        se=se,
        level=level,
        method="model",
        n_items=size,
        n_seen=int(size - unseen.sum()),
        notes=(*((MODEL_ACCURACY,) if unseen.any() else ()), *_misfit(posterior)),
    )


def _seen(posterior: Posterior) -> tuple[float, Floats]:
    """Return the sum of the mean scores of seen items, and which are unseen."""
    unseen = np.ones(len(posterior.grid.items), dtype=bool)
    scores: dict[int, list[float]] = {}
    for one in posterior.evidence:
        total = scores.setdefault(one.item, [0.0, 0.0])
        total[0] += one.score * one.trials
        total[1] += one.trials
    unseen[list(scores)] = False
    return sum(score / trials for score, trials in scores.values()), unseen


def _misfit(posterior: Posterior) -> tuple[Note, ...]:
    """Return the note on scores that are further from the model than chance allows.

    Σ (y - p)² / (p (1 - p)) over the seen items, at the posterior mean, is large where scores
    contradict the model. A single miss of an easy item makes it large as well, so p (1 - p) is
    taken for no less than `_LEAST_SPREAD`, and the sum for a multiple of chi² with its own mean,
    one degree of freedom less, and its own variance, or that of chi² where it is larger.
    """
    from scipy.special import chdtrc

    grid, evidence = posterior.grid, posterior.evidence
    if len(evidence) < 10:
        return ()
    seen = weighted(grid.items, evidence, grid.rho)
    mean = expected_scores(seen.items, np.array([posterior.theta]))[:, 0]
    spread = np.maximum(seen.items.phi * mean * (1.0 - mean), 1e-9)
    taken = np.maximum(spread, _LEAST_SPREAD)
    surprise = float((seen.weights * (seen.scores - mean) ** 2 / taken).sum())
    share = spread / taken  # expected of each item
    varied = share**2 * (2.0 + (1.0 / spread - 6.0) / seen.weights)
    degrees = max(float(share.sum()) - 1.0, 0.1)
    scale = float(np.maximum(varied, 2.0 * share).sum()) / (2.0 * degrees)
    chance = float(chdtrc(degrees / scale, surprise / scale))
    return (misfit(chance),) if chance < _UNLIKELY else ()


def stratum_accuracy(
    scores: ArrayLike,
    probabilities: ArrayLike,
    n_items: int,
    *,
    level: float = 0.95,
) -> BankAccuracy:
    """Return the mean score over the bank from items that were drawn at random.

    `probabilities` are those with which each of the items was drawn, above 0 for every item of
    the bank. Hájek's estimate Σ y/π / Σ 1/π does not depend on any model of the scores. Its
    interval is Wilson's, with as many trials as the weights leave of the items,
    (Σ 1/π)² / Σ 1/π², more for the part of the bank that was seen.

    >>> found = stratum_accuracy([1, 1, 0, 1, 1, 0, 1, 1, 1, 0], [0.1] * 10, 100)
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (0.7, 0.37, 0.9)
    """
    from scipy.special import stdtrit

    level, size = as_level(level), as_whole("n_items", n_items)
    y, chance = _drawn(scores, probabilities, size)
    weight = 1.0 / chance
    weight /= weight.sum()
    value = float(y[0] if (y == y[0]).all() else weight @ y)  # exactly 1 where all are right
    effective = float(1.0 / (weight @ weight))
    left = max(0.0, 1.0 - len(y) / size)  # of the variance, once a part of the bank is seen
    if left == 0.0:
        return BankAccuracy(value, value, value, 0.0, level, "stratum", size, len(y))
    bell = value * (1.0 - value)
    design = float(weight**2 @ (y - value) ** 2) * len(y) / max(len(y) - 1, 1)
    ratio = min(1.0, design * effective / bell) if bell > 0.0 else 1.0
    trials = effective / left / max(ratio, 0.05)
    z = float(stdtrit(len(y) - 1, 0.5 + level / 2.0))
    low, high = _wilson(value, trials, z)
    se = float(np.sqrt(design * left))
    notes = (FEW_RANDOM,) if len(y) < _FEW else ()
    return BankAccuracy(value, low, high, se, level, "stratum", size, len(y), notes)


def _wilson(value: float, trials: float, z: float) -> tuple[float, float]:
    centre = (value + z * z / (2.0 * trials)) / (1.0 + z * z / trials)
    bell = value * (1.0 - value) / trials + z * z / (4.0 * trials * trials)
    half = z * float(np.sqrt(bell)) / (1.0 + z * z / trials)
    return min(centre - half, value), max(centre + half, value)


def _drawn(scores: ArrayLike, probabilities: ArrayLike, size: int) -> tuple[Floats, Floats]:
    y, chance = np.asarray(scores, np.float64), np.asarray(probabilities, np.float64)
    if y.ndim != 1 or y.shape != chance.shape:
        raise InvalidInput(f"each score needs its probability; got {y.shape} and {chance.shape}.")
    if len(y) < 2:
        raise NotEnoughData("an accuracy from random items needs at least two of them.")
    if len(y) > size:
        raise InvalidInput(f"{len(y)} scores are more than the bank has items ({size}).")
    if not ((y >= 0.0) & (y <= 1.0)).all():
        raise InvalidInput("scores must be between 0 and 1.")
    if not ((chance > 0.0) & (chance <= 1.0)).all():
        raise InvalidInput("probabilities must be above 0 and at most 1.")
    return y, chance

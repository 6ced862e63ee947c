"""Expected accuracy on a whole bank of which only some items were asked.

The mean over items that were chosen for an ability says little about the bank. Two other numbers
do; both are of the accuracy to expect if every item was asked, over and over. `bank_accuracy` takes
all items as the model expects them: precise, and as right as the model is, which the scores of a
test hardly show. `stratum_accuracy` uses items that were drawn at random with known probabilities,
and nothing else: less precise, and right whatever the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.json_values import json_values
from passband.notes import Note
from passband.stats.checks import as_level, as_whole
from passband.stats.irt.items import expected_scores
from passband.stats.irt.posterior import AbilityPosterior
from passband.stats.irt.responses import weighted
from passband.types import ArrayLike, Floats

MODEL_ACCURACY = Note(
    "model-accuracy",
    "the accuracy on items that were not asked is what the model of the bank expects, and the "
    "scores of a test hardly show whether that is right; a random share of the items gives an "
    "interval that needs no model",
    "weak",
)
FEW_RANDOM = Note("few-random", "fewer than 30 random items: the interval is rough")

_FEW = 30
_UNLIKELY = 0.01  # p-value of the fit below which the model is doubted
_LEAST_SPREAD = 0.02  # of a score, in judging the fit


@dataclass(frozen=True)
class BankAccuracy:
    """Expected accuracy on all items of a bank."""

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
        return json_values(self)


def bank_accuracy(posterior: AbilityPosterior, *, level: float = 0.95) -> BankAccuracy:
    """Return the expected accuracy on the bank through the model.

    It is the mean over all items of the expected score at the ability, averaged over the posterior;
    its ends are those means at the ends of the interval of the ability. So it holds as far as the
    model does. A note says so if the scores seen do not fit the model; most misfits go unseen.

    >>> from passband.stats.irt.responses import ItemEvidence
    >>> from passband.stats.irt.items import Items
    >>> from passband.stats.irt.posterior import Grid
    >>> posterior = AbilityPosterior(Grid.of(Items("2pl", a=[1.0] * 4, b=[0.0] * 4)))
    >>> posterior.extend([ItemEvidence(0, 1.0), ItemEvidence(1, 0.0)])
    >>> found = bank_accuracy(posterior)
    >>> round(found.value, 3), round(found.low, 2), round(found.high, 2)
    (0.5, 0.16, 0.84)
    """
    level = as_level(level)
    items = posterior.grid.items
    nodes, chance = posterior.density()
    means = expected_scores(items, nodes).mean(axis=0)
    value = float(chance @ means)
    ends = np.array(posterior.interval(level))
    low, high = expected_scores(items, ends).mean(axis=0).tolist()
    return BankAccuracy(
        value=value,
        low=min(low, value),
        high=max(high, value),
        se=float(np.sqrt(chance @ (means - value) ** 2)),
        level=level,
        method="model",
        n_items=len(items),
        n_seen=len({one.item for one in posterior.evidence}),
        notes=(MODEL_ACCURACY, *_misfit(posterior)),
    )


def _misfit(posterior: AbilityPosterior) -> tuple[Note, ...]:
    """Return the note on scores that are further from the model than chance allows.

    Σ (y - p)² / (p (1 - p)) over the seen items, at the posterior mean, is large where scores
    contradict the model. A single miss of an easy item makes it large as well, so p (1 - p) is
    taken for no less than `_LEAST_SPREAD`, and the sum for a multiple of chi² with its own mean,
    one degree of freedom less, and its own variance, or that of chi² where it is larger.
    """
    from passband.stats.special import chdtrc

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
    trials: int = 1,
    level: float = 0.95,
) -> BankAccuracy:
    """Return the expected accuracy on the bank from items that were drawn at random.

    `scores` are the means of `trials` trials of each item, and `probabilities` those with which
    each was drawn, above 0 for every item of the bank. Hájek's estimate Σ y/π / Σ 1/π does not
    depend on any model of the scores. Its interval is Wilson's, with as many trials as the weights
    leave of the items, (Σ 1/π)² / Σ 1/π². Having seen a share of the bank takes that share away
    of the variance between items, but not of that of their trials; with one trial of each the two
    cannot be told apart, and all is taken for the latter.

    >>> found = stratum_accuracy([1, 1, 0, 1, 1, 0, 1, 1, 1, 0], [0.1] * 10, 100)
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (0.7, 0.36, 0.91)
    """
    from passband.stats.special import stdtrit

    level, size = as_level(level), as_whole("n_items", n_items)
    y, chance = _drawn(scores, probabilities, size)
    weight = 1.0 / chance
    weight /= weight.sum()
    value = float(y[0] if (y == y[0]).all() else weight @ y)  # exactly 1 where all are right
    effective = float(1.0 / (weight @ weight))
    bell = value * (1.0 - value)
    design = float(weight**2 @ (y - value) ** 2) * len(y) / max(len(y) - 1, 1)
    noise = float(weight**2 @ _noise(y, as_whole("trials", trials)))
    seen = 0.0 if design == 0.0 else len(y) / size * (1.0 - min(1.0, noise / design))
    left = 1.0 - seen
    ratio = min(1.0, design * effective / bell) if bell > 0.0 else 1.0
    count = effective / left / max(ratio, 0.05)
    z = float(stdtrit(len(y) - 1, 0.5 + level / 2.0))
    low, high = _wilson(value, count, z)
    se = float(np.sqrt(design * left))
    notes = (FEW_RANDOM,) if len(y) < _FEW else ()
    return BankAccuracy(value, low, high, se, level, "stratum", size, len(y), notes)


def _noise(y: Floats, trials: int) -> Floats:
    """Return the variance of each mean score that its trials bring, at most."""
    if trials == 1:
        return np.full(len(y), np.inf)
    rate = (y * trials + 0.5) / (trials + 1.0)  # half a trial of either kind added
    return rate * (1.0 - rate) / (trials - 1.0)


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


def misfit(chance: float) -> Note:
    """Return the note on scores that contradict the model of a bank."""
    return Note(
        "misfit",
        f"the scores do not fit the model of the bank (p = {chance:.1g}): the interval is likely "
        "too short",
    )

"""What a metric would be at more draws than anybody made: always a model's answer.

pass@K with K beyond the number of trials has no unbiased estimate. How fast the curve goes on
rising depends on the problems that no trial has solved, and no trial says whether one of them is
hard or hopeless. What can be done is to fit how the success probabilities are spread and read the
answer off the fit: with a share z0 of hopeless problems, z1 of certain ones, and a Beta(a, b) for
the rest, ``pass@K = z1 + (1 - z0 - z1) (1 - B(a, b+K) / B(a, b))``.

References: Schaeffer et al. 2025 (arXiv 2502.17578), Kazdan et al. 2025 (arXiv 2510.05197).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.interval.latent_values import latent_values
from passband.stats.interval.pieces import Pieces
from passband.stats.interval.spread import SpikedBeta, fit_spiked
from passband.stats.metric.metrics import Metric, parse_metric

__all__ = ["Extrapolation", "extrapolate"]

MODEL = "beta-binomial with shares of problems never and always solved"
_FAR = 4.0  # times the trials
_POSSIBLE = 0.05  # of the largest likelihood: below, a variant of the model is ruled out
_SURE = 0.95


@dataclass(frozen=True)
class Extrapolation:
    """A value beyond the data, for problems like these, and how much of it is the model's."""

    metric: str
    k: int
    value: float  #: posterior mean
    low: float
    high: float
    level: float
    model: str
    n_trials_max: int  #: the most trials of any problem
    factor: float  #: k as a multiple of that
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """Write the value with its interval and how far it reaches.

        >>> outcomes = Outcomes.from_counts([0, 0, 1, 2, 5, 8, 8] * 5, 8)
        >>> print(extrapolate(outcomes, "pass@16"))
        pass@16 0.77 [0.59, 0.92] (model-based, 2 times the trials)
        """
        from passband.stats.interval.rounding import rounded

        value = rounded(self.value, self.low, self.high)
        return f"{self.metric} {value} (model-based, {self.factor:.3g} times the trials)"


def extrapolate(
    outcomes: Outcomes, metric: str, *, level: float = 0.95, policy: Policy = "drop"
) -> Extrapolation:
    """Return a metric at a k beyond the trials of every problem, for problems like these.

    Use it to plan: is it worth drawing 64 instead of 8? Not to report: a number that nobody
    measured stands or falls with the model. Where k is within the trials, `estimate` needs none.

    The value is the posterior mean over all that is unknown of the model. The interval is the
    widest that any of its variants gives, with or without problems that are never or always
    solved, unless the data rule it out (a likelihood below a twentieth of the largest): where the
    data cannot tell hard from hopeless, both are inside.

    >>> outcomes = Outcomes.from_counts([0, 0, 1, 2, 5, 8, 8] * 5, 8)
    >>> found = extrapolate(outcomes, "pass@64")
    >>> round(found.value, 2), found.factor, found.model
    (0.85, 8.0, 'beta-binomial with shares of problems never and always solved')
    """
    if not 0.0 < level < 1.0:
        raise InvalidInput(f"level must be a number between 0 and 1; got {level!r}.")
    judged, asked = outcomes.under(policy), parse_metric(metric)
    most = judged.most_trials()
    judged.require(1)
    if asked.k <= most:
        raise InvalidInput(
            f"{asked.name} is within the trials (there are problems with {most}), so nothing need "
            "be extrapolated; use estimate()."
        )
    models = fit_spiked(judged, 1)
    laws = [model.of_population(asked, most) for model in models]
    low, high = _widest(models, laws, (1.0 - level) / 2.0, _bounds(asked))
    whole = Pieces.together(laws, [model.weight for model in models])
    return Extrapolation(
        metric=asked.name,
        k=asked.k,
        value=whole.mean,
        low=min(low, whole.mean),
        high=max(high, whole.mean),
        level=level,
        model=MODEL,
        n_trials_max=most,
        factor=asked.k / most,
        notes=tuple(_notes(judged, asked, models)),
    )


def _widest(
    models: list[SpikedBeta], laws: list[Pieces], tail: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return the outer ends among the variants that are not ruled out."""
    least = max(model.top for model in models) + np.log(_POSSIBLE)
    possible = [law for model, law in zip(models, laws, strict=True) if model.top >= least]
    ends = np.array([law.quantiles(tail, bounds) for law in possible])
    return float(ends[:, 0].min()), float(ends[:, 1].max())


def _bounds(metric: Metric) -> tuple[float, float]:
    return (0.0, 1.0) if metric.powers is not None else metric.parts[0].bounds


def _notes(outcomes: Outcomes, metric: Metric, models: list[SpikedBeta]) -> list[str]:
    """Say what the answer rests on, and how far to trust it."""
    most = outcomes.most_trials()
    notes = [f"model-based: no problem has more than {most} trials"]
    if metric.k > _FAR * most:
        notes.append(
            f"k is {metric.k / most:.3g} times the trials: beyond about {_FAR:g} times the shape "
            "of the model decides, and the interval does not cover a wrong shape"
        )
    never = outcomes.histogram.where(outcomes.histogram.successes == 0).n_problems
    if never:
        hopeless = sum(model.weight for model in models if model.has_zero)
        notes.append(_never_solved(metric, never, outcomes, hopeless))
    if outcomes.clusters is not None:
        notes.append("clusters are ignored: the problems are taken as independent")
    return notes


def _never_solved(metric: Metric, never: int, outcomes: Outcomes, hopeless: float) -> str:
    """Say what it would mean if the problems never solved could not be."""
    ends = np.array([0.0, 1.0])
    values = [latent_values(part, ends, metric.k, metric.k) for part in metric.parts]
    problems = outcomes.histogram.n_problems
    share = never / problems
    best = metric.combine([float(share * at[0] + (1.0 - share) * at[1]) for at in values])
    verdict = "do not tell whether some of them never will be"
    if hopeless > _SURE:
        verdict = "say that some of them never will be"
    elif hopeless < 1.0 - _SURE:
        verdict = "give no sign that any of them never will be, but cannot exclude it"
    return (
        f"{never} of {problems} problems were never solved, and the data {verdict} (posterior "
        f"probability {hopeless:.2f}); if none of them will, the value for these problems is at "
        f"most {best:.3g}"
    )

"""Metrics at more draws than there are trials: always the answer of a fitted model.

pass@K with K beyond the number of trials has no unbiased estimate. How fast the curve goes on
rising depends on the problems that no trial has solved, and no trial says whether one of them is
hard or hopeless. The value is read off a fit of how the success probabilities are spread: with a
share z0 of hopeless problems, z1 of certain ones, and a Beta(a, b) for the rest,
``pass@K = z1 + (1 - z0 - z1) (1 - B(a, b+K) / B(a, b))``.

The interval trusts no shape. With u the share of problems not solved in n trials and n s the share
solved once, no spread of the probabilities at all gives more than ``1 - u (1 + s/u)^-(K - n)``:
that is where every unsolved problem has the same odds, and those are as high as the problems solved
only once allow. Were they all hopeless instead, pass@K would be the pass@n there is.

References: Schaeffer et al. 2025 (arXiv 2502.17578), Kazdan et al. 2025 (arXiv 2510.05197); the
use of what was seen once is that of Good and Toulmin (1956), Biometrika 43.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from passband.display import Displayed
from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.checks import as_level, check_text
from passband.stats.data.counts import Histogram
from passband.stats.data.outcomes import Outcomes, Policy, check_outcomes
from passband.stats.interval.fit.beta_mixture import BetaMixture
from passband.stats.interval.fit.spiked_beta import SpikedBeta, fit_spiked
from passband.stats.interval.notes import CLUSTERS_IGNORED
from passband.stats.metric.metric import Metric
from passband.stats.metric.pmf import log_choose
from passband.stats.metric.registry import parse_metric
from passband.types import Floats, Ints

MODEL = "beta-binomial with shares of problems never and always solved"
_SIDE = 256  # nodes of each of two shares


@dataclass(frozen=True)
class Extrapolation(Displayed):
    """A value beyond the trials, for problems like these, and how far to trust it."""

    metric: str
    k: int
    value: float  #: posterior mean; for pass@k no less than the share already solved
    low: float
    high: float
    level: float
    model: str
    n_trials_max: int  #: the most trials of any problem
    factor: float  #: k as a multiple of that
    notes: tuple[Note, ...]

    def __str__(self) -> str:
        """Format the value with its interval and how far it reaches.

        >>> outcomes = Outcomes.from_counts([0, 0, 1, 2, 5, 8, 8] * 5, 8)
        >>> print(extrapolate(outcomes, "pass@16"))
        pass@16 0.77 [0.55, 0.95] (model-based, 2 times the trials)
        """
        from passband.stats.interval.rounding import rounded

        value = rounded(self.value, self.low, self.high)
        return f"{self.metric} {value} (model-based, {self.factor:.3g} times the trials)"


def extrapolate(
    outcomes: Outcomes, metric: str, *, level: float = 0.95, policy: Policy = "drop"
) -> Extrapolation:
    """Return a metric at a k beyond the trials of every problem, for problems like these.

    Use it to plan: is it worth drawing 64 instead of 8? Not to report: a number that was never
    measured is only as good as the model. Where k is within the trials, use `estimate`.

    The value is the posterior mean over all that is unknown of the model. The interval is the
    widest that any of its variants gives, with or without problems that are never or always
    solved, however well each fits. For pass@k it also reaches down to nothing more being solved,
    and up to what all unsolved problems being equally hard would give, so where problems were
    never solved it grows with k; for pass^k the same holds of problems that never failed. For
    other metrics it is the model's alone.

    >>> outcomes = Outcomes.from_counts([0, 0, 1, 2, 5, 8, 8] * 5, 8)
    >>> result = extrapolate(outcomes, "pass@64")
    >>> round(result.value, 2), result.factor, result.model
    (0.85, 8.0, 'beta-binomial with shares of problems never and always solved')
    """
    check_outcomes("outcomes", outcomes)
    check_text("metric", metric, "pass@64")
    level = as_level(level)
    scored, wanted = outcomes.counted(policy), parse_metric(metric)
    most = scored.most_trials()
    scored.require(1)
    if wanted.k <= most:
        raise InvalidInput(
            f"{wanted.name} needs no extrapolation, as there are problems with {most} trials; "
            "use estimate()."
        )
    models = fit_spiked(scored, 1)
    populations = [model.of_population(wanted) for model in models]
    tail = (1.0 - level) / 2.0
    whole = BetaMixture.together(populations, [model.weight for model in models])
    value, reach = _without_shape(scored, wanted, whole.mean, tail)
    quantiles = [end for one in populations for end in one.quantiles(tail, wanted.bounds)]
    ends = np.array([value, *reach, *quantiles])
    return Extrapolation(
        metric=wanted.name,
        k=wanted.k,
        value=value,
        low=float(ends.min()),
        high=float(ends.max()),
        level=level,
        model=MODEL,
        n_trials_max=most,
        factor=wanted.k / most,
        notes=tuple(_notes(scored, wanted, models)),
    )


def _without_shape(
    outcomes: Outcomes, metric: Metric, value: float, tail: float
) -> tuple[float, tuple[float, ...]]:
    """Return the value clipped to its certain bounds, with ends valid for any shape."""
    pairs = outcomes.histogram
    if metric.name == f"pass@{metric.k}":
        done = 1.0 - pairs.where(pairs.successes == 0).n_problems / pairs.n_problems
        return max(value, done), _reach(pairs, metric.k, tail)
    if metric.name == f"pass^{metric.k}":
        flipped = replace(pairs, successes=pairs.trials - pairs.successes)
        left = flipped.where(flipped.successes == 0).n_problems / pairs.n_problems
        return min(value, left), tuple(1.0 - end for end in _reach(flipped, metric.k, tail))
    return value, ()


def _reach(pairs: Histogram, k: int, tail: float) -> tuple[float, float]:
    """Return a low end of pass@n and a high end of pass@k, for any spread of the probabilities.

    On the posterior of the shares of problems solved never, once and more often in n trials. With
    unequal trials n is what at least half of the problems have, and more are thinned to it.
    """
    from passband.stats.special import betaincinv

    n = _usual_trials(pairs)
    never, once, problems = _thinned(pairs.at_least(n), n)
    nodes = (np.arange(_SIDE) + 0.5) / _SIDE
    seen_once = betaincinv(once + 0.5, problems - once + 0.5, nodes)[:, None]
    more = max(problems - never - once, 0.0)
    unsolved = (1.0 - seen_once) * betaincinv(never + 0.5, more + 0.5, nodes)
    rising = np.log1p(seen_once / n / np.maximum(unsolved, 1e-300))
    highest = 1.0 - unsolved * np.exp(-(k - n) * rising)
    left = pairs.where(pairs.successes == 0).n_problems  # in all their trials
    low = betaincinv(pairs.n_problems - left + 0.5, left + 0.5, tail)
    return float(low), float(np.quantile(highest, 1.0 - tail))


def _usual_trials(pairs: Histogram) -> int:
    """Return the largest number of trials that at least half of the problems have."""
    half = pairs.n_problems / 2.0
    return max(n for n in pairs.ns if pairs.at_least(n).n_problems >= half)


def _thinned(pairs: Histogram, n: int) -> tuple[float, float, float]:
    """Return the problems solved never and once, as expected in n of their trials, and all."""
    c, rest = pairs.successes, pairs.trials - pairs.successes

    def log_ways(of: Ints, chosen: int) -> Floats:
        return np.where(of >= chosen, log_choose(np.maximum(of, chosen), chosen), -np.inf)

    whole = log_ways(pairs.trials, n)
    never = np.exp(log_ways(rest, n) - whole)
    once = c * np.exp(log_ways(rest, n - 1) - whole)
    return float(pairs.problems @ never), float(pairs.problems @ once), float(pairs.n_problems)


def _notes(outcomes: Outcomes, metric: Metric, models: list[SpikedBeta]) -> list[Note]:
    """Return notes on the model behind the value, and its reliability."""
    most = outcomes.most_trials()
    any_shape = metric.name in (f"pass@{metric.k}", f"pass^{metric.k}")
    notes = [model_based(most), beyond_trials(metric.k / most, any_shape=any_shape)]
    never = outcomes.histogram.where(outcomes.histogram.successes == 0).n_problems
    if never:
        problems = outcomes.histogram.n_problems
        highest = _without_unsolved(metric, never / problems)
        hopeless = sum(model.weight for model in models if model.has_zero) > 0.5
        notes.append(never_solved(never, problems, highest, hopeless=hopeless))
    if outcomes.is_clustered:
        notes.append(CLUSTERS_IGNORED)
    return notes


def _without_unsolved(metric: Metric, share: float) -> float:
    """Return the highest value there can be if this share of the problems is never solved."""
    ends = np.array([0.0, 1.0])
    zeros, ones = metric.latent(ends).T
    return metric.combine((share * zeros + (1.0 - share) * ones).tolist())


def model_based(most_trials: int) -> Note:
    """Return the note that a value lies beyond the trials of every problem."""
    return Note("model-based", f"model-based: no problem has more than {most_trials} trials")


def beyond_trials(factor: float, *, any_shape: bool) -> Note:
    """Return the note on how far beyond the trials k lies, and what the interval covers."""
    covered = "allows for other shapes of it" if any_shape else "does not cover a wrong shape of it"
    return Note(
        "beyond-trials",
        f"k is {factor:.3g} times the trials: the fitted model decides the value, and the interval "
        f"{covered}",
    )


def never_solved(never: int, problems: int, highest: float, *, hopeless: bool) -> Note:
    """Return the note on problems that no trial solved."""
    reading = (
        "partly as hopeless, but a few hard levels would look the same"
        if hopeless
        else "as equally hard, but hopeless ones would look the same"
    )
    return Note(
        "never-solved",
        f"{never} of {problems} problems were never solved; the fit treats them {reading}; if none "
        f"of them is ever solved, the value for these problems is at most {highest:.3g}",
    )

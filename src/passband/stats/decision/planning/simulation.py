"""Simulate half-widths of the default interval on populations that a pilot leaves possible.

Every draw of a population gives one run of the planned size, and every run the interval that
`estimate` would print for it. All runs are made at once, along a leading axis.

A pilot of 30 problems does not fix how problems differ, least of all where few succeed. A draw
takes a Beta from the posterior of the family that the default interval uses, gives the observed
pairs of successes and trials random weights (a Bayesian bootstrap), moves the Beta towards those
pairs by expectation maximisation, and mixes in some of the Beta itself: what the pilot has not
seen.

Rubin (1981), The Bayesian bootstrap. Annals of Statistics 9, 130-134.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from passband.notes import Note
from passband.stats.checks import ROUNDING_DIGITS, Over
from passband.stats.data.counts import Histogram
from passband.stats.data.outcomes import Outcomes
from passband.stats.evidence.collect import data_notes
from passband.stats.interval.bootstrap.units import data_seed
from passband.stats.interval.default.wilson import Ends, over_problems, over_trials
from passband.stats.interval.estimation import estimate
from passband.stats.interval.fit.count_grid import CountGrid, beta_masses, grid_of, points
from passband.stats.interval.fit.mixture import fit_mixture, posterior_of_betas
from passband.stats.interval.notes import K_ABOVE_HALF
from passband.stats.interval.request import IntervalRequest
from passband.stats.interval.seeds import generator
from passband.stats.metric.metric import Metric
from passband.types import Floats, Ints

PILOT_ONE_TRIAL = Note(
    "pilot-one-trial",
    "the pilot has one trial of each problem, which does not show how problems differ; what other "
    "numbers of trials would bring is a guess",
)

_STEPS = 100  # towards the pairs, or fewer where there are many kinds of them
_MOST_WORK = 6_400  # steps times kinds of pairs
_LEAST_INFORMATIVE = 5.0  # problems that differ from the commonest pair
_LEAST = 1e-12  # so that no success probability is ruled out


@dataclass(frozen=True, eq=False)
class Laws:
    """Distributions of success probabilities, a row per draw, and the pilot's problems in each."""

    weights: Floats  # (draws, points)
    problems: Ints  # (draws, points) problems of the pilot with each success probability
    loss: float  #: what to multiply a variance between problems by, to be right on average
    margin: float  #: what to multiply a variance by, for a promise to be kept

    def between(self, metric: Metric) -> Floats:
        """Return the variance of the latent values between problems, of each draw."""
        latent = metric.combined(np.moveaxis(metric.latent(points()), 0, -1))
        mean = self.weights @ latent
        variance: Floats = self.loss * np.maximum(self.weights @ latent**2 - mean**2, 0.0)
        return variance

    def within(self, metric: Metric, trials: int) -> Floats:
        """Return the mean variance of a problem's value at a number of trials, of each draw."""
        grid = CountGrid((trials,))
        values = metric.parts[0].at(grid.trials, grid.successes, metric.k)
        noise = grid.binomial @ values**2 - (grid.binomial @ values) ** 2
        return self.weights @ np.maximum(noise, 0.0)


def draw_laws(
    pairs: Histogram, draws: int, rng: np.random.Generator, *, share: float = 1.0
) -> Laws:
    """Draw distributions of success probabilities that could have given a pilot.

    Each of the pilot's problems counts as `share` of one: below 1 the draws differ more than the
    posterior does, as they must where a promise is to hold for the population at hand and not on
    average over those that the prior considers. The margin is for the variance that a Dirichlet
    loses, and for what the problems that differ from the commonest pair fail to show where they
    are few; it was chosen by benchmarks/plan.py.
    """
    grid = grid_of(pairs)
    counts = grid.counts(pairs)
    total = float(counts.sum())
    chosen = rng.choice(len(beta_masses()), size=draws, p=posterior_of_betas(grid, counts))
    base = beta_masses()[chosen] + _LEAST
    base /= base.sum(axis=1, keepdims=True)
    seen = np.flatnonzero(counts)
    likelihood = grid.binomial[:, seen]
    extra = max(2.0, total**0.5 - 1.0)
    by_pair = rng.gamma(share * counts[seen], size=(draws, len(seen)))
    observed = by_pair.sum(axis=1, keepdims=True)
    weights = observed * _closer(base, likelihood, by_pair / observed)
    weights += rng.gamma(extra, size=(draws, 1)) * base
    weights /= weights.sum(axis=1, keepdims=True)
    loss = 1.0 + 1.0 / (share * total + extra)
    informative = max(total - float(counts.max()), _LEAST_INFORMATIVE)
    return Laws(
        weights,
        _problems(weights, likelihood, counts[seen], rng),
        loss * (1.0 + 1.0 / max(total - 1.0, 1.0)),
        loss * (1.0 + 1.5 / informative),
    )


def _closer(base: Floats, likelihood: Floats, frequencies: Floats) -> Floats:
    """Return the distributions after some steps of expectation maximisation."""
    weights = base
    for _ in range(min(max(_MOST_WORK // likelihood.shape[1], 8), _STEPS)):
        weights = weights * ((frequencies / (weights @ likelihood)) @ likelihood.T)
    return weights


def _problems(
    weights: Floats, likelihood: Floats, counts: Floats, rng: np.random.Generator
) -> Ints:
    """Draw a success probability for each problem of the pilot, and count them by point."""
    result = np.zeros(weights.shape, dtype=np.int64)
    for pair, problems in zip(likelihood.T, counts.astype(np.int64).tolist(), strict=True):
        posterior = weights * pair
        result += rng.multinomial(problems, posterior / posterior.sum(axis=1, keepdims=True))
    return result


_DRAWS = 400
_SHARE = 0.5  # of a problem that each of the pilot's counts for; measured by benchmarks/plan.py
_ENOUGH_INFORMATIVE = 10  # problems of a pilot that differ from the commonest value
_MOST_PROBLEMS = 20_000  # simulated; beyond, a half-width falls with their square root
_MOST_TRIALS = 64  # simulated, or 2k if that is more; beyond, with the variance of a value


@dataclass(frozen=True, eq=False)
class SimulatedWidths:
    """The half-widths to expect of runs of any size, one for each population that is possible."""

    outcomes: Outcomes  # of the pilot, as the policy reads them
    metric: Metric
    over: Over
    level: float
    laws: Laws
    seed: int
    notes: tuple[Note, ...]

    @cached_property
    def _memo(self) -> dict[tuple[int | None, int], Floats]:
        return {}

    @property
    def fewest(self) -> int:
        """The fewest trials of a problem that an interval of the metric takes."""
        return max(self.metric.k, 1 if self.over == "problems" else 2)

    @property
    def n_problems(self) -> int:
        """The number of problems of the pilot that count."""
        return int(self.laws.problems[0].sum())

    @property
    def widest(self) -> float:
        """Half of the range of the metric, which no half-width exceeds."""
        low, high = self.metric.bounds
        return (high - low) / 2.0

    def variances(self, trials: int) -> tuple[Floats, Floats]:
        """Return the variances between problems and of sampling, per draw."""
        return self.laws.between(self.metric), self.laws.within(self.metric, trials)

    def at(self, problems: int | None, trials: int) -> Floats:
        """Return the half-widths of runs; without a number, of the pilot's own problems."""
        most = max(_MOST_TRIALS, 2 * self.metric.k)
        if trials > most:
            key = (problems, most)
            if key not in self._memo:
                self._memo[key] = self.at(*key)
            scaled: Floats = self._memo[key] * self._shrunk(most, trials)
            return scaled
        if problems is not None and problems > _MOST_PROBLEMS:
            return self.at(_MOST_PROBLEMS, trials) * float(np.sqrt(_MOST_PROBLEMS / problems))
        grid = _grid(trials)
        counts = self._counts(grid, problems)
        widths = self._widths(grid, counts)
        alike = (counts == counts.sum(axis=1, keepdims=True))[:, [0, -1]]
        for at, successes in enumerate((0, trials)):
            if alike[:, at].any():
                widths[alike[:, at]] = self._edge(int(counts[0].sum()), trials, successes)
        return widths

    def _shrunk(self, trials: int, more: int) -> float:
        """Return by how much more trials of each problem narrow the interval."""
        between = 0.0 if self.over == "trials" else float(self.laws.between(self.metric).mean())
        now, then = (float(self.laws.within(self.metric, n).mean()) for n in (trials, more))
        return ((between + then) / (between + now)) ** 0.5 if between + now > 0.0 else 1.0

    def _counts(self, grid: CountGrid, problems: int | None) -> Floats:
        """Draw a run of each population: the number of problems with each count of successes."""
        rng = generator(self.seed)
        if self.over == "problems":
            chances = self.laws.weights @ grid.binomial
            chances /= chances.sum(axis=1, keepdims=True)
            return np.asarray(rng.multinomial(int(problems or 1), chances), dtype=np.float64)
        by_point = self.laws.problems
        if problems is not None:
            by_point = rng.multinomial(problems, self.laws.weights)
        chances = grid.binomial / grid.binomial.sum(axis=1, keepdims=True)
        return np.asarray(rng.multinomial(by_point, chances).sum(axis=1), dtype=np.float64)

    def _widths(self, grid: CountGrid, counts: Floats) -> Floats:
        low, high = self.metric.bounds
        scale, more = high - low, self.laws.margin**0.5
        request = IntervalRequest(
            self.outcomes, self.metric, (0.0,), 0.0, self.over, self.level, None
        )
        mixture = fit_mixture(grid, counts)
        values = (request.values(mixture) - low) / scale
        if self.over == "trials":
            squares = request.squares(mixture, values)
            ends = over_trials(mixture, values, self.metric.k, self.level, squares=squares)
            return _half(ends, scale * more)
        return _half(over_problems(mixture, values, self.level), scale * more)

    def _edge(self, problems: int, trials: int, successes: int) -> float:
        """Return the half-width where every trial failed, or none did."""
        outcomes = Outcomes.from_counts(np.full(problems, successes), trials)
        result = estimate(outcomes, self.metric.name, over=self.over, level=self.level)
        if result.low is None or result.high is None:
            return self.widest
        return (result.high - result.low) / 2.0


def simulated_widths(
    outcomes: Outcomes, metric: Metric, over: Over, level: float, *, share: float = _SHARE
) -> SimulatedWidths:
    """Draw the populations that a pilot of scores of 0 and 1 leaves possible."""
    pairs = outcomes.histogram.at_least(metric.k)
    seed = data_seed(metric, pairs.trials, pairs.successes, pairs.problems)
    laws = draw_laws(pairs, _DRAWS, generator(seed), share=share)
    return SimulatedWidths(outcomes, metric, over, level, laws, seed, _notes(outcomes, metric))


def _notes(outcomes: Outcomes, metric: Metric) -> tuple[Note, ...]:
    """Return notes on a pilot that shows little of how problems differ."""
    values = metric.by_problem(outcomes)[:, 0]
    commonest = int(np.unique(np.round(values, ROUNDING_DIGITS), return_counts=True)[1].max())
    notes = []
    if len(values) - commonest < _ENOUGH_INFORMATIVE:
        notes.append(few_in_pilot(len(values), len(values) - commonest))
    if outcomes.most_trials() == 1:
        notes.append(PILOT_ONE_TRIAL)
    elif 2 * metric.k > int(outcomes.trials[outcomes.trials >= metric.k].min()):
        notes.append(K_ABOVE_HALF)
    return (*notes, *data_notes(outcomes, metric.k, "problems"))


@lru_cache(maxsize=16)
def _grid(trials: int) -> CountGrid:
    return CountGrid((trials,))


def _half(ends: Ends, scale: float) -> Floats:
    half: Floats = scale * (ends.high - ends.low) / 2.0
    return half


def few_in_pilot(problems: int, informative: int) -> Note:
    """Return the note on a pilot nearly all of whose problems share one value.

    >>> print(few_in_pilot(30, 4))
    26 of 30 problems of the pilot share one value; the plan allows for what the other 4 leave open
    """
    if informative == 0:
        alone = "the pilot is of one problem"
        text = f"all {problems} problems of the pilot share one value" if problems > 1 else alone
        return Note(
            "pilot-all-same-value", f"{text}; the plan rests on what could have been missed"
        )
    return Note(
        "pilot-few-informative",
        f"{problems - informative} of {problems} problems of the pilot share one value; the plan "
        f"allows for what the other {informative} leave open",
    )

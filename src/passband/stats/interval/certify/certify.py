"""Certify an interval: simulate the user's own design, and estimate its coverage.

`needs_simulation` decides cheaply whether a design is unusual enough to be certified unasked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from passband.notes import Note
from passband.stats.checks import ROUNDING
from passband.stats.data.outcomes import Outcomes
from passband.stats.evidence.collect import evidence_of
from passband.stats.interval.certify.binary_sets import (
    CountSets,
    DrawnCounts,
    blend_sets,
    cluster_sets,
    draw_counts,
)
from passband.stats.interval.certify.certificate import Certificate, calibrated, certificate_of
from passband.stats.interval.certify.graded_sets import problem_sets, trial_sets
from passband.stats.interval.certify.laws import fitted_laws
from passband.stats.interval.certify.simulation import SimulatedDesign, Simulation
from passband.stats.interval.default.clusters import clusters_of, kish_number
from passband.stats.interval.default.graded_sample import GradedSample
from passband.stats.interval.default.selection import is_alone
from passband.stats.interval.fit.count_grid import is_too_large
from passband.stats.interval.notes import no_certificate
from passband.stats.interval.request import IntervalRequest, mixture_of
from passband.stats.interval.seeds import generator, seed_of_data
from passband.stats.metric.components import BestScore, MeanScore
from passband.types import Floats

MANY_SETS = 500  #: data sets of each law
FEW_SETS = 150  #: of each law, where a summary certifies by itself
_SINGLE_SHARE = 60  # percent of the data sets, where their intervals are made one by one
_BLEND_SHARE = 25
_BOUNDED_SHARE = 20  # of graded scores within bounds, each of which needs a fit
_BOUNDED_TRIALS = 80  # of those, over trials
_MOST_KEPT = 1 << 21  # numbers of a simulation that is kept for other metrics
_MOST_PAIRS = 2048
_MOST_VALUES = 4_000_000  # drawn for one certificate
_LEAST_SETS = 100
_LEAST_BOUNDED = 30

_UNSEEN = "trials that depend on each other or were stopped by results"
_UNSEEN_PROBLEMS = f"{_UNSEEN}, or problems of a kind that was not drawn"
_UNSEEN_CLUSTERS = f"{_UNSEEN_PROBLEMS}, or clusters whose values go along with their size"
_UNSEEN_SCORES = f"{_UNSEEN}, or rare scores that were not drawn"


def certified(
    request: IntervalRequest, *, sets: int = MANY_SETS, calibrate: bool = False
) -> Certificate | Note:
    """Return the coverage to expect of the default interval, or why it cannot be simulated.

    Data that show that there can be no interval are not simulated: data sets drawn from a law that
    is fitted to them would not show it. `sets` data sets are drawn from each law. With `calibrate`
    the certificate may be of a wider interval, at the quantile that it names.
    """
    finding = evidence_of(request.outcomes).against(request.over, request.k)
    if finding is not None:
        return no_certificate(finding.text)
    request = request.unit
    seed = _seed(request)
    simulations = _simulations(request, sets, seed)
    if isinstance(simulations, str):
        return no_certificate(simulations)
    certificate = certificate_of(simulations, request.level, seed, _unseen(request))
    return calibrated(simulations, certificate) if calibrate else certificate


def _seed(request: IntervalRequest) -> int:
    """Return the seed that was given, or one from the data; the same for every metric."""
    if request.seed is not None:
        return request.seed
    outcomes = request.outcomes
    if outcomes.is_binary:
        pairs = outcomes.histogram
        return seed_of_data("certify", pairs.trials, pairs.successes, pairs.problems)
    graded = outcomes.required_graded()
    return seed_of_data("certify", graded.values, graded.offsets)


def _unseen(request: IntervalRequest) -> str:
    if not request.outcomes.is_binary:
        return _UNSEEN_SCORES
    clustered = request.outcomes.is_clustered and request.over == "problems"
    return _UNSEEN_CLUSTERS if clustered else _UNSEEN_PROBLEMS


def _simulations(request: IntervalRequest, sets: int, seed: int) -> list[Simulation] | str:
    """Return the simulations, or the reason why there are none."""
    if request.metric.parts[0].needs_answers:
        return "answers have no fitted law to draw votes from"
    low, high = request.range()
    if high == low:
        return "the metric has the same value whatever the trials show"
    clustered = request.outcomes.is_clustered and request.over == "problems"
    if request.over == "problems" and request.outcomes.n_units(request.k) < 2:
        noun = "cluster" if clustered else "problem"
        return f"a single {noun} does not show how {noun}s differ"
    if request.outcomes.is_binary and is_alone(request):
        return "the interval of a single problem is exact"
    rng = generator(seed)
    if not request.outcomes.is_binary:
        return _graded(request, sets, rng)
    if is_too_large(request.outcomes.histogram.at_least(request.k)):
        return "there are too many trials of a problem"
    if not clustered:
        return _counts(request, sets, seed)
    problems = int((request.outcomes.trials >= request.k).sum())
    if not request.metric.is_mean:
        return "the metric is a blend, and the problems are in clusters"
    number = _affordable(2 * sets * _SINGLE_SHARE // 100, problems)
    return [cluster_sets(request, number, rng)] if number else _TOO_MANY.format(problems)


_TOO_MANY = "{} problems are too many to simulate one by one"


def _affordable(sets: int, values: int) -> int:
    """Return the affordable number of data sets of that size; 0 if not even a few."""
    number = min(sets, max(_MOST_VALUES // values, _LEAST_SETS))
    return number if number * values <= 2 * _MOST_VALUES else 0


# -- 0/1 scores ------------------------------------------------------------------------------


def _counts(request: IntervalRequest, sets: int, seed: int) -> list[Simulation] | str:
    design = SimulatedDesign.of(request.outcomes.histogram.at_least(request.k), request.k)
    if design.n_pairs > _MOST_PAIRS:
        return "there are too many trials of a problem"
    trials = design.trials()
    fixed = replace(request, outcomes=Outcomes.from_counts(0 * trials, trials))
    if request.metric.is_mean:
        return [CountSets(drawn, fixed) for drawn in _drawn(request, design, sets, seed)]
    few = _drawn(request, design, max(sets * _BLEND_SHARE // 100, 1), seed)
    return [blend_sets(drawn, fixed) for drawn in few]


def _drawn(
    request: IntervalRequest, design: SimulatedDesign, sets: int, seed: int
) -> list[DrawnCounts]:
    """Draw data sets from both laws, once for every metric on the same outcomes."""
    outcomes = request.outcomes
    key = ("certify", design, sets, seed)
    if key in outcomes.memo:
        kept: list[DrawnCounts] = outcomes.memo[key]
        return kept
    laws = fitted_laws(mixture_of(outcomes, request.k))
    rng, number = generator(seed), design.affordable(sets)
    drawn = [draw_counts(design, law, number, rng) for law in laws]
    if number * design.n_pairs * len(laws) * 5 <= _MOST_KEPT:
        outcomes.memo[key] = drawn
    return drawn


# -- graded scores ---------------------------------------------------------------------------


def _graded(
    request: IntervalRequest, sets: int, rng: np.random.Generator
) -> list[Simulation] | str:
    part = request.metric.parts[0]
    if not isinstance(part, (MeanScore, BestScore)):
        return f"{request.metric.name} of graded scores cannot be simulated"
    scores = request.outcomes.required_graded().values
    if scores.min() == scores.max():
        return "all scores are the same"
    with np.errstate(over="ignore", invalid="ignore"):
        square = scores.var() ** 2
    if not 0.0 < square < np.inf:
        return "the scores are too large or too small to simulate"
    sample = GradedSample.of(request)
    if sample.is_bounded:
        sets = max(sets * _BOUNDED_SHARE // 100, min(sets, _LEAST_BOUNDED))
    if request.over == "problems":
        if np.ptp(sample.values) <= ROUNDING * np.abs(sample.values).max():
            return "all problems have the same value"
        number = _affordable(sets, 2 * sample.problems)
        return problem_sets(sample, number, rng) if number else _TOO_MANY.format(sample.problems)
    share = _BOUNDED_TRIALS if sample.is_bounded else _SINGLE_SHARE
    number = _affordable(max(sets * share // 100, 1), len(scores))
    if not number:
        return f"{len(scores)} trials are too many to simulate one by one"
    simulated = trial_sets(sample, number, rng)
    return [simulated] if simulated else "no problem shows any noise between its trials"


_SMALL = 20  # problems, or clusters
_SMALL_GRADED = 30
_SKEWED = 1.0  # standardised third moment
_UNEQUAL = 0.8  # Kish's number of clusters, as a share of the clusters
_RELATED = 3.0  # standard errors of a correlation between trials and success


def needs_simulation(request: IntervalRequest) -> bool:
    """Return whether the design is one on which the default interval may fall short.

    Few problems or clusters; clusters of unequal size; over trials, numbers of trials that go along
    with success; a few dozen graded values that are skewed. One problem or cluster shows nothing
    that could be simulated.
    """
    request = request.unit
    outcomes = request.outcomes
    if not outcomes.is_binary and request.over == "trials" and np.isfinite(request.range()).all():
        return False  # bounded scores have wide intervals over trials, and dear ones
    units = outcomes.n_units(request.k) if request.over == "problems" else _problems(request)
    if units < 2:
        return False
    if units <= _SMALL:
        return True
    if not outcomes.is_binary and units <= _SMALL_GRADED:
        return _skewness(request) > _SKEWED
    if request.over == "problems":
        return outcomes.is_clustered and _is_unequal(request)
    return outcomes.is_binary and _is_related(request)


def _problems(request: IntervalRequest) -> int:
    return int((request.outcomes.trials >= max(request.k, 1)).sum())


def _is_unequal(request: IntervalRequest) -> bool:
    sizes = np.bincount(clusters_of(request.outcomes, request.k)).astype(np.float64)
    return kish_number(sizes) < _UNEQUAL * len(sizes)


def _skewness(request: IntervalRequest) -> float:
    values = request.metric.by_problem(request.outcomes)[:, 0]
    away = values - values.mean()
    scale = float(np.abs(away).max())
    if scale == 0.0:
        return 0.0
    away = away / scale
    second, third = float((away**2).mean()), float((away**3).mean())
    return float(abs(third) / second**1.5)


def _is_related(request: IntervalRequest) -> bool:
    """Return whether problems with more trials are solved more often, or less."""
    pairs = request.outcomes.histogram.at_least(request.k)
    shares = pairs.successes / pairs.trials
    correlation = _correlation(np.log(pairs.trials), shares, pairs.problems.astype(np.float64))
    return bool(abs(correlation) > _RELATED / pairs.n_problems**0.5)


def _correlation(first: Floats, second: Floats, weights: Floats) -> float:
    away = [column - weights @ column / weights.sum() for column in (first, second)]
    spread = float((weights @ away[0] ** 2) * (weights @ away[1] ** 2)) ** 0.5
    return float(weights @ (away[0] * away[1])) / spread if spread > 0.0 else 0.0

r"""An exact test of one success rate that looks after every trial and stops when it is decided.

A function succeeds with rate p. Two things may be shown: p < p0 (the test fails), with
p0 = at_least, and p > p1 = at_least - tolerance (it passes). After trial n with c successes it
fails where c <= f_n and passes where c >= g_n. The boundaries spend the two errors as
alpha (n / N)^1.5, alpha = (1 - level) / 2, N being the most trials: f_n is the largest number and
g_n the smallest with

    P(failed by trial n; p0) <= alpha (n/N)^1.5        P(passed by trial n; p1) <= alpha (n/N)^1.5

Both probabilities are sums over the paths that have not stopped yet, so they are exact, for any
number of trials. They change in one direction with p (of two paths, the one whose every trial is at
least as good passes no later and fails no earlier): a function with p >= p0 fails, and one with
p <= p1 passes, with probability alpha at most.

The interval orders outcomes by the stage at which they stopped: passes first, the earliest highest;
then those without a decision by their successes; then failures, the earliest lowest. Its ends are
the p at which an outcome as high as the one observed, or as low, has probability alpha. It covers p
with probability `level` at least, and agrees with the verdict.

Armitage (1957), Biometrika 44, 9-26; Jennison and Turnbull (2000), Group Sequential Methods,
sections 8.5 and 12.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from passband.errors import InvalidInput
from passband.stats.checks import as_level, as_number, as_share, as_whole
from passband.stats.sequential.spending import Spending, spent
from passband.types import Floats

RateVerdict = Literal["pass", "fail", "undecided"]
_MOST = 100_000  # trials
_GRID = 33  # rates in each step of the search for an end of the interval
_STEPS = 5  # each of which narrows it 32 times


class Operating(NamedTuple):
    """Exact outcome probabilities of a test at a given rate."""

    passes: float
    fails: float
    undecided: float
    mean_trials: float


@dataclass(frozen=True)
class RatePlan:
    """Rate to show, and the most trials to show it.

    >>> plan = RatePlan(0.9, trials=100)
    >>> plan.verdict(46, 46), plan.verdict(47, 47), plan.verdict(10, 4)
    ('undecided', 'pass', 'fail')
    """

    at_least: float
    trials: int = 100  #: at most
    tolerance: float = 0.0  #: a rate up to this much lower may pass
    level: float = 0.95  #: of the interval; each of the two false verdicts has half of the rest
    spending: Spending = "power"
    looks: tuple[int, ...] = ()  #: the trials after which one looks; all where none are named

    def __post_init__(self) -> None:
        if self.at_least != 1.0:
            as_share("at_least", self.at_least)
        as_level(self.level)
        if not 0.0 <= as_number("tolerance", self.tolerance) < self.at_least:
            raise InvalidInput(
                f"tolerance must be 0 or more, and below at_least ({self.at_least:g}); got "
                f"{self.tolerance:g}."
            )
        if as_whole("trials", self.trials) > _MOST:
            raise InvalidInput(f"trials must be at most {_MOST}; got {self.trials}.")
        self._check_that_it_can_end()

    def _check_that_it_can_end(self) -> None:
        if self.lowest == 1.0:
            raise InvalidInput(
                "no number of trials can show a rate of 1: name a rate below it, or a tolerance."
            )
        needed = math.ceil(_log_ratio(self.alpha, self.lowest))
        if needed > self.trials:
            raise InvalidInput(
                f"a function that never fails would not pass: a rate above {self.lowest:g} takes "
                f"{needed} successes in a row to show at level {self.level:g}; got "
                f"trials={self.trials}. Allow more trials, or name a tolerance."
            )
        needed = math.ceil(_log_ratio(self.alpha, 1.0 - self.at_least))
        if needed > self.trials:
            raise InvalidInput(
                f"a function that never succeeds would not fail: a rate below {self.at_least:g} "
                f"takes {needed} failures in a row to show at level {self.level:g}; got "
                f"trials={self.trials}. Allow more trials."
            )

    @property
    def lowest(self) -> float:
        """The rate above which a function may pass."""
        return self.at_least - self.tolerance

    @property
    def alpha(self) -> float:
        """The largest probability of each of the two false verdicts."""
        return (1.0 - self.level) / 2.0

    def verdict(self, trials: int, successes: int) -> RateVerdict:
        """Return the verdict after these trials, of which the ones before decided nothing."""
        low, high = _bounds(self)[trials]
        if successes >= high:
            return "pass"
        return "fail" if successes <= low else "undecided"


def _log_ratio(alpha: float, rate: float) -> float:
    """Return the length of a run of identical trials with probability alpha."""
    return math.log(alpha) / math.log(rate) if rate > 0.0 else 1.0


class _Stage(NamedTuple):
    """Distribution of paths after a trial: stopped and continuing."""

    fails: Floats  # for each rate
    passes: Floats
    at: Floats  # rates x successes: all that were not stopped before this trial
    least: int  # successes in the first column of `at`


class _Paths:
    """The probabilities of all numbers of successes among paths not stopped, for some rates."""

    def __init__(self, rates: Floats) -> None:
        self._rates = rates[:, None]
        self.at: Floats = np.ones((len(rates), 1))
        self.least = 0

    def step(self) -> None:
        """Make one more trial."""
        after = np.zeros((len(self.at), self.at.shape[1] + 1))
        after[:, :-1] = self.at * (1.0 - self._rates)
        after[:, 1:] += self.at * self._rates
        self.at = after

    def stop(self, low: int, high: int) -> tuple[Floats, Floats]:
        """Take out the paths with at most `low` or at least `high` successes."""
        below = min(max(low - self.least + 1, 0), self.at.shape[1])
        above = min(max(high - self.least, below), self.at.shape[1])
        fails, passes = self.at[:, :below].sum(axis=1), self.at[:, above:].sum(axis=1)
        self.at, self.least = self.at[:, below:above], self.least + below
        return fails, passes


@lru_cache(maxsize=32)
def _bounds(plan: RatePlan) -> tuple[tuple[int, int], ...]:
    """Return (f_n, g_n) for n = 0, 1, ... N: -1 and n + 1 where nothing stops."""
    paths = _Paths(np.array([plan.at_least, plan.lowest]))
    looks = set(plan.looks) or range(plan.trials + 1)
    result = [(-1, 1)]
    failed = passed = 0.0
    for n in range(1, plan.trials + 1):
        paths.step()
        low, high = -1, n + 1
        if n in looks and paths.at.shape[1]:
            allowed = spent(plan.spending, n / plan.trials, plan.alpha)
            high = _pass_bound(paths, allowed - passed)
            low = min(_fail_bound(paths, allowed - failed), high - 1)
            fails, passes = paths.stop(low, high)
            failed, passed = failed + float(fails[0]), passed + float(passes[1])
        result.append((low, high))
    return tuple(result)


_SLACK = 1e-12  # of sums of probabilities


def _fail_bound(paths: _Paths, allowed: float) -> int:
    """Return the most successes that fail: all paths with no more are allowed to stop."""
    within = np.cumsum(paths.at[0]) <= allowed + _SLACK
    return paths.least + int(within.sum()) - 1


def _pass_bound(paths: _Paths, allowed: float) -> int:
    """Return the fewest successes that pass."""
    within = np.cumsum(paths.at[1][::-1]) <= allowed + _SLACK
    return paths.least + len(within) - int(within.sum())


def _stages(plan: RatePlan, rates: Floats, trials: int) -> Iterator[_Stage]:
    """Yield what happens to functions with these rates at each of the first trials."""
    paths = _Paths(rates)
    for low, high in _bounds(plan)[1 : trials + 1]:
        paths.step()
        at, least = paths.at, paths.least
        fails, passes = paths.stop(low, high)
        yield _Stage(fails, passes, at, least)


def operating(plan: RatePlan, rate: float) -> Operating:
    """Return a test's outcome probabilities at this rate, summed over all paths.

    >>> plan = RatePlan(0.9, trials=100)
    >>> [round(number, 3) for number in operating(plan, 0.9)]
    [0.023, 0.024, 0.954, 98.363]
    """
    if not 0.0 <= as_number("rate", rate) <= 1.0:
        raise InvalidInput(f"rate must be between 0 and 1; got {rate:g}.")
    fails = passes = mean = 0.0
    for n, stage in enumerate(_stages(plan, np.array([rate]), plan.trials), start=1):
        stopped = float(stage.fails[0] + stage.passes[0])
        fails, passes = fails + float(stage.fails[0]), passes + float(stage.passes[0])
        mean += n * stopped
    undecided = max(1.0 - fails - passes, 0.0)
    return Operating(passes, fails, undecided, mean + undecided * plan.trials)


def rate_interval(plan: RatePlan, trials: int, successes: int) -> tuple[float, float]:
    """Return the interval of the rate after a test that stopped at this trial.

    >>> [round(end, 3) for end in rate_interval(RatePlan(0.9, 100), 47, 47)]
    [0.925, 1.0]
    """
    if not 0 <= successes <= as_whole("trials", trials) <= plan.trials:
        raise InvalidInput(
            f"there must be at most {plan.trials} trials, and no more successes than trials; got "
            f"{successes} of {trials}."
        )
    if not _can_reach(plan, trials, successes):
        raise InvalidInput(
            f"this test would have stopped before {successes} of {trials} trials succeeded; an "
            "interval is of the trials up to its verdict."
        )
    at_least = _crossing(lambda rates: _tail(plan, rates, trials, successes, "high"), plan.alpha)
    at_most = _crossing(lambda rates: -_tail(plan, rates, trials, successes, "low"), -plan.alpha)
    return min(at_least[0], successes / trials), max(at_most[1], successes / trials)


def _can_reach(plan: RatePlan, trials: int, successes: int) -> bool:
    """Return whether an undecided path can have that many successes."""
    low = high = 0
    for below, above in _bounds(plan)[1:trials]:
        low, high = max(low, below + 1), min(high + 1, above - 1)
        if low > high:
            return False
    return low <= successes <= high + 1


def _tail(
    plan: RatePlan, rates: Floats, trials: int, successes: int, side: Literal["high", "low"]
) -> Floats:
    """Return the probability of an outcome as high as the one observed, or as low."""
    fails = passes = np.zeros(len(rates))
    stage = None
    for stage in _stages(plan, rates, trials):
        fails, passes = fails + stage.fails, passes + stage.passes
    assert stage is not None
    fails, passes = fails - stage.fails, passes - stage.passes  # those before this trial
    column = successes - stage.least
    verdict = plan.verdict(trials, successes)
    if side == "high":
        if verdict == "fail":
            tail: Floats = 1.0 - fails - stage.at[:, : max(column, 0)].sum(axis=1)
            return tail
        return np.asarray(passes + stage.at[:, max(column, 0) :].sum(axis=1))
    if verdict == "pass":
        return np.asarray(1.0 - passes - stage.at[:, max(column + 1, 0) :].sum(axis=1))
    return np.asarray(fails + stage.at[:, : max(column + 1, 0)].sum(axis=1))


def _crossing(growing: Callable[[Floats], Floats], target: float) -> tuple[float, float]:
    """Return the narrow bracket in which a function that grows with the rate meets a target."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        rates = np.linspace(low, high, _GRID)
        below = int((growing(rates) < target).sum())
        low, high = float(rates[max(below - 1, 0)]), float(rates[min(below, _GRID - 1)])
    return low, high

"""Compute how many more trials or problems would settle an open comparison."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from passband.errors import InvalidInput, NotEnoughData
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.difference import Contrast
from passband.stats.decision.variance import spread_of
from passband.stats.interval.default.wilson import normal_quantile
from passband.stats.metric.metric import Metric

POWER = 0.8
ComparisonGoal = Literal["better", "worse", "no-worse"]
Obstacle = Literal[
    "no-spread", "no-difference", "one-trial", "between-problems", "near-limit", "unknown-noise"
]
_MOST_TRIALS = 4096

_WORDS: dict[Obstacle, str] = {
    "no-spread": "the data show no spread to plan with",
    "no-difference": "no difference was seen, and without a margin no amount of data shows none",
    "one-trial": "one trial per problem does not show what more trials would bring",
    "between-problems": "more trials of these would not help",
    "near-limit": "more trials of these problems alone may not suffice",
    "unknown-noise": "what more trials would bring is not known",
}


@dataclass(frozen=True)
class MoreData:
    """The data that would probably give a verdict, were the true difference the observed one."""

    goal: ComparisonGoal | None  #: the verdict within reach
    power: float  #: probability of reaching it with these additions
    trials: int | None  #: more trials of each problem by each model
    problems: int | None  #: more problems like these, asked as often
    obstacle: Obstacle | None  #: why a number is missing

    def __str__(self) -> str:
        """Format the additions.

        >>> print(MoreData("better", 0.8, 6, 120, None))
        about 6 more trials of each problem by each model, or 120 more problems
        """
        trials = problems = None
        if self.trials is not None:
            trials = f"{self.trials} more trial{'s' * (self.trials != 1)} of each problem"
            trials += " by each model"
        if self.problems is not None:
            problems = f"{self.problems} more problem{'s' * (self.problems != 1)}"
        ways = ", or ".join(way for way in (trials, problems) if way)
        reason = "" if self.obstacle is None else _WORDS[self.obstacle]
        return f"about {ways}{f'; {reason}' if reason else ''}" if ways else reason


def goal_of(value: float, margin: float | None) -> tuple[ComparisonGoal, float]:
    """Return the verdict that an open comparison is nearest to, and how far off its border is."""
    ahead: tuple[ComparisonGoal, float] = ("better", value)
    if margin is not None:
        ahead = ("no-worse", value + margin)
    return ahead if ahead[1] >= -value else ("worse", -value)


def more_data(
    contrast: Contrast,
    sides: tuple[Outcomes, Outcomes],
    metric: Metric,
    *,
    over: Over,
    level: float,
    margin: float | None,
) -> MoreData:
    """Return the additions that reach the nearest verdict with probability 0.8.

    That takes a standard error of distance / (z_{alpha/2} + z_{0.8}), the distance being that of
    the observed difference from the border (0 or -margin). The variance of the difference is split
    into the sampling of either side and the rest: trials reduce the one, problems divide both.
    Where problems of a kind that was not drawn keep it open, only problems help.
    """
    value, se = contrast.value, contrast.se
    goal, distance = goal_of(value, margin)
    if se is None:
        return MoreData(None, POWER, None, None, "no-spread")
    if distance <= 0.0:
        return MoreData(None, POWER, None, None, "no-difference")
    wanted = (distance / (normal_quantile(level) + NormalDist().inv_cdf(POWER))) ** 2
    most = max(side.n_problems for side in sides)
    problems = None
    if over == "problems":
        problems = max(1, math.ceil(most * (se**2 / wanted - 1.0)))
        unseen = 0
        if goal == "no-worse" and margin is not None and contrast.unseen is not None:
            factor = contrast.unseen.needed(value, -margin, (1.0 - level) / 2.0)
            unseen = math.ceil(most * (factor - 1.0))
        if unseen > 0:
            return MoreData(goal, POWER, None, max(problems, unseen), "between-problems")
    noise = _noise(sides, metric)
    if isinstance(noise, str):
        return MoreData(goal, POWER, None, problems, noise)
    now = noise(0)
    rest = max(se**2 - now, 0.0) if over == "problems" else 0.0
    # Where the noise alone exceeds the variance, it is the variance that was measured.
    allowed = wanted * (rest + now) / se**2 - rest
    trials = _more_trials(noise, allowed, min(int(side.trials.min()) for side in sides))
    if trials is not None:
        return MoreData(goal, POWER, trials, problems, None)
    # The part between problems is known to about two standard errors of a variance.
    sure = rest - 2.0 * se**2 * math.sqrt(2.0 / most) > wanted
    obstacle: Obstacle = "between-problems" if sure else "near-limit"
    return MoreData(goal, POWER, None, problems, obstacle)


def _noise(sides: tuple[Outcomes, Outcomes], metric: Metric) -> Callable[[int], float] | Obstacle:
    """Return the sampling variance of the difference by the number of further trials."""
    if max(side.most_trials() for side in sides) == 1:
        return "one-trial"
    try:
        spreads = [spread_of(side, metric) for side in sides]
    except (InvalidInput, NotEnoughData):  # a blend with a factor of 0, or answers to vote on
        return "unknown-noise"
    if any(spread.within is None and not spread.is_flat for spread in spreads):
        return "one-trial" if min(s.most_trials() for s in sides) == 1 else "unknown-noise"

    def noise(extra: int) -> float:
        return sum(
            spread.within_at(lambda n: n + extra) / side.n_problems
            for spread, side in zip(spreads, sides, strict=True)
        )

    return noise


def _more_trials(noise: Callable[[int], float], allowed: float, step: int) -> int | None:
    """Return about how many further trials bring the noise down; None if none would."""
    few, before, extra = 0, noise(0), max(1, step)
    while allowed > 0.0 and extra <= _MOST_TRIALS:
        after = noise(extra)
        if after <= allowed < before:  # 1/noise is nearly straight in the number of trials
            share = (1.0 / allowed - 1.0 / before) / (1.0 / after - 1.0 / before)
            return max(1, math.ceil(few + share * (extra - few)))
        if after <= allowed:
            return 1
        few, before, extra = extra, after, 2 * extra
    return None

"""How many problems and trials an evaluation needs, written down before it is run."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal

from passband.errors import InvalidInput, NotEnoughData, WrongType
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.decision.variance import spread_of
from passband.stats.interval.estimate import Over
from passband.stats.interval.score import normal_quantile
from passband.stats.metric.metrics import parse_metric

__all__ = ["Design", "Detectable", "Plan", "detectable", "plan_difference", "plan_width"]

FORMAT = "passband plan 1"
TRIALS = (1, 2, 4, 8, 16, 32, 64)
MOST_TRIALS = 4096
Goal = Literal["difference", "width"]


@dataclass(frozen=True)
class Design:
    """So many problems, each asked so many times."""

    problems: int
    trials: int
    exact: float  #: problems before rounding up

    @property
    def total(self) -> int:
        return self.problems * self.trials

    def __str__(self) -> str:
        """Write problems x trials.

        >>> str(Design(500, 8, 499.2))
        '500 x 8'
        """
        return f"{self.problems} x {self.trials}"


@dataclass(frozen=True)
class Plan:
    """What is to be found out, what was assumed, and the design that does it."""

    goal: Goal
    target: float  #: the difference to detect, or the half-width of the interval
    problems: int
    trials: int
    exact: float  #: problems before rounding up
    level: float
    power: float | None  #: of a difference
    metric: str | None
    over: Over
    between: float | None  #: variance across problems of the values, or of their differences
    within: tuple[float, ...]  #: variance of sampling per problem at `trials`, of each side
    options: tuple[Design, ...] = ()  #: other designs that do it

    @property
    def sha256(self) -> str:
        """The hash of the plan's content, whatever file it stands in."""
        content = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the plan as JSON, with the hash of its content."""
        whole = {"format": FORMAT, "plan": asdict(self), "sha256": self.sha256}
        Path(path).write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan, and refuse one that was changed after it was saved."""
        try:
            whole = json.loads(Path(path).read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{path}: a plan must be JSON; {error}.") from None
        if not isinstance(whole, dict) or whole.get("format") != FORMAT:
            raise InvalidInput(f"{path}: not a plan; its format must be {FORMAT!r}.")
        found = _plan_of(whole.get("plan"), path)
        if found.sha256 != whole.get("sha256"):
            raise InvalidInput(
                f"{path}: the plan was changed after it was saved; its content has the hash "
                f"{found.sha256[:12]}..., the file says {str(whole.get('sha256'))[:12]}..."
            )
        return found

    def check(self, outcomes: Outcomes) -> str:
        """Say what was planned and what was done, in scored trials.

        >>> plan = plan_difference(0.1, between=0.1, trials=8)
        >>> plan.check(Outcomes.from_counts([3, 0, 5] * 20, 6))
        'planned 79 x 8, done 60 x 6: 19 problems and 272 trials are missing'
        """
        low, high = int(outcomes.trials.min()), outcomes.most_trials()
        each = f"{low}" if low == high else f"{low}-{high}"
        said = f"planned {self.problems} x {self.trials}, done {outcomes.n_problems} x {each}"
        problems = max(self.problems - outcomes.n_problems, 0)
        have = sorted(outcomes.trials.clip(max=self.trials).tolist(), reverse=True)
        trials = self.problems * self.trials - sum(have[: self.problems])
        missing = [f"{problems} problems"] if problems else []
        missing += [f"{trials} trials"] if trials else []
        return f"{said}: {' and '.join(missing)} are missing" if missing else said

    def __str__(self) -> str:
        """Say the design and what it is for."""
        power = "" if self.power is None else f" with power {self.power:g}"
        what = (
            f"a difference of {self.target:g}" if self.power else f"an interval of ±{self.target:g}"
        )
        return f"{self.problems} x {self.trials} for {what} at level {self.level:g}{power}"


def plan_difference(
    delta: float,
    *,
    between: float,
    within_a: float = 0.0,
    within_b: float | None = None,
    trials: int = 1,
    level: float = 0.95,
    power: float = 0.8,
    metric: str | None = None,
) -> Plan:
    """Return how many shared problems it takes to detect a difference of `delta` of two models.

    `between` is the variance, across problems, of the difference of the two models' values at
    unlimited trials; `within_a` and `within_b` are the variances of one trial's score around its
    problem's value, which n trials divide by n. Take them from `split_variance` of a pilot; at
    worst `between` is the sum of both models' own variances between problems.

        M = (z_{alpha/2} + z_beta)^2 (w^2 + s_a^2 / n + s_b^2 / n) / delta^2

    Use it before a run. It is a normal approximation and optimistic below some 30 problems.

    Miller (2024), Adding Error Bars to Evals, arXiv 2411.00640.

    >>> [f"{plan_difference(0.03, between=1/9, within_a=s, trials=k).exact:.1f}"
    ...     for s, k in ((0, 1), (1/6, 1), (1/6, 10))]
    ['969.0', '3876.0', '1259.7']
    """
    _positive("delta", delta)
    _level(level)
    _power(power)
    _whole("trials", trials)
    within_b = within_a if within_b is None else within_b
    for name, variance in (("between", between), ("within_a", within_a), ("within_b", within_b)):
        _variance(name, variance)
    if between + within_a + within_b == 0.0:
        raise InvalidInput("between, within_a and within_b must not all be 0.")
    factor = (_quantiles(level, power) / delta) ** 2

    def at(n: int) -> float:
        return factor * (between + (within_a + within_b) / n)

    chosen = _design(at, trials)
    return Plan(
        goal="difference",
        target=float(delta),
        problems=chosen.problems,
        trials=chosen.trials,
        exact=chosen.exact,
        level=level,
        power=power,
        metric=metric,
        over="problems",
        between=float(between),
        within=(within_a / trials, within_b / trials),
        options=tuple(_design(at, n) for n in TRIALS),
    )


def plan_width(
    half_width: float,
    *,
    pilot: Outcomes | None = None,
    metric: str = "pass@1",
    over: Over = "problems",
    between: float | None = None,
    within: float | None = None,
    problems: int | None = None,
    level: float = 0.95,
    policy: Policy = "drop",
) -> Plan:
    """Return designs whose interval reaches a half-width, and the one with the fewest trials.

    The variances come from a pilot run, or are assumed: `between` as the variance across problems
    of their values at unlimited trials, `within` as that of one trial's score around its problem's
    value, which n trials divide by n. From a pilot the part of sampling is computed for the metric
    at each n; n is then at least its k. With over="trials" only that part counts. `problems` fixes
    their number, and asks for the fewest trials of each.

        M = z_{alpha/2}^2 (w^2 + s_n^2) / h^2

    Use it before a run, with a pilot of some 30 problems or more; a plan is no better than its
    pilot, and metrics near 0 or 1 come out wider than planned.

    >>> plan = plan_width(0.05, between=0.08, within=0.12)
    >>> [str(design) for design in plan.options[:4]]
    ['308 x 1', '216 x 2', '170 x 4', '146 x 8']
    """
    _positive("half_width", half_width)
    _level(level)
    if over not in ("problems", "trials"):
        raise InvalidInput(f"over must be 'problems' or 'trials'; got {over!r}.")
    if problems is not None:
        _whole("problems", problems)
    assumed = _from_pilot(pilot, metric, policy) if pilot is not None else None
    if assumed is not None and (between is not None or within is not None):
        raise InvalidInput("give either a pilot or between and within, not both.")
    found = assumed or _from_numbers(between, within, over)
    spread = found.between if over == "problems" else 0.0
    factor = (normal_quantile(level) / half_width) ** 2

    def at(n: int) -> float:
        return factor * (spread + found.noise(n))

    options = tuple(_design(at, n) for n in TRIALS if n >= found.fewest)
    chosen = min(options, key=lambda design: (design.total, design.trials))
    if problems is not None:
        chosen = _with_problems(at, problems, found.fewest, half_width, factor * spread)
    return Plan(
        goal="width",
        target=float(half_width),
        problems=chosen.problems,
        trials=chosen.trials,
        exact=chosen.exact,
        level=level,
        power=None,
        metric=metric,
        over=over,
        between=spread if over == "problems" else None,
        within=(found.noise(chosen.trials),),
        options=options,
    )


@dataclass(frozen=True)
class Detectable:
    """The smallest difference that the data at hand are likely to show."""

    metric: str
    delta: float
    n_problems: int
    level: float
    power: float
    variance: float  #: of the difference of two models' values on one problem
    notes: tuple[str, ...] = ()


def detectable(
    outcomes: Outcomes,
    metric: str,
    *,
    against: Outcomes | None = None,
    correlation: float = 0.5,
    level: float = 0.95,
    power: float = 0.8,
    policy: Policy = "drop",
) -> Detectable:
    """Return the smallest difference that would be found with the wanted power.

    With `against`, a second model on the same problems, the variance of the difference is that of
    the pairs. Without, a second model is imagined with the same variances and as many trials,
    whose values at unlimited trials are correlated with these across problems by `correlation`:
    0 for models that have nothing in common, which is what unpaired problems amount to.

        delta = (z_{alpha/2} + z_beta) sqrt(v / M),  v = 2 (1 - correlation) w^2 + 2 s^2

    Use it on a finished run to say what it could have shown. Do not use it to explain a difference
    that was not found: the interval of the difference says that better.

    >>> found = detectable(Outcomes.from_counts([3, 0, 8, 5] * 10, 8), "pass@1")
    >>> round(found.delta, 3)
    0.174
    """
    _level(level)
    _power(power)
    if not -1.0 <= correlation <= 1.0:
        raise InvalidInput(f"correlation must be between -1 and 1; got {correlation!r}.")
    if against is not None:
        from passband.stats.decision.compare import compare

        both = compare(outcomes, against, metric, level=level, policy=policy)
        if both.se is None:
            raise NotEnoughData("the two models differ by the same on every problem: no spread.")
        delta = _quantiles(level, power) * both.se
        variance = both.se**2 * both.n_problems
        return Detectable(both.metric, delta, both.n_problems, level, power, variance, both.notes)
    judged = outcomes.under(policy)
    found = parse_metric(metric)
    judged.require(found.k)
    spread = spread_of(judged, found)
    if spread.total is None:
        raise NotEnoughData(f"the variance of {found.name} is unknown: {'; '.join(spread.notes)}.")
    notes = (*spread.notes, f"a second model with correlation {correlation:g} is assumed")
    within = spread.within or 0.0  # with one trial the correlation is that of the scores
    variance = 2.0 * (1.0 - correlation) * (spread.total - within) + 2.0 * within
    delta = _quantiles(level, power) * math.sqrt(variance / spread.n_problems)
    return Detectable(found.name, delta, spread.n_problems, level, power, variance, notes)


# -- where the variances come from ---------------------------------------------------------


@dataclass(frozen=True)
class _Assumed:
    between: float
    noise: Callable[[int], float]  # of a problem's value, by its number of trials
    fewest: int


def _from_pilot(pilot: Outcomes, metric: str, policy: Policy) -> _Assumed:
    judged = pilot.under(policy)
    found = parse_metric(metric)
    judged.require(found.k)
    spread = spread_of(judged, found)
    if spread.between is None:
        raise NotEnoughData(f"the pilot does not tell: {'; '.join(spread.notes)}.")
    return _Assumed(spread.between, lambda n: spread.within_at(lambda _: n), max(found.k, 1))


def _from_numbers(between: float | None, within: float | None, over: Over) -> _Assumed:
    if within is None or (between is None and over == "problems"):
        raise InvalidInput("give a pilot, or both between and within; within for over='trials'.")
    spread = 0.0 if between is None else between
    _variance("between", spread)
    _variance("within", within)
    if spread + within == 0.0:
        raise InvalidInput("between and within must not both be 0.")
    return _Assumed(spread, lambda n: within / n, 1)


def _design(at: Callable[[int], float], trials: int) -> Design:
    exact = at(trials)
    return Design(max(math.ceil(exact - 1e-9), 1), trials, exact)


def _with_problems(
    at: Callable[[int], float], problems: int, fewest: int, half_width: float, least: float
) -> Design:
    """Return the fewest trials with which so many problems are enough, by bisection."""
    if at(MOST_TRIALS) > problems:
        reason = (
            f"the spread of the problems alone asks for {math.ceil(least)} of them"
            if least > problems
            else f"even {MOST_TRIALS} trials of each would leave it wider"
        )
        raise NotEnoughData(f"{problems} problems cannot give ±{half_width:g}: {reason}.")
    low, high = fewest - 1, MOST_TRIALS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle) <= problems else (middle, high)
    return Design(problems, high, at(high))


def _quantiles(level: float, power: float) -> float:
    return normal_quantile(level) + NormalDist().inv_cdf(power)


# -- checks --------------------------------------------------------------------------------


def _positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0.0):
        raise InvalidInput(f"{name} must be a number above 0; got {value!r}.")


def _variance(name: str, value: float) -> None:
    if not (math.isfinite(value) and value >= 0.0):
        raise InvalidInput(f"{name} is a variance and must not be negative; got {value!r}.")


def _level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise InvalidInput(f"level must be a number between 0 and 1; got {level!r}.")


def _power(power: float) -> None:
    if not 0.0 < power < 1.0:
        raise InvalidInput(f"power must be a number between 0 and 1; got {power!r}.")


def _whole(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongType(f"{name} must be a whole number; got {value!r}.")
    if value < 1:
        raise InvalidInput(f"{name} must be at least 1; got {value}.")


def _plan_of(content: Any, path: str | Path) -> Plan:
    names = {field.name for field in fields(Plan)}
    if not isinstance(content, dict) or set(content) != names:
        raise InvalidInput(
            f"{path}: a plan must have exactly the fields {', '.join(sorted(names))}."
        )
    try:
        options = tuple(Design(**option) for option in content["options"])
        return Plan(**{**content, "within": tuple(content["within"]), "options": options})
    except TypeError as error:
        raise InvalidInput(f"{path}: the plan cannot be read; {error}.") from None

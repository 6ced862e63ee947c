"""Plan for a half-width: find the design whose printed interval is narrow enough."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np

from passband.errors import InvalidInput, NotEnoughData
from passband.notes import Note
from passband.stats.checks import (
    Over,
    as_level,
    as_positive,
    as_share,
    as_whole,
    check_over,
)
from passband.stats.data.outcomes import Outcomes, Policy, check_outcomes
from passband.stats.decision.planning.file import Plan, PlannedDesign
from passband.stats.decision.planning.simulation import SimulatedWidths, simulated_widths
from passband.stats.decision.planning.variances import (
    Assumed,
    MomentWidths,
    from_numbers,
    moment_widths,
    refuse_votes,
)
from passband.stats.decision.variance import NO_SPLIT_ONE_PROBLEM
from passband.stats.evidence.collect import require_claims
from passband.stats.interval.default.wilson import normal_quantile, student_quantile
from passband.stats.interval.fit.count_grid import needs_bins
from passband.stats.metric.registry import parse_metric

PLAN_BY_NUMBERS = Note(
    "plan-by-numbers",
    "approximate: a t interval with these very variances; near 0 or 1, and where the variances are "
    "guesses, the printed interval may be wider",
)

_CLOSE = 1.01  # simulated half-widths are not known more closely than that
_STEPS = 8  # of the secant; then the bracket is halved


def least(
    width: Callable[[int], float], target: float, start: float, low: int, high: int
) -> tuple[int, float] | None:
    """Return the least number from `low` to `high` whose width is at most `target`, and the width.

    Widths are taken to fall roughly with the square root of the number, and large numbers are found
    to 1 % only. None if even `high` is too wide.

    >>> least(lambda n: n**-0.5, 0.1, 7, 1, 10**6)
    (100, 0.1)
    >>> least(lambda n: n**-0.5, 0.1, 7, 1, 99) is None
    True
    """
    failed, passed, reached = low - 1, high + 1, math.inf
    number = math.ceil(min(max(start, low), high))
    step = 0
    while passed - failed > 1 and passed > _CLOSE * failed:
        now = width(number)
        if now <= target:
            passed, reached = number, now
        else:
            failed = number
        if passed - failed <= 1:
            break
        step += 1
        ratio = now / target
        guess = number * ratio * ratio  # infinite where ** would raise
        number = high if guess > high else _next(guess, failed, passed, step)
    return (passed, reached) if reached <= target else None


def _next(guess: float, failed: int, passed: int, step: int) -> int:
    """Return the guess if it lies within the bracket and is still worth a try, or a middle."""
    if step <= _STEPS and guess < passed and math.ceil(guess) > failed:
        return min(math.ceil(guess), passed - 1)
    middle = math.isqrt(max(failed, 1) * passed)
    return min(max(middle, failed + 1), passed - 1)


Widths = SimulatedWidths | MomentWidths

TRIALS = (1, 2, 4, 8, 16, 32, 64)
MOST_TRIALS = 4096
MOST_PROBLEMS = 10**15
WORTH = 0.1  # of the problems: what twice the trials must save
TOO_SMALL = "no feasible design reaches a difference or half-width this small."


class _Reached(Protocol):
    """The half-width that a share of the runs does not exceed."""

    def __call__(self, problems: int | None, trials: int) -> float: ...


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
    assurance: float = 0.8,
    policy: Policy = "drop",
) -> Plan:
    """Return designs whose interval reaches a half-width, and a sensible one among them.

    From a pilot, the plan inverts the default interval itself: runs are simulated on populations
    that the pilot leaves possible, and the design is the smallest in which a share of `assurance`
    of them prints an interval of at most +-`half_width`. It is never so small that a run without a
    single success would miss it. With over="trials" the problems are the pilot's own, and the plan
    is the number of trials of each; `problems` gives another number of problems like these. With
    over="problems", `problems` fixes their number and asks for the fewest trials of each.

    Fewest trials in all would always mean one trial of each problem, which cannot tell noise from
    spread. So the chosen design is the first, of those in `options`, from which doubling the trials
    saves less than 10 % of the problems.

    Graded scores, blends and clusters are planned from the pilot's variance and a t interval, with
    a note. So are numbers given in place of a pilot: `between` as the variance across problems of
    their values at unlimited trials, `within` as that of one trial's score around its problem's
    value, which n trials divide by n; `assurance` does not apply to them.

        M = t_{M-1}^2 (w^2 + s^2 / n) / h^2

    Use it before a run, with a pilot of some 30 problems or more.

    >>> plan = plan_width(0.05, between=0.08, within=0.12)
    >>> [str(design) for design in plan.options[:4]]
    ['310 x 1', '218 x 2', '172 x 4', '149 x 8']
    >>> pilot = Outcomes.from_counts([0] * 26 + [1, 1, 2, 3], 8)
    >>> print(plan_width(0.05, pilot=pilot))
    42 x 8 for an interval of ±0.05 at level 0.95, assurance 0.8
    """
    half_width, level = as_positive("half_width", half_width), as_level(level)
    assurance = as_share("assurance", assurance)
    check_over(over)
    problems = None if problems is None else as_whole("problems", problems)
    if pilot is None:
        assumed = from_numbers(between, within, over)
        return _by_numbers(assumed, half_width, metric, over, problems, level)
    if between is not None or within is not None:
        raise InvalidInput("give either a pilot or between and within, not both.")
    widths = widths_of(pilot, metric, over, level, policy)
    if half_width >= widths.widest:
        raise InvalidInput(
            f"half_width must be below {widths.widest:g}, half of the range of {metric}; "
            f"got {half_width:g}."
        )
    return _by_pilot(widths, half_width, metric, problems, assurance)


def widths_of(
    pilot: Outcomes,
    metric: str,
    over: Over,
    level: float,
    policy: Policy,
    *,
    share: float | None = None,
) -> Widths:
    """Return the half-widths that a pilot lets one expect."""
    check_outcomes("pilot", pilot)
    scored = pilot.counted(policy)
    wanted = parse_metric(metric, max(1, scored.most_trials()))
    refuse_votes(wanted)
    scored.require(wanted.k)
    require_claims("the pilot allows no plan", scored, over, wanted.k)
    options = {} if share is None else {"share": share}
    alone = int((scored.trials >= max(wanted.k, 1)).sum()) == 1
    if alone and over == "problems":
        raise NotEnoughData(f"the pilot does not determine the variances: {NO_SPLIT_ONE_PROBLEM}.")
    clustered = over == "problems" and scored.is_clustered
    simple = scored.is_binary and wanted.is_mean and not clustered
    if simple and not needs_bins(scored.histogram.at_least(wanted.k)):
        if wanted.bounds[0] == wanted.bounds[1]:
            raise NotEnoughData(f"{wanted.name} has the same value whatever the trials show.")
        return simulated_widths(scored, wanted, over, level, **options)
    return moment_widths(scored, wanted, over, level, **options)


def _by_pilot(
    widths: Widths, half_width: float, metric: str, problems: int | None, assurance: float
) -> Plan:
    def reached(problems: int | None, trials: int) -> float:
        return float(np.quantile(widths.at(problems, trials), assurance, method="higher"))

    over = widths.over
    options: tuple[PlannedDesign, ...] = ()
    if over == "trials" or problems is not None:
        chosen = _with_trials(reached, problems, widths, half_width)
    else:
        options = _options(reached, widths, half_width)
        chosen = _worthwhile(options)
    between, within = (float(part.mean()) for part in widths.variances(chosen.trials))
    return Plan(
        goal="width",
        target=half_width,
        problems=chosen.problems,
        trials=chosen.trials,
        exact=chosen.exact,
        level=widths.level,
        power=None,
        metric=metric,
        over=over,
        between=between if over == "problems" else None,
        within=(within,),
        options=options,
        notes=widths.notes,
        assurance=assurance,
    )


def _options(reached: _Reached, widths: Widths, half_width: float) -> tuple[PlannedDesign, ...]:
    """Return the fewest problems for each number of trials."""
    fewest = _fewest_problems(widths, half_width)
    start = 100.0
    designs: list[PlannedDesign] = []
    for trials in numbers_of_trials(widths.fewest):
        result = least(partial(reached, trials=trials), half_width, start, fewest, MOST_PROBLEMS)
        if result is None:
            raise InvalidInput(TOO_SMALL)
        problems, width = result
        exact = problems * (width / half_width) ** 2
        designs.append(PlannedDesign(problems, trials, max(exact, problems - 1.0)))
        start = designs[-1].exact
    return tuple(designs)


def _fewest_problems(widths: Widths, half_width: float) -> int:
    """Return the problems that bound the value closely enough if no trial succeeds.

    A rate of 1 - tail**(1/M) leaves M problems without a success with probability `tail`.
    """
    if not math.isfinite(widths.widest):
        return 2
    share = min(half_width / widths.widest, 0.5)
    return math.ceil(math.log((1.0 - widths.level) / 2.0) / math.log1p(-share))


def _with_trials(
    reached: _Reached, problems: int | None, widths: Widths, half_width: float
) -> PlannedDesign:
    """Return the fewest trials for a fixed number of problems, by default the pilot's."""
    count = widths.n_problems if problems is None else problems
    width_at = partial(reached, problems)
    result = least(width_at, half_width, 8.0, widths.fewest, max(MOST_TRIALS, widths.fewest))
    if result is None:
        ratio = width_at(max(MOST_TRIALS, widths.fewest)) / half_width
        raise NotEnoughData(_too_few(count, half_width, count * ratio * ratio, widths.over))
    return PlannedDesign(count, result[0], count * (result[1] / half_width) ** 2)


def _too_few(problems: int, half_width: float, wanted: float, over: Over) -> str:
    reason = f"even {MOST_TRIALS} trials of each would leave it wider"
    if over == "problems":
        reason = f"the spread of the problems alone asks for {math.ceil(wanted)} of them"
    noun = "problem" if problems == 1 else "problems"
    return f"{problems} {noun} cannot give ±{half_width:g}: {reason}."


# -- assumed variances -----------------------------------------------------------------------------


def _by_numbers(
    assumed: Assumed, half_width: float, metric: str, over: Over, problems: int | None, level: float
) -> Plan:
    """Return the plan for a t interval with the very variances that were given."""
    spread = assumed.between if over == "problems" else 0.0

    def problems_at(n: int) -> float:
        return _problems_of_t(spread + sum(assumed.noise(n)), half_width, level, over)

    options = tuple(_design(problems_at, n) for n in numbers_of_trials(assumed.fewest))
    if problems is not None:
        alone = _problems_of_t(spread, half_width, level, over)
        chosen = _with_problems(problems_at, problems, over, half_width, alone)
    else:
        chosen = _worthwhile(options) if over == "problems" else _repeated(options)
    return Plan(
        goal="width",
        target=half_width,
        problems=chosen.problems,
        trials=chosen.trials,
        exact=chosen.exact,
        level=level,
        power=None,
        metric=metric,
        over=over,
        between=spread if over == "problems" else None,
        within=assumed.noise(chosen.trials),
        options=options,
        notes=(*assumed.notes, PLAN_BY_NUMBERS),
    )


def _problems_of_t(variance: float, half_width: float, level: float, over: Over) -> float:
    """Return M with t sqrt(variance / M) = half_width, by halving.

    Student's t has M - 1 degrees of freedom over problems, and 4M over trials as the default
    interval has.
    """
    square = variance / half_width / half_width

    def is_enough(problems: float) -> bool:
        freedom = max(problems - 1.0, 1.0) if over == "problems" else 4.0 * problems
        return bool(student_quantile(level, freedom) ** 2 * square <= problems)

    if not normal_quantile(level) ** 2 * square < MOST_PROBLEMS:
        raise InvalidInput(TOO_SMALL)
    low, high = 0.0, 1.0
    while not is_enough(high):
        low, high = high, 2.0 * high
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _design(problems_at: Callable[[int], float], trials: int) -> PlannedDesign:
    exact = problems_at(trials)
    return PlannedDesign(max(math.ceil(exact - 1e-9), 1), trials, exact)


def _with_problems(
    problems_at: Callable[[int], float], problems: int, over: Over, half_width: float, alone: float
) -> PlannedDesign:
    """Return the fewest trials with which `problems` problems are enough, by bisection."""
    if problems_at(MOST_TRIALS) > problems:
        over_trials = over == "trials" or alone <= problems
        raise NotEnoughData(
            _too_few(problems, half_width, alone, "trials" if over_trials else "problems")
        )
    low, high = 0 if over == "problems" else 1, MOST_TRIALS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if problems_at(middle) <= problems else (middle, high)
    return PlannedDesign(problems, high, problems_at(high))


# -- designs -----------------------------------------------------------------------------------


def numbers_of_trials(fewest: int) -> tuple[int, ...]:
    """Return the numbers of trials that a plan offers, from the fewest that a metric needs."""
    return tuple(n for n in TRIALS if n >= fewest) or (fewest, 2 * fewest, 4 * fewest)


def _worthwhile(options: tuple[PlannedDesign, ...]) -> PlannedDesign:
    """Return the first design from which doubling the trials saves too few problems."""
    for now, double in itertools.pairwise(options):
        if double.exact > (1.0 - WORTH) * now.exact:
            return now
    return options[-1]


def _repeated(options: tuple[PlannedDesign, ...]) -> PlannedDesign:
    """Return the design with the fewest trials in all that shows the noise of sampling."""
    enough = [design for design in options if design.trials >= 2]
    return min(enough, key=lambda design: (design.total, design.trials))

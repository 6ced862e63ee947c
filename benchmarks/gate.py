"""Measured errors and power of a gate over ten tasks and three metrics, beside two other rules.

Ten tasks, each with success rates of a law of its own, and pass@1, pass@4 and pass^4 of each:
thirty comparisons, drawn anew in every replicate and judged by the package's own `check` and
`rule`.

alike       the two models are equally good everywhere: any regression is false
tolerated   in one task pass@1 loses exactly the tolerance, the other tasks gain: a pass is false
everywhere  pass@1 loses exactly the tolerance in every task: a breach of nel's in it is false
lost        in one task pass@1 loses 0.05, or 0.10, the others are alike: a regression is right
rare        in one task a share of problems, as large as the tolerance, is lost entirely: a pass of
            that task by itself is false, for problems like these

Three rules are applied to the same trials: the gate (Holm's method); each comparison by itself at
95 %; and the rule of `nel gate` (Student's interval of each comparison at 95 %, beyond the
tolerance for a breach, within it for a pass), also with a tolerance of 0.

    python benchmarks/gate.py                       2,000 replicates, for these very problems
    python benchmarks/gate.py --over problems       for problems like these
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtrit

from passband import Outcomes
from passband.stats.checks import Over
from passband.stats.decision.difference import contrast_of
from passband.stats.decision.gate import check, rule
from passband.stats.decision.pairing import linear_values
from passband.stats.metric.registry import parse_metric

Floats = NDArray[np.float64]
Rng = np.random.Generator
Pair = tuple[Outcomes, Outcomes, str]
METRICS = ("pass@1", "pass@4", "pass^4")
ERROR = 0.025
LAWS: list[Callable[[Rng, int], Floats]] = [
    lambda rng, m: rng.beta(0.5, 0.7, m),
    lambda rng, m: rng.beta(0.3, 0.5, m),
    lambda rng, m: rng.beta(5, 1, m),
    lambda rng, m: rng.choice([0.02, 0.6], m),
    lambda rng, m: rng.beta(30, 0.6, m),
    lambda rng, m: rng.beta(0.05, 2, m),
    lambda rng, m: rng.beta(1, 1, m),
    lambda rng, m: rng.beta(2, 5, m),
    lambda rng, m: rng.beta(8, 2, m),
    lambda rng, m: rng.beta(0.2, 0.2, m),
]
TOLERATED = -1.0  # stands for the tolerance
HARD = 5  # nearly always wrong, so there is nothing to lose


class Case(NamedTuple):
    """What is simulated."""

    scenario: str
    loss: float  # of pass@1 in one task
    gain: float  # in the others, on the scale of logits


class Design(NamedTuple):
    """The sizes of the runs, and what the gate is about."""

    over: Over
    problems: int
    trials: int
    tolerance: float


CASES = [
    Case("alike", 0.0, 0.0),
    Case("tolerated", TOLERATED, 1.0),
    Case("everywhere", TOLERATED, 0.0),
    Case("lost", 0.05, 0.0),
    Case("lost", 0.10, 0.0),
    Case("rare", TOLERATED, 0.0),
]


#: what a scenario does not ask for, as it takes long
UNASKED = dict.fromkeys(("tolerated", "everywhere", "rare"), ("regression", "found"))


class Judged(NamedTuple):
    """What the rules say of one replicate."""

    regression: bool  # of the gate, anywhere
    alone: bool  # of comparisons by themselves
    breach: bool  # of nel's rule
    breach_pass_1: bool  # of nel's rule, in pass@1
    breach_of_any: bool  # of nel's rule with a tolerance of 0
    passes: bool  # the whole gate
    alone_passes: bool  # the comparison of the task that loses, by itself
    nel_passes: bool
    found: bool  # the gate finds the task that loses
    alone_found: bool
    nel_found: bool


# -- models ------------------------------------------------------------------------------------


def rates(rng: Rng, task: int, design: Design) -> tuple[Floats, Floats]:
    """Return the success rates of two models that are equally good."""
    p = np.clip(LAWS[task](rng, design.problems), 1e-6, 1.0 - 1e-6)
    if design.over == "trials":
        return p, p
    # Equally good on the population, though not problem by problem.
    first, second = (expit(logit(p) + rng.normal(0, 0.5, len(p))) for _ in range(2))
    return first, second


def shifted(p: Floats, reference: Floats, loss: float) -> Floats:
    """Return rates whose mean is that of the reference less the loss."""
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        if expit(logit(p) + middle).mean() > reference.mean() - loss:
            high = middle
        else:
            low = middle
    return np.asarray(expit(logit(p) + low))


def population_shift(task: int, design: Design, loss: float) -> float:
    """Return the shift on the scale of logits that costs the loss, over all problems."""
    rng = np.random.default_rng([5, task])
    base, new = rates(rng, task, design._replace(problems=200_000))
    moved = shifted(new, base, loss)
    return float(np.median(logit(moved) - logit(new)))


def models(
    rng: Rng, case: Case, design: Design, losers: list[int], shifts: dict[int, float]
) -> list[tuple[Outcomes, Outcomes]]:
    """Return the trials of both models on every task."""
    sides = []
    for task in range(len(LAWS)):
        base, new = rates(rng, task, design)
        if task in losers and case.loss:
            loss = design.tolerance if case.loss == TOLERATED else case.loss
            if case.scenario == "rare":
                lost = rng.random(design.problems) < design.tolerance
                base, new = np.where(lost, 1.0, base), np.where(lost, 0.0, base)
            elif design.over == "trials":
                new = shifted(new, base, loss)
            else:
                new = expit(logit(new) + shifts[task])
        elif case.gain:
            new = expit(logit(new) + case.gain)
        wins = [rng.binomial(design.trials, p) for p in (base, new)]
        sides.append(tuple(Outcomes.from_counts(c, design.trials) for c in wins))
    return sides  # type: ignore[return-value]


# -- rules -------------------------------------------------------------------------------------


def nel_damage(base: Outcomes, new: Outcomes, metric: str) -> tuple[float, float]:
    """Return Student's 95 % interval of the loss, problem by problem."""
    wanted = parse_metric(metric)
    a, b = (linear_values(side, wanted) for side in (base, new))
    assert a is not None
    assert b is not None
    loss = a - b
    half = stdtrit(len(loss) - 1, 0.975) * loss.std(ddof=1) / len(loss) ** 0.5
    return float(loss.mean() - half), float(loss.mean() + half)


class Look(NamedTuple):
    """One comparison by each rule, as far as it can be read from intervals."""

    is_worse: bool  # its interval at 95 % is below 0
    is_within: bool  # it is above the tolerated loss, unseen problems allowed for
    is_worst: bool  # its interval is below 0 at the level that allows for all comparisons


def look(base: Outcomes, new: Outcomes, metric: str, design: Design, comparisons: int) -> Look:
    """Return what intervals say: a p-value is below x exactly if that at 1 - 2x excludes 0."""
    contrast = contrast_of(base, new, parse_metric(metric), design.over)
    plain, guarded = (ends(1.0 - 2.0 * ERROR) for ends in (contrast.ends, contrast.guarded_ends))
    assert plain is not None
    assert guarded is not None
    is_worst = False
    if plain[1] < 0.0:
        strict = contrast.ends(1.0 - 2.0 * ERROR / comparisons)
        is_worst = strict is not None and strict[1] < 0.0
    return Look(plain[1] < 0.0, guarded[0] > -design.tolerance, is_worst)


def verdicts(looks: list[Look], pairs: list[Pair], design: Design) -> list[str]:
    """Return the verdicts of the gate; p-values are needed only where Holm takes a first step."""
    if not any(one.is_worst for one in looks):
        return ["pass" if one.is_within else "undecided" for one in looks]
    family = [
        check(a, b, metric, tolerance=design.tolerance, over=design.over).evidence
        for a, b, metric in pairs
    ]
    return [one.verdict for one in rule(family, error=ERROR)]


def judged(seed: int, case: Case, design: Design, shifts: dict[int, float] | None = None) -> Judged:
    """Draw one replicate, and apply every rule to it."""
    rng = np.random.default_rng([23, CASES.index(case), seed])
    losers = [task for task in range(len(LAWS)) if task != HARD]
    loser = losers[seed % len(losers)]
    chosen = losers if case.scenario == "everywhere" else [loser]
    sides = models(rng, case, design, chosen, shifts or {})
    pairs = [(a, b, metric) for a, b in sides for metric in METRICS]
    looks = [look(*pair, design, len(pairs)) for pair in pairs]
    rulings = verdicts(looks, pairs, design) if case.scenario in ("alike", "lost") else []
    alone = [one.is_worse and not one.is_within for one in looks]
    damage = [nel_damage(*pair) for pair in pairs]
    breaches = [low > design.tolerance for low, _ in damage]
    own = slice(len(METRICS) * loser, len(METRICS) * (loser + 1))
    return Judged(
        regression="regression" in rulings,
        alone=any(alone),
        breach=any(breaches),
        breach_pass_1=any(breaches[:: len(METRICS)]),
        breach_of_any=any(low > 0.0 for low, _ in damage),
        passes=all(one.is_within for one in looks),
        alone_passes=looks[own][0].is_within,
        nel_passes=all(high <= design.tolerance for _, high in damage),
        found="regression" in rulings[own],
        alone_found=any(alone[own]),
        nel_found=any(breaches[own]),
    )


# -- the table ---------------------------------------------------------------------------------


def measured(case: Case, design: Design, replicates: int, processes: int) -> dict[str, float]:
    shifts = {}
    if design.over == "problems" and case.loss and case.scenario != "rare":
        loss = design.tolerance if case.loss == TOLERATED else case.loss
        shifts = {
            task: population_shift(task, design, loss) for task in range(len(LAWS)) if task != HARD
        }
    judge = partial(judged, case=case, design=design, shifts=shifts)
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        results = list(pool.imap_unordered(judge, range(replicates), chunksize=20))
    return {name: float(np.mean([getattr(r, name) for r in results])) for name in Judged._fields}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--over", choices=("trials", "problems"), default="trials")
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--tolerance", type=float, default=0.05)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cases", type=int, nargs="*", default=range(len(CASES)))
    options = parser.parse_args()
    design = Design(options.over, options.problems, options.trials, options.tolerance)
    print(f"{design}, {options.replicates} replicates of 30 comparisons")
    for number in options.cases:
        case = CASES[number]
        shares = measured(case, design, options.replicates, options.processes)
        print(f"\n{case.scenario} {case.loss if case.loss > 0 else ''}")
        for name, share in shares.items():
            if name in UNASKED.get(case.scenario, ()):
                continue
            error = (share * (1 - share) / options.replicates) ** 0.5
            print(f"  {name:14} {100 * share:6.2f} % ({100 * error:.2f})", flush=True)


if __name__ == "__main__":
    main()

"""Verdicts that change: how often intervals contain the truth, with and without re-runs.

    python benchmarks/changed_verdicts.py --sets 300

The truth is the metric on average over conditions: hash seeds, machines, days. First verdicts are
given under one condition, a part of them again under others. The laws:

steady       a verdict never changes
independent  3 % of all verdicts come out wrong, each time and each for itself
seed         in 15 % of the problems half of the programs depend on the order of a set, and pass
             under half of the hash seeds, the same for all trials of a problem
load         the machine was busy: 4 % of the right programs ran out of time at first, none later
lenient      the machine let 4 % of the wrong programs pass at first, and none later
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

import numpy as np

from passband import Outcomes, estimate
from passband.score.code.flaky_sample import FEWEST, MORE_FEWEST, MORE_SHARE, SHARE
from passband.stats.interval.flips import RerunFlip, Reruns, with_reruns
from passband.stats.metric.registry import parse_metric
from passband.types import Bools, Floats

LAWS = ("steady", "independent", "seed", "load", "lenient")
METRICS = ("pass@1", "pass@4")
WRONG, LATE, DEPENDENT, PART = 0.03, 0.04, 0.15, 0.5


@dataclass(frozen=True)
class World:
    """Problems, and how their programs fare under a condition."""

    law: str
    rates: Floats  # of right programs, by problem
    dependent: Bools  # whether programs of a problem depend on the hash seed

    @classmethod
    def drawn(cls, law: str, problems: int, rng: np.random.Generator) -> World:
        return cls(law, rng.beta(0.7, 0.6, problems), rng.random(problems) < DEPENDENT)

    def passing(self, right: Bools, depends: Bools, first: bool, rng: np.random.Generator) -> Bools:
        """Return verdicts on programs under a new condition; `first` is the one at first."""
        if self.law == "independent":
            return right ^ (rng.random(right.shape) < WRONG)
        if self.law == "load" and first:
            return right & (rng.random(right.shape) >= LATE)
        if self.law == "lenient" and first:
            return right | (rng.random(right.shape) < LATE)
        if self.law == "seed":
            lucky = rng.random((len(right), 1)) < 0.5
            return np.where(depends, right & lucky, right)
        return right

    def truth(self, k: int) -> Floats:
        """Return pass@k of each problem, on average over conditions."""
        p = self.rates
        if self.law == "independent":
            p = p * (1 - WRONG) + (1 - p) * WRONG
        if self.law != "seed":
            return 1 - (1 - p) ** k
        unlucky = 1 - (1 - p * (1 - PART)) ** k
        return np.where(self.dependent, (1 - (1 - p) ** k + unlucky) / 2, 1 - (1 - p) ** k)


def many_truths(law: str, k: int) -> float:
    """Return pass@k of all problems like these."""
    rng = np.random.default_rng(99)
    return float(World.drawn(law, 2_000_000, rng).truth(k).mean())


def run_again(first: Bools, second: Bools, rng: np.random.Generator) -> Reruns:
    """Return the re-runs of 5 % of the verdicts, at least 100; of more once one has changed."""
    flat, again = first.ravel(), second.ravel()
    order = rng.permutation(flat.size)
    chosen = order[: max(FEWEST, math.ceil(SHARE * flat.size))]
    if (flat[chosen] != again[chosen]).any():
        chosen = order[: max(MORE_FEWEST, math.ceil(MORE_SHARE * flat.size))]
    weights = {v: (flat == v).sum() / max(1, (flat[chosen] == v).sum()) for v in (False, True)}
    counts, n = first.sum(axis=1), first.shape[1]
    flips = tuple(
        RerunFlip(
            n, int(counts[place // n]), 1 if again[place] else -1, float(weights[flat[place]])
        )
        for place in chosen
        if flat[place] != again[place]
    )
    return Reruns(flat.size, len(chosen), flips)


def measure(law: str, metric: str, over: str, sets: int, shape: tuple[int, int]) -> str:
    """Return a line of the table: coverage and width of both intervals."""
    k = parse_metric(metric, shape[1]).k
    everywhere = many_truths(law, k)
    hits, widths, changed = np.zeros(2), np.zeros(2), 0
    for number in range(sets):
        rng = np.random.default_rng([number, *shape])
        world = World.drawn(law, shape[0], rng)
        right = rng.random(shape) < world.rates[:, None]
        depends = world.dependent[:, None] & (rng.random(shape) < PART)
        first = world.passing(right, depends, True, rng)
        second = np.stack([world.passing(right, depends, False, rng) for _ in range(3)])
        pick = rng.integers(0, 3, shape)
        reruns = run_again(first, np.take_along_axis(second, pick[None], 0)[0], rng)
        plain = estimate(Outcomes.from_counts(first.sum(axis=1), shape[1]), metric, over=over)
        wide = with_reruns(plain, reruns, parse_metric(metric, shape[1]))
        truth = everywhere if over == "problems" else float(world.truth(k).mean())
        for place, one in enumerate((plain, wide)):
            hits[place] += one.low <= truth <= one.high
            widths[place] += one.high - one.low
        changed += len(reruns.flips)
    coverage, width = hits / sets, widths / sets
    return (
        f"{law:12} {metric:7} {over:9} {coverage[0]:8.3f} {coverage[1]:8.3f} {width[0]:8.3f} "
        f"{width[1]:8.3f} {changed / sets:8.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--problems", type=int, default=164)
    parser.add_argument("--trials", type=int, default=8)
    options = parser.parse_args()
    start = time.perf_counter()
    print(f"{options.problems} problems, {options.trials} trials, {options.sets} data sets, 95 %")
    print("law          metric  over       covers +re-runs    width +re-runs  changed")
    for law in LAWS:
        for over in ("problems", "trials"):
            for metric in METRICS:
                shape = (options.problems, options.trials)
                print(measure(law, metric, over, options.sets, shape), flush=True)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()

"""Coverage of the intervals of cost, cost-per-solved and ratios of costs, for log-normal costs.

Costs differ between problems by a log-normal law, between trials by one of standard deviation .5,
and failed trials cost 1.3 times as much. Run: python benchmarks/coverage_costs.py [SETS]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from passband import Outcomes, compare, estimate
from passband.stats.data.spending import SpentColumn, SpentTrials
from passband.types import Floats

TRIALS = 4
DEARER = 1.3  # what a failed trial costs, as a multiple
RATIO = 1.5
SPREADS = (0.5, 1.0, 1.5)
SIZES = (20, 50, 100, 300)
SOLVED = 0.5  # mean success rate; rates are uniform


@dataclass(frozen=True, eq=False)
class Drawn:
    """Costs by problem."""

    costs: Floats

    def of(self, column: SpentColumn) -> SpentTrials:
        return {str(n): list(row) for n, row in enumerate(self.costs.tolist())}


def drawn(rng: np.random.Generator, problems: int, spread: float) -> Iterator[Outcomes]:
    """Yield two models on the same problems, the second 1.5 times as dear."""
    level = rng.normal(0.0, spread, (problems, 1))
    rates = rng.uniform(0.0, 1.0, (problems, 1))
    for factor in (1.0, RATIO):
        solved = rng.random((problems, TRIALS)) < rates
        noise = rng.lognormal(-0.125, 0.5, solved.shape) * np.where(solved, 1.0, DEARER)
        counts = solved.sum(axis=1)
        names = map(str, range(problems))
        plain = Outcomes.from_counts(counts, TRIALS, problems=list(names))
        object.__setattr__(plain, "spending", Drawn(factor * np.exp(level) * noise))
        yield plain


def cells(sets: int) -> Iterator[str]:
    """Yield a line per design: coverage, and half of the median width over the value."""
    yield "spread,problems,cost,width,cost-per-solved,width,ratio,width"
    for spread in SPREADS:
        mean = np.exp(spread**2 / 2.0) * (SOLVED + (1.0 - SOLVED) * DEARER)
        truths = (mean, mean / SOLVED, RATIO)
        for problems in SIZES:
            rng = np.random.default_rng([7, problems, int(10 * spread)])
            hits, widths = np.zeros(3), []
            for _ in range(sets):
                a, b = drawn(rng, problems, spread)
                found = (estimate(a, "cost"), estimate(a, "cost-per-solved"))
                parts = (*found, compare(a, b, "cost").ratio)
                ends = np.array([(one.low, one.high, one.value) for one in parts])  # type: ignore[union-attr]
                hits += (ends[:, 0] <= truths) & (truths <= ends[:, 1])
                widths.append((ends[:, 1] - ends[:, 0]) / 2.0 / ends[:, 2])
            share, width = hits / sets, np.median(widths, axis=0)
            shown = ",".join(f"{c:.3f},{w:.2f}" for c, w in zip(share, width, strict=True))
            yield f"{spread},{problems},{shown}"


if __name__ == "__main__":
    for line in cells(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000):
        print(line, flush=True)

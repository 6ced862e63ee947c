"""Coverage of the intervals of cost, cost-per-solved and ratios of costs.

Costs differ between problems by a log-normal or a Pareto law and are higher where problems are
hard (correlation .5 of normal scores), differ between trials by a log-normal law of standard
deviation .5, and failed trials cost 1.3 times as much. Success rates are Phi(d - z) with z normal,
d being 0, or -1.5 where few are solved. Each share comes with that of the sets whose number has a
note that its interval may be too short, and with half of the median width over the value.
Run: python benchmarks/coverage_costs.py [SETS]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from scipy.special import ndtr, ndtri

from passband import Comparison, Estimate, Outcomes, compare, estimate
from passband.errors import NotEnoughData
from passband.stats.data.spending import SpentColumn, SpentTrials
from passband.types import Floats

TRIALS = 4
DEARER = 1.3  # what a failed trial costs, as a multiple
RATIO = 1.5
RELATED = 0.5  # correlation of cost and difficulty
LAWS = (
    ("log-normal", 0.5), ("log-normal", 1.0), ("log-normal", 1.5), ("log-normal", 2.0),
    ("pareto", 2.2), ("pareto", 1.5),
)  # fmt: skip
EASE = (0.0, -1.5)
SIZES = (20, 50, 100, 300)
METRICS = ("cost", "cost-per-solved", "ratio")


@dataclass(frozen=True, eq=False)
class Drawn:
    """Costs by problem."""

    costs: Floats

    def of(self, column: SpentColumn) -> SpentTrials:
        return {str(n): list(row) for n, row in enumerate(self.costs.tolist())}


@dataclass(frozen=True)
class Population:
    """Problems with their costs and their success rates."""

    law: str
    width: float  # sd of the logarithms, or Pareto's exponent
    ease: float

    def level(self, score: Floats) -> Floats:
        """Return the costs of problems with these normal scores."""
        if self.law == "pareto":
            return np.asarray(ndtr(-score) ** (-1.0 / self.width))
        return np.exp(self.width * score)

    def truths(self) -> tuple[float, float, float]:
        """Return what is estimated, by integrals over quantiles of the cost."""
        half = np.sort(10.0 ** -np.arange(0.0, 30.0, 1e-4)) / 2.0  # the upper tail, finely
        score = np.concatenate([-ndtri(half), ndtri(half[::-1])])
        share = np.concatenate([half, 1.0 - half[::-1]])  # of what costs more
        away = (1.0 + 1.0 - RELATED**2) ** 0.5
        costs = self.level(score) * (
            DEARER - (DEARER - 1.0) * ndtr((self.ease - RELATED * score) / away)
        )
        cost = float(np.trapezoid(costs, share))
        return cost, cost / NormalDist().cdf(self.ease / 2.0**0.5), RATIO

    def drawn(self, rng: np.random.Generator, problems: int) -> Iterator[Outcomes]:
        """Yield two models on the same problems, the second 1.5 times as dear."""
        hard = rng.normal(size=(problems, 1))
        own = rng.normal(size=(problems, 1))
        level = self.level(RELATED * hard + (1.0 - RELATED**2) ** 0.5 * own)
        names = list(map(str, range(problems)))
        for factor in (1.0, RATIO):
            solved = rng.random((problems, TRIALS)) < ndtr(self.ease - hard)
            noise = rng.lognormal(-0.125, 0.5, solved.shape) * np.where(solved, 1.0, DEARER)
            plain = Outcomes.from_counts(solved.sum(axis=1), TRIALS, problems=names)
            object.__setattr__(plain, "spending", Drawn(factor * level * noise))
            yield plain


def found(a: Outcomes, b: Outcomes) -> Iterator[tuple[float, float, float, bool] | None]:
    """Yield the ends and the value of each metric, and whether a note weighs on them."""
    for metric in METRICS:
        try:
            whole: Comparison | Estimate
            whole = compare(a, b, "cost") if metric == "ratio" else estimate(a, metric)
        except NotEnoughData:
            yield None
            continue
        one = whole.ratio if isinstance(whole, Comparison) else whole
        assert one is not None
        assert one.low is not None
        assert one.high is not None
        yield one.low, one.high, one.value, any(n.severity == "weak" for n in whole.notes)


def cells(sets: int) -> Iterator[str]:
    """Yield a line per design."""
    heads = (f"{metric},noted,width" for metric in METRICS)
    yield ",".join(("ease,law,spread,problems", *heads))
    for ease in EASE:
        for law, width in LAWS:
            population = Population(law, width, ease)
            truths = population.truths()
            for problems in SIZES:
                rng = np.random.default_rng([7, problems, int(10 * width), int(-ease)])
                rows: list[list[tuple[bool, bool, float]]] = [[] for _ in METRICS]
                for _ in range(sets):
                    pair = population.drawn(rng, problems)
                    for row, truth, one in zip(rows, truths, found(*pair), strict=True):
                        if one is not None:
                            low, high, value, noted = one
                            row.append((low <= truth <= high, noted, (high - low) / 2.0 / value))
                parts = []
                for row in rows:
                    hit, noted, half = np.array(row, dtype=np.float64).T
                    parts.append(f"{hit.mean():.3f},{noted.mean():.2f},{np.median(half):.2f}")
                yield f"{ease:g},{law},{width:g},{problems},{','.join(parts)}"


if __name__ == "__main__":
    for line in cells(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000):
        print(line, flush=True)

"""Measured coverage of weighted means over strata, and of parts of a finite population.

Strata have success probabilities of their own: the logits of stratum means are normal, and the
problems of a stratum follow a Beta distribution around its mean. The strata stay as they are from
one data set to the next; their problems (over problems) or only the trials (over trials: the very
problems that were drawn) are sampled again. The functions measured are those that
`passband.estimate` runs, on many data sets at a time; on twenty of every cell, and wherever all
trials are alike, the result is compared with its.

    python benchmarks/coverage_strata.py               every cell, 1000 data sets
    python benchmarks/coverage_strata.py --sets 400    fewer
    python benchmarks/coverage_strata.py --population  parts of a finite population instead

A cell counts as noted if most of those twenty estimates carry a note on weak coverage.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from passband import Estimate, Outcomes, estimate
from passband.stats.interval.default.wilson import Ends
from passband.stats.interval.fit.count_grid import CountGrid
from passband.stats.interval.fit.mixture import fit_mixture
from passband.stats.interval.strata.spread import (
    spread_of_counts,
    strata_over_problems,
    strata_over_trials,
    weighted_counts,
)
from passband.stats.metric.registry import parse_metric

Floats = NDArray[np.float64]

SIZES: dict[str, tuple[int, ...]] = {
    "2 x 3": (3,) * 2,
    "2 x 10": (10,) * 2,
    "2 x 100": (100,) * 2,
    "3 and 100": (3, 100),
    "5 x 3": (3,) * 5,
    "5 x 30": (30,) * 5,
    "5, 3 to 100": (3, 7, 17, 40, 100),
    "20 x 3": (3,) * 20,
    "20, 1 to 5": (1, 2, 3, 4, 5) * 4,
    "20, 3 to 100": tuple(np.geomspace(3, 100, 20).round().astype(int).tolist()),
    "20 x 1": (1,) * 20,
    "57 x 3": (3,) * 57,
    "57 x 10": (10,) * 57,
    "57, 3 to 100": tuple(np.geomspace(3, 100, 57).round().astype(int).tolist()),
}
LEVELS = {"middle": (0.0, 1.0), "easy": (2.5, 1.0), "hard": (-3.0, 1.0)}  # logit: mean, spread
TRIALS = ((1, 1), (8, 1), (8, 4))  # n, k
CONCENTRATION = 2.0
_ASKED = 20  # data sets of a cell that go through `passband.estimate` as well


@dataclass(frozen=True)
class Cell:
    """One design, and how often its intervals contain the truth."""

    over: str
    strata: str
    level: str
    n: int
    k: int
    weights: str
    coverage: float
    width: float  # of the interval, relative to 2 x 1.96 true standard errors
    noted: float  # share of estimates with a note
    sets: int


def pass_at(p: Floats, k: int) -> Floats:
    return 1.0 - (1.0 - p) ** k


def stratum_truth(mean: Floats, k: int) -> Floats:
    """Return the mean of 1 - (1 - p)^k for p from Beta(c mean, c (1 - mean))."""
    c, miss = CONCENTRATION, np.ones_like(mean)
    for step in range(k):
        miss = miss * (c * (1.0 - mean) + step) / (c + step)
    return 1.0 - miss


def shares(weights: str, sizes: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Return the weights of the strata: alike, by size, or at random."""
    if weights == "given":
        drawn = rng.dirichlet(np.full(len(sizes), 2.0)).round(6)
        return drawn / drawn.sum()
    return (
        np.full(len(sizes), 1 / len(sizes)) if weights == "equal" else np.array(sizes) / sum(sizes)
    )


@dataclass(frozen=True)
class Design:
    """One cell: strata, their success probabilities and weights, and what is sampled again."""

    over: str
    name: str
    level: str
    n: int
    k: int
    weights: str

    def measured(self, sets: int) -> Cell:
        """Measure the coverage, and check two data sets against `passband.estimate`."""
        sizes = SIZES[self.name]
        rng = np.random.default_rng(zlib.crc32(str(self).encode()))
        middle, spread = LEVELS[self.level]
        mean = 1.0 / (1.0 + np.exp(-(middle + spread * rng.standard_normal(len(sizes)))))
        stratum = np.repeat(np.arange(len(sizes)), sizes)
        share = shares(self.weights, sizes, rng)
        beta = (CONCENTRATION * mean[stratum], CONCENTRATION * (1.0 - mean[stratum]))
        p = rng.beta(*beta, (sets, len(stratum)))
        successes = rng.binomial(self.n, p)
        values = Values(self.n, self.k, stratum, share, successes)
        if self.over == "problems":
            truth = np.full(sets, share @ stratum_truth(mean, self.k))
            low, high = values.over_problems()
        else:
            truth = pass_at(p, self.k) @ values.each
            low, high = values.over_trials()
        edge = np.isin(successes.mean(axis=1), (0, self.n))
        noted = 0
        for index in sorted({*range(_ASKED), *np.flatnonzero(edge).tolist()}):
            result = self._estimate(successes[index], stratum, share)
            noted += bool(result.notes) and index < _ASKED
            if edge[index]:
                low[index], high[index] = result.low, result.high
            assert np.allclose((low[index], high[index]), (result.low, result.high), atol=1e-9)
        covered = (low - 1e-9 <= truth) & (truth <= high + 1e-9)
        ideal = 2 * 1.96 * float(np.sqrt(np.mean((values.mean - truth) ** 2)))
        return Cell(
            self.over, self.name, self.level, self.n, self.k, self.weights, float(covered.mean()),
            float((high - low).mean()) / max(ideal, 1e-9), noted / _ASKED, sets,
        )  # fmt: skip

    def _estimate(
        self, successes: NDArray[np.int64], stratum: NDArray[np.int64], share: Floats
    ) -> Estimate:
        given = {f"s{index}": float(weight) for index, weight in enumerate(share)}
        return estimate(
            Outcomes.from_counts(successes, self.n),
            f"pass@{self.k}",
            by=[f"s{index}" for index in stratum],
            weights=given if self.weights == "given" else self.weights,
            over="trials" if self.over == "trials" else "problems",
        )


class Values:
    """Many data sets of one design, and the intervals that `passband.estimate` gives them."""

    def __init__(
        self,
        n: int,
        k: int,
        stratum: NDArray[np.int64],
        share: Floats,
        successes: NDArray[np.int64],
    ) -> None:
        self._grid, self._k, self._successes, self._share = CountGrid((n,)), k, successes, share
        metric = parse_metric(f"pass@{k}")
        trials, counts = self._grid.trials, self._grid.successes
        self._values = metric.parts[0].at(trials, counts, k)
        self._squares = metric.square_at(trials, counts)
        self._stratum, self._sizes = stratum, np.bincount(stratum)
        self.each = share[stratum] / self._sizes[stratum]
        self.mean = self._values[successes] @ self.each

    def over_problems(self) -> tuple[Floats, Floats]:
        """Return the intervals for problems like these."""
        sets, pairs = len(self._successes), len(self._values)
        counts = np.zeros((sets, len(self._sizes), pairs))
        np.add.at(counts, (np.arange(sets)[:, None], self._stratum, self._successes), 1.0)
        spread = spread_of_counts(self._grid, counts, self._values, self._share)
        return self._cut(strata_over_problems(self.mean, spread, 0.95))

    def over_trials(self) -> tuple[Floats, Floats]:
        """Return the intervals for these problems."""
        counts = weighted_counts(self.each, self._successes, len(self._values))
        mixture = fit_mixture(self._grid, counts)
        squares = self._squares
        return self._cut(
            strata_over_trials(self.mean, mixture, self._values, self._k, 0.95, squares)
        )

    def _cut(self, ends: Ends) -> tuple[Floats, Floats]:
        low, high = np.clip(ends.low, 0.0, 1.0), np.clip(ends.high, 0.0, 1.0)
        return np.minimum(low, self.mean), np.maximum(high, self.mean)


def cells() -> Iterator[Design]:
    """Yield the designs; over trials one trial per problem says nothing."""
    for over in ("problems", "trials"):
        for name in SIZES:
            for level in LEVELS:
                for n, k in TRIALS:
                    for weights in ("equal", "size", "given"):
                        varied = len(set(SIZES[name])) > 1
                        if (weights == "size" and not varied) or (over == "trials" and n == 1):
                            continue
                        if weights == "given" and (level != "middle" or n == 1):
                            continue
                        yield Design(over, name, level, n, k, weights)


def population_cells(sets: int) -> Iterator[Cell]:
    """Measure parts of a benchmark of 500 problems, drawn without replacement."""
    laws = {"Beta(.3,.5)": (0.3, 0.5), "Beta(5,1)": (5.0, 1.0), "Beta(20,.6)": (20.0, 0.6)}
    for law, (a, b) in laws.items():
        for part in (25, 100, 250, 450, 500):
            for n, k in ((4, 1), (8, 4)):
                rng = np.random.default_rng(zlib.crc32(f"{law} {part} {n} {k}".encode()))
                hits, widths, noted, errors = 0, [], 0, []
                for _ in range(sets):
                    p = rng.beta(a, b, 500)
                    chosen = rng.permutation(500)[:part]
                    outcomes = Outcomes.from_counts(rng.binomial(n, p[chosen]), n)
                    result = estimate(outcomes, f"pass@{k}", population=500)
                    truth = float(pass_at(p, k).mean())
                    hits += result.low - 1e-9 <= truth <= result.high + 1e-9
                    widths.append(result.high - result.low)
                    errors.append(result.value - truth)
                    noted += bool(result.notes)
                ideal = 2 * 1.96 * float(np.sqrt(np.mean(np.square(errors))))
                yield Cell(
                    "population", f"{part} of 500", law, n, k, "-", hits / sets,
                    float(np.mean(widths)) / ideal, noted / sets, sets,
                )  # fmt: skip


def summary(results: list[Cell]) -> str:
    """Return in how many cells the coverage is good, or noted."""
    good = [0.92 <= cell.coverage <= 0.98 for cell in results]
    said = [cell.noted > 0.5 for cell in results]
    low = [c for c in results if c.coverage < 0.88 and c.noted <= 0.5]
    fine = sum(g or s for g, s in zip(good, said, strict=True))
    return (
        f"{len(results)} cells: {sum(good)} within 92-98 %, {fine} of them or noted, "
        f"{len(low)} below 88 % without a note; lowest {min(c.coverage for c in results):.1%}"
    )


def main() -> None:
    """Measure and write CSV to the standard output, a summary to the standard error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--population", action="store_true")
    parser.add_argument("--over", choices=["problems", "trials"])
    parser.add_argument("--strata", help="only sizes whose name has this text")
    options = parser.parse_args()
    start = time.process_time()
    results: list[Cell] = []
    writer = csv.DictWriter(sys.stdout, list(Cell.__dataclass_fields__))
    writer.writeheader()
    if options.population:
        found: Iterator[Cell] = population_cells(options.sets)
    else:
        found = (
            design.measured(options.sets)
            for design in cells()
            if options.over in (None, design.over) and (options.strata or "") in design.name
        )
    for cell in found:
        results.append(cell)
        writer.writerow(
            {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(cell).items()}
        )
    print(summary(results), f"({time.process_time() - start:.0f} s CPU)", file=sys.stderr)


if __name__ == "__main__":
    main()

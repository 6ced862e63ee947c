"""Measured coverage of every named interval method, on a part of the grid of `coverage.py`.

Every method gets the same data sets: 6 populations, 10, 30 or 100 problems, 4 or 16 trials, and
pass@1, pass@4 and pass^4. A cell is one of each. Dense cells, and what covers means, are as in
`coverage.py`. Where a method gives no interval the estimate alone stands for it, which covers
nothing; "none" is how often that happens.

    python benchmarks/coverage_methods.py                        200 data sets a cell
    python benchmarks/coverage_methods.py --methods auto t bca   some of the methods
    python benchmarks/coverage_methods.py --quick                40 data sets a cell

With 200 data sets the noise of a cell's coverage is 1.5 points, so even a perfect method has a
fifth of its cells outside 93-97 %. Compare the methods with each other, not with other tables.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np
from coverage import PUBLISHED, Floats, is_dense, latent

from passband import Outcomes, estimate
from passband.stats.checks import Over
from passband.stats.interval.fit.count_grid import CountGrid
from passband.stats.interval.registry import methods
from passband.stats.metric.registry import parse_metric

POPULATIONS = ("Beta(.3,.5)", "Beta(2,2)", "Beta(.1,1.5)", "all .97", "half 0, Beta(2,2)", ".2 .8")
PROBLEMS = (10, 30, 100)
TRIALS = (4, 16)
METRICS = ("pass@1", "pass@4", "pass^4")
TARGETS: tuple[Over, ...] = ("problems", "trials")
OTHERS = {"eva"}  # another tool's numbers, bit for bit: the percentile method with 2000 resamples
SLACK = 1e-12


@dataclass(frozen=True)
class Job:
    name: str
    problems: int
    trials: int
    sets: int
    methods: tuple[str, ...]
    seed: tuple[int, ...]


@dataclass(frozen=True)
class Cell:
    """One line of the results."""

    population: str
    problems: int
    trials: int
    metric: str
    over: Over
    method: str
    dense: bool
    coverage: float
    width: float
    none: float


def cells_of(job: Job) -> list[Cell]:
    """Measure every method on the same data sets."""
    population = PUBLISHED[job.name]
    rng = np.random.default_rng(job.seed)
    p = population(rng, (job.sets, job.problems))
    many = population(np.random.default_rng(1), (400_000,))
    data = [Outcomes.from_counts(c, job.trials) for c in rng.binomial(job.trials, p)]
    dense = dense_metrics(job.trials, data)
    cells = []
    for over, method in product(TARGETS, job.methods):
        if over not in methods.get(method).over:
            continue
        found = [estimate(outcomes, METRICS, over=over, method=method) for outcomes in data]
        for at, metric in enumerate(METRICS):
            k = parse_metric(metric).k
            truth = latent(metric, k, many if over == "problems" else p).mean(axis=-1)
            of_metric = [each[at] for each in found]
            low = np.array([e.value if e.low is None else e.low for e in of_metric])
            high = np.array([e.value if e.high is None else e.high for e in of_metric])
            missing = np.array([e.low is None or e.high is None for e in of_metric])
            covered = (low <= truth + SLACK) & (truth <= high + SLACK)
            cells.append(
                Cell(
                    job.name,
                    job.problems,
                    job.trials,
                    metric,
                    over,
                    method,
                    metric in dense,
                    float(covered.mean()),
                    float((high - low).mean()),
                    float(missing.mean()),
                )
            )
    return cells


def dense_metrics(n: int, data: list[Outcomes]) -> set[str]:
    """Return the metrics whose values differ between problems often enough."""
    grid = CountGrid((n,))
    counts: Floats = np.stack([grid.counts(outcomes.histogram) for outcomes in data])
    values = {}
    for name in METRICS:
        metric = parse_metric(name)
        values[name] = metric.parts[0].at(grid.trials, grid.successes, metric.k)
    return {name for name in METRICS if is_dense(counts, values[name])}


def jobs(sets: int, chosen: Collection[str]) -> list[Job]:
    grid = product(POPULATIONS, PROBLEMS, TRIALS)
    return [Job(name, m, n, sets, tuple(chosen), (23, at)) for at, (name, m, n) in enumerate(grid)]


def report(cells: list[Cell]) -> Iterator[str]:
    """Write a line per target and method; the width is the median ratio to the default's."""
    yield (
        "| over | method | dense cells | mean | 93-97 % | 92-98 % | < 90 % | > 98 % | least "
        "| width | sparse < 93 % | none |"
    )
    yield "|:--|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    default = {where(c): c.width for c in cells if c.method == "auto"}
    for over, method in dict.fromkeys((c.over, c.method) for c in cells):
        every = [c for c in cells if (c.over, c.method) == (over, method)]
        dense = [c for c in every if c.dense]
        found = np.array([c.coverage for c in dense])
        sparse = np.array([c.coverage for c in every if not c.dense])
        width = [c.width / default[where(c)] for c in dense if where(c) in default]
        yield (
            f"| {over} | {method} | {len(dense)} | {found.mean():.3f} "
            f"| {((found >= 0.93) & (found <= 0.97)).mean():.2f} "
            f"| {((found >= 0.92) & (found <= 0.98)).mean():.2f} "
            f"| {(found < 0.9).mean():.2f} | {(found > 0.98).mean():.2f} | {found.min():.3f} "
            f"| {np.median(width) if width else float('nan'):.2f} "
            f"| {(sparse < 0.93).mean():.2f} | {np.mean([c.none for c in every]):.3f} |"
        )


def where(cell: Cell) -> tuple[str, int, int, str, Over]:
    return cell.population, cell.problems, cell.trials, cell.metric, cell.over


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--methods", nargs="+", default=[m for m in methods if m not in OTHERS])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--csv", type=Path, help="write every cell to this file")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.workers) as pool:
        found = pool.map(cells_of, jobs(40 if given.quick else given.sets, given.methods))
        cells = [cell for some in found for cell in some]
    cells.sort(key=lambda c: (c.over, given.methods.index(c.method)))
    print("\n".join(report(cells)))
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(asdict(cells[0])), lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(c) for c in cells)


if __name__ == "__main__":
    main()

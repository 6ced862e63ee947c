"""Measured coverage of whole curves: how often a band contains the truth at every k at once.

For each population of `coverage.py`, number of trials n and number of problems M, data sets are
drawn and `passband.band` is asked for pass@* and pass^*. It covers if the true curve
lies in the band at k = 1, ..., n: over problems the mean of 1 - (1-p)^k or of p^k in the
population, over trials the mean over the very problems that were drawn. Beside it stands how often
the intervals of `passband.estimate`, each meant for one k, contain the whole curve.

    python benchmarks/coverage_bands.py               200 data sets per population and size
    python benchmarks/coverage_bands.py --other-set    other populations
    python benchmarks/coverage_bands.py --quick       a fifth of the data sets
    python benchmarks/coverage_bands.py --graded      max@* of graded scores
    python benchmarks/coverage_bands.py --blends      geom-ds@* and geospectrum@*

Wanted is 93-97 %, the mean over populations, with 30 problems or more.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from coverage import LEVEL, OTHER, PUBLISHED, Floats, Job, at_the_edge, latent

from passband import Outcomes
from passband.stats.checks import Over
from passband.stats.interval.bands import band
from passband.stats.interval.default.wilson import over_problems, over_trials
from passband.stats.interval.fit.count_grid import CountGrid
from passband.stats.interval.fit.mixture import fit_mixture
from passband.stats.metric.registry import parse_metric
from passband.types import Ints

FAMILIES = ("pass@", "pass^")
TARGETS: tuple[Over, ...] = ("problems", "trials")
TRIALS = (16, 64)
PROBLEMS = (10, 30, 100, 300)
ENOUGH = 30  # problems from which on the band is held to its level
SLACK = 1e-12


@dataclass(frozen=True)
class Curves(Job):
    """Data sets of one population and size, and the family of metrics asked for at every k."""

    family: str = "pass@"


@dataclass(frozen=True)
class Cell:
    """One line of the results."""

    population: str
    metric: str
    over: Over
    trials: int
    problems: int
    coverage: float
    pointwise: float  # the same for intervals that are each meant for one k
    critical: float
    width: float  # of the band, over that of the pointwise intervals, mean over k


def cells_of(job: Curves) -> list[Cell]:
    """Measure both targets on the same data sets."""
    population = (OTHER if job.other_set else PUBLISHED)[job.name]
    rng = np.random.default_rng(job.seed)
    p = population(rng, (job.sets, job.problems))
    successes = rng.binomial(job.trials, p)
    truth = {
        "problems": population_curve(job.name, job.other_set, job.family, job.trials),
        "trials": np.stack([latent(job.family, k, p).mean(axis=1) for k in ks(job.trials)], axis=1),
    }
    return [cell(job, successes, over, truth[over]) for over in TARGETS]


def ks(trials: int) -> range:
    return range(1, trials + 1)


@cache
def population_curve(name: str, other_set: bool, family: str, trials: int) -> Floats:
    """Return the mean of the metric in the population, at every k."""
    many = (OTHER if other_set else PUBLISHED)[name](np.random.default_rng(1), (400_000,))
    return np.array([latent(family, k, many).mean() for k in ks(trials)])


def cell(job: Curves, successes: Ints, over: Over, truth: Floats) -> Cell:
    data = [Outcomes.from_counts(c, job.trials) for c in successes]
    bands = [band(outcomes, f"{job.family}*", over=over) for outcomes in data]
    low, high = (np.stack([getattr(found, end) for found in bands]) for end in ("low", "high"))
    alone_low, alone_high = pointwise(job, successes, over)
    return Cell(
        population=job.name,
        metric=f"{job.family}*",
        over=over,
        trials=job.trials,
        problems=job.problems,
        coverage=inside(low, truth, high),
        pointwise=inside(alone_low, truth, alone_high),
        critical=float(np.mean([found.critical for found in bands])),
        width=float(((high - low).mean(0) / (alone_high - alone_low).mean(0)).mean()),
    )


def inside(low: Floats, truth: Floats, high: Floats) -> float:
    """Return the share of data sets whose ends enclose the truth at every k."""
    return float(((low <= truth + SLACK) & (truth <= high + SLACK)).all(axis=1).mean())


def pointwise(job: Curves, successes: Ints, over: Over) -> tuple[Floats, Floats]:
    """Return the default intervals of every data set (rows) at every k (columns)."""
    counts = np.stack([np.bincount(c, minlength=job.trials + 1) for c in successes]).astype(float)
    mixture = fit_mixture(CountGrid((job.trials,)), counts)
    ends = []
    for k in ks(job.trials):
        metric = parse_metric(f"{job.family}{k}")
        part, pairs = metric.parts[0], (mixture.grid.trials, mixture.grid.successes)
        values, squares = part.at(*pairs, k), part.square_at(*pairs, k)
        if over == "problems":
            found = over_problems(mixture, values, LEVEL)
        else:
            found = over_trials(mixture, values, k, LEVEL, squares=squares)
        ends.append(at_the_edge(job, metric.name, over, counts, found.low, found.high))
    return np.stack([low for low, _ in ends], axis=1), np.stack([high for _, high in ends], axis=1)


GRADED = {
    "Beta(2,2), precision 5": (2.0, 2.0, 5.0),
    "Beta(.3,.5), precision 3": (0.3, 0.5, 3.0),
    "Beta(.1,1.5), precision 5": (0.1, 1.5, 5.0),
}
FEW_TRIALS = 6
BLENDS = ("geom-ds@", "geospectrum@")


@dataclass(frozen=True)
class Rare:
    """Data sets of which a band is asked for one by one: graded scores, or blends."""

    name: str
    family: str
    problems: int
    sets: int
    seed: tuple[int, ...]


def rare_jobs(graded: bool, sets: int) -> list[Rare]:
    names, families = (tuple(GRADED), ("max@",)) if graded else (tuple(PUBLISHED), BLENDS)
    grid = product(families, names, PROBLEMS[:3])
    return [Rare(n, f, m, sets, (23, int(graded), at)) for at, (f, n, m) in enumerate(grid)]


def rare_line(job: Rare) -> str:
    """Measure the simultaneous coverage of both targets on the same data sets."""
    rng = np.random.default_rng(job.seed)
    truth = rare_sample(job, rng, 5_000)[1].mean(axis=0)
    inside_of: dict[Over, list[bool]] = {over: [] for over in TARGETS}
    for _ in range(job.sets):
        outcomes, latents = rare_sample(job, rng, job.problems)
        for over in TARGETS:
            target = truth if over == "problems" else latents.mean(axis=0)
            found = band(outcomes, f"{job.family}*", over=over)
            wanted = rare_curve(job, target)
            inside_of[over].append(
                bool(((found.low <= wanted + SLACK) & (wanted <= found.high + SLACK)).all())
            )
    shares = " | ".join(f"{np.mean(inside_of[over]):.3f}" for over in TARGETS)
    return f"| {job.family}* | {job.name} | {job.problems} | {shares} |"


def rare_sample(job: Rare, rng: np.random.Generator, problems: int) -> tuple[Outcomes, Floats]:
    """Draw problems, and the latent value of each part of the metric at each k, side by side."""
    if job.name in GRADED:
        a, b, precision = GRADED[job.name]
        p = np.clip(rng.beta(a, b, problems), 1e-9, 1 - 1e-9)
        alpha, beta = p[:, None] * precision, (1 - p[:, None]) * precision
        scores = rng.beta(alpha, beta, (problems, FEW_TRIALS))
        return Outcomes.from_array(scores), best_latents(alpha, beta)
    p = PUBLISHED[job.name](rng, (problems,))
    parts = [parse_metric(f"{job.family}{k}").latent(p) for k in ks(FEW_TRIALS)]
    outcomes = Outcomes.from_counts(rng.binomial(FEW_TRIALS, p), FEW_TRIALS)
    return outcomes, np.concatenate(parts).T


def best_latents(alpha: Floats, beta: Floats) -> Floats:
    """Return the expected best of k draws, the integral of 1 - F(x)^k, by the midpoint rule."""
    from scipy.special import betainc

    x = (np.arange(200) + 0.5) / 200
    below = betainc(alpha, beta, x)
    return np.stack([1.0 - (below**k).mean(axis=1) for k in ks(FEW_TRIALS)], axis=1)


def rare_curve(job: Rare, latents: Floats) -> Floats:
    """Return the metric at each k from the mean latent values of its parts."""
    if job.name in GRADED:
        return latents
    metrics = [parse_metric(f"{job.family}{k}") for k in ks(FEW_TRIALS)]
    return np.array(
        [
            metric.combine(list(pair))
            for metric, pair in zip(metrics, latents.reshape(-1, 2), strict=True)
        ]
    )


def jobs(other_set: bool, sets: int) -> list[Curves]:
    populations = OTHER if other_set else PUBLISHED
    grid = product(FAMILIES, TRIALS, PROBLEMS, populations)
    return [
        Curves(name, other_set, m, n, sets, (21, int(other_set), at), family)
        for at, (family, n, m, name) in enumerate(grid)
    ]


def report(cells: list[Cell]) -> Iterator[str]:
    """Write one line per metric, target and size: means over the populations."""
    yield (
        "| metric | over | n | problems | band | least | where | critical value "
        "| width | pointwise | |"
    )
    yield "|:--|:--|--:|--:|--:|--:|:--|--:|--:|--:|:--|"
    for metric, over, n, m in dict.fromkeys(map(size_of, cells)):
        part = [c for c in cells if size_of(c) == (metric, over, n, m)]
        worst = min(part, key=lambda c: c.coverage)
        mean = np.mean([c.coverage for c in part])
        verdict = "" if m < ENOUGH else "ok" if 0.93 <= round(float(mean), 3) <= 0.97 else "SHORT"
        yield (
            f"| {metric} | {over} | {n} | {m} | {mean:.3f} | {worst.coverage:.3f} "
            f"| {worst.population} | {np.mean([c.critical for c in part]):.2f} "
            f"| {np.median([c.width for c in part]):.2f} "
            f"| {np.mean([c.pointwise for c in part]):.3f} | {verdict} |"
        )


def size_of(cell: Cell) -> tuple[str, Over, int, int]:
    return cell.metric, cell.over, cell.trials, cell.problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--other-set", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--graded", action="store_true")
    parser.add_argument("--blends", action="store_true")
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--csv", type=Path, help="write every cell to this file")
    given = parser.parse_args()
    if given.graded or given.blends:
        sets = given.sets // 5 if given.quick else given.sets
        print("| metric | population | problems | over problems | over trials |")
        print("|:--|:--|--:|--:|--:|")
        with ProcessPoolExecutor(given.workers) as pool:
            print("\n".join(pool.map(rare_line, rare_jobs(given.graded, sets))))
        return
    todo = jobs(given.other_set, given.sets)
    if given.quick:
        todo = [replace(job, sets=given.sets // 5) for job in todo]
    with ProcessPoolExecutor(given.workers) as pool:
        cells = [cell for found in pool.map(cells_of, todo) for cell in found]
    cells.sort(key=lambda c: (c.metric, c.over, c.trials, c.problems))
    print("\n".join(report(cells)))
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(asdict(cells[0])), lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(c) for c in cells)


if __name__ == "__main__":
    main()

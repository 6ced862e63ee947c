"""Measured coverage of the default intervals, beside the intervals that other tools print.

For each population of success probabilities, number of problems M, trials n and k, many data sets
are drawn. An interval covers if it contains the truth: over problems the mean of the metric in the
population, over trials the mean over the very problems that were drawn. The functions measured are
those that `passband.estimate` runs, on many data sets at a time; on two data sets of every cell the
result is compared with its.

    python benchmarks/coverage.py               the published grid, 400 data sets a cell
    python benchmarks/coverage.py --other-set    other populations and sizes
    python benchmarks/coverage.py --quick       a tenth of the data sets

A cell is dense if on average at least 5 problems differ from the commonest value. In sparse cells
a handful of counts decides, coverage jumps, and no method stays near its level.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from passband import Outcomes, estimate
from passband.stats.data.counts import Histogram
from passband.stats.interval.default.wilson import over_problems, over_trials, student_quantile
from passband.stats.interval.fit.count_grid import CountGrid
from passband.stats.interval.fit.mixture import fit_mixture
from passband.stats.metric.components import Credit
from passband.stats.metric.posterior import posterior_moments
from passband.stats.metric.registry import parse_metric

Floats = NDArray[np.float64]
Population = Callable[[np.random.Generator, tuple[int, ...]], Floats]
LEVEL = 0.95


def beta(a: float, b: float) -> Population:
    return lambda rng, shape: rng.beta(a, b, shape)


def logit_normal(mean: float, sd: float) -> Population:
    return lambda rng, shape: 1.0 / (1.0 + np.exp(-(mean + sd * rng.standard_normal(shape))))


def levels(*ps: float, weights: tuple[float, ...] | None = None) -> Population:
    return lambda rng, shape: rng.choice(ps, size=shape, p=weights)


def zeros_and(rest: Population, share: float) -> Population:
    return lambda rng, shape: np.where(rng.random(shape) < share, 0.0, rest(rng, shape))


def zeros_ones_uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    kind = rng.random(shape)
    return np.where(kind < 0.25, 0.0, np.where(kind < 0.5, 1.0, rng.random(shape)))


PUBLISHED: dict[str, Population] = {
    "Beta(.3,.5)": beta(0.3, 0.5),
    "Beta(2,2)": beta(2, 2),
    "Beta(.1,1.5)": beta(0.1, 1.5),
    "Beta(5,1)": beta(5, 1),
    "all .5": levels(0.5),
    "all .05": levels(0.05),
    "all .97": levels(0.97),
    "half 0, Beta(2,2)": zeros_and(beta(2, 2), 0.5),
    ".1 .5 .9": levels(0.1, 0.5, 0.9),
    "logit N(0,1.5)": logit_normal(0, 1.5),
    "logit N(2,1)": logit_normal(2, 1),
    "0, 1, uniform": zeros_ones_uniform,
    ".2 .8": levels(0.2, 0.8),
    "Beta(.2,.2)": beta(0.2, 0.2),
}
OTHER: dict[str, Population] = {
    "Beta(1,1)": beta(1, 1),
    "Beta(.5,.5)": beta(0.5, 0.5),
    "Beta(1,4)": beta(1, 4),
    "Beta(8,2)": beta(8, 2),
    "all .2": levels(0.2),
    "all .9": levels(0.9),
    "30% 0, uniform": zeros_and(beta(1, 1), 0.3),
    ".05 .6": levels(0.05, 0.6),
    "0 .3 .7 1": levels(0.0, 0.3, 0.7, 1.0),
    "logit N(-2,1)": logit_normal(-2, 1),
    "logit N(-1,2.5)": logit_normal(-1, 2.5),
    "Beta(.05,.3)": beta(0.05, 0.3),
    "70% .02, 30% .98": levels(0.02, 0.98, weights=(0.7, 0.3)),
    "Beta(.4,3)": beta(0.4, 3),
}
FAMILIES = {"pass@": 1, "pass^": 2, "maj@": 2}  # name, and the least k at which it is measured


@dataclass(frozen=True)
class Cell:
    """One line of the results."""

    population: str
    problems: int
    trials: int
    metric: str
    over: str
    dense: bool
    coverage: float
    below: float  # share of data sets whose interval lies above the truth
    width: float
    other_coverage: float  # over problems: Student's t; over trials: the uniform prior's interval
    other_width: float


@dataclass(frozen=True)
class Job:
    name: str
    other_set: bool
    problems: int
    trials: int
    sets: int
    seed: tuple[int, ...]


def cells_of(job: Job) -> list[Cell]:
    """Measure every metric and k on the data sets of one population and size."""
    p, successes = drawn(job)
    many = population_of(job)(np.random.default_rng(1), (400_000,))
    shift = (job.trials + 1) * np.arange(job.sets)[:, None]
    counts = np.bincount((successes + shift).ravel(), minlength=job.sets * (job.trials + 1))
    counts = counts.reshape(job.sets, job.trials + 1).astype(np.float64)
    mixture = fit_mixture(CountGrid((job.trials,)), counts)
    found = []
    for name in names(job.trials):
        metric = parse_metric(name)
        part = metric.parts[0]
        assert isinstance(part, Credit)
        values = part.at(mixture.grid.trials, mixture.grid.successes, metric.k)
        dense = is_dense(counts, values)
        truth = {
            "problems": np.full(job.sets, latent(name, metric.k, many).mean()),
            "trials": latent(name, metric.k, p).mean(axis=1),
        }
        for over in ("problems", "trials"):
            if over == "problems" or job.trials == 1:
                ends = over_problems(mixture, values, LEVEL)
            else:
                squares = part.square_at(mixture.grid.trials, mixture.grid.successes, metric.k)
                ends = over_trials(mixture, values, metric.k, LEVEL, squares=squares)
            low, high = at_the_edge(job, name, over, counts, ends.low, ends.high)
            check_against_estimate(job, name, over, successes, low, high)
            other = (
                student(counts, values) if over == "problems" else uniform(job, part.credit, counts)
            )
            found.append(cell(job, name, over, dense, truth[over], (low, high), other))
    return found


def population_of(job: Job) -> Population:
    return (OTHER if job.other_set else PUBLISHED)[job.name]


def drawn(job: Job) -> tuple[Floats, NDArray[np.int64]]:
    """Draw the success probabilities of the problems of each data set, and their successes."""
    rng = np.random.default_rng(job.seed)
    p = population_of(job)(rng, (job.sets, job.problems))
    return p, rng.binomial(job.trials, p)


def check_against_estimate(
    job: Job, name: str, over: str, successes: NDArray[np.int64], low: Floats, high: Floats
) -> None:
    """Make sure on the first data sets that what is measured is what `passband.estimate` gives."""
    for at in range(2):
        outcomes = Outcomes.from_counts(successes[at], job.trials)
        found = estimate(outcomes, name, over=over)  # type: ignore[call-overload]
        if not np.allclose([found.low, found.high], [low[at], high[at]], rtol=0, atol=1e-6):
            raise AssertionError(f"{job} {name} {over}: {found} is not [{low[at]}, {high[at]}]")


def cell(
    job: Job,
    name: str,
    over: str,
    dense: bool,
    truth: Floats,
    ends: tuple[Floats, Floats],
    other: tuple[Floats, Floats],
) -> Cell:
    slack = 1e-12
    covered = (ends[0] <= truth + slack) & (truth <= ends[1] + slack)
    other_covered = (other[0] <= truth + slack) & (truth <= other[1] + slack)
    return Cell(
        population=job.name,
        problems=job.problems,
        trials=job.trials,
        metric=name,
        over=over,
        dense=dense,
        coverage=float(covered.mean()),
        below=float((truth + slack < ends[0]).mean()),
        width=float((ends[1] - ends[0]).mean()),
        other_coverage=float(other_covered.mean()),
        other_width=float((other[1] - other[0]).mean()),
    )


def names(n: int) -> Iterator[str]:
    for k in sorted({1, 4, n}):
        if k <= n:
            yield from (f"{family}{k}" for family, least in FAMILIES.items() if k >= least)


def latent(name: str, k: int, p: Floats) -> Floats:
    """Return the true value of a problem with success probability p, from its definition."""
    if name.startswith("pass@"):
        return 1.0 - (1.0 - p) ** k
    if name.startswith("pass^"):
        return p**k
    value: Floats = bdtrc(k // 2, k, p)
    return value


def is_dense(counts: Floats, values: Floats) -> bool:
    _, kind = np.unique(np.round(values, 12), return_inverse=True)
    per_value = np.stack([counts[:, kind == at].sum(axis=1) for at in range(kind.max() + 1)])
    return bool((counts.sum(axis=1) - per_value.max(axis=0)).mean() >= 5)


@cache
def edge(problems: int, trials: int, successes: int, name: str, over: str) -> tuple[float, float]:
    outcomes = Outcomes.from_counts([successes] * problems, trials)
    found = estimate(outcomes, name, over=over)  # type: ignore[call-overload]
    return found.low, found.high


def at_the_edge(
    job: Job, name: str, over: str, counts: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Put in the bounds of data sets in which all trials came out alike."""
    for successes, column in ((0, 0), (job.trials, -1)):
        alike = counts[:, column] == job.problems
        if alike.any():
            ends = edge(job.problems, job.trials, successes, name, over)
            low, high = np.where(alike, ends[0], low), np.where(alike, ends[1], high)
    return low, high


def student(counts: Floats, values: Floats) -> tuple[Floats, Floats]:
    m = counts.sum(axis=1)
    mean = counts @ values / m
    variance = np.maximum(counts @ values**2 / m - mean**2, 0.0) * m / (m - 1)
    reach = student_quantile(LEVEL, float(m[0]) - 1) * np.sqrt(variance / m)
    return mean - reach, mean + reach


def uniform(job: Job, credit: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Posterior mean plus and minus 1.96 sd under a uniform prior per problem, cut to [0, 1]."""
    pairs = Histogram.of_tally(job.trials, np.ones(job.trials + 1, dtype=np.int64))
    moments = posterior_moments(pairs, [credit], 1.0, 1.0)
    m = counts.sum(axis=1)
    mean = counts @ moments.mean[:, 0] / m
    reach = 1.959963984540054 * np.sqrt(counts @ moments.covariance[:, 0, 0]) / m
    return np.clip(mean - reach, 0, 1), np.clip(mean + reach, 0, 1)


def jobs(other_set: bool, sets: int) -> list[Job]:
    sizes = (5, 20, 50, 200, 500) if other_set else (10, 30, 100, 300, 1000)
    repeats = (2, 5, 10, 32) if other_set else (1, 4, 8, 16, 64)
    populations = OTHER if other_set else PUBLISHED
    grid = [(name, m, n) for name in populations for m in sizes for n in repeats]
    return [
        Job(name, other_set, m, n, sets, (20, int(other_set), at))
        for at, (name, m, n) in enumerate(grid)
    ]


def summary(cells: Iterable[Cell], label: str) -> str:
    found = np.array([c.coverage for c in cells])
    if not len(found):
        return f"| {label} | 0 |" + " |" * 7
    inside = ((found >= 0.93) & (found <= 0.97)).mean()
    wide = ((found >= 0.92) & (found <= 0.98)).mean()
    return (
        f"| {label} | {len(found)} | {found.mean():.3f} | {inside:.3f} | {wide:.3f} "
        f"| {(found < 0.93).mean():.3f} | {(found < 0.9).mean():.3f} "
        f"| {(found > 0.98).mean():.3f} | {found.min():.3f} |"
    )


def report(cells: list[Cell]) -> list[str]:
    lines = [
        "| cells | number | mean | 93-97 % | 92-98 % | < 93 % | < 90 % | > 98 % | least |",
        "|:--|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for dense in (True, False):
        word = "dense" if dense else "sparse"
        part = [c for c in cells if c.dense is dense]
        trials = [c for c in part if c.over == "trials" and c.trials > 1]
        lines += [
            summary([c for c in part if c.over == "problems"], f"over problems, {word}"),
            summary([c for c in trials if enough(c)], f"over trials, 2k <= n, {word}"),
            summary([c for c in trials if not enough(c)], f"over trials, 2k > n, {word}"),
        ]
        one = [c for c in part if c.over == "trials" and c.trials == 1]
        if one:
            lines.append(summary(one, f"over trials, n = 1, {word}"))
    return lines


def enough(cell: Cell) -> bool:
    return 2 * int(cell.metric[5:] if cell.metric[:4] == "pass" else cell.metric[4:]) <= cell.trials


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--other-set", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--csv", type=Path, help="write every cell to this file")
    given = parser.parse_args()
    todo = jobs(given.other_set, given.sets // 10 if given.quick else given.sets)
    cells: list[Cell] = []
    with ProcessPoolExecutor(given.workers) as pool:
        for done, found in enumerate(pool.map(cells_of, todo), start=1):
            cells += found
            if sys.stderr.isatty():
                print(f"\r{done} of {len(todo)}", end="", file=sys.stderr)
    print("\n".join(report(cells)))
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(asdict(cells[0])), lineterminator="\n")
            writer.writeheader()
            for c in cells:
                row = {k: round(v, 5) if isinstance(v, float) else v for k, v in asdict(c).items()}
                writer.writerow(row)


if __name__ == "__main__":
    main()

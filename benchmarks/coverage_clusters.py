"""Measured coverage where problems come in clusters, such as several questions about one text.

Clusters are drawn, then problems within them: logit p = centre + noise of the cluster + noise of
the problem's own. An interval over problems covers if it contains the mean of the metric over all
problems of all clusters that could have been drawn, which is computed by quadrature. Three
intervals are compared on the same data: the default with the clusters given, the default without
them, and Student's t on the clusters.

    python benchmarks/coverage_clusters.py            400 data sets a cell
    python benchmarks/coverage_clusters.py --quick    50

Wanted is a mean coverage of at least 94 % for the first, with 10 clusters and with 30.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np
from coverage import Floats, latent

from passband import Outcomes, estimate
from passband.stats.metric.registry import parse_metric
from passband.types import Ints

SIZE = 5  # problems in a cluster, exactly or on average
METRICS = {4: ("pass@1",), 8: ("pass@4", "maj@4"), 16: ("pass@1", "pass@4", "pass^4")}  # by n
METHODS = ("default, clusters given", "default, clusters ignored", "t on clusters")
WANTED = 0.94
SLACK = 1e-12


@dataclass(frozen=True)
class Setting:
    """How logit p is spread."""

    centre: float
    between: float  # sd of the noise that a cluster's problems share
    own: float  # sd of a problem's own noise

    def __str__(self) -> str:
        return f"{self.centre:g} ± {self.between:g} ± {self.own:g}"

    def draw(self, rng: np.random.Generator, cluster: Ints) -> Floats:
        shared = self.between * rng.standard_normal(int(cluster[-1]) + 1)
        alone = self.own * rng.standard_normal(len(cluster))
        return logistic(self.centre + shared[cluster] + alone)

    def truth(self, name: str) -> float:
        """Return the mean of the metric over all problems, by Gauss-Hermite quadrature."""
        at, weight = np.polynomial.hermite_e.hermegauss(200)
        p = logistic(self.centre + np.hypot(self.between, self.own) * at)
        return float(weight @ latent(name, parse_metric(name).k, p) / weight.sum())


SETTINGS = (
    Setting(0.0, 0.0, 1.5),  # no clusters at all
    Setting(0.0, 1.0, 1.0),
    Setting(-2.0, 1.0, 1.0),
    Setting(1.5, 1.5, 0.5),
    Setting(0.0, 2.5, 0.5),
)


@dataclass(frozen=True)
class Job:
    setting: Setting
    clusters: int
    equal: bool
    trials: int
    sets: int
    seed: tuple[int, ...]


@dataclass(frozen=True)
class Cell:
    """One line of the results."""

    setting: str
    clusters: int
    equal: bool
    trials: int
    metric: str
    method: str
    coverage: float
    width: float


def logistic(x: Floats) -> Floats:
    p: Floats = 1.0 / (1.0 + np.exp(-x))
    return p


def cells_of(job: Job) -> list[Cell]:
    """Measure every metric and method on the same data sets."""
    rng = np.random.default_rng(job.seed)
    names = METRICS[job.trials]
    ends = np.array([intervals(job, rng, names) for _ in range(job.sets)])
    cells = []
    for (row, name), (column, method) in product(enumerate(names), enumerate(METHODS)):
        low, high = ends[:, row, column].T
        truth = job.setting.truth(name)
        covered = (low <= truth + SLACK) & (truth <= high + SLACK)
        cells.append(
            Cell(
                str(job.setting),
                job.clusters,
                job.equal,
                job.trials,
                name,
                method,
                float(covered.mean()),
                float((high - low).mean()),
            )
        )
    return cells


def intervals(
    job: Job, rng: np.random.Generator, names: tuple[str, ...]
) -> list[list[tuple[float, float]]]:
    """Draw one data set and return, for each metric, the ends by each method."""
    sizes = np.full(job.clusters, SIZE) if job.equal else 1 + rng.poisson(SIZE - 1, job.clusters)
    cluster = np.repeat(np.arange(job.clusters), sizes)
    successes = rng.binomial(job.trials, job.setting.draw(rng, cluster))
    clustered = Outcomes.from_counts(successes, job.trials, clusters=cluster.tolist())
    ignored = Outcomes.from_counts(successes, job.trials)
    asked = ((clustered, "auto"), (ignored, "auto"), (clustered, "t"))
    return [[ends(outcomes, name, method) for outcomes, method in asked] for name in names]


def ends(outcomes: Outcomes, name: str, method: str) -> tuple[float, float]:
    """Return the interval; where a method gives none, the estimate alone."""
    found = estimate(outcomes, name, method=method)
    if found.low is None or found.high is None:
        return found.value, found.value
    return found.low, found.high


def jobs(sets: int) -> list[Job]:
    grid = product((10, 30), (True, False), SETTINGS, METRICS)
    return [
        Job(setting, clusters, equal, trials, sets, (22, at))
        for at, (clusters, equal, setting, trials) in enumerate(grid)
    ]


def report(cells: list[Cell]) -> Iterator[str]:
    yield "| clusters | problems in each | interval | mean | least | where | 92-98 % | width | |"
    yield "|--:|:--|:--|--:|--:|:--|--:|--:|:--|"
    for clusters, equal, method in product((10, 30), (True, False), METHODS):
        kind = (clusters, equal, method)
        part = [c for c in cells if (c.clusters, c.equal, c.method) == kind]
        found = np.array([c.coverage for c in part])
        worst = part[int(found.argmin())]
        verdict = ("ok" if found.mean() >= WANTED else "SHORT") if method == METHODS[0] else ""
        yield (
            f"| {clusters} | {SIZE if equal else f'1 + Poisson({SIZE - 1})'} | {method} "
            f"| {found.mean():.3f} | {found.min():.3f} "
            f"| {worst.metric}, n = {worst.trials}, {worst.setting} "
            f"| {((found >= 0.92) & (found <= 0.98)).mean():.2f} "
            f"| {np.mean([c.width for c in part]):.3f} | {verdict} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--csv", type=Path, help="write every cell to this file")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.workers) as pool:
        found = pool.map(cells_of, jobs(50 if given.quick else given.sets))
        cells = [cell for some in found for cell in some]
    print("\n".join(report(cells)))
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(asdict(cells[0])), lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(c) for c in cells)


if __name__ == "__main__":
    main()

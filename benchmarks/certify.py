"""Does the coverage that a certificate predicts hold? Predicted beside true, cell by cell.

A cell is a population, a design, a metric and a target. The true coverage of the default interval
is measured on many data sets; on some of them a certificate is made as well, from nothing but the
data set itself. Printed are the true coverage, the mean predicted one, both with their Monte-Carlo
standard errors, and the share of the certificates that call the coverage low (below 92%).

    python benchmarks/certify.py              400 data sets a cell, 24 certificates
    python benchmarks/certify.py --full       2000 and 60
    python benchmarks/certify.py rewards      the cells of one family
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passband import Outcomes, estimate
from passband.stats.interval.estimation import Estimate, with_certificate
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.registry import parse_metric

Floats = NDArray[np.float64]
Rng = np.random.Generator
FAMILIES = ("binary", "clusters", "rewards")
SETS = 250  # of each law


@dataclass(frozen=True)
class Drawn:
    """A data set with its true values."""

    outcomes: Outcomes
    over_problems: float
    over_trials: float


@dataclass(frozen=True)
class Cell:
    family: str
    name: str
    metric: str
    over: str
    draw: Callable[[Rng], Drawn]


@dataclass(frozen=True)
class Result:
    cell: Cell
    true: float
    true_error: float
    predicted: float
    predicted_error: float
    flagged: float


# -- scores of 0 and 1 -------------------------------------------------------------------------


def latent(metric: str, p: Floats) -> Floats:
    parsed = parse_metric(metric)
    return parsed.parts[0].latent(p, parsed.k)


def binary(
    metric: str, groups: list[tuple[int, int, Callable[[Rng, int], Floats]]]
) -> Callable[[Rng], Drawn]:
    """Return data sets of groups of (problems, trials, population of success probabilities)."""
    many = np.random.default_rng(1)
    total = sum(problems for problems, _, _ in groups)
    mean = sum(m / total * latent(metric, law(many, 200_000)).mean() for m, _, law in groups)

    def draw(rng: Rng) -> Drawn:
        p = np.concatenate([law(rng, problems) for problems, _, law in groups])
        n = np.repeat([trials for _, trials, _ in groups], [m for m, _, _ in groups])
        outcomes = Outcomes.from_counts(rng.binomial(n, p), n)
        return Drawn(outcomes, float(mean), float(latent(metric, p).mean()))

    return draw


def beta(a: float, b: float) -> Callable[[Rng, int], Floats]:
    return lambda rng, size: rng.beta(a, b, size)


def levels(*ps: float) -> Callable[[Rng, int], Floats]:
    return lambda rng, size: rng.choice(ps, size)


BINARY = {
    "two groups 2/64, M 50": [(25, 2, levels(0.5)), (25, 64, levels(0.98))],
    "two groups 2/64, M 200": [(100, 2, levels(0.5)), (100, 64, levels(0.98))],
    "hard ones 32, M 60": [(30, 2, beta(8, 2)), (30, 32, beta(0.5, 3))],
    "spikes .02/.98, M 20 n 5": [(20, 5, levels(0.02, 0.98))],
    "levels .2/.8, M 30 n 4": [(30, 4, levels(0.2, 0.8))],
    "Beta(.5,.7), M 10 n 8": [(10, 8, beta(0.5, 0.7))],
    "Beta(.5,.7), M 30 n 8": [(30, 8, beta(0.5, 0.7))],
    "Beta(.1,1.5), M 30 n 4": [(30, 4, beta(0.1, 1.5))],
    "Beta(.1,1.5), M 100 n 16": [(100, 16, beta(0.1, 1.5))],
    "ragged 2/4/16, M 60": [(20, n, beta(0.5, 0.7)) for n in (2, 4, 16)],
}


# -- clusters ----------------------------------------------------------------------------------


def clustered(metric: str, sizes: Callable[[Rng], NDArray[np.int64]]) -> Callable[[Rng], Drawn]:
    """Return logit-normal problems, half of whose variance is the cluster's."""

    def probabilities(shared: Floats, own: Floats) -> Floats:
        return 1.0 / (1.0 + np.exp(-(shared + own)))

    many = np.random.default_rng(1).standard_normal((2, 200_000))
    mean = float(latent(metric, probabilities(*many)).mean())

    def draw(rng: Rng) -> Drawn:
        counts = sizes(rng)
        codes = np.repeat(np.arange(len(counts)), counts)
        shared, own = rng.standard_normal(len(counts))[codes], rng.standard_normal(len(codes))
        p = probabilities(shared, own)
        outcomes = Outcomes.from_counts(rng.binomial(8, p), 8, clusters=codes.tolist())
        return Drawn(outcomes, mean, float(latent(metric, p).mean()))

    return draw


def pareto(clusters: int) -> Callable[[Rng], NDArray[np.int64]]:
    return lambda rng: np.ceil(rng.pareto(1.2, clusters) + 1e-9).clip(1, 60).astype(np.int64)


CLUSTERS: dict[str, Callable[[Rng], NDArray[np.int64]]] = {
    "30 of 5": lambda rng: np.full(30, 5),
    "10 of 5": lambda rng: np.full(10, 5),
    "Pareto, 20": pareto(20),
    "Pareto, 60": pareto(60),
    "one of 50, 19 of 3": lambda rng: np.array([50] + [3] * 19),
}


# -- rewards -----------------------------------------------------------------------------------


def rewards(law: Callable[[Rng, int], Floats], m: int, noise: float) -> Callable[[Rng], Drawn]:
    """Return problems with four scores each, spread around the problem's mean by a share of it."""
    mean = float(law(np.random.default_rng(1), 2_000_000).mean())

    def draw(rng: Rng) -> Drawn:
        centre = law(rng, m)
        width = noise * np.minimum(centre, np.where(centre <= 1.0, 1.0 - centre, centre))
        scores = centre[:, None] + width[:, None] * rng.uniform(-1, 1, (m, 4))
        return Drawn(Outcomes.from_array(scores), mean, float(centre.mean()))

    return draw


REWARDS: dict[str, Callable[[Rng, int], Floats]] = {
    "Beta(.1,1.5)": beta(0.1, 1.5),
    "Beta(2,2)": beta(2, 2),
    "exponential": lambda rng, size: rng.exponential(1.0, size),
    "log-normal 1": lambda rng, size: rng.lognormal(0.0, 1.0, size),
    "normal": lambda rng, size: rng.normal(0.0, 1.0, size),
}


def cells() -> Iterable[Cell]:
    for name, groups in BINARY.items():
        for metric in ("pass@1", "pass@2"):
            for over in ("problems", "trials"):
                yield Cell("binary", name, metric, over, binary(metric, groups))
    for name, sizes in CLUSTERS.items():
        for metric in ("pass@1", "pass@4"):
            yield Cell("clusters", name, metric, "problems", clustered(metric, sizes))
    for name, law in REWARDS.items():
        for m in (10, 30):
            for over in ("problems", "trials"):
                yield Cell("rewards", f"{name}, M {m}", "avg", over, rewards(law, m, 0.5))


# -- measuring ---------------------------------------------------------------------------------


def measured(cell: Cell, sets: int, certificates: int, seed: int) -> Result:
    rng = np.random.default_rng(seed)
    hits, predicted, flags = np.zeros(sets), [], []
    for index in range(sets):
        drawn = cell.draw(rng)
        result = estimate(drawn.outcomes, cell.metric, over=cell.over)
        truth = drawn.over_problems if cell.over == "problems" else drawn.over_trials
        hits[index] = result.low is not None and result.low <= truth <= result.high
        if index < certificates:
            certificate = certified(result, drawn.outcomes).certificate
            if certificate is not None:
                predicted.append(certificate.coverage)
                flags.append(certificate.is_low)
    true = hits.mean()
    return Result(
        cell,
        float(true),
        float(np.sqrt(max(true * (1 - true), 0.5 / sets) / sets)),
        float(np.mean(predicted)),
        float(np.std(predicted) / np.sqrt(len(predicted))),
        float(np.mean(flags)),
    )


def certified(result: Estimate, outcomes: Outcomes) -> Estimate:
    metric = parse_metric(result.metric)
    means = tuple(metric.means(outcomes))
    request = IntervalRequest(
        outcomes, metric, means, metric.combine(means), result.over, result.level, None
    )
    return with_certificate(result, request, sets=SETS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", default=FAMILIES, choices=[*FAMILIES, []])
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    sets, certificates = (2000, 60) if arguments.full else (400, 24)
    start, results = time.process_time(), []
    for seed, cell in enumerate(cells()):
        if cell.family in arguments.families:
            results.append(measured(cell, sets, certificates, seed))
            print(row(results[-1]), flush=True)
    for family in arguments.families:
        print(total(family, [result for result in results if result.cell.family == family]))
    print(f"{time.process_time() - start:.0f} s CPU")


def row(result: Result) -> str:
    cell = result.cell
    return (
        f"{cell.family:9}{cell.name:26}{cell.metric:8}{cell.over:9}"
        f"true {result.true:.3f} ({result.true_error:.3f})  "
        f"predicted {result.predicted:.3f} ({result.predicted_error:.3f})  "
        f"called low {result.flagged:.2f}"
    )


def total(family: str, results: list[Result]) -> str:
    true = np.array([result.true for result in results])
    away = np.array([result.predicted for result in results]) - true
    low = [result.flagged for result in results if result.true < 0.9]
    fine = [result.flagged for result in results if result.true >= 0.935]
    rmse = (away**2).mean() ** 0.5
    return (
        f"{family}: {len(results)} cells, bias {away.mean():+.3f}, rmse {rmse:.3f}, "
        f"called low {np.mean(low) if low else np.nan:.2f} of {len(low)} cells below .90, "
        f"{np.mean(fine) if fine else np.nan:.2f} of {len(fine)} cells at .935 or more"
    )


if __name__ == "__main__":
    main()

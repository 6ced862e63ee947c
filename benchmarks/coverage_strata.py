"""Measured coverage of weighted means over strata, and of parts of a finite population.

Strata have success probabilities of their own: the logits of stratum means are normal, and the
problems of a stratum follow a Beta distribution around its mean. The strata stay as they are from
one data set to the next; their problems (over problems) or only the trials (over trials: the very
problems that were drawn) are sampled again. Everything goes through `passband.estimate`.

    python benchmarks/coverage_strata.py               every cell, 1000 data sets
    python benchmarks/coverage_strata.py --sets 400    fewer
    python benchmarks/coverage_strata.py --population  parts of a finite population instead

A cell counts as noted if most of its estimates carry a note on weak coverage.
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

from passband import Outcomes, estimate

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


def measured(over: str, name: str, level: str, n: int, k: int, weights: str, sets: int) -> Cell:
    """Measure one cell."""
    sizes = SIZES[name]
    rng = np.random.default_rng(zlib.crc32(f"{over} {name} {level} {n} {k} {weights}".encode()))
    middle, spread = LEVELS[level]
    mean = 1.0 / (1.0 + np.exp(-(middle + spread * rng.standard_normal(len(sizes)))))
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    labels = [f"s{index}" for index in stratum]
    share = shares(weights, sizes, rng)
    given = (
        {f"s{index}": float(w) for index, w in enumerate(share)} if weights == "given" else weights
    )
    each = share[stratum] / np.array(sizes)[stratum]
    beta = (CONCENTRATION * mean[stratum], CONCENTRATION * (1.0 - mean[stratum]))
    hits, widths, noted, errors = 0, [], 0, []
    for _ in range(sets):
        p = rng.beta(*beta)
        outcomes = Outcomes.from_counts(rng.binomial(n, p), n)
        result = estimate(outcomes, f"pass@{k}", by=labels, weights=given, over=over)
        truth = (
            float(share @ stratum_truth(mean, k))
            if over == "problems"
            else float(each @ pass_at(p, k))
        )
        hits += result.low - 1e-9 <= truth <= result.high + 1e-9
        widths.append(result.high - result.low)
        errors.append(result.value - truth)
        noted += bool(result.notes)
    ideal = 2 * 1.96 * float(np.sqrt(np.mean(np.square(errors))))
    return Cell(
        over, name, level, n, k, weights, hits / sets, float(np.mean(widths)) / max(ideal, 1e-9),
        noted / sets, sets,
    )  # fmt: skip


def cells() -> Iterator[tuple[str, str, str, int, int, str]]:
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
                        yield over, name, level, n, k, weights


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
            measured(*cell, options.sets)
            for cell in cells()
            if options.over in (None, cell[0]) and (options.strata or "") in cell[1]
        )
    for cell in found:
        results.append(cell)
        writer.writerow(
            {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(cell).items()}
        )
    print(summary(results), f"({time.process_time() - start:.0f} s CPU)", file=sys.stderr)


if __name__ == "__main__":
    main()

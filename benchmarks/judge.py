"""Measured coverage of estimates that correct a judge by labels (docs/measured.md).

A cell is a population of problems, a judge, a design of the labels, and sizes. Problems are drawn,
trials of each, verdicts, and the trials to label. The interval is that of
`passband.stats.judged.correction` for pass@1, over problems and over trials, computed for all data
sets of a cell at once (judge_batch.py; a test compares it with the function itself). Grid 1 is the
one whose like the constants of the method were set on. Grid 2 has other populations, judges and
sizes, grid 3 unequal numbers of trials, votes, failed verdicts and few problems; nothing was set on
these two.

    python benchmarks/judge.py                    all grids, 600 data sets a cell
    python benchmarks/judge.py --quick            40 data sets a cell, few cells
    python benchmarks/judge.py --grid 3 -o FILE   one grid, its cells written as CSV

Beside it: the judge's pass rate alone, the labels alone (Wilson's interval on their effective
number), and PPI++ as published (trials independent, a normal quantile).
Wanted of each grid: mean coverage 95-97 %, at most 3 % of cells below 93 %.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from judge_batch import Batch, Corrected, judge_alone, labels_alone, ppi_plus_plus
from judge_data import Cell, Floats, Judge, Population

from passband.stats.checks import Over

SLACK = 1e-12
LOW = 0.93
WANTED = (0.95, 0.97)
MOST_LOW = 0.03
METHODS = ("corrected", "labels alone", "judge alone", "PPI++")
DESIGNS = ("spread", "trial", "problem", "verdict")

POPULATIONS = {
    1: (
        Population("uniform", (1.0, 1.0)),
        Population("U-shaped", (0.5, 0.5)),
        Population("easy", (4.5, 0.5)),
        Population("hard", (1.0, 4.0)),
        Population("three points", points=((0.0, 0.4), (0.5, 0.3), (1.0, 0.3))),
    ),
    2: (
        Population("bell", (4.0, 4.0)),
        Population("skewed", (0.3, 0.7)),
        Population("very easy", (20.0, 2.0)),
        Population("two points", points=((0.1, 0.6), (0.8, 0.4))),
    ),
    3: (
        Population("likely", (3.0, 1.5)),
        Population("extremes", (0.2, 0.2)),
        Population("near the top", (30.0, 1.0)),
        Population("four points", points=((0.02, 0.3), (0.3, 0.2), (0.7, 0.2), (0.98, 0.3))),
    ),
}
JUDGES = {
    1: (
        *(Judge(f"accuracy {a:g}", a, a) for a in (0.6, 0.8, 0.9, 0.98, 1.0)),
        Judge("lenient", 0.98, 0.8),
        Judge("very lenient", 0.99, 0.5),
        Judge("harsh", 0.8, 0.98),
        Judge("very harsh", 0.5, 0.99),
        Judge("lenient on hard", 0.95, 0.98, lenient_on_hard=0.5),
        Judge("harsh on hard", 0.98, 0.95, harsh_on_hard=0.5),
        Judge("wrong on 10 % of problems", 0.98, 0.98, inverted=0.1),
        Judge("passes 15 % of problems", 0.95, 0.95, passed=0.15),
        Judge("useless", 0.5, 0.5),
    ),
    2: (
        *(Judge(f"accuracy {a:g}", a, a) for a in (0.7, 0.85, 0.95)),
        Judge("lenient", 0.95, 0.6),
        Judge("harsh", 0.65, 0.95),
        Judge("lenient on hard", 0.9, 0.95, lenient_on_hard=0.3),
        Judge("wrong on 20 % of problems", 0.95, 0.95, inverted=0.2),
        Judge("says yes to 7 of 10", 0.7, 0.3),
    ),
    3: (
        Judge("accuracy 0.93, 3 votes", 0.93, 0.93, noise=0.15, votes=3),
        Judge("2 noisy votes", 0.95, 0.95, noise=0.25, votes=2),
        Judge("lenient, fails to answer", 0.97, 0.75, failed=0.03),
        Judge("perfect, fails to answer", 1.0, 1.0, failed=0.05),
        Judge("always yes", 1.0, 0.0),
        Judge("harsh on hard, 5 votes", 0.97, 0.97, harsh_on_hard=0.4, noise=0.2, votes=5),
        Judge("wrong on 7 % of problems", 0.97, 0.97, inverted=0.07, failed=0.01),
    ),
}
SIZES: dict[int, tuple[tuple[int, ...], tuple[str, ...], tuple[float, ...]]] = {
    1: ((30, 60, 125, 250, 500), ("1", "2", "4", "8"), (0.05, 0.1, 0.25, 0.5)),
    2: ((40, 75, 150, 300), ("1", "2", "3", "5", "10"), (0.075, 0.15, 0.35)),
    3: ((12, 20, 30, 80, 200), ("1-8", "hard", "few", "6"), (0.06, 0.12, 0.3, 0.6)),
}
CELLS = {1: 240, 2: 160, 3: 200}
MOST_TRIALS, FEWEST_LABELS, FEWEST_PROBLEMS = 2000, 10, 5
MEAN_TRIALS = {"1-8": 4.5, "hard": 4.0, "few": 2.2}


def cells_of(grid: int, most: int | None = None) -> list[Cell]:
    """Return a random subset of all cells of a grid that have enough labels."""
    problems, trials, shares = SIZES[grid]
    whole = []
    for population, judge, design, m, n, share in product(
        POPULATIONS[grid], JUDGES[grid], DESIGNS, problems, trials, shares
    ):
        each = MEAN_TRIALS[n] if n in MEAN_TRIALS else float(n)
        labels = round(share * m * each)
        too_few = labels < FEWEST_LABELS or (
            design == "problem" and labels / each < FEWEST_PROBLEMS
        )
        if m * each <= MOST_TRIALS and not too_few:
            whole.append(Cell(population, judge, design, m, n, labels))
    rng = np.random.default_rng(grid)
    chosen = rng.permutation(len(whole))[: most or CELLS[grid]]
    return [whole[index] for index in sorted(chosen)]


@dataclass(frozen=True)
class Result:
    """Coverage and mean width of each method in a cell, over problems and over trials."""

    cell: Cell
    over: str
    sets: int
    refused: int
    coverage: dict[str, float]
    width: dict[str, float]

    @property
    def ratio(self) -> float:
        """The width as a share of that of the labels alone."""
        return self.width["corrected"] / self.width["labels alone"]

    def row(self) -> dict[str, object]:
        cell = self.cell
        columns: dict[str, object] = {
            "population": cell.population.name,
            "judge": cell.judge.name,
            "design": cell.design,
            "problems": cell.problems,
            "trials": cell.trials,
            "labels": cell.labels,
            "over": self.over,
            "sets": self.sets,
            "refused": self.refused,
        }
        for method in METHODS:
            columns[f"{method}: coverage"] = f"{self.coverage[method]:.4f}"
            columns[f"{method}: width"] = f"{self.width[method]:.4f}"
        return columns


def measured(job: tuple[Cell, int, int]) -> list[Result]:
    """Return the results of a cell, over problems and over trials."""
    cell, sets, seed = job
    batch = Batch.draw(cell, sets, np.random.default_rng(seed))
    estimates = Corrected(batch)
    others = {
        "labels alone": labels_alone(batch),
        "judge alone": judge_alone(batch),
        "PPI++": ppi_plus_plus(batch),
    }
    used = ~batch.is_small
    if 2 * used.sum() < sets:  # mostly refused: no coverage to speak of
        return []
    truths: dict[Over, Floats] = {"problems": np.full(sets, cell.population.mean)}
    if cell.trials != "1":
        truths["trials"] = batch.p.mean(axis=1)
    results = []
    for over, truth in truths.items():
        coverage, width = {}, {}
        for method, ends in {"corrected": estimates.ends(over), **others}.items():
            low, high = (end[used] for end in ends)
            covered = (low <= truth[used] + SLACK) & (truth[used] <= high + SLACK)
            coverage[method] = float(covered.mean())
            width[method] = float((high - low).mean())
        count = int(used.sum())
        results.append(Result(cell, over, count, sets - count, coverage, width))
    return results


# -- tables --------------------------------------------------------------------------------------


def table(results: list[Result], title: str) -> list[str]:
    """Return a line per method: mean coverage, lowest cell, share of low cells, widths."""
    lines = [f"{title}: {len(results)} cells"]
    for method in METHODS:
        cover = np.array([result.coverage[method] for result in results])
        ratio = np.array([r.width[method] / r.width["labels alone"] for r in results])
        lines.append(
            f"  {method:13} mean {cover.mean():.3f}  lowest {cover.min():.3f}  "
            f"below {LOW:g}: {(cover < LOW).mean():4.0%}  width / labels alone {ratio.mean():.2f}"
            f" (most {ratio.max():.2f})"
        )
    return lines


def by_group(results: list[Result], key: str) -> list[str]:
    """Return the corrected coverage of each value of a column."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(str(result.row()[key]), []).append(result)
    lines = []
    for name, members in sorted(groups.items()):
        cover = [member.coverage["corrected"] for member in members]
        ratio = np.mean([member.ratio for member in members])
        lines.append(
            f"    {key} {name}: {np.mean(cover):.3f}, lowest {min(cover):.3f}, below {LOW:g}: "
            f"{np.mean(np.array(cover) < LOW):.0%} of {len(cover)}, width {ratio:.2f}"
        )
    return lines


def is_reached(results: list[Result]) -> bool:
    cover = np.array([result.coverage["corrected"] for result in results])
    in_range = WANTED[0] - 5e-4 <= cover.mean() <= WANTED[1] + 5e-4
    return bool(in_range and (cover < LOW).mean() <= MOST_LOW)


def run_grid(grid: int, sets: int, most: int | None, workers: int) -> list[Result]:
    cells = cells_of(grid, most)
    jobs = [(cell, sets, 1000 * grid + index) for index, cell in enumerate(cells)]
    with ProcessPoolExecutor(workers) as pool:
        return [result for both in pool.map(measured, jobs, chunksize=2) for result in both]


def write(path: Path, results: Iterable[Result]) -> None:
    rows = [result.row() for result in results]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--grid", type=int, choices=(1, 2, 3), action="append")
    parser.add_argument("--sets", type=int)
    parser.add_argument("--cells", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    sets = options.sets or (40 if options.quick else 600)
    most = options.cells or (12 if options.quick else None)
    every: list[Result] = []
    for grid in options.grid or (1, 2, 3):
        results = run_grid(grid, sets, most, options.workers)
        every += results
        for over in ("problems", "trials"):
            part = [result for result in results if result.over == over]
            print("\n".join(table(part, f"grid {grid}, over {over}")))
            for key in ("design", "judge", "population", "trials", "problems"):
                print("\n".join(by_group(part, key)))
            print(f"  wanted: {'reached' if is_reached(part) else 'MISSED'}", flush=True)
    if options.output:
        write(options.output, every)


if __name__ == "__main__":
    main()

"""Whether the notes on estimates tell the intervals that are too short from those that are not.

A note of severity "weak" says that an interval may well be too short. A cell, a kind of data and a
metric, is noted if more than half of its data sets carry such a note (or an "invalid" one). Wanted:
fewer than 15 % of the good cells are noted, those with a coverage in 93-97.5 %, and more than 90 %
of the short ones, those under 92 %.

The cells are those of `coverage.py`, whose coverage is read from docs/, and cells of 200 random
designs. Of the cells that are measured under 93 %, some are short by chance; these are measured a
second time, on other data sets, and the second coverage decides.

    python benchmarks/notes.py                 40 data sets a cell for the notes of the grid
    python benchmarks/notes.py --csv FILE      write every cell to this file
    python benchmarks/notes.py --cells FILE    print the tables of such a file
    python benchmarks/notes.py --quick         a tenth of the grid, and of the designs
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from coverage import (
    Floats,
    Job,
    Population,
    beta,
    cells_of,
    drawn,
    jobs,
    latent,
    levels,
    logit_normal,
    zeros_and,
)

from passband import Outcomes, estimate
from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.interval.estimation import Estimate

DOCS = Path(__file__).resolve().parent.parent / "docs"
GOOD = (0.93, 0.975)
SHORT = 0.92
DOUBTFUL = 0.93  # cells measured below are measured a second time
TARGETS: tuple[Over, ...] = ("problems", "trials")
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64)  # trials of the random designs


@dataclass(frozen=True)
class Cell:
    """One kind of data and a metric: its coverage, and the share of data sets with notes."""

    grid: str
    population: str
    problems: int
    trials: int
    metric: str
    over: str
    coverage: float
    again: float | None  # on other data sets, where the coverage was under 93 %
    noted: float  # share of data sets with any note ...
    weak: float  # ... and with one that is weak or invalid
    codes: str  # shares of data sets with each code, and with it weak: "one-trial 1.00/0.00; ..."

    @property
    def settled(self) -> float:
        return self.coverage if self.again is None else self.again

    @property
    def is_good(self) -> bool:
        return GOOD[0] <= self.settled <= GOOD[1]

    @property
    def is_short(self) -> bool:
        return self.settled < SHORT

    @property
    def is_noted(self) -> bool:
        return self.weak > 0.5

    def shares(self) -> Iterator[tuple[str, float, float]]:
        for part in filter(None, self.codes.split("; ")):
            code, _, pair = part.partition(" ")
            some, weak = pair.split("/")
            yield code, float(some), float(weak)


@dataclass
class Tally:
    """The notes on the estimates of one cell."""

    sets: int = 0
    noted: int = 0
    weak: int = 0
    some: Counter[str] = field(default_factory=Counter)
    severe: Counter[str] = field(default_factory=Counter)

    def add(self, notes: Sequence[Note]) -> None:
        severe = {note.code for note in notes if note.severity != "remark"}
        self.sets += 1
        self.noted += bool(notes)
        self.weak += bool(severe)
        self.some.update({note.code for note in notes})
        self.severe.update(severe)

    def as_columns(self) -> dict[str, Any]:
        shares = [
            f"{code} {count / self.sets:.2f}/{self.severe[code] / self.sets:.2f}"
            for code, count in sorted(self.some.items())
        ]
        return {
            "noted": round(self.noted / self.sets, 4),
            "weak": round(self.weak / self.sets, 4),
            "codes": "; ".join(shares),
        }


# -- the grid of coverage.py ---------------------------------------------------------------

Key = tuple[str, str]  # metric and target


def grid_cells(job: Job, measured: dict[Key, float], sets: int, again: int) -> list[Cell]:
    """Return the cells of one population and size, with the notes on its first data sets."""
    _, successes = drawn(job)
    tallies = {key: Tally() for key in measured}
    for row in successes[:sets]:
        for key, found in estimates(row, job.trials, list(measured)):
            tallies[key].add(found.notes)
    second: dict[Key, float] = {}
    if min(measured.values()) < DOUBTFUL:
        other = replace(job, seed=(*job.seed, 1), sets=again)
        second = {(c.metric, c.over): c.coverage for c in cells_of(other)}
    return [
        Cell(
            "other populations" if job.other_set else "published",
            job.name,
            job.problems,
            job.trials,
            *key,
            coverage,
            round(second[key], 4) if coverage < DOUBTFUL else None,
            **tallies[key].as_columns(),
        )
        for key, coverage in measured.items()
    ]


def estimates(successes: Any, trials: int, keys: Sequence[Key]) -> Iterator[tuple[Key, Estimate]]:
    outcomes = Outcomes.from_counts(successes, trials)
    for over in TARGETS:
        metrics = [metric for metric, target in keys if target == over]
        for found in estimate(outcomes, metrics, over=over) if metrics else ():
            yield (found.metric, over), found


def published(other_set: bool) -> dict[tuple[str, int, int], dict[Key, float]]:
    """Read the coverage of every cell, by population, problems and trials."""
    file = DOCS / ("coverage-other.csv" if other_set else "coverage.csv")
    found: dict[tuple[str, int, int], dict[Key, float]] = {}
    with file.open(newline="") as lines:
        for row in csv.DictReader(lines):
            size = (row["population"], int(row["problems"]), int(row["trials"]))
            found.setdefault(size, {})[row["metric"], row["over"]] = float(row["coverage"])
    return found


# -- random designs ------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """A random population, with its problems, trials and metrics."""

    label: str
    population: Population
    problems: int
    trials: int
    metrics: tuple[str, ...]
    seed: int


def random_design(seed: int) -> Design:
    """Draw a design: the smaller numbers of problems and trials are the likelier ones."""
    rng = np.random.default_rng([50, seed])
    label, population = random_population(rng)
    trials = int(rng.choice(SIZES))
    problems = round(float(np.exp(rng.uniform(np.log(5), np.log(1000)))))
    half = trials // 2
    ks = {int(rng.integers(1, max(half, 1) + 1)), int(rng.integers(half + 1, trials + 1))}
    metrics = [
        f"{rng.choice(['pass@', 'pass^', 'maj@'])}{k}" if k > 1 else "pass@1" for k in sorted(ks)
    ]
    return Design(label, population, problems, trials, tuple(metrics), seed)


def random_population(rng: np.random.Generator) -> tuple[str, Population]:
    kind = rng.integers(4)
    if kind == 0:
        return random_beta(rng)
    if kind == 1:
        mean, sd = rng.uniform(-4, 4), rng.uniform(0.1, 3)
        return f"logit N({mean:.2g},{sd:.2g})", logit_normal(mean, sd)
    if kind == 2:
        share = float(rng.uniform(0.05, 0.98))
        label, rest = random_beta(rng)
        if rng.random() < 0.5:
            return f"{share:.0%} 0, {label}", zeros_and(rest, share)
        return f"{share:.0%} 1, {label}", mirrored(zeros_and(rest, share))
    count = int(rng.integers(1, 5))
    ps = np.round(
        np.where(rng.random(count) < 0.3, rng.integers(0, 2, count), rng.random(count)), 2
    )
    ps = np.clip(ps, 0.01, 0.99) if count == 1 else ps
    weights = rng.dirichlet(np.full(count, 0.7))
    label = ", ".join(f"{w:.1%} {p:g}" for w, p in zip(weights, ps, strict=True))
    return label, levels(*ps.tolist(), weights=tuple(weights.tolist()))


def random_beta(rng: np.random.Generator) -> tuple[str, Population]:
    a, b = np.exp(rng.uniform(np.log(0.05), np.log(20), 2))
    return f"Beta({a:.2g},{b:.2g})", beta(float(a), float(b))


def mirrored(population: Population) -> Population:
    return lambda rng, shape: 1.0 - population(rng, shape)


def design_cells(seed: int, sets: int, again: int) -> list[Cell]:
    """Return the cells of one random design, their coverage and notes."""
    design = random_design(seed)
    many = design.population(np.random.default_rng(1), (400_000,))
    above = {metric: float(true_values(metric, many).mean()) for metric in design.metrics}
    every = [(metric, over) for over in TARGETS for metric in design.metrics]
    covered, tallies = simulated(design, above, every, sets, 0)
    doubtful = [key for key, coverage in covered.items() if coverage < DOUBTFUL]
    second, _ = simulated(design, above, doubtful, again if doubtful else 0, 1)
    return [
        Cell(
            "random designs",
            design.label,
            design.problems,
            design.trials,
            *key,
            round(coverage, 4),
            round(second[key], 4) if key in second else None,
            **tallies[key].as_columns(),
        )
        for key, coverage in covered.items()
    ]


def simulated(
    design: Design, above: dict[str, float], keys: Sequence[Key], sets: int, stream: int
) -> tuple[dict[Key, float], dict[Key, Tally]]:
    rng = np.random.default_rng([51, design.seed, stream])
    hits: Counter[Key] = Counter()
    tallies = {key: Tally() for key in keys}
    for _ in range(sets):
        p = design.population(rng, (design.problems,))
        row = rng.binomial(design.trials, p)
        for key, found in estimates(row, design.trials, keys):
            own = key[1] == "trials"
            truth = float(true_values(key[0], p).mean()) if own else above[key[0]]
            hits[key] += found.low - 1e-12 <= truth <= found.high + 1e-12
            tallies[key].add(found.notes)
    return {key: hits[key] / sets for key in keys if sets}, tallies


def true_values(metric: str, p: Floats) -> Floats:
    return latent(metric, int(metric[5:] if metric[:4] == "pass" else metric[4:]), p)


# -- tables --------------------------------------------------------------------------------


def report(cells: list[Cell]) -> Iterator[str]:
    yield (
        "| cells | good | noted | with any note | short | noted | with any note | short once "
        "| noted |"
    )
    yield "|:--|--:|--:|--:|--:|--:|--:|--:|--:|"
    for grid, over in dict.fromkeys((c.grid, c.over) for c in cells):
        yield line(f"{grid}, over {over}", [c for c in cells if (c.grid, c.over) == (grid, over)])
    grids = [c for c in cells if c.grid != "random designs"]
    yield line("grid of this page", grids)
    yield line("random designs", [c for c in cells if c.grid == "random designs"])
    yield ""
    yield "| note | good cells | weak | short cells | weak |"
    yield "|:--|--:|--:|--:|--:|"
    for code in sorted({code for c in cells for code, _, _ in c.shares()}):
        yield code_line(code, cells)


def line(label: str, cells: Sequence[Cell]) -> str:
    good, short = [c for c in cells if c.is_good], [c for c in cells if c.is_short]
    once = [c for c in cells if c.coverage < SHORT]
    columns = [*shares_of(good), *shares_of(short), *shares_of(once)[:2]]
    return f"| {label} | {' | '.join(columns)} |"


def shares_of(cells: Sequence[Cell]) -> list[str]:
    if not cells:
        return ["0", "", ""]
    some = np.mean([c.noted > 0.5 for c in cells])
    return [str(len(cells)), f"{np.mean([c.is_noted for c in cells]):.3f}", f"{some:.3f}"]


def code_line(code: str, cells: Iterable[Cell]) -> str:
    found: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for one in cells:
        if one.is_good or one.is_short:
            shares = {name: (some, weak) for name, some, weak in one.shares()}
            found[one.is_good].append(shares.get(code, (0.0, 0.0)))
    columns = [
        f"{np.mean([pair[at] for pair in found[is_good]] or [0]):.3f}"
        for is_good in (True, False)
        for at in (0, 1)
    ]
    return f"| `{code}` | {' | '.join(columns)} |"


def stored(file: Path) -> list[Cell]:
    """Read cells that were written."""
    numbers = {f.name: int if f.type == "int" else float for f in fields(Cell) if f.type != "str"}

    def value(name: str, text: str) -> Any:
        if name not in numbers:
            return text
        return numbers[name](text) if text else None

    with file.open(newline="") as lines:
        return [Cell(**{k: value(k, v) for k, v in row.items()}) for row in csv.DictReader(lines)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sets", type=int, default=40, help="of each cell of the grid")
    parser.add_argument("--designs", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--csv", type=Path, help="write every cell to this file")
    parser.add_argument("--cells", type=Path, help="print the tables of this file")
    given = parser.parse_args()
    cells = stored(given.cells) if given.cells else list(measured(given))
    print("\n".join(report(cells)))
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(asdict(cells[0])), lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(c) for c in cells)


def measured(given: argparse.Namespace) -> Iterator[Cell]:
    step = 10 if given.quick else 1
    todo: list[Callable[[], list[Cell]]] = []
    for other_set in (False, True):
        coverage = published(other_set)
        todo += [
            partial(grid_cells, job, coverage[job.name, job.problems, job.trials], given.sets, 1200)
            for job in jobs(other_set, 400)[::step]
        ]
    todo += [partial(design_cells, seed, 300, 1200) for seed in range(0, given.designs, step)]
    with ProcessPoolExecutor(given.workers) as pool:
        for done, found in enumerate(pool.map(call, todo), start=1):
            if sys.stderr.isatty():
                print(f"\r{done} of {len(todo)}", end="", file=sys.stderr)
            yield from found


def call(job: Callable[[], list[Cell]]) -> list[Cell]:
    return job()


if __name__ == "__main__":
    main()

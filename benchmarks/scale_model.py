"""What 10^9 trials on 100 nodes would take, from coefficients that are measured here.

    python benchmarks/scale_model.py             some fifteen minutes
    python benchmarks/scale_model.py --part 10   a tenth of everything

Nobody here has 100 nodes. Each step of a run (asking, committing, merging, exporting, counting) is
run at three sizes, as a process of its own, and its CPU time is fitted by a line: what a process
takes whatever it does, and what a trial takes. The fit uses the smallest and the largest size; the
middle one is predicted, and how far the prediction is off says how straight the line is. Each
figure is the least of several. docs/measured.md says what may be concluded from them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import loopback
from scale_shards import TASK
from scale_tables import make

from passband.trials.file.schema import STORE_FILE
from passband.trials.rows import ProblemRow, ScorerEntry, ScoreRow, TrialRow
from passband.trials.store import Store

BATCH, SHARDS, ROWS = 16, 2, 500  # completions of a request, shards, rows of a commit
SIZES = (250, 500, 1_000)  # problems
EACH = 64  # trials of a problem
TABLES = (1_000_000, 5_000_000, 20_000_000)  # rows
TRIALS, PROBLEMS, NODES, CORES = 10**9, 10**6, 100, 8  # of the run that is forecast
LATENCY, IN_FLIGHT = 10.0, 256  # seconds of a request, and requests in flight at a node
WORDS = ["".join(random.Random(n).choices("etaoinshrdlu", k=1 + n % 9)) for n in range(20_000)]
FREQUENCIES = [1 / (rank + 2.7) for rank in range(len(WORDS))]


@dataclass(frozen=True)
class Line:
    """Seconds of CPU that a step takes: `base` for a process, and `slope` for each trial."""

    name: str
    base: float
    slope: float
    error: float  # of the prediction for the middle size, as a share of what was measured

    @classmethod
    def through(cls, name: str, sizes: Sequence[int], seconds: Sequence[float]) -> Line:
        """Return the line through the first and the last of three points."""
        slope = (seconds[-1] - seconds[0]) / (sizes[-1] - sizes[0])
        base = seconds[0] - slope * sizes[0]
        return cls(name, base, slope, (base + slope * sizes[1]) / seconds[1] - 1)


@dataclass(frozen=True)
class Model:
    """All that is measured."""

    lines: dict[str, Line]
    commit: float  # seconds of CPU for a trial, which asking includes
    wait: float  # seconds that a commit waits for the disk
    stored: float  # bytes of a trial in a store
    exported: float  # in Parquet files with completions


def cpu_of(words: Sequence[object]) -> float:
    """Run a command and return the CPU time that it took, user and system."""
    command = [sys.executable, "-m", "passband", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


class Runs:
    """The steps of a run, at one size after the other, in one folder."""

    def __init__(self, folder: Path, url: str, repeats: int) -> None:
        self.folder, self.url, self.repeats = folder, url, repeats
        self.task = folder / "sums.yaml"
        self.task.write_text(TASK)

    def least(self, words: Callable[[Path], Sequence[object]], out: str) -> float:
        """Return the least CPU time of a command, which is given another output each time."""
        seconds = []
        for _ in range(self.repeats):
            path = self.folder / out
            if path.is_dir():
                shutil.rmtree(path)
            seconds.append(cpu_of(words(path)))
        return min(seconds)

    def measure(self, problems: int) -> dict[str, float]:
        """Return the seconds of every step for a number of problems."""
        rows = [{"a": 17 + at, "b": 25 + at} for at in range(problems)]
        data = self.folder / "sums.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        parts = [self.folder / f"part-{index}" for index in range(1, SHARDS + 1)]
        asked = {
            "ask, a request each": self.least(lambda out: self.run(1, out), "one"),
            f"ask, {BATCH} a request": sum(
                self.least(
                    lambda out, index=at: [*self.run(BATCH, out), "--shard", f"{index}/{SHARDS}"],
                    part.name,
                )
                for at, part in enumerate(parts, start=1)
            ),
        }
        merged, tables = self.folder / "merged", self.folder / "tables"
        merge = self.least(lambda out: ["merge", *parts, "-o", out], merged.name)
        export = self.least(
            lambda out: ["export", merged, "--format", "parquet", "-o", f"{out}/"], tables.name
        )
        return {**asked, "merge": merge, "export as Parquet": export}

    def run(self, batch: int, out: Path) -> list[object]:
        """Return the command of a run."""
        return [
            "run", self.task, "--model", "openai:loopback", "--base-url", self.url, "--seed", "s",
            "-n", EACH, "--batch", batch, "-q", "--out", out,
        ]  # fmt: skip


def commits(folder: Path, count: int) -> tuple[float, float]:
    """Return the CPU time of a trial in commits, and the median seconds that one waits.

    Completions are of words as frequent as those of a language, and so compress like one.
    """
    store, draw = Store(folder), random.Random(9)
    run = store.begin("sums", "tiny", spec={"seed": "s"}, config={}, name="run")
    store.add_problems(run, [ProblemRow(at, f"p{at}", '{"messages": []}') for at in range(ROWS)])
    (scorer,) = store.set_scorers(run, [ScorerEntry("exact_match", "1")])
    waits, cpu = [], []
    for first in range(0, count * ROWS, ROWS):
        rows = [
            TrialRow(problem, trial, "ok", text(draw), None, 200, 80, 12, 1, 1234, None,
                     [ScoreRow(scorer, float(trial % 2), "ok", str(trial), "marker")])
            for problem, trial in map(place, range(first, first + ROWS))
        ]  # fmt: skip
        before, began = _cpu(), time.perf_counter()
        store.append(run, rows)
        cpu.append(_cpu() - before)
        waits.append(time.perf_counter() - began - cpu[-1])
    store.close()
    return statistics.median(cpu) / ROWS, statistics.median(waits)


def place(row: int) -> tuple[int, int]:
    """Return the problem and the trial of a row; requests are for 16 trials of a problem."""
    block, trial = divmod(row, BATCH)
    return block % ROWS, block // ROWS * BATCH + trial


def text(draw: random.Random) -> str:
    """Return some 390 characters of invented words, of which few are frequent."""
    return " ".join(draw.choices(WORDS, FREQUENCIES, k=64))


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def counting(folder: Path, part: int, repeats: int) -> Line:
    """Measure counting Parquet files, checked for duplicates."""
    sizes, seconds = [rows // part for rows in TABLES], []
    for rows in sizes:
        path = folder / f"rows-{rows}"
        make(path, rows, "int")
        words = ["stats", path, "-m", "pass@8", "--by", "step", "-q"]
        seconds.append(min(cpu_of(words) for _ in range(repeats)))
        shutil.rmtree(path)
    return Line.through("count Parquet files", sizes, seconds)


def measured(folder: Path, part: int, repeats: int) -> Model:
    """Measure every step at every size, and fit lines."""
    sizes = [max(10, size // part) for size in SIZES]
    with loopback.started(characters=390) as url:
        runs = Runs(folder, url, repeats)
        seconds = [runs.measure(problems) for problems in sizes]
    trials = [size * EACH for size in sizes]
    lines = {name: Line.through(name, trials, [one[name] for one in seconds])
             for name in seconds[0]}  # fmt: skip
    line = counting(folder, part, repeats)
    lines[line.name] = line
    count, store, files = max(2, 200 // part), folder / "commits", folder / "files"
    cpu, wait = commits(store, count)
    cpu_of(["export", store, "--format", "parquet", "-o", f"{files}/"])
    exported = sum(file.stat().st_size for file in files.glob("*.parquet"))
    stored = (store / STORE_FILE).stat().st_size
    return Model(lines, cpu, wait, stored / (count * ROWS), exported / (count * ROWS))


def show(model: Model) -> None:
    """Print the coefficients, and what follows from them."""
    print("CPU time of one core, the least of several")
    print(f"  {'':24} {'us a trial':>12} {'s a process':>12} {'middle size':>12}")
    for line in model.lines.values():
        print(f"  {line.name:24} {1e6 * line.slope:12.3g} {line.base:12.2f} {line.error:+12.1%}")
    print(f"  {'committing, part of it':24} {1e6 * model.commit:12.3g}")
    print(f"a commit waits for the disk {1e3 * model.wait:.2g} ms; a trial of 390 characters takes")
    print(f"{model.stored:.0f} bytes in a store, {model.exported:.0f} in Parquet")
    print()
    print(
        f"{TRIALS:,} trials of {PROBLEMS:,} problems on {NODES} nodes of {CORES} cores; a request"
    )
    print(f"for {BATCH} takes {LATENCY:g} s, and {IN_FLIGHT} are in flight at each node:")
    for name, value, unit in forecast(model):
        print(f"  {name:58} {value:10,.{0 if value >= 10 else 2}f} {unit}")


def forecast(model: Model) -> Iterator[tuple[str, float, str]]:
    """Yield what the run would take, step by step."""
    slope = {name: line.slope for name, line in model.lines.items()}
    each = TRIALS / NODES
    yield "the answers of the server", each / BATCH * LATENCY / IN_FLIGHT, "s"
    yield "asking and recording, one process a node", each * slope[f"ask, {BATCH} a request"], "s"
    yield "  the same with a request for each trial", each * slope["ask, a request each"], "s"
    yield f"waiting for the disk, {ROWS} trials a commit", each / ROWS * model.wait, "s"
    yield "merging into one store, one process", TRIALS * slope["merge"], "s"
    yield "one store of everything", TRIALS * model.stored / 1e9, "GB"
    yield "exporting each shard where it is, one process a node", (
        each * slope["export as Parquet"]
    ), "s"  # fmt: skip
    yield "the files of everything", TRIALS * model.exported / 1e9, "GB"
    yield "counting the files, one core", TRIALS * slope["count Parquet files"], "s"
    yield "counting the files, every core", (
        TRIALS * slope["count Parquet files"] / (NODES * CORES)
    ), "s"  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, measure and print."""
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--part", type=int, default=1, help="divide everything by this")
    parser.add_argument("--repeats", type=int, default=2, help="runs of each step")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="passband-") as folder:
        show(measured(Path(folder), options.part, options.repeats))


if __name__ == "__main__":
    main()

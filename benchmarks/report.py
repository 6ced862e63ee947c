"""What a report costs: time, memory and the size of its file.

    python benchmarks/report.py            200 x 64, 15,625 x 64 and 10,000 x 100 trials
    python benchmarks/report.py --part 10  a tenth of the problems, bounds in proportion

Runs are written directly, with completions of 350 characters, an answer in each and success rates
from Beta(1/2, 1/2). Every report is a process of its own: its wall and CPU time from its start to
its end, and the most memory that it had.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from passband.trials.rows import ProblemRow, ScorerEntry, ScoreRow, TrialRow
from passband.trials.store import Store

SHAPES = ((200, 64, 3.0, 300, 0.6), (15_625, 64, 30.0, 1000, 5.0), (10_000, 100, 30.0, 1000, 5.0))
TEXT = "First I read the question once more and write down what is given. " * 5
KINDS = ("algebra", "geometry", "logic", "number theory", "probability")


def fill(directory: Path, problems: int, n: int) -> None:
    """Write a run of so many problems with n trials each."""
    generator = np.random.default_rng(n)
    rates = generator.beta(0.5, 0.5, problems)
    store = Store(directory, low_water=0)
    try:
        run = store.begin("sums", "sampled", spec={"model": "sampled"}, config={"n": n})
        numbers = store.add_problems(run, [_problem(at) for at in range(problems)])
        (scorer,) = store.set_scorers(run, [ScorerEntry("exact_match", "exact_match")])
        for first in range(0, problems, 100):
            places = range(first, min(first + 100, problems))
            rows = _trials(places, numbers, rates, n, scorer, generator)
            store.append(run, list(rows))
    finally:
        store.close()


def _problem(at: int) -> ProblemRow:
    kind = KINDS[at % len(KINDS)]
    record = (
        f'{{"choices":[],"doc":{{"id":"p{at:05d}","level":"{kind}"}},"messages":[["user",'
        f'"A story of 100 characters or so, and then: what is {at} + 7?"]],"targets":["{at + 7}"]}}'
    )
    return ProblemRow(at, f"p{at:05d}", record)


def _trials(
    places: range,
    numbers: list[int],
    rates: np.ndarray,
    n: int,
    scorer: int,
    generator: np.random.Generator,
) -> Iterator[TrialRow]:
    for at in places:
        for trial, draw in enumerate(generator.random(n)):
            right = bool(draw < rates[at])
            answer = str(at + 7 if right else at + 8 + int(draw * 1000) % 5)
            yield TrialRow(
                numbers[at], trial, "ok", f"Way {trial}: {TEXT}The answer is {answer}.",
                prompt_tokens=200, completion_tokens=80, latency_ms=12, seed=1234,
                scores=[ScoreRow(scorer, float(right), "ok", answer, "marker")],
            )  # fmt: skip


def measure(directory: Path, file: Path) -> tuple[float, float, float]:
    """Make a report in a process of its own; return its wall time, CPU time and memory in MB."""
    command = [sys.executable, "-m", "passband", "report", str(directory), "-o", str(file), "-q"]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status:
        raise SystemExit(f"the report of {directory} failed")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def show(what: str, value: float, unit: str, bound: float) -> None:
    verdict = "ok" if value < bound else "SHORT"
    print(f"  {what:20} {value:8.2f} {unit:2} (under {bound:g}) {verdict}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", type=int, default=1, help="one part of so many of the problems")
    part = parser.parse_args().part
    with tempfile.TemporaryDirectory() as folder:
        for problems, n, seconds, memory, size in SHAPES:
            directory = Path(folder) / f"{problems}x{n}"
            fill(directory, max(problems // part, 1), n)
            print(f"{max(problems // part, 1):,} problems x {n} trials")
            wall, cpu, peak = measure(directory, Path(folder) / "report.html")
            show("wall time", wall, "s", seconds)
            show("CPU time", cpu, "s", seconds)
            show("memory", peak, "MB", memory)
            show("file", (Path(folder) / "report.html").stat().st_size / 1e6, "MB", size)


if __name__ == "__main__":
    main()

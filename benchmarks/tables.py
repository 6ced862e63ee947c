"""Large tables: a million rows of CSV or Parquet to a full summary.

    python benchmarks/tables.py [--rows 1000000] [--repeat 3]

Writes tables of trials to a temporary folder, 1,000 trials of each problem and 16 trials of each,
and prints for every file what `passband.summarize` takes, imports included: wall time, CPU time,
the share of it that is reading, how often as long as csv.reader (or pyarrow, into Python objects)
that is, and the most memory that the process had. Each is measured in a process of its own, and the
one with the least CPU time counts.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SHAPES = (1_000, 16)  # trials of a problem


def write(folder: Path, rows: int, trials: int) -> list[Path]:
    """Write the same table as CSV and as Parquet."""
    import pyarrow
    import pyarrow.parquet

    generator = np.random.default_rng(trials)
    problems = rows // trials
    rate = generator.beta(0.5, 0.5, problems)
    score = (generator.random((problems, trials)) < rate[:, None]).ravel().astype(int)
    failed = generator.random(len(score)) < 0.002
    columns = {
        "model": ["M"] * len(score),
        "problem": [f"p{n:06d}" for n in np.repeat(np.arange(problems), trials).tolist()],
        "trial": np.tile(np.arange(trials), problems).tolist(),
        "score": [None if f else s for s, f in zip(score.tolist(), failed.tolist(), strict=True)],
        "status": ["timeout" if f else "ok" for f in failed.tolist()],
    }
    paths = [folder / f"{problems}x{trials}.csv", folder / f"{problems}x{trials}.parquet"]
    with paths[0].open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    pyarrow.parquet.write_table(pyarrow.table(columns), paths[1])
    return paths


def measure(path: Path) -> dict[str, float]:
    """Summarize one file in this process."""
    began, cpu = time.perf_counter(), time.process_time()
    from passband.summary.from_sources import summarize

    summarize(path)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    from passband import readers

    began = time.process_time()
    readers.read(path)
    read = time.process_time() - began
    return {
        "wall_s": wall,
        "cpu_s": cpu,
        "of_which_reading": read / cpu,
        "of_floor": read / floor(path),
        "memory_mb": memory,
    }


def floor(path: Path) -> float:
    """Return the CPU time of reading a file into Python objects, and nothing else."""
    began = time.process_time()
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            for _ in csv.reader(file):
                pass
    else:
        import pyarrow.parquet

        pyarrow.parquet.read_table(path).to_pydict()
    return time.process_time() - began


def fastest(path: Path, repeat: int) -> dict[str, float]:
    """Measure a file in several processes, and return the fastest."""
    command = [sys.executable, __file__, "--measure", str(path)]
    runs = [json.loads(subprocess.check_output(command)) for _ in range(repeat)]
    return min(runs, key=lambda run: run["cpu_s"])


def main() -> None:
    """Print one line of JSON for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--measure", type=Path)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for trials in SHAPES:
            for path in write(Path(folder), options.rows, trials):
                figures = fastest(path, options.repeat)
                rounded = {name: round(value, 2) for name, value in figures.items()}
                print(json.dumps({"file": path.name, **rounded}), flush=True)


if __name__ == "__main__":
    main()

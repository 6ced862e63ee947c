"""What 10^9 trials on 100 nodes would take, from coefficients that are measured here.

    python benchmarks/scale_model.py             a few minutes
    python benchmarks/scale_model.py --part 10   a tenth of everything

Nobody here has 100 nodes. Every step is measured on a part that fits, as a process of its own
(seconds of CPU, user and system; bytes on disk), and taken to grow in proportion to the trials,
which docs/scale.md argues for each. What the server takes is not in it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import loopback
from scale_shards import TASK

BATCH, SHARDS = 16, 2
TRIALS, NODES, CORES = 10**9, 100, 8  # of the run that is forecast
LATENCY, IN_FLIGHT = 10.0, 256  # seconds of a request, and requests in flight at a node


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    cpu: float
    seconds: float


def cost_of(words: Sequence[object]) -> Cost:
    """Run a command and return what it took."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "passband", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - began)


@dataclass(frozen=True)
class Coefficients:
    """Seconds of CPU and bytes of a trial in each step, and the seconds until a run starts."""

    start: float
    ask_one: float  # a request for each trial
    ask_batch: float  # a request for 16
    stored: float  # bytes
    merge: float
    export: float
    exported: float  # bytes
    count: float


def measured(folder: Path, problems: int, n: int) -> Coefficients:
    """Ask, merge, export and count, and divide by the trials; starting is taken off."""
    rows = [{"a": 17 + at, "b": 25 + at} for at in range(problems)]
    (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "sums.yaml").write_text(TASK)
    trials = problems * n
    with loopback.started(characters=390) as url:
        run = ["run", folder / "sums.yaml", "--model", "openai:loopback", "--base-url", url,
               "--seed", "s", "-q"]  # fmt: skip
        start = cost_of([*run, "-n", 1, "--limit", 1, "--out", folder / "start"])
        one = cost_of([*run, "-n", n, "--batch", 1, "--out", folder / "one"])
        parts = [folder / f"part-{index}" for index in range(1, SHARDS + 1)]
        batches = [
            cost_of([*run, "-n", n, "--batch", BATCH, "--shard", f"{index}/{SHARDS}", "--out", out])
            for index, out in enumerate(parts, start=1)
        ]
    light = cost_of(["metrics"]).cpu
    merge = cost_of(["merge", *parts, "-o", folder / "merged"])
    stored = (folder / "merged" / "trials.sqlite").stat().st_size
    tables = folder / "tables"
    export = cost_of(["export", folder / "merged", "--format", "parquet", "-o", f"{tables}/"])
    count = cost_of(["stats", f"{tables}/*.parquet", "-m", "pass@8", "-q"])
    few = cost_of(["stats", folder / "start", "-q"])
    files = sum(file.stat().st_size for file in tables.glob("*.parquet"))
    batch = sum(each.cpu for each in batches) - SHARDS * start.cpu
    return Coefficients(
        start.seconds,
        (one.cpu - start.cpu) / trials,
        batch / trials,
        stored / trials,
        max(0.0, merge.cpu - light) / trials,
        max(0.0, export.cpu - light) / trials,
        files / trials,
        max(0.0, count.cpu - few.cpu) / trials,
    )


def show(c: Coefficients, trials: int) -> None:
    print(f"measured on {trials:,} trials; seconds are of one core")
    for name, value, unit in (
        ("start of a run", c.start, "s"),
        ("ask and record, a request each", 1e6 * c.ask_one, "us a trial"),
        (f"ask and record, {BATCH} a request", 1e6 * c.ask_batch, "us a trial"),
        ("store", c.stored, "bytes a trial"),
        ("merge", 1e6 * c.merge, "us a trial"),
        ("export as Parquet", 1e6 * c.export, "us a trial"),
        ("Parquet", c.exported, "bytes a trial"),
        ("count from Parquet", 1e9 * c.count, "ns a trial"),
    ):
        print(f"  {name:34} {value:10.3g} {unit}")
    each = TRIALS / NODES
    print(f"{TRIALS:.0e} trials on {NODES} nodes of {CORES} cores, {IN_FLIGHT} requests in flight")
    print(f"  at each, answered within {LATENCY:g} s, {BATCH} completions a request:")
    waiting = each / BATCH * LATENCY / IN_FLIGHT
    for name, seconds in (
        ("the server's answers", waiting),
        ("asking and recording, one process a node", each * c.ask_batch),
        ("merging into one store, one process", TRIALS * c.merge),
        ("exporting shards where they are, one core a node", each * c.export),
        ("counting all files, one process", TRIALS * c.count),
        ("counting all files, every core", TRIALS * c.count / (NODES * CORES)),
    ):
        print(f"  {name:50} {seconds:12,.0f} s")
    print(f"  {'one store of everything':50} {TRIALS * c.stored / 1e9:12,.0f} GB")
    print(f"  {'the same as Parquet files':50} {TRIALS * c.exported / 1e9:12,.0f} GB")


def main(arguments: Sequence[str] | None = None) -> None:
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--part", type=int, default=1, help="divide the problems by this")
    options = parser.parse_args(arguments)
    problems, n = 2_000 // options.part, 64
    with tempfile.TemporaryDirectory(prefix="passband-") as folder:
        show(measured(Path(folder), problems, n), problems * n)


if __name__ == "__main__":
    main()

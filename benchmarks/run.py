"""What a run costs, next to two bare loops: rates, CPU, memory, disk, and the first request.

    python benchmarks/run.py            a few minutes
    python benchmarks/run.py --quick    fewer repetitions and a tenth of the trials
    python benchmarks/run.py --floors   the comparison with the two loops alone

Everything talks to a server on this machine (loopback.py), which answers at once or after a fixed
time. Each comparison is made in one process and in turns, because the machine may be busy: rates
are the best of the repetitions, CPU times the least, and the ratio is of those. A run is measured
from opening its directory to closing it: scored by exact match after extraction, every trial
committed to disk with an fsync. One loop asks and keeps nothing (bare_loop.py), the other extracts
answers and inserts completions into one table, committed with an fsync too (insert_loop.py).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import bare_loop
import insert_loop
import loopback

from passband.generate.registry import Connection
from passband.run.session import run_session
from passband.run.settings import Settings
from passband.tasks.file.loader import load_task
from passband.trials.reader import Trials

TASK = """\
task: sums
dataset_path: json
dataset_kwargs:
  data_files:
    test: sums.jsonl
test_split: test
doc_to_text: "What is {{a}} + {{b}}?"
doc_to_target: "{{a + b}}"
generation_kwargs:
  temperature: 1.0
filter_list:
  - name: answer
    filter:
      - function: extract
metric_list:
  - metric: exact_match
    repeat_aggregation: mean
"""


class Unwatched:
    """A watcher that shows nothing."""

    def tick(self, progress: object) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def warn(self, text: str) -> None:
        """Stop: what is measured should go without a warning."""
        raise SystemExit(text)


@dataclass(frozen=True)
class Measured:
    """How fast completions came, and what each of them cost this process."""

    rate: float
    cpu_ms: float


def written(folder: Path, problems: int) -> Path:
    """Write the task and its data; return the task file."""
    rows = [{"a": 100 + 37 * at, "b": 991 - 3 * at} for at in range(problems)]
    (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / "sums.yaml"
    path.write_text(TASK)
    return path


def run_once(
    folder: Path, url: str, *, n: int, concurrency: int, batch: int, problems: int = 200
) -> Measured:
    """Run the task from nothing."""
    directory = folder / "run"
    shutil.rmtree(directory, ignore_errors=True)
    task = load_task(written(folder, problems))
    cpu, wall = time.process_time(), time.perf_counter()
    finished = run_session(
        [task],
        "openai:loopback",
        directory,
        settings=Settings(n=n, concurrency=concurrency),
        connection=Connection(url, concurrency=concurrency, batch=batch),
        watcher=Unwatched(),
    )
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    counters = finished.task_runs[0].counters
    assert counters.fresh == counters.statuses["ok"] == problems * n
    return Measured(counters.fresh / wall, 1000 * cpu / counters.fresh)


def best(measured: list[Measured]) -> Measured:
    return Measured(max(m.rate for m in measured), min(m.cpu_ms for m in measured))


def compare(folder: Path, repeat: int) -> None:
    """Next to a bare loop, one completion at a time; next to one that keeps them, sixteen."""
    bare, single, inserted, each, batched = [], [], [], [], []
    with loopback.started() as url:
        for _ in range(repeat):
            bare.append(floor(bare_loop.measure(url, requests=3200, concurrency=64)))
            single.append(run_once(folder, url, n=16, concurrency=64, batch=1))
            sixteen = {"requests": 800, "concurrency": 64, "n": 16}
            inserted.append(floor(insert_loop.measure(url, **sixteen)))
            each.append(floor(insert_loop.measure(url, each_reply=True, **sixteen)))
            batched.append(run_once(folder, url, n=16, concurrency=64, batch=16, problems=800))
    rates = [s.rate / b.rate for s, b in zip(single, bare, strict=True)]
    one, kept, many = best(single), best(inserted), best(batched)
    print("concurrency 64, no latency")
    show("bare loop", best(bare), "3,200 generations, one a request")
    show("passband run", one, f"{spread(rates)} of the bare loop's rate (at least 0.65)")
    show("loop that inserts", kept, "800 requests with n = 16, committed every 50 ms")
    show("the same", best(each), "committed with each reply")
    ratio = f"{many.cpu_ms / kept.cpu_ms:.2f} of the CPU of the loop that inserts (at most 1.4)"
    show("passband run, n = 16", many, ratio)
    cpu = [m.cpu_ms / k.cpu_ms for m, k in zip(batched, inserted, strict=True)]
    print(f"    CPU {spread(cpu)}")
    cpu = [m.cpu_ms / k.cpu_ms for m, k in zip(batched, each, strict=True)]
    print(f"    CPU {spread(cpu)}, next to one commit for each reply")


def floor(measured: bare_loop.Floor) -> Measured:
    return Measured(measured.rate, measured.cpu_ms_per_generation)


def spread(ratios: list[float]) -> str:
    """Return the median of ratios turn by turn, and the least and largest."""
    ordered = sorted(ratios)
    middle = ordered[len(ordered) // 2]
    return f"turn by turn {middle:.2f} (median; {ordered[0]:.2f}-{ordered[-1]:.2f})"


def against_latency(folder: Path, repeat: int, n: int) -> None:
    """Next to what 256 connections to a server of 200 ms can give."""
    possible = 256 / 0.2
    with loopback.started(latency=0.2) as url:
        runs = [run_once(folder, url, n=n, concurrency=256, batch=1) for _ in range(repeat)]
    print(f"\n{200 * n:,} generations, concurrency 256, 200 ms each")
    show("passband run", best(runs), f"{best(runs).rate / possible:.0%} of 1,280/s (at least 90%)")


def show(name: str, found: Measured, remark: str = "") -> None:
    print(f"  {name:22} {found.rate:8,.0f}/s  {found.cpu_ms:.3f} ms CPU each   {remark}".rstrip())


def large(folder: Path, problems: int, n: int) -> None:
    """Many trials through the command line: memory, disk, and reading them back."""
    path, directory = written(folder, problems), folder / "large"
    shutil.rmtree(directory, ignore_errors=True)
    with loopback.started() as url:
        subprocess.run(
            [
                sys.executable, "-m", "passband", "run", path, "--model", "openai:loopback",
                "--base-url", url, "-n", str(n), "--batch", "1", "--out", directory, "--quiet",
            ],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    trials = problems * n
    size = sum(file.stat().st_size for file in directory.iterdir()) / trials
    times = []
    for _ in range(5):
        start = time.perf_counter()
        with Trials(directory) as reader:
            outcomes = reader.outcomes(reader.run("sums"))
        times.append(time.perf_counter() - start)
        assert outcomes.n_trials == trials
    print(f"\n{trials:,} trials of {problems:,} problems, completions of 330 characters")
    print(f"  peak memory            {peak:8.0f} MB         (under 150)")
    print(f"  file                   {size:8.0f} bytes each (under 2,500)")
    print(f"  counts per problem     {min(times):8.3f} s          (under 0.3)")


def data_file(folder: Path) -> Path:
    """Fifty problems with whole numbers as answers, and nothing that says how to ask them."""
    path = folder / "problems.jsonl"
    rows = [{"problem": f"What is {n} + {7 * n}?", "answer": f"{8 * n:03}"} for n in range(50)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def first_request(folder: Path, path: Path, repeat: int) -> None:
    """The time from starting the command to its first byte on the wire."""
    times = []
    for _ in range(repeat):
        shutil.rmtree(folder / "first", ignore_errors=True)
        with listening() as (port, heard):
            start = time.perf_counter()
            command = [
                sys.executable, "-m", "passband", "run", str(path), "--model", "openai:m",
                "--base-url", f"http://127.0.0.1:{port}/v1", "--out", str(folder / "first"),
            ]  # fmt: skip
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
                times.append(heard() - start)
                process.kill()
    told = f"{min(times):.2f}-{max(times):.2f} s over {repeat} starts"
    print(f"\nfirst request of {path.name:15} {told} (under 1)")


@contextmanager
def listening() -> Iterator[tuple[int, Callable[[], float]]]:
    """Listen, and give a function that returns when the first bytes were heard."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(30)

        def heard() -> float:
            connection, _ = server.accept()
            with connection:
                connection.recv(1)
                return time.perf_counter()

        yield server.getsockname()[1], heard


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true")
    options.add_argument("--floors", action="store_true", help="the comparison with loops alone")
    parsed = options.parse_args()
    quick = parsed.quick
    os.environ.pop("OPENAI_API_KEY", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compare(folder, 5 if quick else 12)
        if parsed.floors:
            return
        against_latency(folder, 1 if quick else 3, 16 if quick else 64)
        large(folder, 100 if quick else 1_000, 100)
        for path in (written(folder, 200), data_file(folder)):
            first_request(folder, path, 3 if quick else 10)


if __name__ == "__main__":
    main()

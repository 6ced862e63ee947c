"""What merging the shards of a large run costs: time, memory, and what a kill leaves.

    python benchmarks/scale_merge.py            1,000,000 trials in 16 stores; some minutes
    python benchmarks/scale_merge.py --part 10  a tenth of the problems, bounds of time nearly so

Sixteen stores are written directly, as `passband run --shard I/16` would leave them: 5,000 problems
with 200 trials each, completions of some 390 bytes and one scorer. `passband merge` is a process of
its own each time: seconds from its start to its end, the least of several, and the most memory
that it had. The floor is the same rows copied by SQLite alone, without tallies, checks or
comparisons. Then merges are killed at random moments, and done again by the same command.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from passband.trials.encoding import canonical_json
from passband.trials.exports.export import export_trials
from passband.trials.file.schema import CREATE, STORE_FILE
from passband.trials.reader import Trials
from passband.trials.repair.audit import audit_store
from passband.trials.rows import ProblemRow, ScorerEntry, ScoreRow, TrialRow
from passband.trials.store import Store

PROBLEMS, TRIALS, SHARDS, BATCH = 5_000, 200, 16, 1
TEXT = "First I read the question once more and write down what is given. " * 5
TABLES = {"trial": "run, problem, trial", "body": "id", "score": "scorer, problem, trial"}


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    seconds: float
    memory: float  # MB


def fill(directory: Path, shard: int, problems: int) -> None:
    """Write the store that one shard of the run leaves."""
    store = Store(directory, first_body=shard << 40)
    plan = {"index": shard, "of": SHARDS, "batch": BATCH}
    try:
        run = store.begin("sums", "tiny", spec={"seed": "s"}, config={"shard": plan}, name="run")
        store.add_problems(run, [problem(at) for at in range(problems)])
        (scorer,) = store.set_scorers(run, [ScorerEntry("exact_match", "1")])
        session = store.begin_session(64)
        for first in range(0, problems, 500):
            store.append(run, list(trials(range(first, min(first + 500, problems)), shard, scorer)))
        store.end_session(session, 60.0, problems * TRIALS // SHARDS)
    finally:
        store.close()


def problem(at: int) -> ProblemRow:
    """Return a problem."""
    record = {"messages": [["user", f"What is {at} + 7?"]], "targets": [str(at + 7)], "choices": []}
    return ProblemRow(at, f"p{at}", canonical_json(record))


def trials(numbers: Sequence[int], shard: int, scorer: int) -> Iterator[TrialRow]:
    """Yield the trials of problems that belong to a shard."""
    for number in numbers:
        for trial in range(TRIALS):
            if (number + trial) % SHARDS != shard - 1:
                continue
            answer = number + 7 + trial % 2
            yield TrialRow(
                number, trial, "ok", f"Way {trial}: {TEXT}The answer to this is {answer}.", None,
                200, 80, 12, 1, 1234, f"chatcmpl-{number}",
                [ScoreRow(scorer, float(not trial % 2), "ok", str(answer), "marker")],
            )  # fmt: skip


def command(sources: Sequence[Path], out: Path) -> list[str]:
    return [sys.executable, "-m", "passband", "merge", *map(str, sources), "-o", str(out)]


def merged(sources: Sequence[Path], out: Path) -> Cost:
    """Merge stores in a process of its own, which must succeed."""
    line, start = command(sources, out), time.perf_counter()
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(line)} ended with {status}")
    return Cost(time.perf_counter() - start, used.ru_maxrss / 1024)


def floor(sources: Sequence[Path], out: Path) -> float:
    """Return the seconds that SQLite alone takes to copy the rows, as durably."""
    out.mkdir()
    start = time.perf_counter()
    with closing(sqlite3.connect(out / STORE_FILE, uri=True, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.executescript(CREATE)
        for source in sources:
            connection.execute("ATTACH ? AS src", (f"{(source / STORE_FILE).as_uri()}?mode=ro",))
            connection.execute("BEGIN IMMEDIATE")
            for table, order in TABLES.items():
                rows = f"SELECT * FROM src.{table} ORDER BY {order}"
                connection.execute(f"INSERT INTO main.{table} {rows}")
            connection.execute("COMMIT")
            connection.execute("DETACH src")
    return time.perf_counter() - start


def digest(directory: Path) -> str:
    """Return the hash of the canonical export."""
    file = _Hash()
    with Trials(directory) as reader:
        export_trials(reader, reader.runs(), "jsonl", file)
    return file.hash.hexdigest()


class _Hash(io.RawIOBase):
    """A file that keeps only the hash of what is written to it."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def write(self, data: object) -> int:
        content = bytes(data)  # type: ignore[call-overload]
        self.hash.update(content)
        return len(content)


def kill_and_resume(
    sources: Sequence[Path], folder: Path, expected: str, seconds: float, kills: int
) -> int:
    """Kill merges at random moments and do them again; return how many were killed in time."""
    generator, killed = random.Random(16), 0
    for kill in range(kills):
        out = folder / f"killed{kill}"
        process = subprocess.Popen(
            command(sources, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        timer = threading.Timer(generator.uniform(0.05, 1) * seconds, process.kill)
        timer.start()
        killed += process.wait() == -signal.SIGKILL
        timer.cancel()
        whole = recorded(out)
        merged(sources, out)
        if digest(out) != expected or audit_store(out).damage:
            raise SystemExit(f"after kill {kill}, {out} is not what it should be")
        print(f"    killed with {whole:,} trials merged; the same after merging again", flush=True)
        shutil.rmtree(out)
    return killed


def recorded(directory: Path) -> int:
    """Return how many trials a directory holds."""
    if not (directory / STORE_FILE).exists():
        return 0
    try:
        with Trials(directory) as reader:
            return sum(reader.trial_count(run.number) for run in reader.runs())
    except ValueError:  # killed before the first commit
        return 0


def show(what: str, value: float, unit: str, bound: float) -> None:
    verdict = "ok" if value < bound else "SHORT"
    print(f"  {what:44} {value:8.2f} {unit:2} (under {bound:g}) {verdict}", flush=True)


def measure(folder: Path, part: int, repeats: int, kills: int) -> None:
    """Write the shards, merge them several times, and print."""
    problems = PROBLEMS // part
    sources = [folder / f"shard-{shard}" for shard in range(1, SHARDS + 1)]
    for shard, source in enumerate(sources, 1):
        fill(source, shard, problems)
    size = sum((source / STORE_FILE).stat().st_size for source in sources) / 1e6
    print(f"{problems * TRIALS:,} trials in {SHARDS} stores, {size:.0f} MB", flush=True)
    costs, floors = [], []
    for _ in range(repeats):
        for name in ("whole", "floor"):
            shutil.rmtree(folder / name, ignore_errors=True)
        floors.append(floor(sources, folder / "floor"))
        costs.append(merged(sources, folder / "whole"))
    seconds = min(cost.seconds for cost in costs)
    show("merge, from start to end of the process", seconds, "s", 1 + 14 / part)
    show("merge, peak memory", max(cost.memory for cost in costs), "MB", 150)
    print(f"  {'rows copied by SQLite alone':44} {min(floors):8.2f} s")
    print(f"  {'merge in units of that':44} {seconds / min(floors):8.2f}")
    again = merged(sources, folder / "whole")
    show("everything merged again", again.seconds, "s", 1 + 14 / part)
    one = merged(sources[:1], folder / "whole")
    show("one store merged again", one.seconds, "s", 3)
    if audit_store(folder / "whole").damage:
        raise SystemExit("the merged store is damaged")
    expected = digest(folder / "whole")
    killed = kill_and_resume(sources, folder, expected, seconds, kills)
    print(f"  {killed} of {kills} merges killed, all of them the same in the end")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", type=int, default=1, help="1/PART of the problems")
    parser.add_argument("--repeats", type=int, default=3, help="merges that are timed")
    parser.add_argument("--kills", type=int, default=5, help="merges that are killed")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name), options.part, options.repeats, options.kills)


if __name__ == "__main__":
    main()

"""Data sets of Parquet files: a hundred million rows to counts, beside other engines.

    python benchmarks/scale_tables.py            100,000,000 rows; a quarter of an hour
    python benchmarks/scale_tables.py --part 10  a tenth of the rows

Writes two data sets to a temporary folder, ten files each, with integers and with text as problems,
and counts trials and successes per problem, and per step and problem, with passband and with
duckdb, polars and Acero, where they are installed; Acero also file by file, the counts of the files
being summed. Each count has a process of its own; engines alternate, and the fastest of the repeats
counts. Prints seconds without imports and the most memory of each engine, and the ratio of passband
to the fastest other engine; then what a whole `passband stats` takes for a million rows.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS, FILES, STEPS = 100_000_000, 10, 50
QUERIES = {"problem": ["problem"], "step": ["step", "problem"]}


def write(folder: Path, rows: int, kind: str) -> None:
    """Write a data set: each file has some trials of every problem, in the order of trials."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    problems = max(rows // 1000, 100)
    trials = rows // problems
    rng = np.random.default_rng(1)
    rate = np.arange(problems) % 100 / 100
    names = pa.array([f"problem-{number:06d}" for number in range(problems)])
    for number, own in enumerate(np.array_split(np.arange(trials, dtype=np.int32), FILES)):
        problem = np.concatenate([rng.permutation(problems).astype(np.int32) for _ in own])
        trial = np.repeat(own, problems)
        table = {
            "problem": pa.array(problem) if kind == "int" else names.take(pa.array(problem)),
            "trial": trial,
            "step": trial // max(trials // STEPS, 1) * 100,
            "correct": rng.random(len(problem)) < rate[problem],
        }
        pq.write_table(pa.table(table), folder / f"part-{number}.parquet", compression="zstd")


# -- engines: each counts in a process of its own ------------------------------------------


def passband(folder: Path, keys: list[str], *, trial: str | None = None) -> int:
    from dataclasses import replace

    from passband.readers.dataset.address import find_files
    from passband.readers.dataset.batches import DataPart
    from passband.readers.dataset.checks import check_trials
    from passband.readers.dataset.counting import count_files
    from passband.readers.dataset.schema import plan_of, read_schema
    from passband.readers.options import Options

    schema = read_schema(find_files(str(folder)))
    plan = plan_of(schema, Options())
    plan = replace(plan, keys=tuple(keys[:-1]), roles=replace(plan.roles, trial=trial))
    firsts = np.cumsum([0, *(footer.rows for footer in schema.footers)])
    parts = [
        DataPart(f.file, int(row), f.rows, f.coded)
        for f, row in zip(schema.footers, firsts, strict=False)
    ]
    tallies = count_files(parts, plan)
    check_trials(parts, plan, tallies, plan.keys)
    return int(tallies.cells.successes.sum())


def passband_checked(folder: Path, keys: list[str]) -> int:
    return passband(folder, keys, trial="trial")


def duckdb(folder: Path, keys: list[str]) -> int:
    import duckdb as engine

    connection = engine.connect()
    connection.execute("set memory_limit='800MB'")
    names = ", ".join(keys)
    query = f"select {names}, count(*) n, sum(correct::int) c from '{folder}/*.parquet'"
    return int(connection.execute(f"{query} group by {names}").fetchnumpy()["c"].sum())


def polars(folder: Path, keys: list[str]) -> int:
    import polars as pl

    rows = pl.scan_parquet(f"{folder}/*.parquet").group_by(keys)
    counts = rows.agg(n=pl.len(), c=pl.col("correct").sum()).collect(engine="streaming")
    return int(counts["c"].sum())


def acero(folder: Path, keys: list[str]) -> int:
    import pyarrow.compute as pc
    import pyarrow.dataset as ds
    from pyarrow.acero import AggregateNodeOptions, Declaration, ScanNodeOptions

    scan = ScanNodeOptions(ds.dataset(folder), columns=[*keys, "correct"])
    counts = [("correct", "hash_sum", None, "c"), ("correct", "hash_count", None, "n")]
    steps = [
        Declaration("scan", scan),
        Declaration("aggregate", AggregateNodeOptions(counts, keys=keys)),
    ]
    return int(pc.sum(Declaration.from_sequence(steps).to_table()["c"]).as_py())


def acero_per_file(folder: Path, keys: list[str]) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    counts = []
    for path in sorted(folder.iterdir()):
        table = pq.read_table(path, columns=[*keys, "correct"])
        counts.append(table.group_by(keys).aggregate([("correct", "sum"), ("correct", "count")]))
    sums = [("correct_sum", "sum"), ("correct_count", "sum")]
    joined = pa.concat_tables(counts).group_by(keys).aggregate(sums)
    return int(pc.sum(joined["correct_sum_sum"]).as_py())


CHECKED = "passband, duplicates checked"
ENGINES = {
    "passband": passband,
    CHECKED: passband_checked,
    "duckdb": duckdb,
    "polars": polars,
    "acero": acero,
    "acero, file by file": acero_per_file,
}


def measure(engine: str, folder: Path, keys: list[str]) -> None:
    """Count in this process, and print the seconds that it took once all is imported."""
    for module in ("pyarrow.parquet", "pyarrow.dataset", engine, "passband.readers"):
        if importlib.util.find_spec(module.partition(",")[0].split(".")[0]):
            importlib.import_module(module.partition(",")[0])
    began = time.perf_counter()
    successes = ENGINES[engine](folder, keys)
    print(json.dumps({"seconds": time.perf_counter() - began, "successes": successes}))


def run(arguments: list[str]) -> tuple[str, float, int]:
    """Run a command; return what it printed, its seconds, and its most memory in MB."""
    began = time.perf_counter()
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
    )
    assert process.stdout is not None
    text = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return (text if process.returncode == 0 else ""), seconds, usage.ru_maxrss // scale


def _environment() -> dict[str, str]:
    """Return the environment in which modules are compiled once, as where they are installed."""
    return {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def compare(folder: Path, kind: str, query: str, repeat: int) -> None:
    """Print what each engine takes for a query."""
    best: dict[str, tuple[float, int]] = {}
    answers: set[int] = set()
    for _ in range(repeat):
        for engine in ENGINES:
            if engine in ("duckdb", "polars") and not importlib.util.find_spec(engine):
                continue
            arguments = ["--measure", engine, "--folder", str(folder), "--query", query]
            text, _, memory = run([sys.executable, __file__, *arguments])
            if not text:
                print(f"{kind} by {query}: {engine} failed", flush=True)
                continue
            result = json.loads(text)
            answers.add(result["successes"])
            best[engine] = min(best.get(engine, (1e9, 0)), (result["seconds"], memory))
    assert len(answers) == 1, f"engines disagree: {answers}"
    print(f"{kind} by {query}", flush=True)
    for name, (seconds, memory) in best.items():
        print(f"  {name:44} {seconds:8.2f} s  {memory:6} MB", flush=True)
    judge(best)


def judge(best: dict[str, tuple[float, int]]) -> None:
    """Compare passband with the fastest other engine, and print whether that is enough."""
    others = [seconds for name, (seconds, _) in best.items() if not name.startswith("passband")]
    for name, bound in (("passband", 1.5), (CHECKED, 2.0)):
        if name in best:
            seconds, memory = best[name]
            show(f"{name}, to the fastest other", seconds / min(others), "x", bound)
            show(f"{name}, peak memory", memory, "MB", 1000)


def show(what: str, value: float, unit: str, bound: float) -> None:
    verdict = "ok" if value < bound else "SHORT"
    print(f"  {what:44} {value:8.2f} {unit:2} (under {bound:g}) {verdict}", flush=True)


def make(folder: Path, rows: int, kind: str) -> None:
    """Write a data set in another process: a child's memory begins with its parent's."""
    arguments = ["--write", kind, "--folder", str(folder), "--rows", str(rows)]
    subprocess.run([sys.executable, __file__, *arguments], check=True)


def million(folder: Path, repeat: int) -> None:
    """Print what `passband stats` takes for a million rows, from start to end."""
    make(folder, 1_000_000, "int")
    command = [sys.executable, "-m", "passband", "stats", str(folder), "-m", "pass@8"]
    runs = [run(command) for _ in range(repeat)]
    if not all(text for text, _, _ in runs):
        raise SystemExit(f"{' '.join(command)} failed")
    print(f"passband stats, 1,000,000 rows, {STEPS} steps", flush=True)
    show("from start to end of the process", min(seconds for _, seconds, _ in runs), "s", 1)
    show("peak memory", max(memory for _, _, memory in runs), "MB", 1000)


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", type=int, default=1, help="1/PART of the rows")
    parser.add_argument("--repeat", type=int, default=3, help="how often each engine counts")
    parser.add_argument("--measure", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--write", choices=("int", "text"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--query", choices=QUERIES, default="problem", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write(options.folder, options.rows, options.write)
        return
    if options.measure:
        measure(options.measure, options.folder, QUERIES[options.query])
        return
    with tempfile.TemporaryDirectory(prefix="passband-") as name:
        million(Path(name) / "million", options.repeat)
        for kind in ("int", "text"):
            path = Path(name) / kind
            make(path, ROWS // options.part, kind)
            for query in QUERIES:
                compare(path, kind, query, options.repeat)
            shutil.rmtree(path)


if __name__ == "__main__":
    main()

"""The viewer over a million trials: how long pages take, memory, and what it costs a run.

    python benchmarks/view.py             some minutes
    python benchmarks/view.py --part 10   a tenth of the trials, the same bounds

A run of 10,000 problems with 100 trials each is written, `passband view` is started over it, and
pages are asked for as a browser does, one after another; the first time of each page and the median
of five more are printed, and the most memory that the viewer had. Then a process writes trials as
fast as the store takes them, by turns without a viewer and with one whose page of this run is open,
so that its numbers move; the rates of the two are compared. Times on a machine that does other
things as well are upper bounds.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import scale_run

from passband.trials.encoding import canonical_json
from passband.trials.rows import ProblemRow, ScorerEntry
from passband.trials.store import Store

PAGES = {
    "the page of the run": "",
    "trials": "/trials",
    "trials, the last page": "/trials?before={last}.{trials}",
    "trials, from the middle on": "/trials?after={middle}.50",
    "wrong": "/trials?show=wrong",
    "wrong, from the middle on": "/trials?show=wrong&after={middle}.50",
    "right": "/trials?show=right",
    "no answer": "/trials?show=no_answer",
    "truncated": "/trials?show=truncated",
    "slowest": "/trials?show=slow",
    "longest": "/trials?show=long",
    "problems, from the middle on": "/problems?start={middle}",
    "a problem": "/problem/{middle}",
    "a trial": "/problem/{middle}/trial/50",
    "two trials": "/problem/{middle}/diff/3/4",
}


@contextmanager
def viewer(folder: Path) -> Iterator[tuple[str, int]]:
    """Start a viewer; give its address and its process."""
    line = [sys.executable, "-m", "passband", "view", str(folder)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, env=scale_run.installed())
    assert process.stdout is not None
    try:
        yield process.stdout.readline().decode().split()[-1], process.pid
    finally:
        process.terminate()
        process.communicate()


def timed(address: str) -> tuple[float, str]:
    """Ask for a page; return the milliseconds and the text."""
    start = time.perf_counter()
    with urllib.request.urlopen(address) as answer:
        text = answer.read().decode()
    return 1000 * (time.perf_counter() - start), text


def memory(pid: int) -> float:
    """Return the most megabytes that a process has had."""
    status = Path(f"/proc/{pid}/status").read_text()
    (peak,) = re.findall(r"VmHWM:\s+(\d+)", status)
    return int(peak) / 1024


def cpu(pid: int) -> float:
    """Return the seconds that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def show(what: str, value: float, unit: str, bound: float, more: str = "") -> None:
    verdict = "ok" if value < bound else "SHORT"
    print(f"  {what:34} {value:8.1f} {unit:2} (under {bound:g}) {verdict}{more}", flush=True)


def pages(folder: Path, problems: int, n: int) -> None:
    """Time every page of a large run."""
    print(f"{problems * n:,} trials of {problems:,} problems", flush=True)
    places = {"last": problems - 1, "middle": problems // 2, "trials": n}
    with viewer(folder) as (address, pid):
        before = cpu(pid)
        first, text = timed(address)
        spent = 1000 * (cpu(pid) - before)
        show("runs, the first request of all", first, "ms", 500, f"; {spent:.0f} ms of computing")
        (run,) = set(re.findall(r'href="/[^/]+/(runs/[^"/]+/\d+)"', text))
        for name, path in PAGES.items():
            page = address + run + path.format(**places)
            before = cpu(pid)
            first, _ = timed(page)
            spent = 1000 * (cpu(pid) - before)
            usual = statistics.median(timed(page)[0] for _ in range(5))
            bound = 500 if not path else 200
            show(name, first, "ms", bound, f"; {spent:.0f} ms of computing; again {usual:.1f} ms")
        start = time.perf_counter()
        with urllib.request.urlopen(f"{address}{run}/search?q=no+such+text") as answer:
            answer.read(1)
            begun = 1000 * (time.perf_counter() - start)
            answer.read()
        whole = time.perf_counter() - start
        show("search, its first byte", begun, "ms", 200, f"; all texts in {whole:.1f} s")
        show("memory of the viewer", memory(pid), "MB", 200)


def comparison(run: Path) -> None:
    """Time the comparison of a large run with a copy of it."""
    shutil.copytree(run, run.with_name("copy"))
    with viewer(run.parent) as (address, pid):
        page = f"{address}compare?a={run.name}/1&b=copy/1"
        before = cpu(pid)
        first, _ = timed(page)
        spent = 1000 * (cpu(pid) - before)
        usual = statistics.median(timed(page)[0] for _ in range(5))
        show(
            "a comparison", first, "ms", 200, f"; {spent:.0f} ms of computing; again {usual:.1f} ms"
        )
        show("memory of the viewer", memory(pid), "MB", 200)


# -- what it costs a run -------------------------------------------------------------------


def write(directory: Path, problems: int, n: int) -> tuple[float, float]:
    """Write a run as fast as its store takes it; return the seconds, and those of computing."""
    store = Store(directory)
    try:
        run = store.begin("sums", "full speed", spec={}, config={"metrics": [], "n": n}, name="x")
        record = canonical_json({"messages": [["user", "?"]], "targets": ["1"], "choices": []})
        store.add_problems(run, [ProblemRow(i, f"p{i}", record, None) for i in range(problems)])
        (scorer,) = store.set_scorers(run, [ScorerEntry("exact", "exact")])
        batches = [
            list(scale_run.trials([at], n, scorer)) for at in range(problems)
        ]  # made beforehand
        start, computed = time.perf_counter(), time.thread_time()
        for first in range(0, problems, 5):
            store.append(run, [row for rows in batches[first : first + 5] for row in rows])
        return time.perf_counter() - start, time.thread_time() - computed
    finally:
        store.close()


def watched(folder: Path, name: str, problems: int, n: int) -> tuple[float, float, float]:
    """Write a run whose page is open; return the same, and the seconds that the viewer computed."""
    with viewer(folder) as (address, pid):
        timed(address)
        stop = threading.Event()
        reader = threading.Thread(target=listen, args=(f"{address}runs/{name}/1/events", stop))
        reader.start()
        before = cpu(pid)
        seconds, computed = write(folder / name, problems, n)
        spent = cpu(pid) - before
        stop.set()
    reader.join()
    return seconds, computed, spent


def listen(address: str, stop: threading.Event) -> None:
    """Read what a page is told, as soon as there is a run."""
    while not stop.is_set():
        with suppress(OSError), urllib.request.urlopen(address, timeout=5) as answer:
            while not stop.is_set() and answer.readline():
                pass
        time.sleep(0.05)


def slowdown(folder: Path, problems: int, n: int, rounds: int) -> None:
    """Compare the rates of a run that is watched and of one that is not, by turns."""
    alone, seen = list[tuple[float, float]](), list[tuple[float, float, float]]()
    for number in range(rounds):
        alone.append(write(folder / f"alone{number}", problems, n))
        seen.append(watched(folder, f"seen{number}", problems, n))
    best = min(alone)[0], min(seen)[0]
    rates = [problems * n / seconds for seconds in best]
    print(f"a run of {problems * n:,} trials at full speed: {rates[0]:,.0f} trials/s alone, "
          f"{rates[1]:,.0f} while it is watched (best of {rounds})", flush=True)  # fmt: skip
    show("slower, best of all rounds", 100 * (best[1] / best[0] - 1), "%", 5)
    pairs = [after[0] / before[0] for before, after in zip(alone, seen, strict=True)]
    show("slower, median of all pairs", 100 * (statistics.median(pairs) - 1), "%", 5)
    computed = [statistics.median(one[1] for one in each) for each in (alone, seen)]
    show("more computing by the run, median", 100 * (computed[1] / computed[0] - 1), "%", 5)
    share = statistics.median(spent / seconds for seconds, _, spent in seen)
    print(f"  the viewer computes {100 * share:.1f} % of the time", flush=True)


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", type=int, default=1, help="1/PART of the trials")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs, watched and not")
    options = parser.parse_args()
    problems, n = 10_000 // options.part, 100
    with tempfile.TemporaryDirectory() as name:
        tempfile.tempdir = name
        scale_run.command("--version")
        path = scale_run.written(Path(name) / "big", problems)
        scale_run.fill(path, n)
        pages(path.parent, problems, n)
        comparison(path.parent / "run")
        slowdown(Path(name) / "live", problems // 5, n, options.rounds)


if __name__ == "__main__":
    main()

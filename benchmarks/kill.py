"""kill -9 at random moments of a run: is everything that was announced still there?

    python benchmarks/kill.py [--kills 200] [--seed 0] [--inspect]

A series is one run directory. `passband run` is started on it, killed, and started again, until
one process comes to the end; then the next series begins. The model is benchmarks/loopback.py,
whose answers depend on nothing but the prompt and the seed, so a run that was killed many times
must export the same bytes as one that never was.

`--json` makes a run say how many trials it has recorded. Half of the kills come within 30 ms of
such an announcement, the others at any moment of the work, a tenth of them while Python still
starts. After each kill a copy of the directory is looked at, so that the next process finds it
exactly as the killed one left it:

    acknowledged  announced trials that were looked for, summed over the kills
    lost          of them, how many were not there
    duplicates    trials that stand there twice
    damaged       stores that SQLite finds fault with
    early         kills before the first trial was recorded
    orphans       processes of a killed run that were alive five seconds later
    again         completions that were drawn a second time, because the first was not yet stored
    identical     series whose export is the same, byte for byte, as that of an undisturbed run

What this does not test is the power going off: what a process wrote stays in the memory of the
system when the process dies. The script exits with 1 if anything is lost or differs.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import loopback

from passband.trials.exports.export import export_trials
from passband.trials.reader import Trials

PROBLEMS, REPEATS = 40, 16
TASK = """task: sums
dataset_path: json
dataset_kwargs:
  data_files: sums.jsonl
doc_to_text: "{{ question }}"
doc_to_target: answer
repeats: 16
filter_list:
  - name: last
    filter:
      - function: regex
        regex_pattern: '%s'
metric_list:
  - metric: exact_match
    repeat_aggregation: mean
"""
INSPECT_TASK = """from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes


@task
def sums():
    pairs = [(100 + 37 * i, 991 - 3 * i) for i in range(40)]
    samples = [Sample(f"What is {a} + {b}?", target=f"is {a + b}.", id=a) for a, b in pairs]
    return Task(samples, scorer=includes())
"""
QUICK = r"answer is (-?\d+)\."
SLOW = r"(?:\S+\s+)*answer is (-?\d+)\."  # might backtrack for long, so a worker process runs it


@dataclass(frozen=True)
class Setting:
    """A way to run."""

    name: str
    batch: int
    concurrency: int
    latency: float
    pattern: str = QUICK
    engine: str | None = None  # of a task of Inspect


SETTINGS = (
    Setting("16 a request", 16, 2, 0.08),
    Setting("1 a request", 1, 8, 0.02),
    Setting("slow scorer", 4, 2, 0.02, SLOW),
)
INSPECT = (
    Setting("inspect", 1, 16, 0.4, engine="inspect"),
    Setting("inspect, light", 1, 16, 0.4, engine="light"),
)


@dataclass
class Count:
    """What was found after the kills."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    duplicates: int = 0
    damaged: int = 0
    early: int = 0
    orphans: int = 0
    again: int = 0
    series: int = 0
    identical: int = 0

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.duplicates or self.damaged or self.orphans) and (
            self.identical == self.series
        )

    def plus(self, other: Count) -> Count:
        return Count(*(a + b for a, b in zip(values(self), values(other), strict=True)))


def values(count: Count) -> list[int]:
    return list(asdict(count).values())


# --- one process -----------------------------------------------------------------------------


@dataclass
class Running:
    """A run, and what it has announced so far."""

    process: subprocess.Popen[str]
    done: int = 0
    events: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.endswith("\n"):
                break  # the kill cut it off
            event = json.loads(line)
            with self.changed:
                if event["event"] == "progress":
                    self.done = max(self.done, sum(task["done"] for task in event["tasks"]))
                self.events += 1
                self.changed.notify_all()
        with self.changed:
            self.events += 1_000_000  # whoever waits for another one waits in vain
            self.changed.notify_all()

    def wait_for(self, events: int) -> None:
        """Wait until so many events have come, or there will be no more."""
        with self.changed:
            self.changed.wait_for(lambda: self.events >= events, timeout=60)

    def kill(self) -> list[int]:
        """Kill the process alone, and return what it leaves behind."""
        left = children(self.process.pid)
        self.process.kill()
        return left


@contextmanager
def running(command: Sequence[str]) -> Iterator[Running]:
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        run = Running(process)
        listener = threading.Thread(target=run.listen)
        listener.start()
        try:
            yield run
        finally:
            process.kill()
            process.wait()
            listener.join()  # what was in the pipe counts as said


def children(pid: int) -> list[int]:
    """The processes that a process has started, where the system tells."""
    found = Path(f"/proc/{pid}/task").glob("*/children")
    try:
        return [int(child) for path in found for child in path.read_text().split()]
    except OSError:
        return []


def still_alive(pids: list[int], seconds: float = 5.0) -> int:
    end = time.monotonic() + seconds
    while pids and time.monotonic() < end:
        pids = [pid for pid in pids if is_alive(pid)]
        time.sleep(0.02)
    return len(pids)


def is_alive(pid: int) -> bool:
    return state(pid) not in ("Z", "")


def state(pid: int) -> str:
    """The state of a process, as a letter; nothing if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


# --- a series --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bench:
    """A task, a server, and how an undisturbed run of them went."""

    setting: Setting
    folder: Path
    url: str
    rng: random.Random

    def command(self, directory: Path) -> list[str]:
        options = {
            "model": "openai:loopback",
            "base-url": self.url,
            "batch": self.setting.batch,
            "concurrency": self.setting.concurrency,
            "seed": "kill",
            "out": directory,
        }
        words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
        task = str(self.folder / "sums.yaml")
        if self.setting.engine is not None:
            task = f"inspect:{self.folder / 'sums.py'}@sums"
            words += ["--engine", self.setting.engine]
        return [sys.executable, "-m", "passband", "run", task, "-n", str(REPEATS), "--json", *words]

    def undisturbed(self, directory: Path) -> None:
        done = subprocess.run(self.command(directory), stdout=subprocess.PIPE, check=True)
        assert json.loads(done.stdout.splitlines()[-1])["event"] == "done"

    def timed(self) -> tuple[float, float]:
        """Return the seconds that starting takes, and those of the work itself."""
        began = time.monotonic()
        subprocess.run(
            [*self.command(self.folder / "nowhere"), "--dry-run"],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        starting = time.monotonic() - began
        began = time.monotonic()
        self.undisturbed(self.folder / "undisturbed")
        return starting, max(0.5, time.monotonic() - began - starting)


def series(bench: Bench, kills: int, starting: float, work: float) -> Count:
    """Kill one run again and again until it ends, at most so many times; then let it end."""
    directory = bench.folder / f"run{bench.rng.getrandbits(64):016x}"
    count = Count(series=1)
    while count.kills < kills:
        with running(bench.command(directory)) as run:
            wait_for_the_moment(bench.rng, run, starting, work)
            ended = run.process.poll() is not None
            left = [] if ended else run.kill()
        if ended and run.process.returncode == 0:
            break
        if ended:
            raise RuntimeError(f"a run ended by itself with {run.process.returncode}")
        count = count.plus(looked_at(directory, run.done))
        count.orphans += still_alive(left)
    bench.undisturbed(directory)
    expected = exported(bench.folder / "undisturbed")
    rows = [json.loads(line) for line in expected.splitlines()]
    assert len({(row["problem_id"], row["trial"]) for row in rows}) == PROBLEMS * REPEATS
    count.identical = int(exported(directory) == expected)
    shutil.rmtree(directory)
    return count


def wait_for_the_moment(rng: random.Random, run: Running, starting: float, work: float) -> None:
    kind = rng.random()
    if kind < 0.5:
        run.wait_for(rng.choice([1, 1, 2, 2, 3, 4]))
        time.sleep(rng.uniform(0, 0.03))
    elif kind < 0.9:
        time.sleep(starting + rng.uniform(0, work))
    else:
        time.sleep(rng.uniform(0.02, starting))


def looked_at(directory: Path, acknowledged: int) -> Count:
    """Look at a copy of what a killed process has left."""
    count = Count(kills=1, acknowledged=acknowledged)
    with tempfile.TemporaryDirectory() as folder:
        for path in directory.glob("trials.sqlite*"):
            if not path.name.endswith("-shm"):  # it is made anew
                shutil.copy(path, folder)
        stored, distinct, verdict = stored_rows(Path(folder) / "trials.sqlite")
    count.early = int(stored == 0)
    count.lost = max(0, acknowledged - stored)
    count.duplicates = stored - distinct
    count.damaged = int(verdict != "ok")
    return count


def stored_rows(path: Path) -> tuple[int, int, str]:
    """Return how many trials there are, how many distinct ones, and what SQLite says."""
    if not path.exists():
        return 0, 0, "ok"
    with closing(sqlite3.connect(path)) as connection:
        (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            return 0, 0, verdict
        keys = connection.execute("SELECT run, problem, trial FROM trial NOT INDEXED").fetchall()
        (bare,) = connection.execute(
            "SELECT count(*) FROM trial WHERE body IS NULL OR body NOT IN (SELECT id FROM body)"
        ).fetchone()
        assert bare == 0, "a trial without its completion"
        return len(keys), len(set(keys)), verdict


def exported(directory: Path) -> bytes:
    file = io.BytesIO()
    with Trials(directory) as trials:
        export_trials(trials, trials.runs(), "jsonl", file)
    return file.getvalue()


# --- all of it -------------------------------------------------------------------------------


def write_task(folder: Path, pattern: str) -> None:
    rows = [
        {"id": f"p{i:02}", "question": f"What is {100 + 37 * i} + {991 - 3 * i}?",
         "answer": str(1091 + 34 * i)}
        for i in range(PROBLEMS)
    ]  # fmt: skip
    (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "sums.yaml").write_text(TASK % pattern)
    (folder / "sums.py").write_text(INSPECT_TASK)


def measured(setting: Setting, kills: int, rng: random.Random) -> Count:
    """Run series after series until there have been so many kills."""
    total = Count()
    with (
        tempfile.TemporaryDirectory() as name,
        loopback.started(latency=setting.latency) as url,
    ):
        folder = Path(name)
        write_task(folder, setting.pattern)
        bench = Bench(setting, folder, url, rng)
        starting, work = bench.timed()
        while total.kills < kills:
            total = total.plus(series(bench, kills - total.kills, starting, work))
        total.again = drawn(url) - PROBLEMS * REPEATS * (1 + total.series)
    return total


def drawn(url: str) -> int:
    """Return how many completions a server has given."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as reply:
        return int(json.load(reply)["completions"])


def line(name: str, cells: Sequence[object]) -> str:
    return f"{name:14}" + "".join(f"{cell!s:>14}" for cell in cells)


def main() -> None:
    parser = argparse.ArgumentParser(description="kill -9 at random moments of a run.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--inspect", action="store_true", help="kill runs of a task of Inspect")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(line("", list(asdict(Count()))), flush=True)
    total = Count()
    settings = INSPECT if options.inspect else SETTINGS
    for at, setting in enumerate(settings):
        share = (options.kills + at) // len(settings)
        count = measured(setting, share, rng)
        total = total.plus(count)
        print(line(setting.name, values(count)), flush=True)
    print(line("all", values(total)))
    sys.exit(0 if total.is_clean else 1)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()

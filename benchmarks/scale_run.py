"""What runs of many problems and many trials cost: memory, resuming, exporting.

    python benchmarks/scale_run.py            some minutes
    python benchmarks/scale_run.py --part 10  a tenth of everything, bounds in proportion

A task of 100,000 problems with prompts of 700 characters is asked once each of a server on this
machine (loopback.py) and resumed with nothing missing; a run of 10,000 problems with 100 trials
each, which is written directly, is resumed and exported. Every command is a process of its own:
its CPU time, user and system, from its start to its end, and the most memory that it had.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import loopback

from passband.generate.registry import Connection
from passband.generate.subject import make_subject
from passband.run.prepare import load_problems, prepare
from passband.run.problems import opened
from passband.run.settings import Settings
from passband.tasks.file.loader import load_task
from passband.trials.rows import ScoreRow, TrialRow
from passband.trials.store import Store

NOWHERE = "http://127.0.0.1:9/v1"
TEXT = "First I read the question once more and write down what is given. " * 5
TASK = """\
task: sums
dataset_path: json
dataset_kwargs:
  data_files:
    test: sums.jsonl
test_split: test
doc_to_text: "{{story}} What is {{a}} + {{b}}?"
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


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    cpu: float  # seconds
    memory: float  # MB


def written(folder: Path, problems: int) -> Path:
    """Write the task and its data; return the task file."""
    folder.mkdir(parents=True)
    generator = random.Random(problems)
    words = ["".join(generator.choices("etaoinshrdlu", k=k % 9 + 2)) for k in range(2_000)]
    with (folder / "sums.jsonl").open("w") as file:
        for at in range(problems):
            story = " ".join(generator.choices(words, k=100))
            file.write(json.dumps({"id": f"p{at}", "a": at, "b": 7, "story": story}) + "\n")
    (folder / "sums.yaml").write_text(TASK)
    return folder / "sums.yaml"


def command(*words: object) -> Cost:
    """Run a passband command, which must succeed."""
    line = [sys.executable, "-m", "passband", *map(str, words)]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, env=installed())
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(line)} ended with {status}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def installed() -> dict[str, str]:
    """Return an environment in which modules are compiled once, as those of an installation are."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": os.path.join(tempfile.tempdir or "", "pyc")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def run(path: Path, n: int, url: str) -> Cost:
    """Start or resume a run."""
    return command(
        "run", path, "--model", "openai:loopback", "--base-url", url, "-n", n, "--quiet",
        "--out", path.parent / "run",
    )  # fmt: skip


def fill(path: Path, n: int) -> None:
    """Write a run in which nothing is missing, without asking anything."""
    task, settings, directory = load_task(path), Settings(n=n), path.parent / "run"
    subject = make_subject("openai:loopback", Connection(NOWHERE))
    problems = opened(task, settings, directory, load_problems)
    store = Store(directory)
    try:
        prepared = prepare(store, task, problems, subject, settings)
        ((scorer, _),) = prepared.grader.scorers
        for first in range(0, len(problems), 100):
            numbers = prepared.numbers[first : first + 100]
            store.append(prepared.number, list(trials(numbers, n, scorer)))
    finally:
        store.close()


def trials(numbers: list[int], n: int, scorer: int) -> Iterator[TrialRow]:
    """Yield the trials of problems."""
    for number in numbers:
        for trial in range(n):
            answer = number + 7 + trial % 2
            yield TrialRow(
                number, trial, "ok", f"Way {trial}: {TEXT}The answer is {answer}.", None, 200, 80,
                12, 1, 1234, f"chatcmpl-{number}",
                [ScoreRow(scorer, float(not trial % 2), "ok", str(answer), "marker")],
            )  # fmt: skip


def show(what: str, value: float, unit: str, bound: float) -> None:
    verdict = "ok" if value < bound else "SHORT"
    print(f"  {what:44} {value:8.2f} {unit:2} (under {bound:g}) {verdict}", flush=True)


def many_problems(folder: Path, problems: int, part: int) -> None:
    """Ask every problem once, then resume with nothing missing."""
    path = written(folder / "problems", problems)
    print(f"{problems:,} problems, 1 trial of each", flush=True)
    with loopback.started() as url:
        show("run, peak memory", run(path, 1, url).memory, "MB", 200)
        costs = [run(path, 1, url) for _ in range(3)]
    show("resume, nothing missing, CPU", min(c.cpu for c in costs), "s", 4 / part)
    show("resume, peak memory", costs[0].memory, "MB", 200)


def many_trials(folder: Path, problems: int, n: int, part: int) -> None:
    """Resume and export a run of many trials."""
    path = written(folder / "trials", problems)
    fill(path, n)
    print(f"{problems * n:,} trials of {problems:,} problems", flush=True)
    costs = [run(path, n, NOWHERE) for _ in range(3)]
    show("resume, nothing missing, CPU", min(c.cpu for c in costs), "s", 5 / part)
    show("resume, peak memory", costs[0].memory, "MB", 200)
    target = folder / "trials.jsonl"
    export = command("export", path.parent / "run", "--format", "jsonl", "-o", target)
    show("export to JSON lines, CPU", export.cpu, "s", 15 / part)
    show("export, peak memory", export.memory, "MB", 200)


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", type=int, default=1, help="1/PART of the problems")
    part = parser.parse_args().part
    os.environ.pop("OPENAI_API_KEY", None)
    with tempfile.TemporaryDirectory() as name:
        tempfile.tempdir = name
        command("--version")
        many_trials(Path(name), 10_000 // part, 100, part)
        many_problems(Path(name), 100_000 // part, part)


if __name__ == "__main__":
    main()

"""A scorer on two processors of a cluster against the same scorer on one core.

    python benchmarks/scale_score.py             some minutes
    python benchmarks/scale_score.py --part 10   a tenth of the trials
    python benchmarks/scale_score.py --no-ray

Two scorers that compute, over recorded trials: a loop in Python, from a module given with --import,
and `math` on pairs that differ in form, each another one. The baseline is one core: a process of
its own with PASSBAND_CPUS=1, whose worker pool has one worker. Against it are timed a local cluster
of Ray with --workers 2, and the process as it comes, whose pool takes all cores: mathematics needs
no cluster to use those of one machine, a loop of Python does.

Scoring is the call alone; the whole process has its imports, and the start of the cluster and of
its two processes, on top. Each is done on its own copy of the run and in its own process, since
equality of mathematics is remembered. Exports have to be the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

PAIRS, TURNS = 800, 1_000_000
WORKERS, WANTED = 2, 1.6  # times one core
BUSY = 0.5  # processes of others, as the load says
MODULE = "scale_score_plugin"
PLUGIN = '''\
"""A model that knows the pairs, and a scorer that computes."""

import passband


def answer(prompt):
    a, b = map(int, prompt.split())
    square, line, constant = 2 * a + b, a * a + 2 * a * b, a * a * b
    return f"$\\\\boxed{{x^3 + {square}x^2 + {line}x + {constant} + \\\\sqrt{{{4 * b}}}}}$"


@passband.register_scorer("busy")
def busy(answer, target):
    total = 0
    for turn in range(TURNS):
        total += turn & 3
    return float((total + len(answer)) % 2)


TURNS = 0
'''
TASK = """\
task: pairs
dataset_path: json
dataset_kwargs: {data_files: {test: pairs.jsonl}}
test_split: test
doc_to_text: "{{ a }} {{ b }}"
doc_to_target: "(x + {{ a }})^2 (x + {{ b }}) + 2 \\\\sqrt{ {{- b -}} }"
metric_list: [{metric: exact_match}]
"""


@dataclass(frozen=True)
class Way:
    """A way to score, and what it took."""

    scoring: float  # seconds
    whole: float
    digest: str


WAYS = {"one core": {"PASSBAND_CPUS": "1"}, "as it comes": {}, "Ray, 2 workers": {}}
ON_RAY = "Ray, 2 workers"


class Bench:
    """A recorded run, and copies of it that are scored."""

    def __init__(self, folder: Path, pairs: int) -> None:
        self.folder, self.pairs = folder, pairs
        self.script = shutil.copy(__file__, folder)  # away from code.py, which Ray would import
        (folder / f"{MODULE}.py").write_text(PLUGIN.replace("TURNS = 0", f"TURNS = {TURNS}"))
        rows = [{"a": 3 + at % 97, "b": 5 + at} for at in range(pairs)]
        (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / "pairs.yaml").write_text(TASK)
        words = ["run", "pairs.yaml", "--model", f"python:{MODULE}:answer", "-n", "1", "--quiet"]
        self._passband(*words, "--out", "recorded")

    def timed(self, scorer: str, way: str, number: int) -> Way:
        """Score a copy of the run in a new process."""
        run = self.folder / f"{scorer}-{way.replace(' ', '-')}-{number}"
        shutil.copytree(self.folder / "recorded", run)
        words = [sys.executable, self.script, "--score", str(run), scorer]
        began = time.perf_counter()
        done = subprocess.run(
            [*words, *(["--on-ray"] if way == ON_RAY else [])],
            cwd=self.folder, env={**self._variables(), **WAYS[way]}, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
        whole = time.perf_counter() - began
        self._passband("export", str(run), "-o", f"{run}.jsonl")
        digest = hashlib.sha256(Path(f"{run}.jsonl").read_bytes()).hexdigest()
        return Way(float(done.stdout), whole, digest)

    def _passband(self, *words: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "passband", *words],
            cwd=self.folder, env=self._variables(), check=True, capture_output=True,
        )  # fmt: skip

    def _variables(self) -> dict[str, str]:
        folders = [str(self.folder), os.environ.get("PYTHONPATH", "")]
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}
        return {name: value for name, value in variables.items() if name != "PASSBAND_CPUS"}


def score(run: Path, scorer: str, *, on_ray: bool) -> float:
    """Score a run in this process, and return the seconds without the start of a cluster."""
    from passband import plugins
    from passband.cluster.address import Address
    from passband.cluster.connection import connect
    from passband.cluster.tasks import map_tasks
    from passband.run.rescore.cluster import RemoteScoring
    from passband.run.rescore.rescore import rescore_run

    plugins.import_modules([MODULE])
    remote = RemoteScoring(Address("found"), workers=WORKERS) if on_ray else None
    with ExitStack() as stack:
        if on_ray:
            stack.enter_context(connect(Address("new")))
            list(map_tasks(time.sleep, [1.0] * WORKERS, workers=WORKERS))  # starts processes
        began = time.perf_counter()
        rescore_run(run, scorers=[scorer], remote=remote)
        return time.perf_counter() - began


def main(arguments: Sequence[str] | None = None) -> None:
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--part", type=int, default=1, help="divide the trials by this")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--no-ray", action="store_true")
    parser.add_argument("--score", nargs=2, metavar=("RUN", "SCORER"), help=argparse.SUPPRESS)
    parser.add_argument("--on-ray", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.score:
        run, scorer = options.score
        print(score(Path(run), scorer, on_ray=options.on_ray))
        return
    names = [name for name in WAYS if name != ON_RAY or not options.no_ray]
    with tempfile.TemporaryDirectory(prefix="passband-") as folder:
        bench = Bench(Path(folder), max(1, PAIRS // options.part))
        print(f"{bench.pairs} trials; {os.cpu_count()} cores; the baseline is one core")
        if (load := os.getloadavg()[0]) > BUSY:
            print(f"the machine is busy (load {load:.1f}): two processes gain less than they would")
        for scorer in ("busy", "math"):
            ways: dict[str, list[Way]] = {name: [] for name in names}
            for number in range(options.repeats):  # in turn: the machine is not always as busy
                for name in names:
                    ways[name].append(bench.timed(scorer, name, number))
            show(scorer, ways)


def show(scorer: str, ways: dict[str, list[Way]]) -> None:
    best = {name: min(done, key=lambda way: way.scoring) for name, done in ways.items()}
    one = best["one core"]
    print(f"\n{scorer:16}  scoring  times one core    whole  export")
    for name, way in best.items():
        same = "same" if {each.digest for each in ways[name]} == {one.digest} else "OTHER"
        times = one.scoring / way.scoring
        print(f"{name:16}  {way.scoring:5.2f} s  {times:14.2f}  {way.whole:5.1f} s  {same}")
    if ON_RAY in best:
        ray, shipped = best[ON_RAY], best["as it comes"]
        times = one.scoring / ray.scoring
        verdict = "ok" if times >= WANTED else "SHORT"
        print(f"Ray against one core: {times:.2f}, wanted {WANTED}: {verdict}")
        print(f"Ray against the process as it comes: {shipped.scoring / ray.scoring:.2f}")


if __name__ == "__main__":
    main()

"""Fuzz every parser of fuzz_targets.py: what is read is read, or refused as documented.

    python benchmarks/fuzz.py [TARGET ...] [--runs 1000000] [--seconds 180] [--markdown]

Each target has a process of its own. With atheris (pip install atheris) its coverage decides which
inputs are kept and changed further; without, inputs are changed samples. Both draw from a seeded
generator, and both go on after a failure: one input of each kind is kept in .fuzz/.

    inputs      how many were tried: --runs, or as many as fit into --seconds of CPU time
    read        how many of them were valid; the others were refused with a documented error
    per second  of CPU time
    slowest     CPU time of one input; more than a second is a failure
    memory      by how much the process grew
    failures    kinds of undocumented exceptions, by type and line

The script exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".fuzz"
SLOWEST = 1.0  # seconds of CPU time for one input
MOST_MEMORY = 512  # MB that a process may grow by
STUCK = 30.0  # seconds after which an input is given up


@dataclass
class Result:
    """What became of the inputs of one target."""

    target: str
    inputs: int = 0
    read: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    memory: int = 0  # MB
    engine: str = "random"
    failures: dict[str, int] = field(default_factory=dict)

    def row(self) -> list[str]:
        rate = self.inputs / self.seconds if self.seconds else 0.0
        return [
            self.target, f"{self.inputs:,}", f"{self.read / max(1, self.inputs):.0%}",
            f"{rate:,.0f}",
            f"{1000 * self.slowest:,.0f} ms", f"{self.memory} MB", str(len(self.failures)),
        ]  # fmt: skip


HEAD = ["target", "inputs", "read", "per second", "slowest", "memory", "failures"]


# -- one target, in a process of its own -----------------------------------------------------


class Campaign:
    """Tries inputs and counts; ends the process with a report once there were enough."""

    def __init__(self, target: Any, options: argparse.Namespace, engine: str) -> None:
        self.target, self.report = target, Path(options.report)
        self.runs, self.limit = options.runs, options.seconds or float("inf")
        self.result = Result(target.name, engine=engine)
        self.before = time.process_time()
        self.memory = _memory()
        signal.signal(signal.SIGVTALRM, _give_up)

    def try_one(self, data: bytes) -> None:
        """Try one input."""
        result, start = self.result, time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, STUCK)
        try:
            result.read += self.target.attempt(data)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.fail(f"{type(error).__name__} at {_place(error)}", data)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        now = time.process_time()
        result.inputs += 1
        if now - start > result.slowest:
            result.slowest = now - start
            if result.slowest > SLOWEST:
                self.fail(f"slower than {SLOWEST:g} s", data)
        if result.inputs >= self.runs or now - self.before > self.limit:
            self.end()

    def fail(self, kind: str, data: bytes) -> None:
        if kind not in self.result.failures:
            KEPT.mkdir(exist_ok=True)
            name = re.sub(r"\W+", "-", f"{self.target.name} {kind}")
            (KEPT / f"{name}-{hashlib.sha256(data).hexdigest()[:8]}").write_bytes(data)
        self.result.failures[kind] = self.result.failures.get(kind, 0) + 1

    def end(self) -> None:
        self.result.seconds = time.process_time() - self.before
        self.result.memory = _memory() - self.memory
        if self.result.memory > MOST_MEMORY:
            self.result.failures[f"grew by more than {MOST_MEMORY} MB"] = 1
        self.report.write_text(json.dumps(asdict(self.result)))
        os._exit(0)  # libFuzzer would go on


class Stuck(BaseException):
    """An input has taken far too long."""


def _give_up(*_: object) -> None:
    raise Stuck


def _memory() -> int:
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit


def _place(error: BaseException) -> str:
    """Return the innermost line of passband that an exception went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame for frame in frames if "passband" in frame.filename and "tests" not in frame.filename
    ]
    frame = own[-1] if own else frames[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


def fuzz(name: str, options: argparse.Namespace) -> None:
    """Fuzz one target; does not return."""
    warnings.simplefilter("ignore")
    os.environ["HF_HUB_OFFLINE"] = "1"
    sys.path.insert(0, str(ROOT / "tests"))
    atheris = _atheris(options.engine)
    watched = (
        atheris.instrument_imports(include=["passband"]) if atheris else contextlib.nullcontext()
    )
    with watched:
        from support.fuzz.fuzz_targets import targets
    fast = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=fast if fast.is_dir() else None) as folder:
        target = targets(Path(folder) / "files")[name]
        for seed in target.seeds:  # what is imported at first use, and memory that stays
            with contextlib.suppress(*target.errors):
                target.read(seed)
        campaign = Campaign(target, options, "atheris" if atheris else "random")
        if atheris:
            _guided(atheris, campaign, Path(folder) / "corpus", options.seed)
        for data in target.inputs(random.Random(f"{options.seed} {name}")):
            campaign.try_one(data)


def _atheris(engine: str) -> Any:
    if engine == "random":
        return None
    try:
        import atheris
    except ImportError:
        if engine == "atheris":
            raise
        return None
    return atheris


def _guided(atheris: Any, campaign: Campaign, corpus: Path, seed: int) -> None:
    from support.fuzz.mutations import mutated

    target, rng = campaign.target, random.Random()
    corpus.mkdir()
    KEPT.mkdir(exist_ok=True)
    for number, data in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(data)

    def change(data: bytes, largest: int, number: int) -> bytes:
        rng.seed(number)
        if rng.random() < 0.2:  # libFuzzer knows what the code has compared with
            return bytes(atheris.Mutate(data, largest))
        return mutated(data, target.shape, rng, target.seeds)[:largest]

    words = ["fuzz", f"-seed={seed + 1}", "-max_len=65536", "-len_control=0"]
    words += ["-rss_limit_mb=4096", f"-artifact_prefix={KEPT}/", str(corpus)]
    atheris.Setup(words, campaign.try_one, custom_mutator=change)
    atheris.Fuzz()


# -- all of them -----------------------------------------------------------------------------


def names() -> list[str]:
    """Return the names of all targets."""
    sys.path.insert(0, str(ROOT / "tests"))
    from support.fuzz.fuzz_targets import targets

    with tempfile.TemporaryDirectory() as folder:
        return list(targets(Path(folder) / "files"))


def in_process(name: str, options: argparse.Namespace) -> Result:
    """Fuzz one target in a process of its own, and return its report."""
    words = [sys.executable, __file__, name, "--engine", options.engine]
    words += [f"--runs={options.runs}", f"--seconds={options.seconds}", f"--seed={options.seed}"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        done = subprocess.run([*words, f"--report={report}"], capture_output=True, check=False)
        if report.exists():
            return Result(**json.loads(report.read_text()))
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    return Result(name, failures={f"ended with {done.returncode}: {last}": 1})


def line(cells: Sequence[str], markdown: bool) -> str:
    if markdown:
        return f"| {' | '.join(cells)} |"
    return "  ".join([f"{cells[0]:<24}", *(f"{cell:>10}" for cell in cells[1:])])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", help="names; all of them by default")
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=0.0, help="CPU time of each; 0: no limit")
    parser.add_argument("--engine", choices=["auto", "atheris", "random"], default="auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--report", help=argparse.SUPPRESS)  # of the only target, in its process
    options = parser.parse_args()
    if options.report:
        fuzz(options.targets[0], options)
    print(line(HEAD, options.markdown))
    if options.markdown:
        print("|:--|" + "--:|" * (len(HEAD) - 1))
    failed = False
    for name in options.targets or names():
        result = in_process(name, options)
        print(line(result.row(), options.markdown), flush=True)
        for kind, count in result.failures.items():
            print(f"    {count} x {kind}", file=sys.stderr, flush=True)
        failed |= bool(result.failures)
    sys.exit(failed)


if __name__ == "__main__":
    main()

"""One model at two addresses: is all of their rate used, and what does the death of one cost?

    python benchmarks/pool.py [--seconds 15]

**Rates.** Two servers on this machine (loopback.py), one of which takes twice as long for an
answer. The possible rate is that of the best fixed division of the requests in flight: servers
that answer a number of requests at once give slots / seconds each if there are enough requests;
servers without such a limit give most if the faster one is asked alone.

**A server that is killed.** Two servers of the same speed, of which one is killed in the middle of
the run (SIGKILL, so that its connections break). All trials have to be there, the same as from one
server that lives; the longest time between two answers, and the longest time that one trial took
from its first request to its answer, have to stay below two seconds.

The script exits with 1 if a rate is more than 10 % below what is possible, a trial is lost or
differs, or a pause is longer than two seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import loopback

from passband.generate.provider import Completion, Provider, Request
from passband.generate.registry import Connection, make_provider
from passband.run.session import run_session
from passband.run.settings import Settings
from passband.tasks.file.loader import load_task
from passband.trials.reader import Trials
from run import written

FAST, SLOW = 0.4, 0.8  # seconds of an answer
LONGEST = 2.0  # seconds that a pause may last
SHORT = 0.9  # of the possible rate, that has to be reached


@dataclass(frozen=True)
class Case:
    """Two servers and a number of requests in flight."""

    slots: int | None  # of each server
    concurrency: int

    def possible(self) -> float:
        """Return the rate of the best division of the requests in flight."""
        divisions = range(self.concurrency + 1)
        return max(self._rate(n, FAST) + self._rate(self.concurrency - n, SLOW) for n in divisions)

    def _rate(self, in_flight: int, seconds: float) -> float:
        return min(in_flight, self.slots or in_flight) / seconds


CASES = (Case(16, 64), Case(16, 24), Case(1, 8), Case(None, 64))


@dataclass
class Timed(Provider):
    """A provider that notes when its answers come."""

    urls: Sequence[str]
    answers: list[float] = field(default_factory=list)
    longest: float = 0.0  # from the first request of a trial to its answer
    notes: list[str] = field(default_factory=list)
    name: str = "openai:loopback"
    batch: int = 1
    one_seed: bool = True

    def __post_init__(self) -> None:
        self._first: dict[int | None, float] = {}
        self._provider = make_provider(self.name, Connection(self.urls, batch=1))

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Pass a request on."""
        start = self._first.setdefault(request.seeds[0], time.monotonic())
        completions = await self._provider.generate(request)
        self.answers.append(time.monotonic())
        self.longest = max(self.longest, self.answers[-1] - start)
        return completions

    async def close(self) -> None:
        """Close the provider, and keep what it has to say."""
        self.notes = list(self._provider.notes)
        await self._provider.close()

    @property
    def pause(self) -> float:
        """The longest time between two answers."""
        return max(later - earlier for earlier, later in pairwise(self.answers))


class Unwatched:
    """A watcher that shows nothing."""

    def tick(self, progress: object) -> None:
        """Show nothing."""

    note = warn = tick


def run(folder: Path, name: str, urls: Sequence[str], trials: int, concurrency: int) -> Timed:
    """Ask so many trials of the addresses."""
    model = Timed(urls)
    run_session(
        [load_task(written(folder, 50))],
        model,
        folder / name,
        settings=Settings(n=-(-trials // 50), concurrency=concurrency, seed="pool"),
        connection=Connection(),
        watcher=Unwatched(),
    )
    return model


def exported(directory: Path) -> list[tuple[object, ...]]:
    """Return what must not depend on who answered."""
    with Trials(directory) as trials:
        (one,) = trials.runs()
        rows = trials.trials(one)
        return [(row.problem, row.trial, row.status, row.text, row.seed) for row in rows]


def measure_rates(folder: Path, seconds: float) -> bool:
    """Print the rate of each case; return whether all are near what is possible."""
    print("| slots | requests in flight | possible/s | reached/s | share | fast : slow |")
    print("|--:|--:|--:|--:|--:|:--|")
    is_good = True
    for number, case in enumerate(CASES):
        with ExitStack() as stack:
            urls = [
                stack.enter_context(loopback.started(latency=latency, slots=case.slots))
                for latency in (FAST, SLOW)
            ]
            model = run(folder, f"rate-{number}", urls, _trials(case, seconds), case.concurrency)
            shares = [_requests(url) for url in urls]
        rate = _steady_rate(model.answers)
        share = rate / case.possible()
        is_good &= share >= SHORT
        slots = "no limit" if case.slots is None else case.slots
        print(
            f"| {slots} | {case.concurrency} | {case.possible():.1f} | {rate:.1f} | {share:.2f} | "
            f"{shares[0]} : {shares[1]} |"
        )
    return is_good


def _trials(case: Case, seconds: float) -> int:
    return round(case.possible() * seconds)


def _requests(url: str) -> int:
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats", timeout=10) as reply:
        return int(json.load(reply)["requests"])


def _steady_rate(answers: Sequence[float]) -> float:
    """Return the rate without the first and the last tenth, when not all are in flight."""
    tenth = len(answers) // 10
    middle = sorted(answers)[tenth:-tenth]
    return (len(middle) - 1) / (middle[-1] - middle[0])


def measure_kill(folder: Path, trials: int = 2000) -> bool:
    """Kill one of two servers in the middle; return whether nothing is lost or held up."""
    with loopback.started(latency=0.1) as url:
        run(folder, "alone", [url], trials, 64)
    with loopback.started(latency=0.1) as one, ExitStack() as other:
        urls = [one, other.enter_context(loopback.started(latency=0.1))]
        killer = threading.Timer(1.0, other.close)
        killer.start()
        timed = run(folder, "killed", urls, trials, 64)
        killer.join()
    expected, got = exported(folder / "alone"), exported(folder / "killed")
    is_same = expected == got
    print(f"\ntrials {len(got)} of {len(expected)}, {'the same' if is_same else 'DIFFERENT'}")
    print(
        f"longest time between two answers {timed.pause:.2f} s, of one trial {timed.longest:.2f} s"
    )
    print("\n".join(timed.notes))
    return is_same and bool(timed.notes) and max(timed.pause, timed.longest) <= LONGEST


def main() -> None:
    """Measure, print, and fail if a target is missed."""
    parser = argparse.ArgumentParser(description="Measure one model at two addresses.")
    parser.add_argument("--seconds", type=float, default=15.0, help="of each run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        is_good = [measure_kill(folder), measure_rates(folder, options.seconds)]
    if not all(is_good):
        sys.exit("SHORT of a target")


if __name__ == "__main__":
    main()

"""What a sample of an Inspect task costs: by Inspect alone, and through passband's engines.

    python benchmarks/inspect_tasks.py            a few minutes
    python benchmarks/inspect_tasks.py --quick    one repetition

The task generates once and compares; its model is a server on this machine (loopback.py). What is
measured is the CPU time of this process, the server's apart, for each further sample: the time of
a large evaluation less that of a small one, over the difference in samples, so that imports and
the start of an evaluation do not count. All ways take turns in one process, because the machine
may be busy, and the least of the repetitions counts. Inspect runs with its own defaults, writing
its log, but for the display, which is off; passband commits every trial to disk.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import loopback

from passband.errors import InvalidInput
from passband.run.request import make_request

TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate


@task
def sums():
    pairs = [(100 + 37 * i, 991 - 3 * i) for i in range({problems})]
    samples = [Sample(f"What is {{a}} + {{b}}?", target=str(a + b), id=a) for a, b in pairs]
    return Task(samples, solver=generate(), scorer=match(numeric=True))
"""
PROBLEMS, SMALL, LARGE = 40, 2, 12  # samples, and epochs of the two evaluations
CONCURRENCY = 64
MOST_MS, LEAST_RATIO, LEAST_LIGHT = 12.0, 2.0, 8.0

Way = Callable[[str, Path, int], None]  # address of the server, folder, epochs


class Unwatched:
    """A watcher that shows nothing."""

    def tick(self, progress: object) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def warn(self, text: str) -> None:
        """Show nothing."""


def by_inspect(url: str, folder: Path, epochs: int) -> None:
    """Evaluate with Inspect alone."""
    from inspect_ai import eval_async
    from inspect_ai.util._display import init_display_type

    init_display_type("none")
    (log,) = asyncio.run(
        eval_async(
            f"{folder / 'sums.py'}@sums", model="openai-api/loop/loopback", model_base_url=url,
            epochs=epochs, max_connections=CONCURRENCY, log_dir=str(folder / "logs"),
        )
    )  # fmt: skip
    assert log.status == "success"
    assert log.results is not None
    assert log.results.completed_samples == PROBLEMS * epochs


def through_passband(engine: str, model: str) -> Way:
    """Return a way through a run of passband."""

    def run(url: str, folder: Path, epochs: int) -> None:
        with tempfile.TemporaryDirectory(dir=folder) as directory:
            request = make_request(
                f"inspect:{folder / 'sums.py'}@sums", model, base_url=url, n=epochs,
                concurrency=CONCURRENCY, out=Path(directory) / "run", engine=engine,
            )  # fmt: skip
            counters = request.run(Unwatched()).task_runs[0].counters
            assert counters.statuses["ok"] == PROBLEMS * epochs

    return run


WAYS: dict[str, Way] = {
    "Inspect, its defaults": by_inspect,
    "engine inspect, Inspect's client": through_passband("inspect", "openai-api/loop/loopback"),
    "engine inspect": through_passband("inspect", "openai:loopback"),
    "engine light": through_passband("light", "openai:loopback"),
}


def cpu_ms(way: Way, url: str, folder: Path) -> float:
    """Return the CPU time of a further sample, in milliseconds."""
    times = []
    for epochs in (SMALL, LARGE):
        start = time.process_time()
        way(url, folder, epochs)
        times.append(time.process_time() - start)
    return 1000 * (times[1] - times[0]) / (PROBLEMS * (LARGE - SMALL))


def measure(repeat: int) -> dict[str, float]:
    """Return the least CPU time of a sample by each way that there is."""
    ways, least = dict(WAYS), {}
    with tempfile.TemporaryDirectory() as name, loopback.started() as url:
        folder = Path(name)
        (folder / "sums.py").write_text(TASK.format(problems=PROBLEMS))
        for label, way in WAYS.items():  # the first time, modules are imported
            try:
                way(url, folder, 1)
            except InvalidInput as error:
                print(f"{label}: left out: {error}")
                del ways[label]
        for _ in range(repeat):
            for label, way in ways.items():
                least[label] = min(cpu_ms(way, url, folder), least.get(label, float("inf")))
    return least


def show(least: dict[str, float]) -> None:
    alone = least["Inspect, its defaults"]
    demands = {
        "engine inspect": f"(at most {MOST_MS:g} ms; {LEAST_RATIO:g} x less than Inspect alone)",
        "engine light": f"({LEAST_LIGHT:g} x less than Inspect alone)",
    }
    print(f"CPU of one more sample with one generation, {CONCURRENCY} at a time")
    for label, ms in least.items():
        print(f"  {label:33} {ms:6.2f} ms  {alone / ms:5.1f} x less  {demands.get(label, '')}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true")
    quick = options.parse_args().quick
    os.environ["LOOP_API_KEY"] = "none"
    os.environ.pop("OPENAI_API_KEY", None)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    show(measure(1 if quick else 5))


if __name__ == "__main__":
    main()

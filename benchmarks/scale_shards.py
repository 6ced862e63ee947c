"""What splitting a run costs: requests of one process, of two shards, and of shards on Ray.

    python benchmarks/scale_shards.py             some minutes
    python benchmarks/scale_shards.py --part 10   a tenth of the problems
    python benchmarks/scale_shards.py --no-ray

A server on this machine (loopback.py) answers 200 sums x 40 trials, each after 100 ms, with 64
requests in flight in all. Asking is what the sessions of the stores record, of several shards that
of the slowest; the whole command has its start, the merge and the table on top. The same is
done on a Ray cluster of three nodes on this machine, one of which is killed in the middle. Exports
are compared by their SHA-256, and the server counts the requests.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import loopback

from passband.run.progress import Silent
from passband.run.request import make_request
from passband.run.shards.driver import run_shards
from passband.run.shards.launch import Launch
from passband.trials.exports.export import export_trials
from passband.trials.reader import Trials

PROBLEMS, TRIALS, LATENCY, CONCURRENCY = 200, 40, 0.1, 64
MOST = 0.05  # overhead that shards may have
TASK = """\
task: sums
dataset_path: json
dataset_kwargs: {data_files: {test: sums.jsonl}}
test_split: test
doc_to_text: "What is {{a}} + {{b}}?"
doc_to_target: "{{a + b}}"
generation_kwargs: {temperature: 1.0}
filter_list: [{name: answer, filter: [{function: extract}]}]
metric_list: [{metric: exact_match, repeat_aggregation: mean}]
"""
NODE = {"num_cpus": 2, "object_store_memory": 80 * 2**20, "node_ip_address": "127.0.0.1"}


@dataclass(frozen=True)
class Way:
    """A way to ask for the run, and what it took."""

    name: str
    asking: float  # seconds, of the slowest shard
    whole: float
    requests: int
    digest: str


class Bench:
    """A task, a server, and runs of it."""

    def __init__(self, folder: Path, url: str, problems: int) -> None:
        self.folder, self.url = folder, url
        rows = [{"a": 17 + at, "b": 25 + at} for at in range(problems)]
        (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.task = folder / "sums.yaml"
        self.task.write_text(TASK)

    def words(self, *more: object) -> list[str]:
        """The command of the run."""
        words = [
            sys.executable, "-m", "passband", "run", self.task, "--model", "openai:loopback",
            "--base-url", self.url, "-n", TRIALS, "--batch", 1, "--seed", "s",
            "--concurrency", CONCURRENCY, "--quiet", *more,
        ]  # fmt: skip
        return [str(word) for word in words]

    def requests(self) -> int:
        """How many requests the server has answered."""
        with urllib.request.urlopen(self.url.replace("/v1", "/stats")) as reply:
            return int(json.load(reply)["requests"])

    def one_process(self, name: str) -> Way:
        out = self.folder / name
        began, before = time.perf_counter(), self.requests()
        subprocess.run(self.words("--out", out), check=True, capture_output=True)
        return self._way("one process", [out], out, began, before)

    def two_shards(self, name: str) -> Way:
        parts = [self.folder / f"{name}-{index}" for index in (1, 2)]
        began, before = time.perf_counter(), self.requests()
        processes = [
            subprocess.Popen(
                self.words("--shard", f"{index}/2", "--out", out), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for index, out in enumerate(parts, start=1)
        ]  # fmt: skip
        assert not any(process.wait() for process in processes)
        out = self.folder / name
        words = [sys.executable, "-m", "passband", "merge", *map(str, parts), "-o", str(out)]
        subprocess.run(words, check=True, capture_output=True)
        return self._way("two processes, --shard, and merge", parts, out, began, before)

    def launched(self, name: str, shards: int) -> Way:
        out = self.folder / name
        began, before = time.perf_counter(), self.requests()
        subprocess.run(
            self.words("--out", out, "--shards", shards), check=True, capture_output=True
        )
        return self._way(f"--shards {shards}", [out], out, began, before)

    def on_ray(self, name: str, shards: int) -> Way:
        """Ask on the cluster that this process is connected to."""
        out = self.folder / name
        began, before = time.perf_counter(), self.requests()
        request = make_request(
            [self.task], "openai:loopback", out=out, base_url=self.url, n=TRIALS, batch=1,
            seed="s", concurrency=CONCURRENCY,
        )  # fmt: skip
        run_shards(request, Launch(shards, "ray"), Silent())
        return self._way(f"Ray, three nodes, {shards} shards", [out], out, began, before)

    def _way(self, name: str, stores: Sequence[Path], out: Path, began: float, before: int) -> Way:
        whole = time.perf_counter() - began
        seconds = []
        for store in stores:
            with Trials(store) as trials:
                seconds += [one.seconds or 0.0 for one in trials.sessions()]
        file = out.with_suffix(".jsonl")
        with Trials(out) as trials:
            export_trials(trials, trials.runs(), "jsonl", file)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        return Way(name, max(seconds), whole, self.requests() - before, digest)


@contextmanager
def ray_cluster() -> Iterator[object]:
    """Three nodes on this machine, with quick health checks; this process is connected."""
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # loopback is this machine
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_DEDUP_LOGS_SKIP_REGEX"] = "."  # pages about the node that is killed
    import ray
    from ray.cluster_utils import Cluster

    quick = {
        "health_check_initial_delay_ms": 1000, "health_check_period_ms": 1000,
        "health_check_timeout_ms": 1000, "health_check_failure_threshold": 3,
    }  # fmt: skip
    head = {**NODE, "include_dashboard": False, "_system_config": quick}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(**NODE) for _ in range(2)]
    ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
    try:
        yield cluster, nodes[-1]
    finally:
        ray.shutdown()
        cluster.shutdown()


def measured_on_ray(bench: Bench, total: int) -> list[Way]:
    """The run on three nodes, and the run in which one of them is killed half-way."""
    with ray_cluster() as (cluster, node):  # type: ignore[misc]
        plain = bench.on_ray("ray", 4)
        start, is_over = bench.requests(), threading.Event()

        def kill() -> None:
            while bench.requests() - start < total // 2 and not is_over.wait(0.05):
                pass
            cluster.remove_node(node, allow_graceful=False)

        killer = threading.Thread(target=kill)
        killer.start()
        lost = bench.on_ray("ray-lost", 4)
        is_over.set()
        killer.join()
    return [plain, Way("the same, a node killed half-way", *list(vars(lost).values())[1:])]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--part", type=int, default=1, help="divide the problems by this")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--no-ray", action="store_true")
    options = parser.parse_args(arguments)
    problems = max(1, PROBLEMS // options.part)
    with (
        tempfile.TemporaryDirectory(prefix="passband-") as folder,
        loopback.started(latency=LATENCY) as url,
    ):
        bench, ways = Bench(Path(folder), url, problems), list[Way]()
        for number in range(options.repeats):  # in turn: the machine is not always as busy
            ways.append(bench.one_process(f"one-{number}"))
            ways.append(bench.two_shards(f"two-{number}"))
            ways.append(bench.launched(f"launched-{number}", 2))
        if not options.no_ray:
            ways += measured_on_ray(bench, problems * TRIALS)
    show(ways, problems * TRIALS)


def show(ways: Sequence[Way], total: int) -> None:
    print(f"{total} requests of {LATENCY:g} s, {CONCURRENCY} in flight in all")
    print(f"{'':36}  asking   ratio   whole  requests  export")
    best = {
        way.name: min((w for w in ways if w.name == way.name), key=lambda w: w.asking)
        for way in ways
    }
    one = best["one process"]
    for name in dict.fromkeys(way.name for way in ways):
        way = best[name]
        same = "same" if {w.digest for w in ways if w.name == way.name} == {one.digest} else "OTHER"
        print(
            f"{way.name:36}  {way.asking:5.2f} s  {way.asking / one.asking:5.3f}  "
            f"{way.whole:5.1f} s  {way.requests:8}  {same}"
        )
    overhead = max(best[name].asking for name in best if "killed" not in name) / one.asking - 1
    verdict = "ok" if overhead < MOST else "SHORT"
    print(f"most overhead of asking in shards: {overhead:.1%} (under {MOST:.0%}) {verdict}")


if __name__ == "__main__":
    main()

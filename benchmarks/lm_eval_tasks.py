"""How many of the tasks of an installed lm-eval can be loaded, and how fast they are found.

    python benchmarks/lm_eval_tasks.py               a few minutes; needs lm-eval
    python benchmarks/lm_eval_tasks.py --failures    with a line for each task that fails

The generate_until tasks of lm-eval are of three kinds: declarative ones, those with functions that
only prepare data and prompts, and those that score by functions of their own. The first kind is
loaded as it is, the others with the trust that --trust-task-code gives, so that their code is
imported. Data are not read: nearly all of them would have to be downloaded. A task whose code
downloads something when it is imported, whose metric would be downloaded (hf_evaluate), or which
needs a package that is not installed, is counted by itself. Finding a name is timed in a process of
its own, once without the index and once with it, in CPU time, because the machine may be busy. At
last lm-eval's make_table prints the results of simple_evaluate, those without a standard error too.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

from passband.run.lm_eval.simple_evaluate import simple_evaluate
from passband.tasks.file.loader import read_task
from passband.tasks.file.yaml_file import read_with_includes, references
from passband.tasks.lm_eval_index import LmEvalIndex, lm_eval_index

DECLARATIVE, LEAST_SHARE, MOST_SECONDS = 2382, 0.95, 0.2
SCORING = ("filter_list", "metric_list", "process_results")
# How code says that it wanted to download something, or that a package is missing.
DOWNLOADS = re.compile(
    r"LookupError.*nltk|Resource .*not found|offline|couldn't (find|reach)|connect|resolve|"
    r"Max retries|URLError|Hub|huggingface\.co|HTTPS?|the evaluate package",
    re.IGNORECASE | re.DOTALL,
)
PACKAGES = re.compile(r"No module named '?([\w.]+)|pip install ([^\s`'\"]+)|install `?(\w+)")
MISSING = """
import sys, time
from passband.errors import InvalidInput
from passband.tasks.find import find_tasks
start = time.process_time()
try:
    find_tasks("there_is_no_such_task")
except InvalidInput:
    print(time.process_time() - start)
"""


def main() -> int:
    """Print the tables; return 1 if a number is below what it must be."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--failures", action="store_true", help="list the tasks that fail")
    options = parser.parse_args()
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE"):
        os.environ.setdefault(name, "1")
    warnings.simplefilter("ignore")
    index = lm_eval_index()
    if index is None:
        print("lm-eval is not installed: pip install lm-eval==0.4.13", file=sys.stderr)
        return 2
    print(f"lm-eval {index.version}: {len(index.names)} names")
    passed = [_loading(index, options.failures), _finding(), _table()]
    return 0 if all(passed) else 1


def _finding() -> bool:
    """Time a name that there is not, without and with the index."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        seconds = [
            min(_missing_name(environment) for _ in range(repetitions)) for repetitions in (1, 5)
        ]
    first, then = seconds
    print(f"a missing name: {first:.2f} s of CPU the first time, then {then:.3f}", end="")
    print(f" (<= {MOST_SECONDS})")
    return seconds[1] <= MOST_SECONDS


def _table() -> bool:
    """Print results by lm-eval's own function: of a model with errors, and of one without any."""
    from lm_eval.utils import make_table

    tables = [
        make_table(simple_evaluate(model, "arithmetic", 2, limit=20, log_samples=False))
        for model in ("tiny", lambda prompt: "none")
    ]
    print(*tables, sep="\n")
    return "±" in tables[0] and "N/A" in tables[1]


def _missing_name(environment: dict[str, str]) -> float:
    command = [sys.executable, "-c", MISSING]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def _loading(index: LmEvalIndex, show: bool) -> bool:
    start, counts, failures = time.perf_counter(), Counter[tuple[str, str]](), list[str]()
    groups = {*index.groups}
    for name, path in ((n, path) for n in index.names for path in index.named(n)):
        kind = None if name in groups else _kind(path)
        if kind is None:
            continue
        reason = _failure(path, trust=kind != "declarative")
        outcome = _outcome(reason)
        counts[kind, outcome] += 1
        if outcome != "loads":
            failures.append(f"{kind:12} {outcome:20} {name}: {reason[:300]}")
    print(f"{sum(counts.values())} generate_until tasks, {time.perf_counter() - start:.0f} s")
    if show:
        print(*failures, sep="\n")
    return _print(counts)


def _kind(path: Path) -> str | None:
    """Return which functions a task has; None if it is no generate_until task."""
    values = read_with_includes(path, trust=True).values
    if values.get("output_type", "generate_until") != "generate_until" or "class" in values:
        return None
    if any(True for key in SCORING for _ in references(values.get(key))):
        return "scoring"
    return "preparation" if any(True for _ in references(values)) else "declarative"


def _failure(path: Path, *, trust: bool) -> str:
    """Return why a task cannot be loaded, or nothing."""
    try:
        reading = read_task(path, trust=trust)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    errors = [str(one) for one in reading.diagnostics if one.level == "error"]
    return "" if reading.task is not None else " | ".join(dict.fromkeys(errors))


def _outcome(reason: str) -> str:
    if not reason:
        return "loads"
    if DOWNLOADS.search(reason):
        return "needs a download"
    return "needs a package" if PACKAGES.search(reason) else "fails"


def _print(counts: Counter[tuple[str, str]]) -> bool:
    outcomes = ("loads", "needs a download", "needs a package", "fails")
    print(f"{'functions in':14}{''.join(f'{name:>18}' for name in outcomes)}{'share':>9}")
    shares = {}
    for kind in ("declarative", "preparation", "scoring"):
        row = [counts[kind, outcome] for outcome in outcomes]
        possible = sum(row) - row[1]
        shares[kind] = row[0] / possible if possible else 0.0
        print(f"{kind:14}{''.join(f'{number:>18}' for number in row)}{shares[kind]:>9.3f}")
    print("share: of those that need no download")
    enough = counts["declarative", "loads"] >= DECLARATIVE
    print(f"declarative >= {DECLARATIVE}: {'ok' if enough else 'FAILED'}", end=", ")
    print(f"preparation >= {LEAST_SHARE}: {'ok' if shares['preparation'] >= 0.95 else 'FAILED'}")
    return enough and shares["preparation"] >= LEAST_SHARE


if __name__ == "__main__":
    sys.exit(main())

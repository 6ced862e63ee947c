"""Time the reader of Inspect's logs next to Inspect's own.

    python benchmarks/read_logs.py [--log LOG] [--folder DIR] [--markdown]

The first log is a real one: inspect_ai runs 200 problems 16 times each with a model in this
process, whose answers of about 300 characters differ, which takes a minute or two. `--folder`
keeps it, and `--log` takes one that is there. It is read by passband and by `read_eval_log` in
turn, and each time is the least CPU time of several. The second log has 100,000 trials; its
members are written here as Inspect writes them, as running that many would take an hour. It is
read once, in a process of its own, whose peak memory is printed too.

Every row has what was measured, a target and a verdict, "ok" or "SHORT". On a machine with other
work to do, read the ratios and not the times. The exit code is 0 whatever was measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from metrics import at_least, at_most, version_of

from passband.readers.inspect.log import InspectLog
from passband.readers.options import Options
from passband.report.rendering import Row, render

PROBLEMS, EPOCHS = 200, 16
LARGE = 100_000  # trials
WORDS = ("so", "the", "sum", "of", "both", "is", "by", "adding", "tens", "ones", "then", "carry")
CHILD = """
import re, resource, sys, time
from pathlib import Path
from passband.readers.inspect.log import InspectLog
from passband.readers.options import Options
(log,) = InspectLog().read(Path(sys.argv[1]), Options(texts=sys.argv[2] == "texts"))
outcomes = log.outcomes()
characters = sum(len(trial.text or "") for trial in log.trials)
status = Path("/proc/self/status")  # the peak that `resource` gives may be that of the parent
words = re.search(r"VmHWM:\\s+(\\d+)", status.read_text()) if status.exists() else None
peak = int(words[1]) if words else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
peak /= 1024 if words or sys.platform == "linux" else 1024**2
print(outcomes.n_trials, time.process_time(), peak, characters)
"""


# -- logs ----------------------------------------------------------------------------------


def real_log(folder: Path) -> Path:
    """Run the problems through Inspect, and return its log."""
    os.environ["INSPECT_DISPLAY"] = "none"
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    chance = random.Random(20240)

    def answer(input: Any, *_: Any) -> ModelOutput:
        first, second = map(int, input[-1].text.partition("?")[0].split("+"))
        miss = chance.random() * 40 > first
        output = ModelOutput.from_content("mockllm/model", text(chance, first + second + miss))
        output.usage = ModelUsage(input_tokens=10, output_tokens=60, total_tokens=70)
        return output

    pairs = [(number % 40, number // 3) for number in range(PROBLEMS)]
    data = [
        Sample(id=f"p{number}", input=f"{first}+{second}? ({number})", target=str(first + second))
        for number, (first, second) in enumerate(pairs)
    ]
    task = inspect_ai.Task(
        dataset=MemoryDataset(data), solver=generate(), scorer=match(), epochs=EPOCHS, name="sums"
    )
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(folder), log_realtime=False)
    return Path(log.location)


def text(chance: random.Random, number: int) -> str:
    return " ".join(chance.choices(WORDS, k=65)) + f" {number}"


def large_log(path: Path, trials: int) -> Path:
    """Write a log of many trials, as Inspect writes them."""
    chance = random.Random(20240)
    ids = [f"p{number}" for number in range(trials // EPOCHS)]
    spec = {
        "created": "2026-01-01T00:00:00+00:00", "task": "sums", "task_id": "large", "model": "M",
        "dataset": {"sample_ids": ids}, "config": {"epochs": EPOCHS},
        "scorers": [{"name": "match"}],
    }  # fmt: skip
    summaries = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for key in ids:
            for epoch in range(1, EPOCHS + 1):
                record = sample(chance, key, epoch)
                name = f"samples/{key}_epoch_{epoch}.json"
                file.writestr(name, json.dumps(record, separators=(",", ":")))
                omitted = ("messages", "output", "events")
                summaries.append({name: record[name] for name in record if name not in omitted})
        file.writestr("summaries.json", json.dumps(summaries, separators=(",", ":")))
        header = {"version": 2, "status": "success", "eval": spec, "plan": {}}
        file.writestr("header.json", json.dumps(header))
    return path


def sample(chance: random.Random, key: str, epoch: int) -> dict[str, Any]:
    answer = text(chance, chance.randrange(100))
    message = {"id": f"{chance.random()}", "role": "assistant", "content": answer}
    return {
        "id": key, "epoch": epoch, "input": f"What is {key}?", "target": key, "messages": [message],
        "output": {"choices": [{"message": message, "stop_reason": "stop"}], "completion": answer},
        "scores": {"match": {"value": chance.choice("CI"), "answer": answer, "history": []}},
        "metadata": {"level": epoch % 5}, "events": [{"event": "model", "output": answer}] * 3,
        "model_usage": {"M": {"input_tokens": 10, "output_tokens": 60, "total_tokens": 70}},
        "total_time": 1.5, "working_time": 1.25, "uuid": f"{chance.random()}", "completed": True,
    }  # fmt: skip


# -- the tables ----------------------------------------------------------------------------


def side_by_side(path: Path) -> Iterator[Row]:
    from inspect_ai.log import read_eval_log

    calls: dict[str, tuple[int, Callable[[], Any]]] = {
        "outcomes": (20, lambda: InspectLog().read(path, Options())[0].outcomes()),
        "all completions": (4, lambda: completions(path)),
        "read_eval_log": (1, lambda: read_eval_log(str(path))),
    }
    times: dict[str, float] = {}
    for _ in range(4):  # in turn, so that other work disturbs all of them
        for name, (repeats, call) in calls.items():
            times[name] = min(times.get(name, 1e9), *(cpu(call) for _ in range(repeats)))
    theirs = times["read_eval_log"]
    yield {"what": "outcomes, seconds", **at_most("found", times["outcomes"], 0.2, 3)}
    for name, target in (("outcomes", 50), ("all completions", 8)):
        cells = at_least(theirs / times[name], target)
        yield {"what": f"{name}, times faster", "found": cells.pop("ratio"), **cells}
    for name in ("all completions", "read_eval_log"):
        yield stated(f"{name}, seconds", round(times[name], 3))


def stated(what: str, found: float) -> Row:
    return {"what": what, "found": found, "target": None, "verdict": None}


def completions(path: Path) -> int:
    (log,) = InspectLog().read(path, Options(texts=True))
    return sum(len(trial.text or "") for trial in log.trials)


def cpu(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def large(folder: Path) -> Iterator[Row]:
    path = large_log(folder / "large.eval", LARGE)
    for kind, target in (("outcomes", 10), ("texts", 60)):
        words = subprocess.check_output([sys.executable, "-c", CHILD, str(path), kind], text=True)
        trials, used, peak, characters = map(float, words.split())
        assert trials == LARGE
        what = f"{kind} of {LARGE:,} trials"
        yield {"what": f"{what}, seconds with start", **at_most("found", used, target, 2)}
        yield {"what": f"{what}, MB at the peak", **at_most("found", peak, 1024, 0)}
        if characters:
            yield stated(f"{what}, MB of completions", round(characters / 1e6))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--log", type=Path, help="a log of Inspect to read, instead of a new one")
    parser.add_argument("--folder", type=Path, help="where to keep the log that is made")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    asked = parser.parse_args()
    form = "markdown" if asked.markdown else "table"
    names = ", ".join(f"{name} {version_of(name)}" for name in ("passband", "inspect-ai"))
    print(f"Python {platform.python_version()}, {names}")
    with tempfile.TemporaryDirectory() as temporary:
        path = asked.log or real_log(asked.folder or Path(temporary))
        print(f"\n{path.name}, {path.stat().st_size:,} bytes\n", flush=True)
        print(render(list(side_by_side(path)), form), end="", flush=True)
        print(f"\n{LARGE:,} trials\n", flush=True)
        print(render(list(large(Path(temporary))), form), end="", flush=True)


if __name__ == "__main__":
    main()

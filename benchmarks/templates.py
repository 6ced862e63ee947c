"""Time the rendering of prompts: trusted, and untrusted, which may need a worker process.

CPU seconds of this process and its workers for 10,000 problems, the start of a worker included.

    python benchmarks/templates.py [--problems 10000]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from passband.score.workers.worker_pool import pool
from passband.tasks.file.loader import load_task

LOOP = "{% for c in choices %}{{ 'ABCD'[loop.index0] }}. {{ c }}\n{% endfor %}"
TEMPLATES = {
    "columns": "Question: {{ question }}\nAnswer:",
    "choices": "{{ question.strip() }}\nA. {{ choices[0] }}\nB. {{ choices[1] }}\nAnswer:",
    "a loop": "{{ question }}\n" + LOOP,
    "an assignment": "{% set q = question.strip() %}{{ q }}\n" + LOOP,
    "a pattern": "{{ question | regex_replace('[aeiou]', '_') }}\nAnswer:",
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=10_000)
    problems = parser.parse_args().problems
    print(f"{problems:,} problems; CPU seconds\n\n| template | trusted | untrusted | ratio |")
    print("|:--|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder, "data.jsonl"), problems)
        for name, template in TEMPLATES.items():
            path = write_task(Path(folder, "task.yaml"), template)
            here = min(seconds(path, trust=True) for _ in range(3))
            there = min(seconds(path, trust=False) for _ in range(3))
            print(f"| {name} | {here:.2f} | {there:.2f} | {there / here:.2f} |")


def write_rows(path: Path, problems: int) -> None:
    with path.open("w") as file:
        for number in range(problems):
            question = f"What is {number} plus {number + 1}? " + "Think about it carefully. " * 10
            row = {"question": question, "choices": ["one", "two", "three", "four"], "answer": "2"}
            file.write(json.dumps(row) + "\n")


def write_task(path: Path, template: str) -> Path:
    task = {
        "task": "t",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": "data.jsonl"},
        "doc_to_text": template,
        "doc_to_target": "answer",
    }
    path.write_text(json.dumps(task))
    return path


def seconds(path: Path, *, trust: bool) -> float:
    """Return the CPU seconds of loading a task, those of ended workers included."""
    pool.close()
    before = sum(os.times()[:4])
    load_task(path, trust=trust).load()
    pool.close()
    return sum(os.times()[:4]) - before


if __name__ == "__main__":
    main()

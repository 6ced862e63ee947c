"""A model that says what a script tells it to, and small tasks for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from passband import simple_evaluate
from passband.generate.provider import Completion
from passband.run.schedule.blocks import trial_seed

SEED = "script"
CUT_OFF = Completion("I was about to say", finish="length")  # a trial without a score

Answers = Mapping[str, Sequence[str | Completion]]


class Script:
    """Gives each problem its answers in the order of its trials, whenever they are asked for."""

    def __init__(self, task: str, answers: Answers) -> None:
        self.calls = 0
        self._answers = {
            trial_seed(SEED, task, problem, trial): answer
            for problem, given in answers.items()
            for trial, answer in enumerate(given)
        }

    def __call__(self, prompt: str, seed: int) -> str | Completion:
        self.calls += 1
        return self._answers[seed]


def write_task(
    folder: Path, metrics: str, targets: Mapping[str, Any], *, name: str = "t", more: str = ""
) -> Path:
    """Write a task whose problems are named by the keys of their targets."""
    rows = [{"id": key, "target": target, "group": key[0]} for key, target in targets.items()]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / f"{name}.yaml"
    path.write_text(
        f"task: {name}\n"
        "dataset_path: json\n"
        f"dataset_kwargs: {{data_files: {name}.jsonl}}\n"
        'doc_to_text: "Problem {{ id }}"\n'
        "doc_to_target: target\n"
        "generation_kwargs: {temperature: 1.0, until: []}\n"
        f"{dedent(more)}"
        f"metric_list:\n{indent(dedent(metrics).strip(), '  ')}\n"
    )
    return path


def evaluated(
    folder: Path,
    metrics: str,
    targets: Mapping[str, Any],
    answers: Answers,
    *,
    more: str = "",
    **options: Any,
) -> dict[str, Any]:
    """Run a task with as many repeats as there are answers."""
    path = write_task(folder, metrics, targets, more=more)
    repeats = max(map(len, answers.values()))
    return simple_evaluate(
        Script("t", answers),
        path,
        **{"num_repeats": repeats, "seed": SEED} | options,  # type: ignore[arg-type]
    )

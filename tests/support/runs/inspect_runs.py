"""Runs of the tasks of inspect_tasks.py, and what is on disk afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from passband.run.request import make_request
from passband.run.session import RunResult
from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from support.runs.runs import HURRIED, Notes

MODEL = "python:support.samples.inspect_tasks:answer_sums"


def run(*tasks: str, model: Any = MODEL, notes: Notes | None = None, **options: Any) -> RunResult:
    """Run tasks twice each into the folder `run`, executed by Inspect."""
    defaults: dict[str, Any] = {
        "n": 2,
        "seed": "s",
        "concurrency": 4,
        "out": Path("run"),
        "engine": "inspect",
    }
    names = [f"inspect:support.samples.inspect_tasks:{task}" for task in tasks]
    return make_request(names, model, patience=HURRIED, **(defaults | options)).run(
        notes or Notes()
    )


def rows(task: str, out: Path = Path("run")) -> list[TrialRow]:
    with Trials(out) as trials:
        return list(trials.trials(trials.run(task)))


def statuses(task: str, out: Path = Path("run")) -> dict[str, int]:
    with Trials(out) as trials:
        return trials.statuses(trials.run(task).number)


def scores(task: str, out: Path = Path("run")) -> list[dict[str, float | None]]:
    with Trials(out) as trials:
        names = {scorer.number: scorer.name for scorer in trials.run(task).scorers}
    return [{names[s.scorer]: s.value for s in row.scores} for row in rows(task, out)]

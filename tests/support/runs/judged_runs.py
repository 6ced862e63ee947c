"""Run directories whose scores are a judge's, and labellers that know the truth."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from passband.run.label.sheet import read_sheet
from passband.trials.rows import ScorerEntry, ScoreRow, TrialRow
from support.samples.stores import MODEL, TASK, problem, writing

Truth = dict[tuple[str, int], float]

JUDGE: dict[str, Any] = {
    "function": "judge", "name": "quality", "options": {}, "steps": [], "model": "openai:gpt-4o",
    "bounds": [0.0, 1.0],
}  # fmt: skip


def judged_run(
    directory: Path,
    *,
    problems: int = 40,
    trials: int = 4,
    seed: int = 0,
    rate: float = 0.5,
    lenient: float = 0.3,
    harsh: float = 0.05,
    failed: float = 0.0,
    model: str = MODEL,
    spec: Mapping[str, Any] | None = JUDGE,
    identity: str = "quality 1",
) -> Truth:
    """Make a run that a judge has judged; it passes some failures, misses some passes."""
    rng = np.random.default_rng(seed)
    chances = rng.beta(2 * rate, 2 * (1 - rate), problems)
    truth: Truth = {}
    with writing(directory) as store:
        run = store.begin(TASK, model, spec={"seed": "s"}, config={"metrics": []}, name="run")
        store.add_problems(run, [problem(at) for at in range(problems)])
        (judge,) = store.set_scorers(run, [ScorerEntry("quality", identity, spec)])
        rows = []
        for at in range(problems):
            for trial in range(trials):
                right = bool(rng.random() < chances[at])
                passes = rng.random() >= harsh if right else rng.random() < lenient
                lost = rng.random() < failed
                score = ScoreRow(judge, None, "error") if lost else ScoreRow(judge, float(passes))
                text = f"={at}: {'right' if right else 'wrong'} {trial}"
                rows.append(TrialRow(at, trial, "ok", text, scores=[score]))
                truth[f"p{at}", trial] = float(right)
        store.append(run, rows)
    return truth


def fill(path: Path, truth: Truth, *, most: int | None = None) -> int:
    """Write the truth into the labels of a file, from the top; return how many."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    places = [row.ticket for row in read_sheet(path)]
    count = 0
    for row, ticket in zip(rows, places, strict=True):
        assert ticket is not None
        if row["label"] or (most is not None and count >= most):
            continue
        row["label"] = "pass" if truth[ticket.problem, ticket.trial] else "fail"
        count += 1
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return count

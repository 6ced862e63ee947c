"""Write results of lm-evaluation-harness: the file that its `make_table` prints.

{"results": {task: {"alias": task, "pass@1,none": 0.62, "pass@1_stderr,none": 0.03, ...}},
 "versions": ..., "n-shot": ..., "higher_is_better": ..., "n-samples": ..., "configs": ..., ...}

Intervals, counts and notes have no place there; they are under "passband".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, Any

from passband.summary import Group, Line, Request, RunSummary, group_json
from passband.trials import RunRecord, Trials
from passband.writers.run_rows import Losses, clean

_SECTIONS = (
    "results", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples",
    "passband",
)  # fmt: skip


def write_lm_eval(
    trials: Trials, runs: Sequence[RunRecord], file: IO[bytes], losses: Losses
) -> None:
    """Write the results of every task of one model."""
    sections: dict[str, dict[str, Any]] = {name: {} for name in _SECTIONS}
    for run in runs:
        group = RunSummary(trials, run, Request()).group({})
        for section, value in _task(run, group, losses).items():
            sections[section][run.task] = value
    head = {"config": {"model": runs[0].model}, "model_name": runs[0].model}
    text = json.dumps(clean({**sections, **head}), ensure_ascii=False, indent=2)
    file.write(text.encode() + b"\n")


def _task(run: RunRecord, group: Group, losses: Losses) -> dict[str, Any]:
    lines = {_key(line): line for line in group.lines if line.estimate is not None}
    for line in group.lines:
        if line.estimate is None:
            losses.add(f"{run.task}: {line.metric} has no value and is left out")
    if group.n_unscored:
        losses.add(
            f"{run.task}: {{}} trials without a score are not in these means", group.n_unscored
        )
    config = run.config.get("task")
    return {
        "results": _numbers(run, group, lines),
        "group_subtasks": [],
        "configs": config if isinstance(config, dict) else {"task": run.task},
        "versions": run.config.get("version") or 0,
        "n-shot": run.config.get("num_fewshot") or 0,
        "higher_is_better": {
            key.partition(",")[0]: not line.lower_is_better for key, line in lines.items()
        },
        "n-samples": {"original": group.n_problems, "effective": group.n_problems},
        "passband": group_json(group),
    }


def _numbers(run: RunRecord, group: Group, lines: dict[str, Line]) -> dict[str, Any]:
    numbers: dict[str, Any] = {"alias": run.task, "sample_len": group.n_problems}
    for key, line in lines.items():
        assert line.estimate is not None
        name, _, filter_name = key.partition(",")
        numbers[key] = line.estimate.value
        # A number or "N/A": `make_table` fails on anything else.
        error = line.estimate.se
        numbers[f"{name}_stderr,{filter_name}"] = "N/A" if error is None else error
    return numbers


def _key(line: Line) -> str:
    """Return the name that a metric has in a results file: `metric,filter`."""
    name = (line.name or line.metric).replace(",", ";")
    return f"{name},{line.filter or 'none'}"

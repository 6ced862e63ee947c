"""Run directories of EVA, written for tests."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: A score; or "error", "" (an error without a message), "skipped", "null".
Value = float | str

SIX = {
    "task_completion": 1.0,
    "faithfulness": 0.5,
    "agent_speech_fidelity": 0.95,
    "conversation_progression": 0.5,
    "turn_taking": 0.8,
    "conciseness": 0.5,
}
EXAMPLE = "run_2026-06-01_example"
CONFIG = {"num_trials": 3, "domain": "airline", "model": {"llm": "gpt-x", "stt": "a", "tts": "b"}}


def metric(name: str, value: Value, **more: Any) -> dict[str, Any]:
    """Return a metric as EVA writes it."""
    fields: dict[str, Any] = {"name": name, "score": None, "normalized_score": None}
    fields |= {"details": {}, "error": None, "skipped": False, "sub_metrics": None}
    if value == "skipped":
        fields["skipped"] = True
    elif value in ("error", ""):
        fields |= {"score": 0.0, "normalized_score": 0.0, "error": "boom" if value else ""}
    elif value != "null":
        fields |= {"score": value, "normalized_score": value}
    return fields | more


def content(record: str, values: Mapping[str, Value | dict[str, Any]]) -> dict[str, Any]:
    """Return a metrics.json; a metric that is a dict already stays one."""
    metrics = {
        name: value if isinstance(value, dict) else metric(name, value)
        for name, value in values.items()
    }
    return {"record_id": record, "metrics": metrics, "aggregate_metrics": {"EVA-A_pass": None}}


def write_trial(run: Path, folder: str, values: Mapping[str, Any] | None) -> Path:
    """Write the folder of a trial; without values, it has no metrics.json."""
    path = run / "records" / folder
    path.mkdir(parents=True)
    if values is not None:
        (path / "metrics.json").write_text(json.dumps(content(folder, values)), "utf-8")
    return path


def write_run(
    run: Path,
    trials: Mapping[str, Sequence[Mapping[str, Any] | None]],
    config: Mapping[str, Any] | None = CONFIG,
) -> Path:
    """Write a run: for each scenario its trials; None is one that does not exist."""
    for scenario, values in trials.items():
        for number, trial in enumerate(values):
            if trial is not None:
                write_trial(run, f"{scenario}/trial_{number}", trial)
    if config is not None:
        (run / "config.json").write_text(json.dumps(config), "utf-8")
    return run


def example(folder: Path, metric_name: str = "m") -> Path:
    """Write the worked example: s1 = 1, 1, 0; s2 = 1, error, 1; s3 = 0, 0 and no third trial."""
    rows: dict[str, list[Value | None]] = {
        "s1": [1.0, 1.0, 0.0],
        "s2": [1.0, "error", 1.0],
        "s3": [0.0, 0.0, None],
    }
    trials = {
        name: [None if value is None else {metric_name: value} for value in row]
        for name, row in rows.items()
    }
    return write_run(folder / EXAMPLE, trials)

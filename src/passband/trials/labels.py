"""Labels of runs: what tables call a model, which is the name given to a checkpoint if it has one.

Checkpoints that are served one after another under one name are told apart by `--name`. It is kept
in the config of the run (`label`), beside the model's own name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from passband.trials.records import RunRecord

LABEL = "label"
"""The key of the config of a run."""


def with_labels(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """Return the runs of a directory with their labels.

    Where models share a name, it tells none of them apart, and each goes by its own.
    """
    runs = list(runs)
    models: dict[str, set[str]] = {}
    for run in runs:
        models.setdefault(_given(run), set()).add(run.model)
    return [
        replace(run, label=_given(run) if len(models[_given(run)]) == 1 else run.model)
        for run in runs
    ]


def kept_label(name: str | None, earlier: Mapping[str, Any]) -> dict[str, str]:
    """Return the label to record: the name given now, else the one given before.

    >>> kept_label("step100", {}), kept_label(None, {"label": "step100"}), kept_label(None, {})
    ({'label': 'step100'}, {'label': 'step100'}, {})
    """
    label = name or earlier.get(LABEL)
    return {LABEL: label} if isinstance(label, str) and label else {}


def _given(run: RunRecord) -> str:
    label = run.config.get(LABEL)
    return label if isinstance(label, str) and label else run.model

"""The settings of runs in the footer of a Parquet file, so that files of two runs can be compared.

A table of trials has no column for temperature or prompt. What was drawn otherwise would look like
more trials of the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from passband.trials.codec import canonical
from passband.trials.identity import compared_spec
from passband.trials.reader import RunRecord

__all__ = ["KEY", "RunSettings", "decode_settings", "encode_settings"]

KEY = b"passband.settings"

RunSettings = Mapping[tuple[str, str], Mapping[str, Any]]
"""What trials were drawn with, by task and model."""


def encode_settings(runs: Sequence[RunRecord]) -> bytes:
    """Return the settings of runs as JSON."""
    return canonical([[run.task, run.label, compared_spec(run.spec)] for run in runs]).encode()


def decode_settings(data: bytes | None) -> RunSettings:
    """Return the settings that a footer holds; none if it holds none, or something else."""
    try:
        return {(str(task), str(model)): dict(spec) for task, model, spec in json.loads(data or "")}
    except (ValueError, TypeError, RecursionError):
        return {}

"""What a Parquet file says of runs in its footer, so that several files can be counted as one.

A table of trials has no column for the temperature. What was drawn otherwise would look like more
trials of the same, and the trials of some shards like all of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from passband.trials.codec import canonical
from passband.trials.identity import compared_spec
from passband.trials.reader import RunRecord
from passband.trials.shards import Shards, shards_only

__all__ = ["KEY", "Exported", "RunSettings", "decode_settings", "encode_settings"]

KEY = b"passband.settings"
_MOST = 1 << 20  # shards


@dataclass(frozen=True)
class Exported:
    """What a file says of a run."""

    spec: Mapping[str, Any]  # what trials were drawn with
    shards: Shards | None = field(default=None)  # of which it holds the trials, if not of all


RunSettings = Mapping[tuple[str, str], Exported]
"""By task and model."""


def encode_settings(runs: Sequence[RunRecord]) -> bytes:
    """Return the settings of runs as JSON."""
    entries = [
        [run.task, run.label, compared_spec(run.spec), shards_only(run.config)] for run in runs
    ]
    return canonical(entries).encode()


def decode_settings(data: bytes | None) -> RunSettings:
    """Return the settings that a footer holds; none if it holds none, or something else."""
    try:
        return {
            (str(task), str(model)): Exported(dict(spec), _shards(config))
            for task, model, spec, config in json.loads(data or "")
        }
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}


def _shards(config: Mapping[str, Any]) -> Shards | None:
    """Return the shards that a footer states; `ValueError` if they make no sense."""
    shards = Shards.in_config(config)
    if shards is not None:
        numbers = [shards.of, shards.batch, *shards.merged]
        if not all(type(one) is int and 1 <= one <= _MOST for one in numbers):
            raise ValueError(shards)
    return shards

"""What a store says about the shard that it holds, and whether a run may go on with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.run.shard import Shard
from passband.trials.shards import SHARD

__all__ = ["check_shard", "shard_entry"]


def shard_entry(shard: Shard | None, batch: int) -> dict[str, Any]:
    """Return the entry of a run's config that says which part of the run a store holds.

    >>> shard_entry(Shard(3, 16), 8), shard_entry(None, 8)
    ({'shard': {'index': 3, 'of': 16, 'batch': 8}}, {})
    """
    if shard is None:
        return {}
    return {SHARD: {"index": shard.index, "of": shard.of, "batch": batch}}


def check_shard(
    directory: Path, earlier: Mapping[str, Any], shard: Shard | None, batch: int
) -> None:
    """Refuse to go on with another part of a run than the directory holds.

    `earlier` is the config of the run there; empty if there is none.
    """
    if not earlier:
        return
    held = earlier.get(SHARD)
    if held is None:
        if shard is not None:
            raise InvalidInput(
                f"{directory} holds a whole run, not shard {shard} of it; give the shard a "
                "directory of its own with --out."
            )
        return
    name = f"{held['index']}/{held['of']}"
    if shard is None:
        raise InvalidInput(
            f"{directory} holds shard {name} of a run; go on with --shard {name}, or merge the "
            "shards into another directory (passband merge) and go on with that."
        )
    if str(shard) != name:
        raise InvalidInput(
            f"{directory} holds shard {name} of the run, not {shard}; give each shard a directory "
            "of its own with --out."
        )
    if held["batch"] != batch:
        raise InvalidInput(
            f"{directory} holds shard {name} with {held['batch']} completions per request, now "
            f"there are {batch}; other requests carry other seeds. Give --batch {held['batch']}."
        )

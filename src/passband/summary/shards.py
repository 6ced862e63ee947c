"""Notes on runs that are there in part: one shard, or shards that are not all merged."""

from __future__ import annotations

from passband import notes
from passband.notes import Note
from passband.trials.reader import RunRecord

__all__ = ["shard_notes"]


def shard_notes(run: RunRecord) -> list[Note]:
    """Return the notes on a run whose config says that it is a part."""
    if (shard := run.config.get("shard")) is not None:
        return [notes.one_shard(shard["index"], shard["of"])]
    if (shards := run.config.get("shards")) is not None:
        missing = sorted(set(range(1, shards["of"] + 1)) - set(shards["merged"]))
        return [notes.shards_missing(missing, shards["of"])]
    return []

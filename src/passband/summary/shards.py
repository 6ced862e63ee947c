"""Notes on runs that are there in part: one shard, or shards that are not all merged."""

from __future__ import annotations

from passband import notes
from passband.notes import Note
from passband.trials.reader import RunRecord
from passband.trials.shards import Shards

__all__ = ["shard_notes"]


def shard_notes(run: RunRecord) -> list[Note]:
    """Return the notes on a run whose config says that it is a part."""
    shards = Shards.in_config(run.config)
    if shards is None or not (remark := shards.remark()):
        return []
    if shards.is_one:
        (index,) = shards.merged
        return [notes.one_shard(index, shards.of)]
    return [notes.shards_missing(remark)]

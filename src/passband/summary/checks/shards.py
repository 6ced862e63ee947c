"""Notes on runs that are there in part: one shard, or shards that are not all merged."""

from __future__ import annotations

from pathlib import Path

from passband import notes
from passband.notes import Note
from passband.trials import RunRecord, Shards, unmerged_shards


def shard_notes(run: RunRecord, directory: Path) -> list[Note]:
    """Return the notes on a run that is a part, or that has shards which are not merged yet."""
    return [*_parts(run), *unmerged_notes(directory)]


def unmerged_notes(directory: Path) -> list[Note]:
    """Return the note on shards of a run directory that are not merged into it yet, if any."""
    waiting = unmerged_shards(directory)
    return [notes.shards_waiting(waiting)] if waiting else []


def _parts(run: RunRecord) -> list[Note]:
    shards = Shards.in_config(run.config)
    if shards is None or not (remark := shards.remark()):
        return []
    if shards.is_one:
        (index,) = shards.merged
        return [notes.one_shard(index, shards.of)]
    return [notes.shards_missing(remark)]

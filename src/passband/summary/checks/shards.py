"""Notes on runs that are there in part: one shard, or shards that are not all merged."""

from __future__ import annotations

from pathlib import Path

from passband.notes import Note
from passband.trials import RunRecord, Shards, unmerged_shards


def shard_notes(run: RunRecord, directory: Path) -> list[Note]:
    """Return the notes on a run that is a part, or that has shards which are not merged yet."""
    return [*_parts(run), *unmerged_notes(directory)]


def unmerged_notes(directory: Path) -> list[Note]:
    """Return the note on shards of a run directory that are not merged into it yet, if any."""
    waiting = unmerged_shards(directory)
    return [shards_waiting(waiting)] if waiting else []


def _parts(run: RunRecord) -> list[Note]:
    shards = Shards.in_config(run.config)
    if shards is None or not (remark := shards.remark()):
        return []
    if shards.is_one:
        (index,) = shards.merged
        return [one_shard(index, shards.of)]
    return [shards_missing(remark)]


def one_shard(index: int, of: int) -> Note:
    """Return the note on a store that holds one shard of a run.

    >>> print(one_shard(3, 16))
    this is shard 3/16 of a run, not the run; merge all 16 with passband merge
    """
    text = f"this is shard {index}/{of} of a run, not the run; merge all {of} with passband merge"
    return Note("one-shard", text)


def shards_missing(remark: str) -> Note:
    """Return the note on a run that some shards have not been merged into.

    >>> print(shards_missing("shards 2 and 7 of 16 are not merged yet"))
    this is part of a run: shards 2 and 7 of 16 are not merged yet
    """
    return Note("shards-missing", f"this is part of a run: {remark}")


def shards_waiting(count: int) -> Note:
    """Return the note on a run whose shards are being asked, or were when it was cut off.

    >>> print(shards_waiting(3))
    3 shards are not merged yet, and not counted; the run merges each when it ends, and one that \
was cut off does so when it goes on
    """
    shards = "1 shard is" if count == 1 else f"{count} shards are"
    text = (
        f"{shards} not merged yet, and not counted; the run merges each when it ends, and one that "
        "was cut off does so when it goes on"
    )
    return Note("shards-waiting", text)

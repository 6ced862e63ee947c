"""Whether two records of a run are of the same run, and the one record that both become."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from passband.errors import InvalidInput
from passband.trials.differences import SettingsChanged
from passband.trials.identity import (
    MOVED_SERVER,
    address_change,
    completed_spec,
    identity_changes,
    is_moved,
)
from passband.trials.reader import RunRecord
from passband.trials.records import ORDER
from passband.trials.shards import Shards, joined, with_shards

__all__ = ["alone", "record_of", "united", "united_shards"]


def record_of(row: tuple[Any, ...]) -> RunRecord:
    """Return the run that a row holds, without its scorers."""
    number, name, task, model, spec, config, created, address, source = row
    return RunRecord(
        number, name, task, model, json.loads(spec), json.loads(config), created, address, source,
        scorers=(),
    )  # fmt: skip


def alone(run: RunRecord) -> RunRecord:
    """Return the record of a run that is merged with no other yet."""
    return replace(run, config=with_shards(run.config, Shards.in_config(run.config)))


def united(
    earlier: RunRecord, run: RunRecord, where: object, *, moved_server: bool = False
) -> RunRecord:
    """Return the record of both; other settings, names, servers or plans of shards are refused.

    `where` is the directory of the later one. How a run was measured is what the earlier says; how
    many trials it is to have, the one that says more.
    """
    known = earlier.addresses
    others = [one for one in run.addresses if is_moved(known, one)]
    spec = dict(earlier.spec)
    changed = identity_changes(run.spec, spec) and identity_changes(spec, run.spec)
    if others and not moved_server:
        changed.insert(0, address_change(known, others[0]))
    if run.name != earlier.name and not run.is_imported:
        changed.insert(0, ("name", json.dumps(earlier.name), json.dumps(run.name)))
    if changed:
        lines = [f"  {name}: {old} in one, {new} in the other" for name, old, new in changed]
        if others and not moved_server:
            lines.append(f"If it is the same model, which has moved, add {MOVED_SERVER}.")
        raise SettingsChanged(
            f"{where} cannot be merged: its trials of {run.task} were drawn with other settings:\n"
            + "\n".join(lines)
        )
    return replace(
        earlier,
        spec=completed_spec(spec, run.spec, [*known, *others], run.created),
        config=_config(earlier, run, where),
        created=min(earlier.created, run.created),
        address=earlier.address if earlier.address is not None else run.address,
    )


def united_shards(earlier: Shards | None, run: RunRecord, where: object) -> Shards | None:
    """Return the shards of both; those of another plan are refused."""
    try:
        return joined(earlier, Shards.in_config(run.config))
    except InvalidInput as error:
        raise SettingsChanged(
            f"{where} cannot be merged: its trials of {run.task} are not a shard of the same run: "
            f"{error}."
        ) from None


def _config(earlier: RunRecord, run: RunRecord, where: object) -> dict[str, Any]:
    config = dict(earlier.config)
    if run.is_imported:
        config = earlier.imported.merged(run.imported).config()
    shards = united_shards(Shards.in_config(earlier.config), run, where)
    if not run.is_shuffled or run.config.get("limit") != config.get("limit"):
        config.pop(ORDER, None)
    sizes = [_size(record.config) for record in (earlier, run)]
    if None in sizes or sizes[0] == sizes[1]:
        return with_shards(config, shards)
    limit, n = map(max, *sizes)  # type: ignore[arg-type]
    config = {**config, "n": n, "limit": limit}
    if limit == math.inf:
        del config["limit"]
    if sizes[0][0] != limit and "problems" in run.config:  # type: ignore[index]
        config["problems"] = run.config["problems"]
    for record, size in zip((earlier, run), sizes, strict=True):
        if size == (limit, n):  # a shard that was asked for fewer trials is still missing
            shards = Shards.in_config(record.config)
    return with_shards(config, shards)


def _size(config: Mapping[str, Any]) -> tuple[float, int] | None:
    """Return how many problems and trials of each a run was asked for, where that is fixed."""
    n = config.get("n")
    return (config.get("limit", math.inf), n) if type(n) is int else None

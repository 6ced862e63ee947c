"""The record of two parts of a run: how many trials it is to have, and which shards it lacks."""

from __future__ import annotations

from typing import Any

import pytest

from passband.trials.merging.entries import united
from passband.trials.records import RunRecord
from passband.trials.settings import SettingsChanged


def record(n: int, limit: int | None = None, shard: int | None = None, **config: Any) -> RunRecord:
    known = {} if limit is None else {"limit": limit}
    plan = {} if shard is None else {"shard": {"index": shard, "of": 3, "batch": 1}}
    settings = {"n": n, **known, **plan, **config}
    return RunRecord(1, "run", "sums", "m", {"seed": "s"}, settings, "2026-01-01", None, None, ())


def merged(*records: RunRecord) -> dict[str, Any]:
    one, *others = records
    for other in others:
        one = united(one, other, "here")
    return dict(one.config)


def test_shards_of_one_size_make_the_run() -> None:
    shards = [record(4, 9, index) for index in (2, 1, 3)]
    assert merged(*shards[:2])["shards"]["merged"] == [1, 2]
    assert merged(*shards) == {"n": 4, "limit": 9}


@pytest.mark.parametrize("is_first", [True, False])
def test_only_shards_of_the_largest_size_are_there(is_first: bool) -> None:
    small, large = record(4, 9, 1), record(8, 9, 2)
    config = merged(*([large, small] if is_first else [small, large]))
    assert (config["n"], config["shards"]["merged"]) == (8, [2])
    assert merged(record(4, 9), record(4, None, 2))["shards"]["merged"] == [2]
    assert merged(record(4), record(4, 9, 2)) == {"n": 4}
    assert merged(record(4, None, 2), record(8)) == {"n": 8}


def test_what_does_not_say_its_size_is_left_as_it_is() -> None:
    imported = record(4)
    imported.config.pop("n")  # type: ignore[attr-defined]
    assert merged(imported, record(8)) == {}


def test_another_plan_is_refused_whatever_the_size() -> None:
    other = record(8, shards={"of": 4, "batch": 1, "merged": [1]})
    with pytest.raises(SettingsChanged, match="split into"):
        merged(record(4, None, 1), other)

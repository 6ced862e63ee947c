"""Settings in the footers of Parquet files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.trials.exports.export import Exported, decode_settings, encode_settings
from passband.trials.reader import Trials
from passband.trials.shards import Shards
from passband.trials.store import Store


def test_what_is_written_is_read(tmp_path: Path) -> None:
    spec = {"sampling": {"temperature": 0.5}, "addresses": ["http://a/v1"]}
    store = Store(tmp_path / "run")
    plan = {"index": 2, "of": 3, "batch": 8}
    store.begin("sums", "tiny", spec=spec, config={"n": 8, "shard": plan}, name="run")
    store.close()
    with Trials(tmp_path / "run") as trials:
        data = encode_settings(trials.runs())
    shards = Shards(3, 8, frozenset([2]), is_one=True)
    expected = Exported({"sampling": {"temperature": 0.5}}, shards)
    assert decode_settings(data) == {("sums", "tiny"): expected}


ODD = b'[["a", "b", {}, {"shard": {"index": 1, "of": 9999999999, "batch": 1}}]]'


@pytest.mark.parametrize("data", [None, b"", b"{}", b"[1]", b'[["a", "b"]]', b"[" * 100_000, ODD])
def test_anything_else_is_no_settings(data: bytes | None) -> None:
    assert decode_settings(data) == {}


@given(st.binary())
def test_any_bytes_are_read(data: bytes) -> None:
    decode_settings(data)

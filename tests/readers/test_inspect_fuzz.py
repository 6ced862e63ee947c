"""Damaged logs of Inspect: refused, or read with a remark; no number changes silently."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput
from passband.readers import Log, Options
from passband.readers.inspect.log import InspectLog
from support.fuzz.properties import times
from support.samples.any_files import json_values
from support.samples.inspect_logs import (
    DEFLATED,
    STORED,
    ZSTD,
    failed,
    grid,
    header,
    members,
    sample,
    write_eval,
    write_killed,
    write_zip,
)

RECORDS = [*grid({"a": ["C", "I"], "b": ["C", float("nan")]}), failed("c")]
WAYS = [Options(), Options(texts=True), Options(skip_bad=True)]


def log_of(path: Path, options: Options) -> Log | None:
    """Return the log, or None if it is refused as it should be."""
    try:
        (log,) = InspectLog().read(path, options)
        log.outcomes()
    except InvalidInput as error:
        message = str(error)
    else:
        return log
    assert "Error" not in message  # the name of an exception explains nothing
    return None


def numbers(log: Log) -> Any:
    outcomes = log.outcomes()
    problems = sorted(zip(outcomes.problems, outcomes.trials.tolist(), strict=True))
    return problems, outcomes.status_counts, int(outcomes.required_successes().sum())


def assert_no_silent_change(path: Path, data: bytes, expected: Any) -> bool:
    """Return whether the damage was noticed."""
    path.write_bytes(data)
    noticed = False
    for options in WAYS:
        log = log_of(path, options)
        if log is None:
            noticed = True
        elif numbers(log) != expected:
            assert any(remark.important for remark in log.remarks)
            noticed = True
    return noticed


def finished(path: Path, method: int = ZSTD) -> bytes:
    return write_eval(path, RECORDS, method).read_bytes()


def killed(path: Path) -> bytes:
    return write_killed(path, [RECORDS[:3], RECORDS[3:]]).read_bytes()


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
def test_a_flipped_bit_changes_no_number_silently(tmp_path: Path, method: int) -> None:
    path = tmp_path / "x.eval"
    data = finished(path, method)
    expected = numbers(log_of(path, Options()))
    rng = np.random.default_rng(method)
    for place in rng.choice(len(data), size=120, replace=False):
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(rng.integers(8))
        assert_no_silent_change(path, bytes(damaged), expected)


def test_a_flipped_bit_in_the_directory_of_a_killed_run(tmp_path: Path) -> None:
    """A name that is damaged must not make trials vanish."""
    path = tmp_path / "x.eval"
    data = killed(path)
    expected = numbers(log_of(path, Options()))
    start = data.find(b"PK\x01\x02")
    rng = np.random.default_rng(0)
    noticed = 0
    for place in range(start, len(data), 3):
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(rng.integers(8))
        noticed += assert_no_silent_change(path, bytes(damaged), expected)
    assert noticed > 50


@pytest.mark.parametrize("write", [finished, killed])
def test_a_file_that_is_cut_off_anywhere(tmp_path: Path, write: Any) -> None:
    path = tmp_path / "x.eval"
    data = write(path)
    expected = numbers(log_of(path, Options()))
    for length in [*range(0, len(data), 37), *range(len(data) - 30, len(data))]:
        assert_no_silent_change(path, data[:length], expected)
        for options in WAYS:
            log = log_of(path, options)
            assert log is None or any(remark.important for remark in log.remarks)


@times(3)
@given(data=st.binary(max_size=200))
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.eval"
    for start in (b"", b"PK\x03\x04", b"PK\x05\x06"):
        path.write_bytes(start + data)
        for options in WAYS:
            assert log_of(path, options) is None


names = st.sampled_from(list(members(RECORDS))) | st.sampled_from(
    ["samples/a_epoch_1/sample.json", "samples/a_epoch_1/messages/0.json", "samples/x", "",
     "samples/a_epoch_1/attachments/0.json", "_journal/summaries/10.json", "reductions.json"]
)  # fmt: skip


@times(3)
@given(contents=st.dictionaries(names, json_values, max_size=3), gone=st.sets(names, max_size=3))
def test_any_members(tmp_path: Path, contents: dict[str, Any], gone: set[str]) -> None:
    """Members that hold anything, in place of those that should be there."""
    kept = {name: content for name, content in members(RECORDS).items() if name not in gone}
    path = write_zip(tmp_path / "x.eval", kept | contents)
    for options in WAYS:
        log_of(path, options)


fields = st.sampled_from(
    ["id", "epoch", "input", "target", "choices", "metadata", "scores", "score", "error", "limit",
     "retries", "error_retries", "model_usage", "total_time", "working_time", "uuid", "output",
     "messages", "attachments", "invalidation", "completed", "message_refs"]
)  # fmt: skip
values = (
    json_values
    | st.fixed_dictionaries({"match": st.fixed_dictionaries({"value": json_values})})
    | st.fixed_dictionaries({"choices": st.lists(json_values, max_size=2)})
    | st.lists(st.fixed_dictionaries({"role": json_values, "content": json_values}), max_size=3)
    | st.fixed_dictionaries({"M": st.fixed_dictionaries({"input_tokens": json_values})})
)


@times(3)
@given(
    changes=st.dictionaries(fields, values, max_size=4),
    of_header=st.dictionaries(
        st.sampled_from(["version", "status", "eval", "plan", "results", "invalidated", "error"]),
        json_values,
        max_size=1,
    ),
)
def test_any_fields(tmp_path: Path, changes: dict[str, Any], of_header: dict[str, Any]) -> None:
    """Samples and headers with anything in any field, in both formats."""
    records = [sample("a"), sample("b") | changes]
    document = tmp_path / "x.json"
    whole = header([sample("a"), sample("b")]) | of_header
    document.write_text(json.dumps(whole | {"samples": records}))
    contents = members([sample("a"), sample("b")])
    contents["header.json"] = whole
    contents["samples/b_epoch_1.json"] = records[1]
    contents["summaries.json"][1] |= changes
    packed = write_zip(tmp_path / "x.eval", contents)
    for options in WAYS:
        log_of(packed, options)
        log_of(document, options)

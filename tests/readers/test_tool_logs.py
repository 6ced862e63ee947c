"""Logs of tools in which a record is broken: read, left out, or refused with a reason."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, measure
from passband.readers import Options, read, readers
from support.fuzz.properties import times
from support.samples.tool_logs import (
    DETAILS,
    DOCUMENTS,
    FILES,
    LINES,
    broken,
    write_json,
    write_lines,
)


@pytest.mark.parametrize("name", FILES)
def test_texts_are_read_as_often_as_they_are_wanted(tmp_path: Path, name: str) -> None:
    for log in readers.get(name).read(FILES[name](tmp_path), Options(texts=True)):  # type: ignore[union-attr]
        assert len(list(log.trials)) == len(list(log.trials)) > 0
        assert {trial.problem for trial in log.trials} <= set(range(len(log.problems)))


@pytest.mark.parametrize("name", LINES)
def test_a_bad_line_is_named_by_number(tmp_path: Path, name: str) -> None:
    path = write_lines(tmp_path / "log.jsonl", [*LINES[name], '{"x": '])
    number = len(LINES[name]) + 1
    with pytest.raises(InvalidInput, match=rf"log\.jsonl:{number}: is not JSON"):
        read(path)
    groups = read(path, skip_bad=True)
    assert f"left out 1 line that cannot be read (line {number})" in " ".join(
        str(remark) for remark in groups.remarks if remark.important
    )


def assert_explained(error: InvalidInput) -> None:
    assert "Error" not in str(error)  # the name of an exception explains nothing
    assert "\n" not in str(error)


def check(name: str, path: Path, skip_bad: bool) -> None:
    """Read a file by its reader; measure what it holds, unless it is refused."""
    try:
        groups = read(path, reader=name, skip_bad=skip_bad)
        for log in readers.get(name).read(path, Options(texts=True, skip_bad=skip_bad)):  # type: ignore[union-attr]
            list(log.trials)
    except InvalidInput as error:
        assert_explained(error)
        return
    for group in groups.groups:
        if group.outcomes.trials.sum():
            assert measure(group.outcomes, "avg").n_trials == group.outcomes.trials.sum()


@pytest.mark.parametrize("name", LINES)
@times(3)
@given(data=st.data(), skip_bad=st.booleans())
def test_broken_lines(tmp_path: Path, name: str, data: st.DataObject, skip_bad: bool) -> None:
    records = data.draw(broken(LINES[name]))
    if data.draw(st.booleans()):
        records = data.draw(broken(records))
    lines = records if isinstance(records, list) else [records]
    check(name, write_lines(tmp_path / "log.jsonl", map(json.dumps, lines)), skip_bad)


@pytest.mark.parametrize("name", DOCUMENTS)
@times(3)
@given(data=st.data(), skip_bad=st.booleans())
def test_broken_documents(tmp_path: Path, name: str, data: st.DataObject, skip_bad: bool) -> None:
    value = data.draw(broken(DOCUMENTS[name]))
    if data.draw(st.booleans()):
        value = data.draw(broken(value))
    check(name, write_json(tmp_path / "log.json", value), skip_bad)


@given(data=st.data(), skip_bad=st.booleans())
def test_broken_details(tmp_path: Path, data: st.DataObject, skip_bad: bool) -> None:
    path = tmp_path / "log.parquet"
    content = parquet(data.draw(broken(DETAILS)))
    if content is not None:
        path.write_bytes(content)
        check("lighteval", path, skip_bad)


def parquet(records: Any) -> bytes | None:
    """Return the records as Parquet, or None where it cannot hold them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    try:
        pq.write_table(pa.Table.from_pylist(records), file)
    except Exception:
        return None
    return file.getvalue()

"""Any file is read, and then it can be measured, or it is refused with a reason."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import estimate
from passband.errors import InvalidInput
from passband.readers import read as read_source
from passband.stats.checks import Over
from passband.stats.data.outcomes import Outcomes
from support.fuzz.properties import times
from support.samples.any_files import KINDS, json_values, tables, texts

overs = st.sampled_from(["problems", "trials"])
metrics = st.sampled_from(["avg", "pass@1", "pass^2"])


def read(path: Path) -> list[Outcomes]:
    """Read a file as `passband stats` does, and return the outcomes of its groups."""
    return [group.outcomes for group in read_source(path).groups]


def check(path: Path, data: str | bytes, metric: str = "avg", over: Over = "problems") -> None:
    """Read a file with this content; measure what it holds, unless it is refused."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    try:
        groups = read(path)
    except InvalidInput as error:
        assert_explained(error)
        return
    assert groups
    for outcomes in groups:
        assert outcomes.n_problems > 0
        assert_measurable(outcomes, metric, over)


def assert_measurable(outcomes: Outcomes, metric: str, over: Over) -> None:
    try:
        found = estimate(outcomes, metric, over=over)
    except InvalidInput as error:
        assert_explained(error)
        return
    assert found.n_problems + found.left_out == outcomes.n_problems
    if found.low is not None and found.high is not None:
        assert found.low <= found.value <= found.high


def assert_explained(error: InvalidInput) -> None:
    assert str(error).strip()
    assert "Error" not in str(error)  # the name of an exception explains nothing


@times(3)
@given(data=tables(), metric=metrics, over=overs)
def test_any_table(tmp_path: Path, data: bytes, metric: str, over: Over) -> None:
    check(tmp_path / "t.csv", data, metric, over)


@times(3)
@given(text=texts, kind=st.sampled_from(["csv", "tsv", "json", "jsonl"]))
def test_any_text(tmp_path: Path, text: str, kind: str) -> None:
    check(tmp_path / f"t.{kind}", text)


@pytest.mark.parametrize("kind", KINDS)
@times(3)
@given(data=st.binary(max_size=60))
def test_any_bytes(tmp_path: Path, kind: str, data: bytes) -> None:
    check(tmp_path / f"t.{kind}", data)


@times(3)
@given(value=json_values)
def test_any_json(tmp_path: Path, value: object) -> None:
    check(tmp_path / "t.json", json.dumps(value))


@times(3)
@given(values=st.lists(json_values, max_size=4))
def test_any_lines_of_json(tmp_path: Path, values: list[object]) -> None:
    check(tmp_path / "t.jsonl", "\n".join(map(json.dumps, values)))

"""Columns of codes: the same labels, scores and outcomes as the list of their cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.stats.data.cells import CodedColumn, distinct_labels, number_labels, parse_scores
from passband.stats.data.tables import Table

cells = st.sampled_from(["a", "b", "1", "1.0", "", "true", 1, 1.0, 0, None, 0.5])


def coded(values: list[Any]) -> CodedColumn:
    distinct = list({(type(value), value): value for value in values}.values())
    codes = [next(i for i, d in enumerate(distinct) if d is v or (type(d), d) == (type(v), v))
             for v in values]  # fmt: skip
    order = list(reversed(range(len(distinct))))
    renumbered = np.array([order.index(code) for code in codes], dtype=np.int64)
    return CodedColumn.of_codes([distinct[place] for place in order], renumbered)


@given(st.lists(cells, min_size=1))
def test_it_is_the_column(values: list[Any]) -> None:
    column = coded(values)
    assert list(column) == values == column[:]
    assert [column[row] for row in range(len(column))] == values
    assert column[1:3] == values[1:3]


@given(st.lists(cells, min_size=1), st.integers(1, 4))
def test_labels_are_those_of_its_cells(values: list[Any], most: int) -> None:
    column = coded(values)
    numbers, labels = number_labels(column)
    expected, names = number_labels(values)
    assert (numbers.tolist(), labels) == (expected.tolist(), names)
    assert distinct_labels(column, most) == distinct_labels(values, most)


@given(st.lists(st.sampled_from(["1", "0", "", "pass", "no", 0.5, None, "0.25"]), min_size=1))
def test_scores_are_those_of_its_cells(values: list[Any]) -> None:
    expected = parse_scores("s", values)
    assert np.array_equal(parse_scores("s", coded(values)), expected, equal_nan=True)


def test_a_bad_score_is_named_with_its_row() -> None:
    with pytest.raises(InvalidInput, match="row 3 has 'perhaps'"):
        parse_scores("s", CodedColumn(["1", "perhaps"], np.array([0, 0, 1])))


@pytest.mark.parametrize(
    "column",
    [
        pa.chunked_array([["a", None, "b"], ["b", "c"]]),
        pa.chunked_array([[1, 2, None], [2, 1]]),
        pa.chunked_array([[0.5, float("nan"), None], [1.0, 0.5]]),
        pa.chunked_array([[True, False, None], [True, True]]),
        pa.chunked_array([[None, None], [None, None, None]]),
        pa.chunked_array([[[1], [2], None], [[1, 2], []]]),
        pa.chunked_array([[{"a": 1}, None], [{"a": 2}] * 3]),
        pa.array(["a", "b", "a", None, "c"]).dictionary_encode(),
    ],
    ids=str,
)
def test_columns_of_arrow(column: Any) -> None:
    table = Table.of(pa.table({"x": column, "problem": list("aabbb")}))
    assert str(list(table.columns["x"])) == str(column.to_pylist())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0, 1, None])), min_size=1))
def test_outcomes_are_the_same(rows: list[tuple[str, int | None]]) -> None:
    columns = {"problem": [key for key, _ in rows], "score": [score for _, score in rows]}
    assert Table.of(pa.table(columns)).outcomes() == Table.of(columns).outcomes()

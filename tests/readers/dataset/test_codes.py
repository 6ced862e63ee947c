"""Codes of labels: the same as those of a plain dictionary, whatever the batches are made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.readers.dataset import codes as codes_module
from passband.readers.dataset.address import DataFile
from passband.readers.dataset.batches import DataPart, RowBatch
from passband.readers.dataset.codes import (
    GroupCodes,
    LabelCodes,
    OutOfRange,
    PlaceCodes,
    RowKeys,
    run_starts,
)
from passband.stats.data.cells import label

pa = pytest.importorskip("pyarrow")

TEXTS = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
NUMBERS = [pa.int8(), pa.int64(), pa.uint64(), pa.float32(), pa.dictionary(pa.int8(), pa.int16())]


def arrow(values, kind):
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(values, kind)


@st.composite
def batches(draw, kinds, values):
    """Draw batches of a column, whose types may differ."""
    lists = draw(st.lists(st.lists(st.none() | values, max_size=12), min_size=1, max_size=5))
    return [arrow(each, draw(st.sampled_from(kinds))) for each in lists]


def check(codes, arrays, *, is_dense=True):
    """Compare the codes with a dictionary; look up each batch before the last one is counted."""
    code_of: dict[str, int] = {}
    found = [codes.look_up(arrays[0])]
    for at, array in enumerate(arrays):
        if at + 1 < len(arrays):
            found.append(codes.look_up(arrays[at + 1]))
        own = codes.complete(found[at])
        labels = [label(value) for value in array.to_pylist()]
        assert codes.labels(own.tolist()) == labels
        for text in labels:
            code_of.setdefault(text, own[labels.index(text)])
        assert own.tolist() == [code_of[text] for text in labels]
    if is_dense:  # a dictionary of Arrow may hold values that no row has
        assert max(code_of.values(), default=-1) < len(codes)
    return code_of


@given(batches(TEXTS, st.sampled_from(["", "a", "b", "nan", "None", "1"])))
def test_texts(arrays):
    codes = LabelCodes()
    code_of = check(codes, arrays)
    again = LabelCodes()
    again.codes_of(codes.labels(range(len(codes))))
    for array in arrays:
        own = again.complete(again.look_up(array))
        assert own.tolist() == [code_of[label(value)] for value in array.to_pylist()]


@given(batches(NUMBERS, st.integers(0, 9)))
def test_numbers(arrays):
    check(LabelCodes(), arrays)


def test_wider_integers_than_those_that_are_known_are_numbered():
    codes = LabelCodes()
    for values, kind in (([5, 2**64 - 1], pa.uint64()), ([5, 6], pa.int8()), ([6, 5], pa.int8())):
        array = pa.array(values, kind)
        own = codes.complete(codes.look_up(array))
        assert codes.labels(own.tolist()) == [str(value) for value in values]


@given(batches([kind for kind in NUMBERS if kind != pa.float32()], st.integers(2, 9)))
def test_integers_between_bounds(arrays):
    check(PlaceCodes(2, 9), arrays)


@pytest.mark.parametrize("ends", [(-(2**63), -(2**63) + 5), (2**64 - 6, 2**64 - 1), (-3, 2)])
def test_extreme_integers(ends):
    values = [ends[0], None, ends[1], ends[0] + 1]
    kind = pa.int64() if ends[0] < 0 else pa.uint64()
    array = pa.array(values, kind)
    codes = PlaceCodes(*ends)
    own = codes.complete(codes.look_up(array))
    assert codes.labels(own.tolist()) == [str(value) for value in values]


def test_an_integer_out_of_bounds_is_refused():
    with pytest.raises(OutOfRange):
        PlaceCodes(0, 5).look_up(pa.array([6]))


def test_numbers_are_taken_without_a_copy_of_their_type():
    assert PlaceCodes(0, 9).look_up(pa.array([1, 2], pa.int32())).dtype == np.int32
    assert PlaceCodes(0, 9).look_up(pa.array([1, 2], pa.uint8())).dtype == np.int64


@given(st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 1)), min_size=1))
def test_nothing_changes_within_a_run(rows):
    columns = [
        [None if v is None else str(v) for v in column] for column in zip(*rows, strict=True)
    ]
    arrays = [pa.array(columns[0]).dictionary_encode(), pa.array(columns[1])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes_module, "_SHORTEST", 1)
        starts = run_starts(arrays, len(rows))
    changes = [at for at in range(1, len(rows)) if rows[at] != rows[at - 1]]
    assert starts is not None
    assert starts.tolist() == [0, *changes]


def test_short_runs_and_rare_types_are_not_looked_for():
    assert run_starts([pa.array([1, 2] * 3000)], 6000) is None
    assert run_starts([pa.array(["a"], pa.string_view())], 1) is None


def keys_of(columns, rows):
    part = DataPart(DataFile("step=7/a.parquet", (("step", "7"),)), 0, rows)
    return RowKeys(RowBatch(part, 0, columns, rows), ["step", *columns])


@given(st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 1)), min_size=1))
@pytest.mark.parametrize("shortest", [1, 10**6])
def test_each_row_has_the_values_of_its_group(shortest, rows):
    models, steps = zip(*rows, strict=True)
    columns = {"model": pa.array([f"m{model}" for model in models]), "x": pa.array(steps)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes_module, "_SHORTEST", shortest)
        keys = keys_of(columns, len(rows))
    places = np.zeros(len(rows), int) if keys.places is None else keys.places
    expected = [("7", f"m{model}", label(step)) for model, step in rows]
    assert [keys.labels[place] for place in places] == expected
    groups = GroupCodes(["step", "model", "x"])
    own = np.broadcast_to(groups.complete(keys), len(rows))
    assert [groups.labels[group] for group in own] == expected

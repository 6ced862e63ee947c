"""Numbers of labels: the same as those of a plain dictionary, whatever the batches are made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.readers.dataset.coder import IntegerCoder, LabelCoder, OutOfRange, PlaceCoder
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


def check(coder, arrays, *, is_dense=True):
    """Compare the numbers with a dictionary; look up each batch before the last one is counted."""
    number_of: dict[str, int] = {}
    reported: list[tuple[str, int]] = []

    def report(texts, rows):
        reported.extend(zip(texts, rows.tolist(), strict=True))

    found = [coder.look_up(arrays[0])]
    for at, array in enumerate(arrays):
        if at + 1 < len(arrays):
            found.append(coder.look_up(arrays[at + 1]))
        reported.clear()
        codes = coder.complete(array, found[at], report)
        labels = [label(value) for value in array.to_pylist()]
        assert [coder.labels()[code] for code in codes] == labels
        new = list(dict.fromkeys(text for text in labels if text not in number_of))
        for text in new:
            number_of[text] = len(number_of)
        if is_dense:
            assert codes.tolist() == [number_of[text] for text in labels]
            assert reported == [(text, labels.index(text)) for text in new]
    return [text for text in coder.labels() if text in number_of]


@given(batches(TEXTS, st.sampled_from(["", "a", "b", "nan", "None", "1"])))
def test_texts(arrays):
    labels = check(LabelCoder(), arrays)
    again = LabelCoder()
    again.restore(labels)
    for array in arrays:
        codes = again.complete(array, again.look_up(array))
        assert [labels[code] for code in codes] == [label(value) for value in array.to_pylist()]


@given(batches(NUMBERS, st.integers(0, 9)))
def test_numbers(arrays):
    check(LabelCoder(), arrays)


@given(batches([kind for kind in NUMBERS if kind != pa.float32()], st.integers(2, 9)))
def test_integers_between_bounds(arrays):
    labels = check(IntegerCoder(2, 9), arrays)
    check(PlaceCoder(2, 9), arrays, is_dense=False)
    again = IntegerCoder(2, 9)
    again.restore(labels)
    assert again.labels() == labels


@pytest.mark.parametrize("ends", [(-(2**63), -(2**63) + 5), (2**64 - 6, 2**64 - 1), (-3, 2)])
def test_extreme_integers(ends):
    values = [ends[0], None, ends[1], ends[0] + 1]
    kind = pa.int64() if ends[0] < 0 else pa.uint64()
    array = pa.array(values, kind)
    coder = IntegerCoder(*ends)
    assert [coder.labels()[code] for code in coder.complete(array, coder.look_up(array))] == [
        str(value) for value in values
    ]


def test_an_integer_out_of_bounds_is_refused():
    with pytest.raises(OutOfRange):
        IntegerCoder(0, 5).look_up(pa.array([6]))


def test_numbers_are_taken_without_a_copy_of_their_type():
    assert IntegerCoder(0, 9).look_up(pa.array([1, 2], pa.int32())).dtype == np.int32
    assert IntegerCoder(0, 9).look_up(pa.array([1, 2], pa.uint8())).dtype == np.int64

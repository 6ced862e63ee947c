"""JSON in pieces: the same values as `json.loads` gives, wherever the pieces end."""

import json
from collections.abc import Iterator
from itertools import chain, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput
from passband.files import json_stream
from passband.files.json_stream import JsonStream
from support.samples.any_files import json_values

sizes = st.integers(1, 9)


def pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def by_items(text: str, size: int) -> list[object]:
    stream = JsonStream(pieces(text, size))
    values = list(stream.items())
    stream.end()
    return values


def by_names(text: str, size: int) -> dict[str, object]:
    stream = JsonStream(pieces(text, size))
    fields = {name: list(stream.items()) if stream.is_list() else stream.value()
              for name in stream.names()}  # fmt: skip
    stream.end()
    return fields


@given(values=st.lists(json_values, max_size=4), size=sizes, indent=st.sampled_from([None, 1]))
def test_lists(values: list[object], size: int, indent: int | None) -> None:
    text = json.dumps(values, indent=indent)
    assert repr(by_items(text, size)) == repr(json.loads(text))


@given(fields=st.dictionaries(st.text(max_size=4), json_values, max_size=4), size=sizes)
def test_objects(fields: dict[str, object], size: int) -> None:
    text = json.dumps(fields, ensure_ascii=False)
    assert repr(by_names(text, size)) == repr(json.loads(text))


@given(text=st.text(alphabet='[]{},:"1-.eNatrulsIfiy\\ \n', max_size=30), size=sizes)
def test_what_json_refuses_is_refused(text: str, size: int) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(InvalidInput):
            (by_items if text.strip().startswith("[") else by_names)(text, size)
        return
    if isinstance(expected, list):
        assert repr(by_items(text, size)) == repr(expected)


@pytest.mark.parametrize("text", ["[1, 2", '["a', '[{"a": 1}, {"b"', "[", "[1,"])
def test_a_text_that_is_cut_off(text: str) -> None:
    stream = JsonStream(pieces(text, 3))
    with pytest.raises(InvalidInput, match="is cut off"):
        list(stream.items())


def test_an_error_far_from_the_end_is_raised_at_once() -> None:
    endless = chain(["[nonsense"], repeat("x" * 100))
    with pytest.raises(InvalidInput, match="is not JSON: Expecting value"):
        list(JsonStream(endless).items())


def test_a_value_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LARGEST_VALUE", 1000)
    endless = chain(['["'], repeat("x" * 100))
    with pytest.raises(InvalidInput, match="a value of more than 1,000 characters"):
        list(JsonStream(endless).items())


@pytest.mark.parametrize("text", ["[" * 10_000, "[" + "9" * 10_000 + "]"])
def test_values_that_python_cannot_hold(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"too large or too deeply nested"):
        list(JsonStream([text]).items())


def test_values_are_passed_over() -> None:
    stream = JsonStream(['{"a": [1, {"b": [2]}], "c": {"d": [3]}, "e": 4}'])
    seen = {}
    for name in stream.names():
        if name == "e":
            seen[name] = stream.value()
        else:
            stream.skip()
    assert seen == {"e": 4}

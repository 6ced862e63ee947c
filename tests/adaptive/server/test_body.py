"""Bodies of requests: what is read, and what is refused with which status."""

import pytest

from passband.adaptive.server.body import Fields, Refusal, parse, to_json


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        b"{",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b"[" * 100_000,
        b"1" * 5_000,
        b'"\\ud800"',
        b'{"a": "\\udfff\\ud800"}',
    ],
)
def test_what_is_not_json_is_refused(raw: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        parse(raw)
    assert refused.value.status == 400


def test_json_is_read_as_it_is() -> None:
    assert parse('{"a": ["ä", "\\ud83d\\ude00", 1.5, null, true]}'.encode()) == {
        "a": ["ä", "😀", 1.5, None, True]
    }


def refusal(call: object) -> Refusal:
    with pytest.raises(Refusal) as refused:
        call()  # type: ignore[operator]
    return refused.value


def test_fields_of_the_wrong_kind_are_refused_by_name() -> None:
    fields = Fields({"text": 1, "number": True, "list": {}, "mapping": [], "entries": [1], "e": ""})
    assert refusal(lambda: fields.text("text")).detail == "text must be a text, not a number."
    assert refusal(lambda: fields.text("e")).detail.startswith("e is required")
    assert refusal(lambda: fields.text("none")).detail.startswith("none is required")
    assert "an integer" in refusal(lambda: fields.optional_integer("number")).detail
    assert "a list, not an object" in refusal(lambda: fields.objects("list")).detail
    assert "an object, not a list" in refusal(lambda: fields.mapping("mapping")).detail
    assert "entries[0] must be an object" in refusal(lambda: fields.objects("entries")).detail
    assert refusal(lambda: Fields({"t": "x" * 20}).text("t", 10)).status == 422


def test_a_field_of_an_entry_is_refused_with_its_place() -> None:
    entry = Fields({"items": [{}, {"id": 3}]}).objects("items")[1]
    assert refusal(lambda: entry.text("id")).detail == "items[1].id must be a text, not a number."


def test_metadata_must_be_below_ten_kilobytes() -> None:
    room = 10_240 - len(to_json({"m": ""}))
    assert Fields({"metadata": {"m": "x" * (room - 1)}}).metadata()
    refused = refusal(Fields({"metadata": {"m": "x" * room}}).metadata)
    assert refused.status == 413
    assert refused.detail == "metadata size must be less than 10KB (10240 bytes)."
    assert refusal(Fields({"metadata": {"m": "ä" * (room // 2 + 1)}}).metadata).status == 413

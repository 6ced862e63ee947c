"""Text as bytes and back."""

import math

import pytest
from hypothesis import given

from passband.errors import InvalidInput
from passband.trials.encoding import (
    decoded,
    decoded_transcript,
    encoded,
    encoded_transcript,
    readable,
    storable,
)
from support.samples.stores import any_text, transcripts


@given(any_text, any_text)
def test_any_text_comes_back(text: str, reasoning: str) -> None:
    for factor in (1, 200):
        codec, first, second, third = encoded(text * factor, reasoning)
        assert decoded(codec, first) == text * factor
        assert decoded(codec, second) == reasoning
        assert third is None
        assert readable(codec, first, second)


def test_nothing_is_not_the_empty_text() -> None:
    assert encoded(None, "") == (0, None, b"", None)
    assert decoded(0, None) is None
    assert decoded(0, b"") == ""


def test_long_texts_are_deflated_and_short_ones_are_not() -> None:
    codec, text, reasoning, _ = encoded("so " * 1_000)
    assert (codec, reasoning) == (1, None)
    assert text is not None
    assert len(text) < 100
    assert encoded("x" * 999) == (0, b"x" * 999, None, None)


@given(transcripts)
def test_any_transcript_comes_back(transcript: list) -> None:
    for text in ("", "long " * 500):
        codec, _, _, data = encoded(text, None, encoded_transcript(transcript))
        assert decoded_transcript(codec, data) == transcript


@pytest.mark.parametrize("value", [{1}, math.nan, object()])
def test_a_transcript_is_json(value: object) -> None:
    with pytest.raises(InvalidInput, match="must be a list of JSON objects"):
        encoded_transcript([{"content": value}])


def test_what_cannot_be_read_is_no_text() -> None:
    with pytest.raises(ValueError, match="no codec has the number 7"):
        decoded(7, b"text")
    assert not readable(7, b"text")
    assert not readable(1, b"not deflated")
    assert not readable(0, b"\xff")
    assert not readable(0, None, b"\xff")
    assert readable(0, None, None)


@given(any_text)
def test_storable_is_the_same_text(text: str) -> None:
    found = storable(text)
    if isinstance(found, bytes):
        assert found.decode("utf-8", "surrogatepass") == text
        with pytest.raises(UnicodeEncodeError):
            text.encode()
    else:
        assert found == text
        text.encode()

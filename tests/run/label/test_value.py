"""Labels as people write them, and what is no label."""

import pytest

from passband import InvalidInput
from passband.run.label.sheet import label_word, parse_label, parse_scale


@pytest.mark.parametrize("word", ["pass", "PASSED", "yes", "Y", "true", "right", "1", "1.0", True])
def test_words_for_pass(word: object) -> None:
    assert parse_label(word) == 1.0


@pytest.mark.parametrize("word", ["fail", "no", "False", "wrong", " 0 ", 0, False])
def test_words_for_fail(word: object) -> None:
    assert parse_label(word) == 0.0


@pytest.mark.parametrize("cell", ["", "  ", None, float("nan")])
def test_nothing_is_no_label_yet(cell: object) -> None:
    assert parse_label(cell) is None
    assert parse_label(cell, (0, 4)) is None


@pytest.mark.parametrize("cell", ["maybe", "?", "skip", "0.5", "2", "pass?", "=1"])
def test_what_is_no_label_is_refused(cell: str) -> None:
    with pytest.raises(InvalidInput, match="is no label; write pass or fail"):
        parse_label(cell)


def test_a_scale_takes_numbers_within_it() -> None:
    assert parse_label("2.5", (0, 4)) == 2.5
    for cell in ("5", "-1", "pass", "nan", "inf"):
        with pytest.raises(InvalidInput, match="a number from 0 to 4"):
            parse_label(cell, (0, 4))
    with pytest.raises(InvalidInput, match="--scale 0 4"):
        parse_label("3")


def test_a_scale_is_two_numbers() -> None:
    assert parse_scale((0, 4)) == (0, 4)
    for scale in ((4.0, 0.0), (1.0, 1.0), (0.0, float("inf"))):
        with pytest.raises(InvalidInput, match="the least first"):
            parse_scale(scale)


def test_words_are_read_back() -> None:
    assert [parse_label(label_word(value)) for value in (0.0, 1.0)] == [0.0, 1.0]
    assert parse_label(label_word(2.5, (0, 4)), (0, 4)) == 2.5

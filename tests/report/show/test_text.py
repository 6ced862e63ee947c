"""Text for terminals: nothing is obeyed, nothing is too wide, nothing is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from passband.report.show.text import cells, clean, one_line, wrapped
from support.samples.stores import any_text

long_text = st.text(st.characters(exclude_categories=()), max_size=200)


@given(long_text, st.integers(2, 40))
def test_lines_fit_and_command_nothing(text: str, width: int) -> None:
    for piece in wrapped(text, width):
        assert piece.text.isprintable()
        assert cells(piece.text) <= width


@given(long_text, st.integers(2, 40))
def test_only_blanks_are_lost(text: str, width: int) -> None:
    lines = text.split("\n")
    kept = [line.removesuffix("\r") for line in lines[:-1]] + lines[-1:]
    joined = "".join(piece.text for piece in wrapped(text, width))
    assert joined.replace(" ", "") == "".join(map(clean, kept)).replace(" ", "")


@given(long_text, st.integers(2, 40), st.data())
def test_the_marked_part_is_marked(text: str, width: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    pieces = list(wrapped(text, width, [(start, end)]))
    marked = "".join(p.text[m.start : m.end] for p in pieces for m in p.marks)
    expected = text[start:end].replace("\r\n", "\n")
    if text[end : end + 1] == "\n":
        expected = expected.removesuffix("\r")
    wanted = "".join(map(clean, expected.split("\n")))
    assert marked.replace(" ", "") == wanted.replace(" ", "")


@given(any_text, st.integers(8, 30))
def test_one_line_fits(text: str, width: int) -> None:
    assert cells(one_line(text, width)) <= width
    assert one_line(text, width).isprintable()


def test_wide_characters_take_two_columns() -> None:
    assert [piece.text for piece in wrapped("漢字漢字", 5)] == ["漢字", "漢字"]


def test_indented_code_stays_indented() -> None:
    lines = [piece.text for piece in wrapped("def f():\n    return 1", 40)]
    assert lines == ["def f():", "    return 1"]

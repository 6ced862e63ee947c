"""Two texts as one: each can be read off again."""

from hypothesis import given
from hypothesis import strategies as st

from passband.report.show.diff import diff_lines, word_changes
from passband.report.show.text import TerminalStyle

words = st.text("ab \n.", max_size=40)


@given(words, words)
def test_both_texts_are_in_it(first: str, second: str) -> None:
    changes = word_changes(first, second)
    assert "".join(change.first for change in changes) == first
    assert "".join(change.second for change in changes) == second


def test_whole_words_differ() -> None:
    (line,) = diff_lines("it is 1810 or so", "it is 1820 or so", TerminalStyle())
    assert line == "it is [-1810-]{+1820+} or so"
    assert list(diff_lines("same", "same", TerminalStyle())) == ["same"]


def test_long_texts_are_compared_in_bounded_work() -> None:
    first, second = "a b " * 500_000, "b c " * 500_000
    text = "\n".join(diff_lines(first, second, TerminalStyle()))
    assert len(text) < 10_000
    assert "characters left out; --full shows them" in text


def test_what_both_have_is_cut() -> None:
    same = "the same again and again " * 100
    text = "\n".join(diff_lines(same + "x", same + "y", TerminalStyle()))
    assert "characters are the same]" in text
    assert text.endswith("[-x-]{+y+}")


def test_colours_mark_either_side() -> None:
    (line,) = diff_lines("1", "2", TerminalStyle(colour=True))
    assert line == "\x1b[31m[-1-]\x1b[0m\x1b[34m{+2+}\x1b[0m"

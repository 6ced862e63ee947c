"""Markdown tables, read by a parser of GitHub's Markdown: a cell shows its text, and no more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from passband.report.rendering import markdown_text, printable, render
from support.fuzz.properties import times

PARSER = MarkdownIt("gfm-like", {"html": True, "linkify": True})

HOSTILE = [
    "<script>alert(1)</script>", "<!-- x", "</td></tr></table>", "<b", "<https://evil.org>",
    "<a@b.com>", "![x](http://evil.org/?)", "[x](javascript:alert(1))", "[x]: http://evil.org",
    "[^1]", "[0.1, 0.2](x)", "[0.1, 0.2][1]", "[0.1, 0.2]", "(x)",
    "https://evil.org/a?b=c&d", "http://localhost", "//evil.org", "www.evil.org",
    "WWW.1.org", "ftp://x.y", "evil.org", "mailto:a@b", "xmpp:a@b.c", "a@b.com", "HTTPS://EVIL.ORG",
    "a|b", r"a\|b", r"a\\|b", "\\", "\\\\", "`", "``", "`a|b`", "*em*", "**strong**", "_em_",
    "__a__", "a_b", "~~gone~~", "~a~", "$x$", "&lt;", "&#60;", "&amp", "&", " ", "  ", " a ",
    "\n", "\n\n| x |", "\r", "\t", "\x00", "\x1b[31m", "\u202e", "\ud800", "# head", "- item",
    "1. one", "> quote", "```", "---", ":-:", "{{ x }}", "gpt-4.1", "naïve 模型", "", "例え.テスト",
]  # fmt: skip


def cells(text: str) -> list[Token]:
    """Return the inline tokens of all cells; anything but one table is an error."""
    tokens = PARSER.parse(text)
    assert (tokens[0].type, tokens[-1].type) == ("table_open", "table_close")
    assert sum(token.type == "table_open" for token in tokens) == 1
    return [token for token in tokens if token.type == "inline"]


def shown(cell: Token) -> str:
    """Return the text of a cell in which there is nothing but text."""
    assert {token.type for token in cell.children or ()} <= {"text"}
    return "".join(token.content for token in cell.children or ())


@pytest.mark.parametrize("text", HOSTILE)
def test_a_cell_shows_its_text_and_does_nothing(text: str) -> None:
    table = render([{"name": text, "value": 0.5}, {"name": text, "value": None}], "markdown")
    assert list(map(shown, cells(table))) == [
        "name", "value", printable(text), "0.5", printable(text), "-"
    ]  # fmt: skip


@times(5)
@given(st.lists(st.lists(st.sampled_from(HOSTILE) | st.text(max_size=5), max_size=4).map("".join)))
def test_any_text_is_shown_as_it_is(texts: list[str]) -> None:
    rows = [{f"head {texts[0] if texts else ''}x": text, "b": text[::-1]} for text in texts] or [
        {"head x": "", "b": ""}
    ]
    expected = [printable(name) for name in rows[0]]
    expected += [printable(str(cell)) for row in rows for cell in row.values()]
    assert list(map(shown, cells(render(rows, "markdown")))) == expected


def test_names_of_models_and_intervals_stay_readable() -> None:
    for name in (
        "gpt-4.1-mini",
        "openai:gpt-4o",
        "pass@8",
        "large_2",
        "a/b",
        "50%",
        "pass^8 (all)",
        "[-0.34, 0.63]",
    ):
        assert markdown_text(name) == name

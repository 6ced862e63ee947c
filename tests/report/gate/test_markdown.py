"""Comments on pull requests: found again, never obeyed, never too long."""

import re

import pytest
from markdown_it import MarkdownIt

from passband.report.gate.markdown import gate_comment, gate_step_summary, marker
from support.samples.gates import NASTY, every_verdict, named

TAGS = {"code", "details", "h3", "li", "p", "pre", "summary", "table", "tbody", "td", "th", "thead"}
TAGS |= {"tr", "ul"}


def test_a_comment_begins_with_its_marker_and_the_outcome() -> None:
    first, second, *rest = gate_comment(every_verdict()).splitlines()
    assert first == marker("gate") == "<!-- passband gate gate -->"
    assert second == "### passband gate: REGRESSION"
    assert "these very problems" in rest[-1]
    assert gate_step_summary(every_verdict()).startswith("### passband gate: REGRESSION\n")


def test_what_decides_comes_first() -> None:
    text = gate_comment(every_verdict())
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")][1:]
    assert [(row[3].strip(), row[-2].strip()) for row in rows] == [
        ("required", "regression"),
        ("required", "not-certified"),
        ("required", "not-certified"),
        ("required", "undecided"),
        ("required", "worse-within-tolerance"),
        ("required", "pass"),
        ("supporting", "undecided"),
        ("advisory", "regression"),
    ]


@pytest.mark.parametrize("name", NASTY)
def test_names_are_shown_and_not_obeyed(name: str) -> None:
    text = gate_comment(named([name, "b"], "open"))
    html = MarkdownIt("gfm-like", {"html": True, "linkify": True}).render(text)
    tags = set(re.findall(r"</?([a-z0-9]+)", html))
    assert tags <= TAGS
    assert html.count("<h3") == 1
    assert html.count("<details>") == html.count("</details>") == 1
    assert not re.search(r"(?<![A-Za-z0-9])@[A-Za-z]|#\d", re.sub("(?s)<pre>.*?</pre>", "", html))
    assert "\x1b" not in text
    assert text.count("<!--") == 1 + text.count(r"\<!--")
    text.encode()


@pytest.mark.parametrize("most", [2_000, 9_000, 64_000])
def test_a_long_comment_is_cut_at_a_line_and_closed(most: int) -> None:
    result = named([f"task {number} {'long ' * 12}" for number in range(150)], "open")
    for text in (gate_comment(result, most=most), gate_step_summary(result, most=most)):
        assert len(text.encode()) <= most or len(text) <= most
        assert text.count("<details>") == text.count("</details>")
        assert text.count("```") % 2 == 0
        assert re.search(r"\d+ more comparisons? left out", text) or most == 64_000
        assert "### passband gate: UNDECIDED" in text
        assert "these very problems" in text.splitlines()[-1]


def test_two_thousand_comparisons_leave_room_for_reasons_and_long_names_for_a_table() -> None:
    text = gate_comment(named([f"task-{number}" for number in range(2000)], "open"))
    assert len(text) <= 64_000
    for words in ("| task-0 ", "─", "- task-0 pass@1: ", "more reasons left out"):
        assert words in text
    long = gate_comment(named(["@x" * 40_000]))
    assert "| pass@1 |" in long
    assert len(long) < 5_000

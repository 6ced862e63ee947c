"""Build the parts of pages that sections share: headings, captions, tables, charts."""

from __future__ import annotations

from collections.abc import Sequence

from passband.report.charts.canvas import RIGHT_TO_LEFT_NAME
from passband.report.charts.chart import Chart
from passband.report.html.document import escape


def prose(text: str) -> str:
    """Return a sentence as HTML; names that are written from right to left turn nothing else.

    >>> prose("5 of אב, 3 of <b>")
    '5 of <bdi>אב</bdi>, 3 of &lt;b&gt;'
    """
    return RIGHT_TO_LEFT_NAME.sub(r"<bdi>\g<0></bdi>", escape(text))


def section(heading: str, finding: str, body: str, *, name: str = "") -> str:
    """Return a section: its topic, its finding in one line, and the evidence.

    `heading` and `finding` are texts, `body` is HTML.
    """
    marked = f' id="{escape(name)}"' if name else ""
    said = f'<p class="finding">{prose(finding)}</p>' if finding else ""
    return f"<section{marked}><h2>{escape(heading)}</h2>{said}{body}</section>"


def caption(text: str) -> str:
    """Return the caption of a chart or a table."""
    return f'<p class="caption">{prose(text)}</p>' if text else ""


def figure(chart: Chart, *, text: str | None = None) -> str:
    """Return a chart in its wide and its narrow drawing, with its caption below."""
    return (
        f'<figure><div class="wide">{chart.svg()}</div>'
        f'<div class="narrow">{chart.svg(narrow=True)}</div></figure>'
        f"{caption(chart.caption if text is None else text)}"
    )


def side_by_side(*sections: str) -> str:
    """Return sections in two columns; one alone keeps to the first."""
    shown = "".join(sections)
    return f'<div class="two">{shown}</div>' if shown else ""


def pair_rows(rows: Sequence[tuple[str, str]], *, useful: Sequence[int] = ()) -> str:
    """Return a table of names and numbers, those at some places set in bold."""
    marks = [' class="useful"' if at in useful else "" for at in range(len(rows))]
    cells = "".join(
        f'<tr{marks[at]}><td>{escape(name)}</td><td class="number">{escape(value)}</td></tr>'
        for at, (name, value) in enumerate(rows)
    )
    return f'<table class="plain">{cells}</table>'


def note_list(lines: Sequence[str], kind: str = "") -> str:
    """Return notes as a list with a line at its side; nothing where there are none."""
    if not lines:
        return ""
    items = "".join(f"<li>{prose(line)}</li>" for line in lines)
    return f'<div class="notes {kind}"><ul>{items}</ul></div>'


def banner(lines: Sequence[str]) -> str:
    """Return the notes that forbid a claim, to print before any number."""
    return note_list(lines, "banner")


def folded_list(first: Sequence[str], others: Sequence[str], count: str) -> str:
    """Return notes as a quiet list, the last ones behind a line that says how many they are."""
    if not others:
        return note_list(first, "quiet")
    rest = f'<details class="more"><summary>{escape(count)}</summary>{note_list(others, "quiet")}'
    return f"{note_list(first, 'quiet')}{rest}</details>"


def sentence(text: str) -> str:
    """Return a note as a sentence.

    >>> sentence("all problems have the same value")
    'All problems have the same value.'
    """
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def one_line(text: str, most: int = 90) -> str:
    """Return a question or an answer in one line, cut where it is long.

    >>> one_line("a  b"), len(one_line("x" * 200))
    ('a b', 90)
    """
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1] + "…"

"""Rows as an HTML table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from passband.report.charts.canvas import escape
from passband.report.rendering import Cell, Row


class Markup(str):
    """A cell that is HTML already."""


def html_table(rows: Sequence[Row], head: Mapping[str, str] | None = None) -> str:
    """Return rows as a table; `head` replaces heads of columns by markup.

    >>> html_table([{"metric": "pass@1", "of": 4}]).partition("</tr>")[2]
    '<tr><td>pass@1</td><td class="number">4</td></tr></table>'
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    numeric = {name for name in columns if _is_numeric([row.get(name) for row in rows])}
    heads = "".join(
        _cell("th", Markup(head[name]) if head and name in head else name, name in numeric)
        for name in columns
    )
    lines = "".join(
        "<tr>" + "".join(_cell("td", row.get(name), name in numeric) for name in columns) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{heads}</tr>{lines}</table>"


def _cell(tag: str, cell: Cell, numeric: bool) -> str:
    text = "" if cell is None else cell if isinstance(cell, Markup) else escape(str(cell))
    return f'<{tag} class="number">{text}</{tag}>' if numeric else f"<{tag}>{text}</{tag}>"


def _is_numeric(cells: Sequence[Cell]) -> bool:
    """Return whether a column holds numbers, which are aligned to the right."""
    shown = [cell for cell in cells if cell is not None]
    return bool(shown) and all(isinstance(cell, int | float) or _is_number(cell) for cell in shown)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

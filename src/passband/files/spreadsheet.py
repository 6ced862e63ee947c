"""Text in CSV files that a spreadsheet may open: a cell is text, never a formula.

A spreadsheet computes a cell that begins with one of `= + - @`, also full-width, after spaces or
line ends. Such a cell gets an apostrophe in front, as does one that begins with apostrophes and
then looks like that; so the guard can be undone without a doubt. Numbers stay as they are.
"""

from __future__ import annotations

import re

_FORMULA = re.compile(r"['\s]*[=+\-@＝＋－＠]|'*[\t\r\n]")


def guarded(text: str) -> str:
    """Return text as a cell that no spreadsheet computes.

    >>> guarded("=HYPERLINK(A1)"), guarded("-5"), guarded("'-x'"), guarded("'quoted'")
    ("'=HYPERLINK(A1)", '-5', "''-x'", "'quoted'")
    """
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def unguarded(cell: str) -> str:
    """Return the text of a cell that `guarded` made.

    >>> unguarded("'=HYPERLINK(A1)"), unguarded("-5"), unguarded("''-x'"), unguarded("'quoted'")
    ('=HYPERLINK(A1)', '-5', "'-x'", "'quoted'")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell, 1) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

r"""Text as a cell of a LaTeX table: shown as it is, and nothing in it is obeyed.

What is written needs `\usepackage{booktabs}` and, for straight double quotes,
`\usepackage[T1]{fontenc}`. Letters beyond Latin need XeLaTeX or LuaLaTeX and a font that has them.
"""

from __future__ import annotations

import re

_WRITTEN = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "-": "-{}",  # two would become a dash
    ",": ",{}",  # two would become an opening quote
    " ": r"\mbox{ }",  # of several, one would be left; at the ends of a cell, none
}
_OBEYED = re.compile(r"[\\&%$#_{}~^<>|\"'`]|-(?=-)|,(?=,)|^ | (?= )| $")


def latex_text(text: str) -> str:
    r"""Escape printable text such that a cell shows exactly it.

    >>> print(latex_text(r"[50%] a--b \today"))
    [50\%] a-{}-b \textbackslash{}today
    """
    return _OBEYED.sub(lambda match: _WRITTEN[match[0]], text)


def latex_row(cells: str) -> str:
    r"""End a row of cells, such that none of it becomes an argument of the end before it.

    The end of a row takes a star, or what is in brackets, for its own, even on the next line.

    >>> print(latex_row("[2cm] & 1"))
    {}[2cm] & 1 \\
    """
    return f"{'{}' if cells.lstrip().startswith(('[', '*')) else ''}{cells} \\\\"

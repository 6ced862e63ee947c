r"""Text as a cell of a LaTeX table: shown as it is, and nothing in it is obeyed.

What is written needs `\usepackage{booktabs}` and, for straight double quotes,
`\usepackage[T1]{fontenc}`. Letters beyond Latin need XeLaTeX or LuaLaTeX and a font that has them.
"""

from __future__ import annotations

import re

__all__ = ["latex_text"]

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
    "[": "{[}",  # the end of a row, and a rule, take what follows in brackets for an argument
    "]": "{]}",
    "*": "{*}",  # and so does the end of a row with a star
    "-": "-{}",  # two would become a dash
    ",": ",{}",  # two would become an opening quote
    " ": r"\mbox{ }",  # of several, one would be left; at the ends of a cell, none
}
_OBEYED = re.compile(r"[\\&%$#_{}~^<>|\"'`\[\]*]|-(?=-)|,(?=,)|^ | (?= )| $")


def latex_text(text: str) -> str:
    r"""Escape printable text such that a cell shows exactly it.

    >>> print(latex_text(r"[50%] a--b \today"))
    {[}50\%{]} a-{}-b \textbackslash{}today
    """
    return _OBEYED.sub(lambda match: _WRITTEN[match[0]], text)

r"""Render rows as an aligned table, CSV, Markdown or LaTeX.

Markdown and LaTeX show text exactly as it is: no markup in it takes effect. LaTeX needs
`\usepackage{booktabs}` and, for straight double quotes, `\usepackage[T1]{fontenc}`. Letters beyond
Latin need XeLaTeX or LuaLaTeX and a font that has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from passband.files import guarded

# Escaped only where they would mean something, so that names of models stay readable.
_OBEYED_BY_MARKDOWN = re.compile(
    r"(?P<interval>\[-?[0-9.]+, -?[0-9.]+\](?![(\[]))"  # no link, so it stays as it is
    r"|[\\`*{}\[\]<|~$]"
    r"|&(?=[#a-z])"  # an entity
    r"|_(?![a-z0-9])|(?<![a-z0-9])_"  # within a word it is a letter
    r"|(?<=mailto):|(?<=xmpp):|:(?=/)|(?<=/)/|(?<=www)\.|\.(?=[^\W\d_])",  # a bare link
    re.IGNORECASE,
)
_OUTER_SPACES = re.compile(r"^ +| +$")  # which a cell would lose


def markdown_text(text: str) -> str:
    r"""Escape printable text such that a cell shows exactly it, without links or HTML.

    >>> print(markdown_text(r"a\|b <i> [x](http://y.org) gpt-4.1 large_2"))
    a\\\|b \<i> \[x\](http\:/\/y\.org) gpt-4.1 large_2
    """
    inert = _OBEYED_BY_MARKDOWN.sub(
        lambda sign: sign[0] if sign["interval"] else f"\\{sign[0]}", text
    )
    return _OUTER_SPACES.sub(lambda spaces: "&#32;" * len(spaces[0]), inert)


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
_OBEYED_BY_LATEX = re.compile(r"[\\&%$#_{}~^<>|\"'`]|-(?=-)|,(?=,)|^ | (?= )| $")


def latex_text(text: str) -> str:
    r"""Escape printable text such that a cell shows exactly it.

    >>> print(latex_text(r"[50%] a--b \today"))
    [50\%] a-{}-b \textbackslash{}today
    """
    return _OBEYED_BY_LATEX.sub(lambda match: _WRITTEN[match[0]], text)


def latex_row(cells: str) -> str:
    r"""End a row of cells, such that none of it becomes an argument of the end before it.

    The end of a row takes a star, or what is in brackets, for its own, even on the next line.

    >>> print(latex_row("[2cm] & 1"))
    {}[2cm] & 1 \\
    """
    return f"{'{}' if cells.lstrip().startswith(('[', '*')) else ''}{cells} \\\\"


Cell = str | int | float | None
Row = Mapping[str, Cell]

_NEEDS_QUOTES = re.compile(r'[,;"]|^\s|\s$|^$')  # in any spreadsheet, whatever its delimiter


def render(rows: Sequence[Row], form: str) -> str:
    """Return the rows in one of `FORMATS`, ending in a newline.

    >>> print(render([{"metric": "pass@8", "value": 0.75}], "markdown"), end="")
    | metric | value |
    |:-------|------:|
    | pass@8 |  0.75 |
    """
    return FORMATS[form](list(rows[0]), rows) + "\n"


def cell_text(value: Cell) -> str:
    """Write one cell; a number has at most four decimals, and nothing is a dash."""
    if value is None:
        return "-"
    if isinstance(value, float):
        text = f"{value:.4f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return printable(str(value))


def printable(text: str) -> str:
    r"""Escape characters that a terminal would obey rather than show.

    >>> print(printable("\x1b[31mred"))
    \x1b[31mred
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _table(names: list[str], rows: Sequence[Row]) -> str:
    names, cells, widths, right = _laid_out(names, rows)
    lines = [_line(names, widths, right), _line(["-" * width for width in widths], widths, right)]
    return "\n".join(lines + [_line(row, widths, right) for row in cells])


def _markdown(names: list[str], rows: Sequence[Row]) -> str:
    names, cells, widths, right = _laid_out(names, rows, markdown_text)
    rule = [
        "-" * (w + 1) + ":" if at_right else ":" + "-" * (w + 1)
        for w, at_right in zip(widths, right, strict=True)
    ]
    lines = [f"| {_line(names, widths, right, ' | ')} |", f"|{'|'.join(rule)}|"]
    return "\n".join(lines + [f"| {_line(row, widths, right, ' | ')} |" for row in cells])


def _latex(names: list[str], rows: Sequence[Row]) -> str:
    heads, cells, widths, right = _laid_out(names, rows, latex_text)
    body = [latex_row(_line(row, widths, right, " & ")) for row in cells]
    columns = "".join("r" if at_right else "l" for at_right in right)
    head = latex_row(" & ".join(heads))
    top, middle, bottom = r"\toprule", r"\midrule", r"\bottomrule"
    start = rf"\begin{{tabular}}{{{columns}}}"
    return "\n".join([start, top, head, middle, *body, bottom, r"\end{tabular}"])


def _csv(names: list[str], rows: Sequence[Row]) -> str:
    table: list[Sequence[Cell]] = [names, *([row[name] for name in names] for row in rows)]
    return "\n".join(",".join(map(_csv_cell, cells)) or '""' for cells in table)


def _csv_cell(value: Cell) -> str:
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = guarded(printable(value))
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if _NEEDS_QUOTES.search(text) else text


def _laid_out(
    names: list[str], rows: Sequence[Row], escape: Callable[[str], str] = str
) -> tuple[list[str], list[list[str]], list[int], list[bool]]:
    """Return the heads and the cells as text, their widths, and which columns hold numbers."""
    heads = [escape(printable(name)) for name in names]
    cells = [[escape(cell_text(row[name])) for name in names] for row in rows]
    columns = list(zip(heads, *cells, strict=True))
    widths = [max(len(text) for text in texts) for texts in columns]
    right = [all(isinstance(row[name], (int, float, type(None))) for row in rows) for name in names]
    for column, at_right in enumerate(right):
        if at_right and any(isinstance(row[names[column]], float) for row in rows):
            _align_decimals(cells, column)
            widths[column] = max([len(heads[column]), *(len(row[column]) for row in cells)])
    return heads, cells, widths, right


def _align_decimals(cells: list[list[str]], column: int) -> None:
    """Give every number of a column the same number of decimals."""
    decimals = max(len(row[column].partition(".")[2]) for row in cells)
    for row in cells:
        if row[column] != "-" and decimals:
            whole, _, rest = row[column].partition(".")
            row[column] = f"{whole}.{rest:0<{decimals}}"


def _line(
    cells: Sequence[str], widths: Sequence[int], right: Sequence[bool], between: str = "  "
) -> str:
    padded = [
        cell.rjust(width) if at_right else cell.ljust(width)
        for cell, width, at_right in zip(cells, widths, right, strict=True)
    ]
    return between.join(padded).rstrip() if between == "  " else between.join(padded)


FORMATS: Mapping[str, Callable[[list[str], Sequence[Row]], str]] = {
    "table": _table,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}

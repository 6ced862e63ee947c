"""LaTeX tables: every escape is a known one, and compiled where there is LaTeX."""

from __future__ import annotations

import re
import shutil
import string
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.report.rendering import latex_text, printable, render
from support.fuzz.properties import times

SHOWN = {
    r"\textbackslash{}": "\\", r"\&": "&", r"\%": "%", r"\$": "$", r"\#": "#", r"\_": "_",
    r"\{": "{", r"\}": "}", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", r"\textquotedbl{}": '"',
    r"\textquotesingle{}": "'", r"\textasciigrave{}": "`",
    "-{}": "-", ",{}": ",", r"\mbox{ }": " ",
}  # fmt: skip
ESCAPES = re.compile("|".join(re.escape(text) for text in sorted(SHOWN, key=len, reverse=True)))
ACTIVE = set("\\&%$#_{}~^<>|\"'`")  # what LaTeX obeys, or shows as something else

HOSTILE = [
    "[2cm]", "*", "*[1pt]", "]", r"\\", r"\\[1cm]", r"\input{/etc/passwd}", r"\write18{ls}", "^^41",
    "--", "---", "``x''", '"x"', "!`", "?`", "<<x>>", ",,x", "a  b", " a ", "  ", "%", "$x$", "a&b",
    "#1", "~", "{", "}", r"\end{tabular}", "\n\n", "\x1b[31m", "\x00", "naïve", "±", "", "-", "|",
]  # fmt: skip
texts = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=5), max_size=4).map("".join)


def read_back(cell: str) -> str:
    """Return what a cell shows; whatever LaTeX obeys must belong to a known escape."""
    assert not ACTIVE & set(ESCAPES.sub("", cell))
    assert not re.search(r"^ |  | $|--|,,", ESCAPES.sub("\0", cell))
    return ESCAPES.sub(lambda escape: SHOWN[escape[0]], cell)


@times(5)
@given(texts)
def test_any_text_can_be_read_back(text: str) -> None:
    assert read_back(latex_text(printable(text))) == printable(text)


@times(2)
@given(texts, texts)
def test_no_row_begins_with_an_argument(head: str, text: str) -> None:
    lines = render([{f"{head}x": text}] * 2, "latex").splitlines()
    assert lines[0] == r"\begin{tabular}{l}"
    assert [lines[1], lines[3], *lines[-2:]] == [
        r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"
    ]  # fmt: skip
    for line in (lines[2], *lines[4:-2]):
        assert not line.lstrip().startswith(("[", "*"))
        assert line.endswith(r" \\")


@pytest.mark.process
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_hostile_cells_compile(tmp_path: Path) -> None:
    rows: list[Any] = [{"[x": text, "y": text, "z": 0.5} for text in [*HOSTILE, string.printable]]
    document = "\n".join(
        [
            r"\documentclass[a4paper]{article}\usepackage[T1]{fontenc}\usepackage{booktabs}",
            r"\usepackage[paperheight=150cm,paperwidth=150cm]{geometry}\begin{document}",
            render(rows, "latex"),
            r"\end{document}",
        ]
    )
    (tmp_path / "table.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "table.tex"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "table.pdf").stat().st_size > 1000

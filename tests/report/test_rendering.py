"""Rows as text: aligned, escaped, and readable by the programs they are meant for."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.report.rendering import FORMATS, Cell, cell_text, printable, render

ROWS: list[dict[str, Cell]] = [
    {"model": "small", "metric": "pass@1", "value": 0.5, "problems": 12},
    {"model": "large_2", "metric": "pass^8", "value": 0.123456, "problems": 7},
    {"model": None, "metric": "avg", "value": None, "problems": 100},
]


def test_table() -> None:
    assert render(ROWS, "table").splitlines() == [
        "model    metric   value  problems",
        "-------  ------  ------  --------",
        "small    pass@1  0.5000        12",
        "large_2  pass^8  0.1235         7",
        "-        avg          -       100",
    ]


def test_markdown() -> None:
    assert render([*ROWS, ROWS[0] | {"model": "a|b"}], "markdown").splitlines() == [
        "| model   | metric |  value | problems |",
        "|:--------|:-------|-------:|---------:|",
        "| small   | pass@1 | 0.5000 |       12 |",
        "| large_2 | pass^8 | 0.1235 |        7 |",
        "| -       | avg    |      - |      100 |",
        r"| a\|b    | pass@1 | 0.5000 |       12 |",
    ]


def test_latex() -> None:
    lines = render([ROWS[1] | {"model": "a_1 & 50% {x}"}], "latex").splitlines()
    assert lines[:3] == [
        r"\begin{tabular}{llrr}",
        r"\toprule",
        "model & metric & value & problems \\\\",
    ]
    assert lines[4] == r"a\_1 \& 50\% \{x\} & pass\textasciicircum{}8 & 0.1235 &        7 \\"
    assert lines[5:] == [r"\bottomrule", r"\end{tabular}"]


def test_csv_keeps_every_digit() -> None:
    rows = list(csv.DictReader(io.StringIO(render(ROWS, "csv"))))
    assert rows[1] == {"model": "large_2", "metric": "pass^8", "value": "0.123456", "problems": "7"}
    assert rows[2]["value"] == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0"),
        (1.0, "1"),
        (10.0, "10"),
        (0.25, "0.25"),
        (0.00004, "0"),
        (-0.00004, "0"),
        (-0.5, "-0.5"),
        (1e20, "100000000000000000000"),
        (1200, "1200"),
        ("pass@8", "pass@8"),
        ("naïve 模型", "naïve 模型"),
    ],
)
def test_cells(value: Cell, text: str) -> None:
    assert cell_text(value) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("two\nlines\tand\rmore", r"two\nlines\tand\rmore"),
        ("\x07\x7f\x9b", r"\x07\x7f\x9b"),
        ("right\u202eleft", r"right\u202eleft"),
        ("half\ud800", r"half\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize("form", FORMATS)
@given(name=st.text(), cell=st.text(), value=st.none() | st.floats(-1e6, 1e6))
def test_any_text_is_safe_and_keeps_its_row(
    form: str, name: str, cell: str, value: float | None
) -> None:
    plain = render([{"x": "x", "value": value}] * 2, form)
    odd = render([{f"x{name}": cell, "value": value}] * 2, form)
    assert odd.count("\n") == plain.count("\n")
    assert all(line.isprintable() for line in odd.split("\n"))
    odd.encode()
    assert odd.endswith("\n")
    assert not odd.endswith("\n\n")

"""The guard against formulas: what a spreadsheet would compute is text, and comes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.files.spreadsheet import guarded, unguarded
from support.fuzz.properties import times

PIECES = [
    "=",
    "+",
    "-",
    "@",
    "＝",
    "＋",
    "－",
    "＠",
    "'",
    " ",
    "\t",
    "\r",
    "\n",
    "\xa0",
    "1",
    "x",
    '"',
]


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("http://x","y")', "+1+cmd|' /C calc'!A0", "-1+cmd|x", "@SUM(A1)", "＝1+1",
        "－x", "\t=1", "\r=1", "\n-", " =1", "\xa0 =1", "'=1", "''=1", "' '=1", "-", "--5",
    ],
)  # fmt: skip
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["", "x", "-5", "+0.12", "-1e-9", "-inf", "a=b", "'quoted'", "5-3", "''", '"=1"']
)
def test_other_text_and_numbers_stay(text: str) -> None:
    assert guarded(text) == text
    assert unguarded(text) == text


@times(3)
@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text())
def test_what_is_guarded_comes_back(text: str) -> None:
    cell = guarded(text)
    assert unguarded(cell) == text
    assert not cell.lstrip().startswith(("=", "@", "＝", "＋", "－", "＠"))
    if cell.lstrip().startswith(("+", "-")):
        float(cell)

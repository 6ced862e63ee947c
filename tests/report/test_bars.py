"""Bars: every sign in its place, and no bar where there is no room or no scale."""

import pytest

from passband.report.bars import SIGNS, bar, barred_rows, spread_lines
from passband.report.layout import rows
from passband.report.rendering import render
from passband.report.style import PLAIN, Style
from passband.summary.from_sources import summarize

MATRIX = [[1] * 8, [1, 0] * 4, [0] * 8, [1, 1, 1, 0] * 2] * 6


def test_signs_are_where_the_numbers_are() -> None:
    assert bar(0.0, (0.0, 0.5), None, 21) == "●──────────         ┊"
    assert bar(1.0, (0.5, 1.0), (0.9, 1.0), 21) == "┊         ────────━━●"
    assert bar(0.25, None, None, 21) == "┊    ●    ┊         ┊"
    assert bar(0.5, (-0.2, 1.7), None, 11) == "─────●─────"


def test_columns_are_full_and_not_more() -> None:
    summary = summarize(MATRIX)
    inner = summarize(MATRIX, over="trials")
    for columns in (100, 101, 117, 140, 400):
        table = barred_rows(summary, PLAIN, columns, inner)
        lines = render(table, "table").splitlines()
        assert max(map(len, lines)) <= columns
        assert lines[0].endswith("1")
        assert all("●" in line and "━" in line and "─" in line for line in lines[2:])


def test_the_head_stands_over_the_places() -> None:
    head = [*barred_rows(summarize(MATRIX), PLAIN, 100)[0]][-1]
    drawn = bar(0.5, None, None, len(head))
    assert (head[0], head[-1]) == ("0", "1")
    assert head[drawn.index("●") - 1 : drawn.index("●") + 2] == "0.5"
    percent = [*barred_rows(summarize(MATRIX), Style(percent=True), 100)[0]][-1]
    assert percent.split() == ["0", "50", "100"]
    assert len(percent) % 2 == 1


@pytest.mark.parametrize("columns", [0, 20, 60])
def test_without_room_the_table_is_as_it_is(columns: int) -> None:
    summary = summarize(MATRIX)
    assert barred_rows(summary, PLAIN, columns) == rows(summary)


def test_other_scales_have_no_bar() -> None:
    summary = summarize([[34.2, 28.0], [40.1, 38.8]], "avg")
    assert barred_rows(summary, PLAIN, 140) == rows(summary)


def test_intervals_over_trials_are_inner_ones() -> None:
    (row,) = barred_rows(summarize(MATRIX, "pass@1", over="trials"), PLAIN, 120)
    drawn = str([*row.values()][-1])
    assert "━" in drawn
    assert "─" not in drawn


def test_the_distribution_of_problems_in_one_line() -> None:
    (line,) = spread_lines(summarize(MATRIX).groups)
    assert line.endswith("6 always, 12 sometimes, 6 never right")
    drawn = line.removeprefix("problems").strip().split("  ")[0]
    assert drawn == "█" * 10 + "▆" * 10 + "▄" * 10
    assert set(drawn) <= set(SIGNS)
    assert spread_lines(summarize([[0.5, 0.2]], "avg").groups) == []
    many = summarize([[1, 0]] * 999 + [[1, 1]])
    (line,) = spread_lines(many.groups)
    assert line.endswith("1 always, 999 sometimes, 0 never right")

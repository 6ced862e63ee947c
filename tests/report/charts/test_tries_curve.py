"""The curve over tries: labels that do not cover each other, ticks, digits, bands."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.report.charts.theme import LIGHT
from passband.report.charts.tries_curve import TriesCurve, TriesLine, apart
from passband.stats.interval.rounding import Rounding
from support.samples.chart_samples import STRANGE, tries_line

SVG = "{http://www.w3.org/2000/svg}"


def texts(chart: TriesCurve, *, narrow: bool = False) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(chart.svg(LIGHT, narrow=narrow)).iter(f"{SVG}text"))


@pytest.mark.parametrize("name", ["lines that meet", "lines at the floor"])
@pytest.mark.parametrize("narrow", [False, True])
def test_labels_of_lines_that_meet_are_apart(name: str, narrow: bool) -> None:
    chart = STRANGE[name]
    assert isinstance(chart, TriesCurve)
    places = [
        float(text.get("y", ""))
        for text in texts(chart, narrow=narrow)
        if text.get("font-weight") == "600"
    ]
    assert len(places) == 2
    assert abs(places[0] - places[1]) >= (18 if narrow else 40) - 0.11


@given(st.lists(st.floats(0, 300), max_size=6))
def test_places_are_apart_in_order_and_within_range(wanted: list[float]) -> None:
    places = apart(wanted, 40, 0, 300)
    ordered = sorted(places)
    assert all(b - a >= 40 - 1e-6 for a, b in pairwise(ordered))
    assert all(-1e-6 <= place <= 300 + 1e-6 for place in places)
    for i, a in enumerate(wanted):
        for j, b in enumerate(wanted):
            assert not a < b or places[i] < places[j]


def test_places_that_are_apart_stay() -> None:
    assert apart([200, 10, 100], 40, 0, 300) == [200, 10, 100]


def test_the_label_has_the_digits_of_the_table() -> None:
    chart = TriesCurve((tries_line("pass@*", 0.4, 0.7251),), rounding=Rounding(3))
    assert "pass@16 0.725" in [text.text for text in texts(chart)]
    percent = TriesCurve(chart.lines, rounding=Rounding(1, percent=True))
    assert "pass@16 72.5" in [text.text for text in texts(percent)]
    assert "100" in [text.text for text in texts(percent)]  # the axis is in percent, too


@pytest.mark.parametrize(
    ("most", "marks"),
    [
        (1, ["1"]),
        (2, ["1", "2"]),
        (17, ["1", "2", "4", "8", "17"]),
        (100, ["1", "2", "4", "8", "16", "32", "64", "100"]),
    ],
)
def test_ticks_are_powers_of_two_and_the_last(most: int, marks: list[str]) -> None:
    chart = TriesCurve((tries_line("pass@*", 0.4, 0.5, n=most),))
    shown = [text.text for text in texts(chart) if re.fullmatch(r"\d+", text.text or "")]
    assert shown == marks


def test_the_caption_speaks_of_the_bands_that_there_are() -> None:
    line = tries_line("pass@*", 0.4, 0.7)
    both = TriesCurve((line,), 0.9).caption
    assert "Outer bands hold for problems like these, inner bands for these very" in both
    assert "90\N{NO-BREAK SPACE}%" in both
    alone = TriesLine(line.metric, line.k, line.value, None, line.inner)
    assert TriesCurve((alone,)).caption.startswith("Bands hold for these very problems")
    assert "no bands" in TriesCurve((TriesLine("pass@*", [1], [0.4]),)).caption

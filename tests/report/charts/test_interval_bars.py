"""Bars: where they are drawn, the digits beside them, and what the caption says."""

from xml.etree import ElementTree

import pytest

from passband.report.charts.bar import Bar
from passband.report.charts.difference_forest import DifferenceForest
from passband.report.charts.interval_bars import IntervalBars
from passband.report.charts.theme import LIGHT
from passband.report.style import PLAIN, Figure
from support.samples.chart_samples import BARS

SVG = "{http://www.w3.org/2000/svg}"


def test_a_bar_is_where_its_numbers_are() -> None:
    chart = IntervalBars((Bar("x", 0.5, (0.25, 0.75), (0.4, 0.6)),))
    root = ElementTree.fromstring(chart.bar_svg(chart.bars[0], LIGHT, width=414))
    outer, inner = [rect for rect in root.iter(f"{SVG}rect") if rect.get("rx")]
    tick = list(root.iter(f"{SVG}line"))[-1]
    assert [outer.get(name) for name in ("x", "width", "height")] == ["107", "200", "12"]
    assert [inner.get(name) for name in ("x", "width", "height")] == ["167", "80", "6"]
    assert (tick.get("x1"), tick.get("stroke-width")) == ("207", "2")


def test_digits_are_those_of_a_table_of_the_same_estimates() -> None:
    figures = [Figure(bar.value or 0.0, *bar.wide, True) for bar in BARS]
    words = list(ElementTree.fromstring(IntervalBars(BARS).svg(LIGHT)).itertext())
    for figure, rounding in zip(figures, PLAIN.roundings(figures), strict=True):
        assert rounding.value(figure.value) in words
        assert rounding.interval(figure.low, figure.high) in words


@pytest.mark.parametrize(
    ("bars", "words"),
    [
        (BARS, "Outer bar: problems like these, asked the same way. Inner bar: these very"),
        ((Bar("x", 0.4, inner=(0.3, 0.5)),), "interval for these very problems, sampled again"),
        ((Bar("x", 0.4),), "There are no intervals"),
        ((Bar("x", 40.0, (30.0, 50.0)),), "from 0 to 50: these are not shares of 1"),
        (BARS * 40, "The first 60 of 80 rows are drawn"),
    ],
)
def test_the_caption_says_what_is_drawn(bars: tuple[Bar, ...], words: str) -> None:
    assert words in IntervalBars(bars).caption


def test_differences_have_signs_a_zero_and_a_stripe() -> None:
    bars = (Bar("pass@1", 0.031, (0.01, 0.052)), Bar("pass@4", -0.012, (-0.04, 0.016)))
    chart = DifferenceForest(bars, "old", "new", (-0.02, 0.0))
    root = ElementTree.fromstring(chart.svg(LIGHT))
    words = list(root.itertext())
    assert "+0.031 [0.010, 0.052]" in words
    assert "-0.012 [-0.040, 0.016]" in words
    zero = [line for line in root.iter(f"{SVG}line") if line.get("stroke-width") == "1.5"]
    stripe = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill") == LIGHT.empty]
    assert len(zero) == len(stripe) == 1
    edge = float(stripe[0].get("x", "")) + float(stripe[0].get("width", ""))
    assert edge == pytest.approx(float(zero[0].get("x1", "")), abs=0.11)
    assert "Grey stripe: the tolerance, -0.02 to 0." in chart.caption

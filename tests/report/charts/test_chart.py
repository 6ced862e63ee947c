"""Every chart is drawn in every theme and size, whatever its numbers are."""

import json
import math
import re
from itertools import product
from xml.etree import ElementTree

import pytest

from passband.report.charts.bar import Bar
from passband.report.charts.difference_forest import DifferenceForest
from passband.report.charts.interval_bars import IntervalBars
from passband.report.charts.split_bar import SplitBar, SplitPart
from passband.report.charts.theme import DARK, LIGHT, NOTEBOOK, PAGE
from passband.report.charts.tries_curve import TriesCurve, TriesLine
from passband.report.charts.write import vega_json
from support.samples.chart_samples import CHARTS, STRANGE

ALL = CHARTS | STRANGE
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", ALL)
def test_a_chart_is_svg_with_a_title_and_no_style(name: str) -> None:
    for theme, narrow in product((PAGE, LIGHT, DARK, NOTEBOOK), (False, True)):
        drawing = ALL[name].svg(theme, narrow=narrow)
        assert len(drawing) < 100_000
        root = ElementTree.fromstring(drawing)
        assert root.get("role") == "img"
        assert [node.tag for node in root][:2] == [f"{SVG}title", f"{SVG}desc"]
        assert not any("style" in node.attrib or node.tag == f"{SVG}script" for node in root.iter())
        check_places(root)


def check_places(root: ElementTree.Element) -> None:
    """Check that all words are within the drawing, and that every coordinate is a number."""
    left, top, width, height = map(float, root.get("viewBox", "").split())
    for node in root.iter(f"{SVG}text"):
        assert left <= float(node.get("x", "")) <= left + width
        assert top <= float(node.get("y", "")) <= top + height
    for node in root.iter():
        for place in {"x", "y", "width", "height", "points", "cx", "cy", "d"} & node.attrib.keys():
            assert not re.search("nan|inf", node.attrib[place])


@pytest.mark.parametrize("name", ALL)
def test_the_vega_specification_is_json_and_has_data(name: str) -> None:
    spec = json.loads(vega_json(ALL[name]))
    assert "vega-lite" in spec["$schema"]
    assert isinstance(spec["data"]["values"], list)


@pytest.mark.parametrize("name", CHARTS)
def test_a_page_has_colours_by_class_and_a_file_has_them_itself(name: str) -> None:
    on_page, in_file = CHARTS[name].svg(PAGE), CHARTS[name].svg(LIGHT)
    assert not re.search(r"#|var\(", on_page)
    assert LIGHT.blue in in_file or LIGHT.blue_outer in in_file
    assert "f-blue" in on_page
    assert "f-blue" not in in_file


@pytest.mark.parametrize("name", CHARTS)
def test_a_notebook_shows_the_caption_and_no_script(name: str) -> None:
    shown = CHARTS[name]._repr_html_()
    assert CHARTS[name].caption.split(".")[0] in shown
    assert "<script" not in shown


@pytest.mark.parametrize("colour", ["text", "muted", "blue", "orange", "wrong"])
def test_colours_of_text_have_contrast(colour: str) -> None:
    for theme in (LIGHT, DARK):
        assert contrast(getattr(theme, colour), theme.background) >= 4.5
    if getattr(NOTEBOOK, colour).startswith("#"):
        for background in ("#ffffff", "#111111", "#1e1e1e"):
            assert contrast(getattr(NOTEBOOK, colour), background) >= 3.8


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG defines it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else math.pow((s + 0.055) / 1.055, 2.4) for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_long_label_has_a_line_of_its_own_where_it_is_narrow() -> None:
    labels = ["first task · one model − another", "first task · one model − a third model"]
    forest = DifferenceForest([Bar(label, 0.1, (-0.25, 0.45)) for label in labels], "a", "b")
    drawn = forest.svg(narrow=True)
    assert all(f">{label}</text>" in drawn for label in labels)
    assert "…" not in drawn


def test_labels_below_a_split_bar_are_in_the_order_of_its_parts() -> None:
    root = ElementTree.fromstring(
        SplitBar([SplitPart("which problems", 0), SplitPart("sampling", 1)]).svg()
    )
    first, second = root.iter(f"{SVG}text")
    assert (first.text, first.get("x")) == ("0 % which problems", "0")
    assert (second.text, second.get("text-anchor")) == ("100 % sampling", "end")


def test_an_inner_interval_that_is_the_wider_one_is_named() -> None:
    words = "Some inner ones are wider"
    lines = [TriesLine("max@*", [1, 2], [5, 6], ([4, 5], [6, 7]), ([1, 2], [8, 9]))]
    assert words in TriesCurve(lines).caption
    assert words in IntervalBars([Bar("avg", 5, (4, 6), (1, 8))]).caption
    assert words not in "".join(chart.caption for chart in CHARTS.values())

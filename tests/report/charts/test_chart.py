"""Every chart is drawn in every theme and size, whatever its numbers are."""

from xml.etree import ElementTree

import pytest

from passband.report.charts.bar import Bar
from passband.report.charts.interval_bars import IntervalBars
from passband.report.charts.theme import DARK, LIGHT, NOTEBOOK, PAGE, Theme


@pytest.mark.parametrize("theme", [PAGE, LIGHT, DARK, NOTEBOOK])
def test_a_chart_is_drawn_in_every_theme(theme: Theme) -> None:
    chart = IntervalBars((Bar("<pass@1>", 0.42, (0.365, 0.477), (0.41, 0.43)),))
    root = ElementTree.fromstring(chart.svg(theme))
    assert root.get("role") == "img"
    assert "style" not in {name for node in root.iter() for name in node.attrib}

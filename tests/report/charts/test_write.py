"""Charts as files: what is written, under which names, and that other tools can draw it."""

import json
import re
import sys
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.report.charts.bar import Bar
from passband.report.charts.interval_bars import IntervalBars
from passband.report.charts.theme import LIGHT
from passband.report.charts.write import missing_note, rendered, vega_json, write_charts
from support.samples.chart_samples import CHARTS, STRANGE


def test_every_chart_is_written_in_every_format(tmp_path: Path) -> None:
    pytest.importorskip("typst", reason="the extra charts is not installed")
    written = write_charts([CHARTS["intervals"], CHARTS["tries"]], tmp_path / "new" / "charts")
    names = [path.name for path in written]
    stems, suffixes = ("intervals", "tries"), (".svg", ".vl.json", ".png", ".pdf")
    assert names == [stem + suffix for stem in stems for suffix in suffixes] + ["captions.txt"]
    assert all(path.stat().st_size for path in written)
    assert written[2].read_bytes().startswith(b"\x89PNG")
    assert written[3].read_bytes().startswith(b"%PDF")
    assert "Outer bar: problems like these" in written[-1].read_text("utf-8")


@pytest.mark.parametrize("name", {**CHARTS, **STRANGE})  # type: ignore[dict-item]
def test_the_renderer_accepts_every_drawing(name: str) -> None:
    pytest.importorskip("typst", reason="the extra charts is not installed")
    drawing = {**CHARTS, **STRANGE}[name].svg(LIGHT)
    assert rendered(drawing, "png").startswith(b"\x89PNG")


@pytest.mark.parametrize("name", CHARTS)
def test_vega_lite_draws_every_specification(name: str) -> None:
    converter = pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")
    drawn = converter.vegalite_to_svg(vega_json(CHARTS[name]))
    spec = json.loads(vega_json(CHARTS[name]))
    assert spec["title"]["text"] in drawn
    assert len(re.findall("<path", drawn)) > 2


def test_charts_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    bars = (Bar("x", 0.5, (0.4, 0.6)),)
    charts = [IntervalBars(bars, name="a/b: c"), IntervalBars(bars, name="a/b: c")]
    names = {path.name for path in write_charts(charts, tmp_path)}
    assert {"a-b-c.svg", "a-b-c-2.svg"} <= names


def test_without_the_extra_svg_and_json_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    written = write_charts([STRANGE["labels"]], tmp_path)
    assert [path.name for path in written] == ["intervals.svg", "intervals.vl.json", "captions.txt"]
    assert "pip install typst" in (missing_note() or "")
    with pytest.raises(InvalidInput, match="pip install typst"):
        rendered("<svg/>", "pdf")


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "charts").write_text("")
    with pytest.raises(InvalidInput, match="not a directory"):
        write_charts([], tmp_path / "charts")

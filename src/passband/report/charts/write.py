"""Write charts as files: SVG and Vega-Lite always, PNG and PDF where Typst is installed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from passband.errors import InvalidInput
from passband.report.charts.chart import Chart
from passband.report.charts.theme import LIGHT, Theme

MISSING = "PNG and PDF need the extra 'charts': pip install 'passband[charts]'."
_PAGE = b"""#set page(width: auto, height: auto, margin: 0pt, fill: none)
#image(bytes(sys.inputs.svg), format: "svg")
"""
_SHARPNESS = 288.0  # pixels per inch of a PNG: three for each pixel of the drawing


def can_render() -> bool:
    """Return whether PNG and PDF can be made."""
    try:
        import typst  # noqa: F401
    except ImportError:
        return False
    return True


def rendered(svg: str, kind: Literal["png", "pdf"]) -> bytes:
    """Return a stand-alone drawing as a PNG or PDF file, with the fonts of this machine."""
    try:
        import typst
    except ImportError:
        raise InvalidInput(MISSING) from None
    page = typst.compile(_PAGE, format=kind, ppi=_SHARPNESS, sys_inputs={"svg": svg})
    assert isinstance(page, bytes)  # several pages would be a list
    return page


def write_charts(
    charts: Iterable[Chart], directory: str | Path, theme: Theme = LIGHT
) -> list[Path]:
    """Write each chart as SVG, Vega-Lite JSON, PNG and PDF, and the captions as one text.

    Without the extra `charts` PNG and PDF are left out; `missing_note` says so.
    """
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InvalidInput(f"{folder} is not a directory; give one for the charts.") from None
    named = list(_named(charts))
    written = [path for stem, chart in named for path in _write(folder / stem, chart, theme)]
    captions = folder / "captions.txt"
    captions.write_text("\n".join(_caption(stem, chart) for stem, chart in named), "utf-8")
    return [*written, captions]


def missing_note() -> str | None:
    """Return how to get PNG and PDF files, where they cannot be made."""
    return None if can_render() else MISSING


def _write(stem: Path, chart: Chart, theme: Theme) -> Iterator[Path]:
    """Write the files of a chart; SVG and PDF carry the drawing, JSON carries its data."""
    svg = chart.svg(theme)
    contents = {".svg": svg.encode(), ".vl.json": vega_json(chart).encode(errors="replace")}
    if can_render():
        contents |= {".png": rendered(svg, "png"), ".pdf": rendered(svg, "pdf")}
    for suffix, content in contents.items():
        path = stem.with_name(stem.name + suffix)
        path.write_bytes(content)
        yield path


def _named(charts: Iterable[Chart]) -> Iterator[tuple[str, Chart]]:
    """Yield charts with the stems of their files, each used once."""
    taken: dict[str, int] = {}
    for chart in charts:
        stem = re.sub(r"[^\w.-]+", "-", chart.name).strip("-.")[:80] or "chart"
        taken[stem] = taken.get(stem, 0) + 1
        yield (stem if taken[stem] == 1 else f"{stem}-{taken[stem]}"), chart


def _caption(stem: str, chart: Chart) -> str:
    return f"{stem}: {chart.title}\n{chart.description}\n{chart.caption}\n"


def vega_json(chart: Chart) -> str:
    """Return the Vega-Lite specification of a chart as JSON; infinities and NaN become null."""
    return json.dumps(_finite(chart.vega()), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""Build parts of Vega-Lite specifications, so that other tools can redraw the charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from passband.report.charts.bar import Bar, Ends
from passband.report.charts.theme import LIGHT

if TYPE_CHECKING:
    from passband.report.charts.chart import Chart


Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
HUES = {"blue": LIGHT.blue, "orange": LIGHT.orange}
OUTER_HUES = {"blue": LIGHT.blue_outer, "orange": LIGHT.orange_outer}


def spec(chart: Chart, values: Iterable[Spec], layers: Sequence[Spec], **more: Any) -> Spec:
    """Return a specification in layers over one table of values."""
    return {
        **head(chart),
        "width": 600,
        "data": {"values": list(values)},
        "layer": list(layers),
        **more,
    }


def head(chart: Chart) -> Spec:
    """Return the beginning of every specification: title, caption and description."""
    return {
        "$schema": SCHEMA,
        "title": {"text": chart.title, "subtitle": wrap(chart.caption, 100), "anchor": "start"},
        "description": chart.description,
    }


def hue_scale(colours: dict[str, str]) -> Spec:
    """Return a colour by the hue that a row names; there is no legend of hues."""
    scale = {"domain": list(colours), "range": list(colours.values())}
    return {"field": "hue", "type": "nominal", "scale": scale, "legend": None}


def bars_spec(
    chart: Chart,
    bars: Sequence[Bar],
    span: tuple[float, float],
    axis: str = "value",
    marks: Sequence[int] | None = None,
) -> Spec:
    """Return bars of two widths with a tick, a row each, in the order given."""
    x = {
        "type": "quantitative",
        "title": axis,
        "scale": {"domain": list(span), "nice": False},
        "axis": {"tickCount": 5} if marks is None else {"values": list(marks), "format": "d"},
    }
    layers = [
        _interval("outer", 12, OUTER_HUES, x),
        _interval("inner", 6, HUES, x),
        {
            "mark": {"type": "tick", "thickness": 2, "size": 18, "color": LIGHT.text},
            "encoding": {"x": {"field": "value", **x}},
        },
    ]
    y = {"field": "label", "type": "nominal", "sort": None, "title": None}
    apart = {"scale": {"color": "independent"}}  # inner and outer bars
    return spec(
        chart, map(_row, bars), layers, encoding={"y": y}, height={"step": 28}, resolve=apart
    )


def _interval(which: str, size: int, colours: dict[str, str], x: Spec) -> Spec:
    return {
        "transform": [{"filter": f"isValid(datum.{which}_low) && isValid(datum.{which}_high)"}],
        "mark": {"type": "bar", "height": size, "cornerRadius": size / 2},
        "encoding": {
            "x": {"field": f"{which}_low", **x},
            "x2": {"field": f"{which}_high"},
            "color": hue_scale(colours),
        },
    }


def _row(bar: Bar) -> Spec:
    row: Spec = {"label": bar.label, "value": bar.value, "hue": bar.hue, "words": bar.words}
    return row | _ends("outer", bar.outer) | _ends("inner", bar.inner)


def _ends(which: str, ends: Ends | None) -> Spec:
    low, high = ends or (None, None)
    return {f"{which}_low": low, f"{which}_high": high}

"""The HTML of a value, by its class."""

from __future__ import annotations

from functools import singledispatch

from passband.report.notebook.decisions import (
    abilities_html,
    comparison_html,
    ranking_html,
    split_html,
)
from passband.report.notebook.estimates import (
    band_html,
    curve_html,
    estimate_html,
    extrapolation_html,
    stratified_html,
)
from passband.report.notebook.summaries import summary_html
from passband.stats.decision import Abilities, Comparison, Ranking, VarianceSplit
from passband.stats.interval import Band, Estimate, Extrapolation, Stratified
from passband.stats.metric import Curve
from passband.summary import Summary


@singledispatch
def html_of(value: object) -> str | None:
    """Return a value as HTML for a notebook; None if its text is all there is."""
    return None


html_of.register(Abilities, abilities_html)
html_of.register(Band, band_html)
html_of.register(Comparison, comparison_html)
html_of.register(Curve, curve_html)
html_of.register(Estimate, estimate_html)
html_of.register(Extrapolation, extrapolation_html)
html_of.register(Ranking, ranking_html)
html_of.register(Stratified, stratified_html)
html_of.register(Summary, summary_html)
html_of.register(VarianceSplit, split_html)

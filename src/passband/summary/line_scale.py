"""What the scale of scores says about a line: whether it is a share, and which way is better."""

from __future__ import annotations

from dataclasses import replace

from passband.errors import InvalidInput
from passband.stats.data import SPENT_METRICS, Scale
from passband.stats.metric import parse_metric
from passband.summary.summary import Line

#: Reductions of a problem's trials whose values are scores again.
OF_ONE_SCALE = ("first", "mean", "max", "min", "majority")


def on_line_scale(line: Line, scale: Scale, is_share: bool | None) -> Line:
    """Return a line that knows the scale of the scores it rests on."""
    if line.estimate is not None and line.estimate.metric in SPENT_METRICS:
        return replace(line, is_share=False, lower_is_better=True)
    falls = bool(scale.lower_is_better) and _is_of_scores(line)
    return replace(line, is_share=is_share, lower_is_better=falls)


def _is_of_scores(line: Line) -> bool:
    """Return whether a line's value is on the scale of the scores, and not a chance of success."""
    if line.reduction in OF_ONE_SCALE or line.estimate is None:
        return line.reduction in OF_ONE_SCALE
    try:
        return parse_metric(line.reduction or line.estimate.metric).is_score
    except InvalidInput:  # an aggregation of the user's
        return False

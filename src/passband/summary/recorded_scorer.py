"""The scale of recorded scorers, and intervals cut to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passband.trials.records import Bounds

if TYPE_CHECKING:
    from passband.stats.interval.estimate import Estimate
    from passband.summary.summary import Line

__all__ = ["clip_to_bounds", "clipped"]


def clip_to_bounds(estimate: Estimate, bounds: Bounds | None) -> Estimate:
    """Cut an interval to the scale of its scorer: a mean BLEU is at most 100."""
    if bounds is None or estimate.low is None or estimate.high is None:
        return estimate
    low, high = (
        end if end is not None else default for end, default in zip(bounds, _OPEN, strict=True)
    )
    if not low <= estimate.value <= high:
        return estimate
    return replace(estimate, low=max(estimate.low, low), high=min(estimate.high, high))


def clipped(lines: Sequence[Line], bounds: Bounds | None) -> list[Line]:
    """Cut the intervals of lines to the scale of their scorer."""
    return [
        replace(line, estimate=line.estimate and clip_to_bounds(line.estimate, bounds))
        for line in lines
    ]


_OPEN = (float("-inf"), float("inf"))

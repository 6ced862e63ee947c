"""The scale of recorded scorers, and intervals cut to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passband.errors import InvalidInput
from passband.trials.reader import ScorerRecord
from passband.trials.records import Bounds

if TYPE_CHECKING:
    from passband.stats.data.outcomes import Outcomes
    from passband.stats.interval.estimate import Estimate
    from passband.summary.summary import Line

__all__ = ["clip_to_bounds", "clipped", "refuse_best_as_failure"]


def refuse_best_as_failure(
    record: ScorerRecord, outcomes: Outcomes, policy: str, *, higher_is_better: bool = True
) -> None:
    """Refuse to count trials without a score as 0 where lower scores are better.

    A 0 would be the best score there is: every error would improve the mean.
    """
    if policy != "fail" or not outcomes.n_unscored:
        return
    if higher_is_better and not _falls(record):
        return
    raise InvalidInput(
        f"lower scores of {record.name} are better, so the {outcomes.n_unscored} without a "
        "score cannot count as 0, which would be the best; use policy 'drop'."
    )


def _falls(record: ScorerRecord) -> bool:
    """Return whether a lower score of a scorer is the better one, as far as that is recorded."""
    from passband.score.registry import scorers

    name = str((record.spec or {}).get("function", ""))
    if name not in scorers:
        return False
    function = scorers.get(name)
    return function.best < function.worst


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

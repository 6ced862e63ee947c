"""The difference of two models that one judge judged, corrected by labels of both."""

from __future__ import annotations

from passband.stats.checks import Over
from passband.stats.decision.compare import Comparison
from passband.stats.judged.judged import Judged

__all__ = ["corrected_difference"]


def corrected_difference(
    a: Judged,
    b: Judged,
    metric: str = "pass@1",
    *,
    over: Over = "problems",
    level: float = 0.95,
    margin: float | None = None,
) -> Comparison:
    """Return how much larger a metric of the labels is for b than for a (b - a).

    Problems are matched by name; the same problems should be labelled for both models.
    """
    raise NotImplementedError

"""Add the scale of the scores and certificates to lines.

Certificates are made on request, and unasked where a design is unusual. An unasked one is kept
only where the coverage to expect is clearly too low. Counts, never the clock, decide which lines
are certified: at most eight of a group, and none in a summary of more than four groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from passband.errors import InvalidInput
from passband.stats.data import SPENT_METRICS, Outcomes, Scale
from passband.stats.interval import (
    FEW_SETS,
    Estimate,
    IntervalRequest,
    needs_simulation,
    seed_of,
    with_certificate,
)
from passband.stats.metric import parse_metric
from passband.summary.summary import Line, Request

#: Reductions of a problem's trials whose values are scores again.
OF_ONE_SCALE = ("first", "mean", "max", "min", "majority")


def on_line_scale(line: Line, scale: Scale, is_share: bool | None) -> Line:
    """Return a line marked as a share or not, and with the direction of its scores."""
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


_MOST_LINES = 8  # of a group
_MOST_GROUPS = 4


def for_groups(request: Request, groups: int) -> Request:
    """Return the request for each of some groups: of many, none is certified unasked."""
    if request.certify is None and groups > _MOST_GROUPS:
        return replace(request, certify=False)
    return request


def certified_lines(lines: Sequence[Line], outcomes: Outcomes, request: Request) -> list[Line]:
    """Return the lines of a group, some with certificates, as `certified_estimate` has them."""
    head = [
        line
        if line.estimate is None
        else replace(line, estimate=certified_estimate(line.estimate, outcomes, request))
        for line in lines[:_MOST_LINES]
    ]
    return [*head, *lines[_MOST_LINES:]]


def certified_estimate(
    estimate: Estimate, outcomes: Outcomes, request: Request, metric: str | None = None
) -> Estimate:
    """Return the estimate, certified if its design is unusual and its coverage clearly too low.

    The name of the metric is given where the estimate goes by another.
    """
    if request.certify is not None or request.calibrate:
        return estimate  # it was certified where it was made, or is not to be
    if estimate.low is None or estimate.method != "auto" or estimate.metric in SPENT_METRICS:
        return estimate
    scored = outcomes.counted(request.policy)
    measured = parse_metric(metric or estimate.metric, scored.most_trials())
    means = tuple(measured.means(scored))
    seed = seed_of(request.seed)
    asked = IntervalRequest(
        scored, measured, means, measured.combine(means), estimate.over, estimate.level, seed
    )
    if not needs_simulation(asked):
        return estimate
    result = with_certificate(estimate, asked, sets=FEW_SETS)
    certificate = result.certificate
    return result if certificate is not None and certificate.is_low else estimate

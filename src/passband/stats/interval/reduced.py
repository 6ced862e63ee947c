"""Requests for metrics that are means of other scores: votes, and avg@k."""

from __future__ import annotations

from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.components import MeanScore
from passband.stats.metric.metric import MeanMetric

__all__ = ["reduced"]


def reduced(request: IntervalRequest) -> IntervalRequest:
    """Return the request for the mean of the scores that a metric averages, where it does.

    Over problems a vote is the mean of one value per problem, and vote@1 and avg@k are the mean
    score of trials. Any interval of a mean then serves them.
    """
    if not request.metric.is_mean:
        return request
    scores = request.metric.parts[0].as_scores(request.outcomes, request.k, request.over)
    if scores is None:
        return request
    mean = MeanMetric(request.metric.name, 1, MeanScore())
    return IntervalRequest(
        scores, mean, request.means, request.value, request.over, request.level, request.seed
    )

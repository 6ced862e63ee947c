"""The weighted mean of a metric over strata, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from passband.display import Displayed
from passband.errors import InvalidInput, NotEnoughData, WrongType
from passband.json_values import json_values
from passband.notes import Note
from passband.stats.checks import Over, as_level, check_over, check_text
from passband.stats.data.outcomes import Outcomes, Policy, check_outcomes, on_one_scale
from passband.stats.evidence.collect import evidence_of_all
from passband.stats.interval.estimation import Estimate, estimate, on_scale, weighed
from passband.stats.interval.registry import Interval
from passband.stats.interval.request import IntervalRequest, as_mean_request
from passband.stats.interval.strata.interval import strata_interval
from passband.stats.interval.strata.weights import Shares, Weights, check_names, shares_of
from passband.stats.metric.metric import Metric
from passband.stats.metric.registry import parse_metric

ONE_STRATUM = Note(
    "one-stratum", "all problems are in one stratum, so this is its own estimate, unweighted"
)


@dataclass(frozen=True)
class Stratified(Displayed):
    """A metric over strata: their weighted mean, and the estimate and weight of each."""

    combined: Estimate
    strata: Mapping[str, Estimate] = field(hash=False)
    weights: Mapping[str, float] = field(hash=False)

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        return json_values(self)

    def __str__(self) -> str:
        """Format the weighted mean with its interval, rounded by the error."""
        return str(self.combined)


def combine(
    strata: Mapping[str, Outcomes],
    metric: str,
    *,
    weights: Weights = "equal",
    over: Over = "problems",
    level: float = 0.95,
    policy: Policy = "drop",
) -> Stratified:
    """Return the weighted mean of a metric over strata, and the metric of each.

    The strata and their weights are fixed; `over` says what is sampled again: "problems", each
    stratum's own, or only "trials" of these problems. `weights` are "equal" (a macro-average),
    "size" (the mean over all problems), or a share for each stratum, such as its share of the
    problems that the model will meet (post-stratification).

    >>> algebra = Outcomes.from_counts([8, 7, 6, 8, 5, 7, 8, 8] * 5, 8)
    >>> geometry = Outcomes.from_counts([0, 3, 1, 2], 8)
    >>> result = combine({"algebra": algebra, "geometry": geometry}, "pass@1")
    >>> print(result)
    pass@1 0.54 [0.47, 0.68]
    >>> print(result.strata["geometry"])
    pass@1 0.19 [0.06, 0.51]
    """
    check_over(over)
    level = as_level(level)
    _check(strata)
    strata = on_one_scale(strata)
    scored = {name: outcomes.counted(policy) for name, outcomes in strata.items()}
    wanted = parse_metric(metric, max(part.most_trials() for part in scored.values()))
    combined, shares = combined_estimate(strata, scored, wanted, weights, over, level, policy)
    combined = on_scale(combined, wanted, next(iter(strata.values())))
    combined = weighed(combined, wanted.k, evidence_of_all(scored.values()))
    options: dict[str, Any] = {"over": over, "level": level, "policy": policy}
    own = {name: estimate(part, wanted.name, **options) for name, part in strata.items()}
    return Stratified(combined, own, dict(shares.values))


def _check(strata: Mapping[str, Outcomes]) -> None:
    if not isinstance(strata, Mapping):
        raise WrongType(
            f"strata must be a mapping from name to Outcomes; got {type(strata).__name__}."
        )
    if not strata:
        raise InvalidInput("there must be at least one stratum; got none.")
    for name, outcomes in strata.items():
        check_text("the name of a stratum", name, "algebra")
        check_outcomes(f"stratum {name!r}", outcomes)
    check_names(strata)


def combined_estimate(
    strata: Mapping[str, Outcomes],
    scored: Mapping[str, Outcomes],
    metric: Metric,
    weights: Weights,
    over: Over,
    level: float,
    policy: Policy,
) -> tuple[Estimate, Shares]:
    """Return the weighted mean of a metric over strata that are `scored` under a policy."""
    enough = {name: _with_trials(name, part, metric) for name, part in scored.items()}
    shares = shares_of(weights, {name: part.n_problems for name, part in enough.items()})
    requests = [_request(part, metric, over, level) for part in enough.values()]
    value = float(sum(w * r.value for w, r in zip(shares.values.values(), requests, strict=True)))
    interval, notes = _interval(value, requests, shares)
    used = sum(part.n_problems for part in enough.values())
    return (
        Estimate(
            metric=metric.name,
            value=value,
            low=interval.low,
            high=interval.high,
            se=interval.se,
            level=level,
            over=over,
            method=shares.method,
            n_problems=used,
            n_trials=sum(part.n_trials for part in enough.values()),
            left_out=sum(part.n_problems for part in scored.values()) - used,
            n_unscored=sum(part.n_unscored for part in strata.values()),
            policy=policy,
            seed=None,
            notes=(*shares.notes, *notes),
        ),
        shares,
    )


def _with_trials(name: str, stratum: Outcomes, metric: Metric) -> Outcomes:
    """Return the problems with k trials; a stratum without any is not left out in silence."""
    enough = np.flatnonzero(stratum.trials >= max(metric.k, 1))
    if not len(enough):
        raise NotEnoughData(
            f"stratum {name!r} has no problem with {metric.k} scored trials, as {metric.name} "
            "needs; without it the mean would be one over other strata. Choose a smaller k, or "
            "leave the stratum out of the data."
        )
    return stratum.take(enough)


def _request(stratum: Outcomes, metric: Metric, over: Over, level: float) -> IntervalRequest:
    means = metric.means(stratum)
    value = metric.combine(means)
    return as_mean_request(IntervalRequest(stratum, metric, tuple(means), value, over, level, None))


def _interval(
    value: float, requests: Sequence[IntervalRequest], shares: Shares
) -> tuple[Interval, tuple[Note, ...]]:
    """Return the interval of the weighted mean; a single stratum keeps its own."""
    names = dict(zip(shares.values, requests, strict=True))
    counting = {name: request for name, request in names.items() if shares.values[name] > 0}
    weights = np.array([shares.values[name] for name in counting])
    interval = strata_interval(value, counting, weights)
    return interval, ((ONE_STRATUM,) if len(requests) == 1 else ()) + interval.notes

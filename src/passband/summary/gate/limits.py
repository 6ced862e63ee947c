"""Limit the cost, tokens and seconds of the new model's trials.

A limit is a line of its own: the limit stands where the base does, and the difference is the
distance from it. Each is ruled by its own interval, and no comparison allows for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from passband.errors import InvalidInput
from passband.stats.data import Outcomes
from passband.stats.interval import estimate
from passband.summary.gate.policy import GatePolicy, check_limits
from passband.summary.gate.result import GateLine, LineVerdict


def parse_limits(texts: Sequence[str]) -> dict[str, float]:
    """Return limits as they are written in a shell.

    >>> parse_limits(["cost=0.02,latency=30"])
    {'cost': 0.02, 'latency': 30.0}
    """
    limits: dict[str, float] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, _, number = (word.strip() for word in part.partition("="))
        try:
            limits[name] = float(number)
        except ValueError:
            raise InvalidInput(f"a limit is written as cost=0.02; got {part!r:.60}.") from None
    check_limits(limits)
    return limits


def limit_lines(task: str, new: Outcomes | None, policy: GatePolicy) -> Iterator[GateLine]:
    """Yield the line of each limit of the policy for a task of the new model."""
    for name, limit in policy.limits.items():
        line = GateLine(
            task, f"{name} (limit)", policy.tier_of(task, name), "not-certified", 0.0,
            base=limit, is_share=False, lower_is_better=True, is_limit=True,
        )  # fmt: skip
        yield _ruled(line, name, limit, new, policy)


def _ruled(
    line: GateLine, name: str, limit: float, new: Outcomes | None, policy: GatePolicy
) -> GateLine:
    if new is None:
        return replace(line, reason="missing in NEW")
    try:
        measured = estimate(new, name, over=policy.over, level=policy.level)
    except InvalidInput as error:
        return replace(line, reason=str(error))
    line = replace(
        line,
        new=measured.value,
        difference=measured.value - limit,
        n_problems=measured.n_problems,
        trials=(0, measured.n_trials),
        notes=measured.notes,
    )
    if measured.low is None or measured.high is None:
        return replace(line, reason=f"there is no interval for {name}")
    low, high = measured.low - limit, measured.high - limit
    verdict: LineVerdict = "pass" if high <= 0.0 else "regression" if low > 0.0 else "undecided"
    reason = "the interval holds the limit" if verdict == "undecided" else ""
    return replace(line, low=low, high=high, verdict=verdict, reason=reason)

"""The arguments of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from passband.stats.data.outcomes import Policy
from passband.stats.decision.comparison import Test
from passband.stats.decision.ranking.ranking import RankingModel
from passband.stats.interval.estimation import Over

__all__ = ["Contest"]


@dataclass(frozen=True)
class Contest:
    """The arguments of a comparison."""

    metrics: tuple[str, ...] = ()  #: none for pass@k, or avg, at the k that all problems allow
    over: Over = "problems"
    level: float = 0.95
    paired: bool = True
    policy: Policy = "drop"
    margin: float | None = None  #: the largest difference that does not matter
    test: Test = "interval"
    settle: bool | None = None  #: whether to say what would settle an open verdict
    ranking: RankingModel | None = None  #: rank by a model of abilities instead
    accept: tuple[str, ...] = ()  #: codes of findings to accept
    first: int | None = None  #: only so many first trials of each problem

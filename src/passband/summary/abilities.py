"""Abilities of the models of one task, on whatever problems each was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.decision.ranking.abilities import Abilities, RankingModel
from passband.stats.decision.ranking.rank_models import rank_models
from passband.stats.interval.estimate import Over
from passband.stats.metric.registry import expand_metrics

__all__ = ["ranked"]


def ranked(
    models: Mapping[str, Outcomes],
    model: RankingModel,
    metrics: Sequence[str],
    over: Over,
    level: float,
    policy: Policy,
) -> tuple[Abilities, ...]:
    """Rank models by each metric; without one by pass@1, or by avg where scores are not 0 or 1."""
    most = min(outcomes.under(policy).most_trials() for outcomes in models.values())
    is_binary = all(outcomes.is_binary for outcomes in models.values())
    names = metrics or ("pass@1" if is_binary else "avg",)
    return tuple(
        rank_models(models, metric.name, model=model, over=over, level=level, policy=policy)
        for name in names
        for metric in expand_metrics(name, most)
    )

"""Abilities of the models of one task, on whatever problems each was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from passband.errors import InvalidInput
from passband.stats.data import Outcomes
from passband.stats.decision import Abilities, rank_models
from passband.stats.metric import expand_metrics

if TYPE_CHECKING:
    from passband.summary.compare.models import Contest


def ranked(models: Mapping[str, Outcomes], contest: Contest) -> tuple[Abilities, ...]:
    """Rank models by each metric; without one by pass@1, or by avg where scores are not 0 or 1."""
    assert contest.ranking is not None
    if not contest.paired or contest.margin is not None or contest.test != "interval":
        raise InvalidInput(
            "a ranking by abilities takes every model on the problems that it was asked; leave out "
            "--unpaired, --margin and --test."
        )
    over, level, policy = contest.over, contest.level, contest.policy
    most = min(outcomes.under(policy).most_trials() for outcomes in models.values())
    is_binary = all(outcomes.is_binary for outcomes in models.values())
    names = contest.metrics or ("pass@1" if is_binary else "avg",)
    return tuple(
        rank_models(
            models, metric.name, model=contest.ranking, over=over, level=level, policy=policy
        )
        for name in names
        for metric in expand_metrics(name, most)
    )

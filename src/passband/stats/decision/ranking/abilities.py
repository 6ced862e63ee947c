"""Abilities of models on a common scale, from problems that not every model was asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from passband.display import Displayed
from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.data.outcomes import Policy
from passband.stats.decision.ranking.ranking import Pair, found_pair

__all__ = ["Abilities", "Ability", "RankingModel"]

RankingModel = Literal["logit", "bradley-terry"]


@dataclass(frozen=True)
class Ability:
    """One model's ability, in log odds around the mean of the models."""

    model: str
    value: float
    low: float | None  #: of this model alone, not adjusted; None where the data give no bound
    high: float | None
    se: float | None
    rank: int  #: by ability, 1 is the best; equal abilities share a rank
    rank_low: int  #: best rank that the data allow
    rank_high: int  #: worst rank that the data allow
    p_best: float | None  #: confidence that no other is better; at most that in each of its pairs
    plain: float  #: the metric on the problems that this model was asked
    n_problems: int  #: on which it has that metric


@dataclass(frozen=True)
class Abilities(Displayed):
    """All models, best first, and all differences of their abilities."""

    model: RankingModel
    metric: str
    abilities: tuple[Ability, ...]
    pairs: tuple[Pair, ...]
    level: float
    over: Over
    reach: float  #: normal quantile that makes the pairs' intervals hold together
    n_problems: int  #: of any model
    n_units: int  #: problems, or clusters, that tell models apart
    policy: Policy
    seed: int
    notes: tuple[Note, ...] = ()

    def without_claims(self) -> Abilities:
        """Return the values alone, for data that allow no claim about their differences."""
        worst = len(self.abilities)
        return replace(
            self,
            abilities=tuple(
                replace(one, low=None, high=None, se=None, p_best=None, rank_low=1, rank_high=worst)
                for one in self.abilities
            ),
            pairs=tuple(one.without_claims() for one in self.pairs),
        )

    def pair(self, a: str, b: str) -> Pair:
        """Return the difference b - a of two abilities.

        >>> from passband import Outcomes, rank_models
        >>> models = {"x": Outcomes.from_array([[1], [0], [0]] * 8)}
        >>> models["y"] = Outcomes.from_array([[0], [1], [1]] * 8)
        >>> round(rank_models(models, "pass@1").pair("x", "y").value, 4)  # log of 16 wins to 8
        0.6931
        """
        return found_pair(self.pairs, a, b)

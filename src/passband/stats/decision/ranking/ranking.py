"""Rankings: models among the others, with all their differences or their abilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from passband.display import Displayed
from passband.errors import InvalidInput, nearest
from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.data.outcomes import Policy
from passband.stats.data.scale import titled


@dataclass(frozen=True)
class ModelPair:
    """One difference among many, with an interval that holds for all of them at once."""

    a: str
    b: str
    value: float  #: b - a
    low: float | None
    high: float | None
    se: float | None
    p_value: float | None  #: of this pair alone
    p_holm: float | None  #: adjusted: any false finding among all pairs
    p_bh: float | None  #: adjusted: the share of false ones among the findings
    p_adjusted: float | None = None  #: at most 1 - level exactly where the interval leaves out 0
    confidence: float | None = None  #: that b is better, of this pair alone

    def without_claims(self) -> ModelPair:
        """Return the value alone."""
        return ModelPair(self.a, self.b, self.value, *[None] * 6)

    def mirrored(self) -> ModelPair:
        """Return the same difference of scores of which lower ones are better."""
        turned = self.turned()
        return replace(self, value=turned.value, low=turned.low, high=turned.high)

    def turned(self) -> ModelPair:
        """Return the same difference seen from the other side."""
        return replace(
            self,
            a=self.b,
            b=self.a,
            value=-self.value,
            low=None if self.high is None else -self.high,
            high=None if self.low is None else -self.low,
            confidence=None if self.confidence is None else 1.0 - self.confidence,
        )


@dataclass(frozen=True)
class RankedModel:
    """One model among the others."""

    model: str
    value: float
    low: float | None  #: of this model alone, not adjusted
    high: float | None
    rank: int  #: by value, 1 is the best; equal values share a rank
    rank_low: int  #: best rank that the data allow
    rank_high: int  #: worst rank that the data allow
    p_best: float | None  #: confidence that no other is better; at most that in each of its pairs

    def mirrored(self, scored: Callable[[float], float]) -> RankedModel:
        """Return the same standing by scores of which lower ones are better."""
        low, high = (None if end is None else scored(end) for end in (self.high, self.low))
        return replace(self, value=scored(self.value), low=low, high=high)


@dataclass(frozen=True)
class Ranking(Displayed):
    """All models, best first, and all their differences."""

    metric: str
    standings: tuple[RankedModel, ...]
    pairs: tuple[ModelPair, ...]
    level: float
    over: Over
    reach: float  #: normal quantile that makes the pairs' intervals hold together
    n_problems: int  #: shared by all models, with enough trials in each
    n_shared: int
    dropped: Mapping[str, int] = field(hash=False)  #: per model, problems that do not count
    policy: Policy
    seed: int
    notes: tuple[Note, ...] = ()
    lower_is_better: bool = False  #: whether a difference below 0 is a gain
    family: int = 1  #: rankings whose intervals of pairs hold together

    @property
    def title(self) -> str:
        """The metric, with its direction if lower values are better."""
        return titled(self.metric, self.lower_is_better)

    def without_claims(self) -> Ranking:
        """Return the values alone, for data that allow no claim about their differences."""
        worst = len(self.standings)
        return replace(
            self,
            standings=tuple(
                replace(one, low=None, high=None, rank_low=1, rank_high=worst, p_best=None)
                for one in self.standings
            ),
            pairs=tuple(one.without_claims() for one in self.pairs),
        )

    def mirrored(self, scored: Callable[[float], float]) -> Ranking:
        """Return the same ranking of scores of which lower ones are better."""
        return replace(
            self,
            standings=tuple(one.mirrored(scored) for one in self.standings),
            pairs=tuple(one.mirrored() for one in self.pairs),
            lower_is_better=True,
        )

    def pair(self, a: str, b: str) -> ModelPair:
        """Return the difference b - a.

        >>> from passband import Outcomes, compare_all
        >>> models = {name: Outcomes.from_counts([c] * 9, 9) for name, c in (("x", 2), ("y", 5))}
        >>> round(compare_all(models, "pass@1").pair("y", "x").value, 3)
        -0.333
        """
        return found_pair(self.pairs, a, b)


def found_pair(pairs: Sequence[ModelPair], a: str, b: str) -> ModelPair:
    """Return the difference b - a, from whichever side it is kept."""
    for pair in pairs:
        if (pair.a, pair.b) == (a, b):
            return pair
        if (pair.a, pair.b) == (b, a):
            return pair.turned()
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    unknown = next((name for name in (a, b) if name not in names), a)
    raise InvalidInput(f"no pair of {a!r} and {b!r}.{nearest(unknown, names)}")


RankingModel = Literal["logit", "bradley-terry"]


@dataclass(frozen=True)
class ModelAbility:
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
    abilities: tuple[ModelAbility, ...]
    pairs: tuple[ModelPair, ...]
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

    def pair(self, a: str, b: str) -> ModelPair:
        """Return the difference b - a of two abilities.

        >>> from passband import Outcomes, rank_models
        >>> models = {"x": Outcomes.from_array([[1], [0], [0]] * 8)}
        >>> models["y"] = Outcomes.from_array([[0], [1], [1]] * 8)
        >>> round(rank_models(models, "pass@1").pair("x", "y").value, 4)  # log of 16 wins to 8
        0.6931
        """
        return found_pair(self.pairs, a, b)

"""Rank what to buy next (labels, votes, trials, problems) by the variance it removes.

With B and W the variances of a label between and within problems, B_e and W_e those of what the
judge leaves unexplained, M problems, N trials, m labels in m_c problems, a corrected mean has

    V = B / M + W / N + B_e (1 / m_c - 1 / M) + W_e (1 / m - 1 / N).

Over trials the first term is dropped. One more vote makes the judge's mean more reliable: with s2
the variance of one vote and C that of the expected vote, the explained share of the labels'
variance grows with C / (C + s2 / v).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from passband.stats.checks import Over, as_variance
from passband.stats.judged.judged import Design

Kind = Literal["labels", "votes", "trials", "problems"]
_STEP = 0.1  # of the labels, or of the problems, that are bought at a time
_WORDS: dict[Kind, str] = {
    "labels": "label",
    "votes": "vote on every trial",
    "trials": "trial of every problem",
    "problems": "problem",
}


@dataclass(frozen=True)
class Prices:
    """Prices in one currency; None if unknown."""

    label: float | None = None
    vote: float | None = None
    trial: float | None = None
    problem: float | None = None  #: finding one more problem, without its trials

    def __post_init__(self) -> None:
        for name in ("label", "vote", "trial", "problem"):
            price = getattr(self, name)
            if price is not None:
                as_variance(f"the price of a {name}", price)


@dataclass(frozen=True)
class NextData:
    """One possible purchase, with its cost and gain."""

    kind: Kind
    amount: int  #: labels, votes per trial, trials per problem, or problems
    cost: float | None  #: None without its prices
    variance: float  #: of the estimate afterwards
    se: float
    gain: float | None  #: variance taken off per unit of cost; None without a price, or for free

    def __str__(self) -> str:
        """Format the purchase and its gain.

        >>> print(NextData("labels", 20, 30.0, 0.0009, 0.03, 1e-6))
        20 more labels: se 0.03, for 30
        """
        noun = _WORDS[self.kind]
        several = noun.replace(" ", "s ", 1) if " " in noun else f"{noun}s"
        text = f"{self.amount} more {noun if self.amount == 1 else several}: se {self.se:.2g}"
        return text if self.cost is None else f"{text}, for {self.cost:.3g}"


@dataclass(frozen=True)
class Sizes:
    """Numbers of labels, votes, trials and problems; trials are the effective number."""

    problems: float
    trials: float  # 1 / sum_i 1 / (M^2 n_i): all of them where every problem has the same number
    labels: float
    labelled_problems: float
    votes: float
    design: Design

    @property
    def trials_each(self) -> float:
        return self.trials / self.problems

    def with_labels(self, labels: float) -> Sizes:
        """Return the sizes with more labels, drawn in the same way."""
        spread = labels
        if self.design != "spread":
            spread = self.labelled_problems * labels / self.labels
        problems = max(min(spread, self.problems), self.labelled_problems)
        return replace(self, labels=min(labels, self.trials), labelled_problems=problems)

    def with_problems(self, problems: float) -> Sizes:
        return replace(self, problems=problems, trials=problems * self.trials_each)


@dataclass(frozen=True)
class Variances:
    """The parts of a label's variance, and the judge's part in explaining it."""

    between: float
    within: float
    residual_between: float
    residual_within: float
    explained: float
    vote: float | None  # s2; None without repeated votes
    expected_vote: float  # C

    @property
    def total(self) -> float:
        return self.between + self.within

    def reliability(self, votes: float) -> float | None:
        if self.vote is None:
            return None
        whole = self.expected_vote + self.vote / votes
        return self.expected_vote / whole if whole > 0.0 else 1.0

    def with_votes(self, now: float, votes: float) -> Variances:
        """Return the parts with another number of votes on every trial."""
        before, after = self.reliability(now), self.reliability(votes)
        left = 1.0 - self.explained
        if not before or after is None or left <= 0.0:
            return self
        explained = min(self.explained * after / before, 1.0)
        factor = (1.0 - explained) / left
        return replace(
            self,
            explained=explained,
            residual_between=factor * self.residual_between,
            residual_within=factor * self.residual_within,
        )

    def parts(self, sizes: Sizes, over: Over) -> tuple[float, float, float]:
        """Return the parts of an estimate's variance: problems, trials, judge."""
        problems = self.between / sizes.problems if over == "problems" else 0.0
        judge = self.residual_between * max(
            1.0 / sizes.labelled_problems - 1.0 / sizes.problems, 0.0
        )
        judge += self.residual_within * max(1.0 / sizes.labels - 1.0 / sizes.trials, 0.0)
        return problems, self.within / sizes.trials, judge

    def variance(self, sizes: Sizes, over: Over) -> float:
        return sum(self.parts(sizes, over))


def purchases(
    variances: Variances, sizes: Sizes, over: Over, prices: Prices, variance: float
) -> tuple[NextData, ...]:
    """Return possible purchases, best first: by gain per cost, or by gain without prices.

    `variance` is the estimate's own, which the changes by the formula are relative to.
    """
    now = variances.variance(sizes, over)
    if now <= 0.0:
        return ()
    offers = []
    for kind, amount, after, cost in _offers(variances, sizes, over, prices):
        left = variance * min(after / now, 1.0)
        gain = (variance - left) / cost if cost else None
        offers.append(NextData(kind, amount, cost, left, left**0.5, gain))
    return tuple(sorted(offers, key=lambda each: (-(each.gain or 0.0), each.variance)))


Offer = tuple[Kind, int, float, float | None]


def _offers(variances: Variances, sizes: Sizes, over: Over, prices: Prices) -> list[Offer]:
    """Return (kind, amount, variance afterwards, cost) of everything on offer."""
    trial_price = _sum((prices.trial, 1.0), (prices.vote, sizes.votes))  # a trial with its votes
    offers: list[Offer] = []
    more = min(math.ceil(_STEP * sizes.labels), math.floor(sizes.trials - sizes.labels))
    if more >= 1:
        after = variances.variance(sizes.with_labels(sizes.labels + more), over)
        offers.append(("labels", more, after, _sum((prices.label, more))))
    if variances.vote is not None:
        votes = sizes.votes + 1.0
        better = variances.with_votes(sizes.votes, votes)
        cost = _sum((prices.vote, sizes.trials))
        offers.append(("votes", 1, better.variance(replace(sizes, votes=votes), over), cost))
    longer = replace(sizes, trials=sizes.trials + sizes.problems)
    offers.append(
        ("trials", 1, variances.variance(longer, over), _sum((trial_price, sizes.problems)))
    )
    if over == "problems":
        added = math.ceil(_STEP * sizes.problems)
        after = variances.variance(sizes.with_problems(sizes.problems + added), over)
        cost = _sum((prices.problem, added), (trial_price, added * sizes.trials_each))
        offers.append(("problems", added, after, cost))
    return offers


def _sum(*terms: tuple[float | None, float]) -> float | None:
    """Return the sum of prices times amounts; None if a price is missing."""
    total = 0.0
    for price, amount in terms:
        if price is None:
            return None
        total += price * amount
    return total

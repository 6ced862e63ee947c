"""What to buy next: labels, votes, trials or problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Kind", "Prices", "Purchase"]

Kind = Literal["labels", "votes", "trials", "problems"]


@dataclass(frozen=True)
class Prices:
    """What one of each costs, in any one currency; None where it cannot be bought."""

    label: float | None = None
    vote: float | None = None
    trial: float | None = None
    problem: float | None = None  #: finding one more problem, without its trials


@dataclass(frozen=True)
class Purchase:
    """One thing to buy, what it costs, and what it would bring."""

    kind: Kind
    amount: int  #: labels, votes per trial, trials per problem, or problems
    cost: float | None
    variance: float  #: of the estimate afterwards
    se: float
    gain: float | None  #: variance taken off per unit of cost; None without a price

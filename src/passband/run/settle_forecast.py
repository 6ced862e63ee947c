"""What settling a gate will probably take, before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from passband.run.settle_plan import SettlePlan
from passband.run.settle_side import Held
from passband.stats.sequential.settle import likely_rounds
from passband.summary.gate.result import GateLine

__all__ = ["Likely", "SettleForecast", "likely_ends"]

_TIMES = (0.0, -1.0, -2.5, -5.0)  # the tolerance


@dataclass(frozen=True)
class Likely:
    """How a plan ends on average if the new model differs by this much."""

    difference: float
    rounds: float
    undecided: float


@dataclass(frozen=True)
class SettleForecast:
    """What a plan will do, before anything is asked."""

    plan: SettlePlan
    path: Path
    has_begun: bool
    round_cost: float | None  #: of both models
    held: tuple[Held, ...]
    likely: tuple[Likely, ...]

    def cost_to(self, rounds: float) -> float | None:
        """Return what it costs to bring every task of both models to these rounds."""
        if self.round_cost is None:
            return None
        return sum(max(rounds - one.rounds, 0.0) * (one.round_cost or 0.0) for one in self.held)

    def trials_to(self, rounds: float) -> int:
        """Return how many trials it takes to bring every task of both models there."""
        return round(sum(max(rounds - one.rounds, 0.0) * one.problems for one in self.held))

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        likely = [
            {**asdict(one), "trials": self.trials_to(one.rounds), "cost": self.cost_to(one.rounds)}
            for one in self.likely
        ]
        last = self.plan.looks[-1]
        return {
            "plan": asdict(self.plan),
            "sha256": self.plan.sha256,
            "file": str(self.path),
            "has_begun": self.has_begun,
            "round_cost": self.round_cost,
            "most_trials": self.trials_to(last),
            "most_cost": self.cost_to(last),
            "likely": likely,
        }


def likely_ends(plan: SettlePlan, lines: Sequence[GateLine]) -> Iterator[Likely]:
    """Yield the likely ends of the comparison that is the hardest to settle."""
    required = [line for line in lines if line.tier == "required"]
    noises = {noise / line.tolerance: line for line in required if (noise := _noise(line))}
    if not noises:
        return
    line = noises[max(noises)]
    looks = plan.look_plan(line.tolerance)
    for times in _TIMES:
        difference = times * line.tolerance  # a gain
        shown = -difference if line.lower_is_better else difference
        yield Likely(shown, *likely_rounds(looks, _noise(line), difference))


def _noise(line: GateLine) -> float:
    """Return the standard error of a difference after one round, from its interval now."""
    if line.low is None or line.high is None or not line.n_problems:
        return 0.0
    rounds = sum(line.trials) / 2 / line.n_problems
    return (line.high - line.low) / 2.0 / 1.96 * math.sqrt(rounds)

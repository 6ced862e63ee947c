"""How a gate was settled: the looks that were taken at two runs while they were topped up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from passband.json_values import json_values

if TYPE_CHECKING:
    from passband.summary.gate.result import GateLine, GateVerdict


End = Literal["decided", "last-look", "budget", "not-certified"]
"""Why no more was asked: a verdict, the last planned look, money, or what more trials cannot mend.
"""

_SHOWN = ("task", "metric", "verdict", "difference", "low", "high")


@dataclass(frozen=True)
class GateLook:
    """One look: the comparisons that were open then, and the verdict on the gate."""

    number: int  #: from 1
    rounds: int  #: trials of every problem by each model
    trials: int  #: of both models, in these rounds
    is_last: bool
    verdict: GateVerdict
    lines: tuple[GateLine, ...]

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict; the comparisons by their numbers alone."""
        values = json_values(self)
        lines = values.pop("lines")
        return values | {
            "comparisons": [{name: line[name] for name in _SHOWN} for line in lines],
        }


@dataclass(frozen=True)
class Settled:
    """The looks that a gate took, and what they cost."""

    planned: tuple[int, ...]  #: rounds
    looks: tuple[GateLook, ...]
    end: End
    before: int  #: complete rounds that were there when the plan was made
    asked: int  #: trials of both models since then
    cost: float | None  #: of those; None where no price is known
    plan: str  #: the file that the plan is in
    sha256: str

    @property
    def is_early(self) -> bool:
        """Whether it was decided before the last planned look."""
        return self.end == "decided" and self.looks[-1].rounds < self.planned[-1]

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        return json_values(self) | {"looks": [look.as_json() for look in self.looks]}

"""How a gate was settled: the looks that were taken at two runs while they were topped up."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from passband.summary.gate.result import GateLine, GateVerdict


End = Literal["decided", "last-look", "budget", "not-certified"]
"""Why no more was asked: a verdict, the last planned look, money, or what more trials cannot mend.
"""


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
        return {
            "number": self.number,
            "rounds": self.rounds,
            "trials": self.trials,
            "is_last": self.is_last,
            "verdict": self.verdict,
            "comparisons": [
                {
                    "task": line.task,
                    "metric": line.metric,
                    "verdict": line.verdict,
                    "difference": line.difference,
                    "low": line.low,
                    "high": line.high,
                }
                for line in self.lines
            ],
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
        return {
            **{name: value for name, value in asdict(self).items() if name != "looks"},
            "planned": list(self.planned),
            "looks": [look.as_json() for look in self.looks],
        }

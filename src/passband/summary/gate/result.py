"""Results of gates: a line per task and metric, the verdict, and the looks that settled it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from passband.errors import ExitCode
from passband.json_values import json_values
from passband.notes import Note
from passband.readers import Remark
from passband.stats import Over
from passband.stats.decision import CheckVerdict, MoreData
from passband.summary.gate.policy import GatePolicy, Tier
from passband.version import __version__

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


FORMAT, VERSION = "gate", 1
OTHER: Mapping[Over, Over] = {"trials": "problems", "problems": "trials"}  #: of two targets
LineVerdict = CheckVerdict | Literal["not-certified"]
GateVerdict = Literal["pass", "regression", "undecided", "not-certified"]
_CODES: Mapping[GateVerdict, ExitCode] = {
    "pass": ExitCode.OK,
    "regression": ExitCode.REGRESSION,
    "undecided": ExitCode.UNDECIDED,
    "not-certified": ExitCode.UNDECIDED,
}


@dataclass(frozen=True)
class GateSide:
    """One of the two models: where its trials are from, and what it is called."""

    source: str
    name: str


@dataclass(frozen=True)
class OtherTarget:
    """What a comparison says of the target that the gate is not about."""

    over: Over
    verdict: LineVerdict
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class GateLine:
    """One metric of one task: the difference new - base, and the verdict on it."""

    task: str
    metric: str
    tier: Tier
    verdict: LineVerdict
    tolerance: float
    reason: str = ""  #: why it is open, or not certified
    base: float | None = None  #: the metric's value
    new: float | None = None
    difference: float | None = None
    low: float | None = None  #: of the interval at level 1 - alpha
    high: float | None = None
    p_worse: float | None = None  #: one-sided, by itself
    p_adjusted: float | None = None  #: the same, allowing for the other comparisons
    p_beyond: float | None = None  #: one-sided, of a loss of the tolerance or more
    bracket: tuple[float, float] | None = None  #: the difference, whatever failed trials were
    n_problems: int = 0  #: compared
    left_out: int = 0  #: of the base's problems, those that are not compared
    trials: tuple[int, int] = (0, 0)  #: with a score, of base and new
    failed: tuple[int, int] = (0, 0)  #: without one
    more: MoreData | None = None  #: what would probably settle it
    notes: tuple[Note, ...] = ()
    is_share: bool = True  #: whether the metric is a share of 1
    lower_is_better: bool = False  #: whether a difference below 0 is a gain
    other: OtherTarget | None = None  #: the same for the other target; None at planned looks
    is_limit: bool = False  #: whether `base` is a limit, and not the other model's value

    @property
    def gain(self) -> float:
        """By how much the new model is better, as far as is known."""
        difference = self.difference or 0.0
        return -difference if self.lower_is_better else difference

    @property
    def has_passed(self) -> bool:
        return self.verdict in ("pass", "worse-within-tolerance")

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict, numbers in full."""
        values = json_values(self)
        if self.more is not None:
            values["more"]["text"] = str(self.more)
        return values


@dataclass(frozen=True)
class GateResult:
    """Whether the new model may replace the base, and why."""

    verdict: GateVerdict
    policy: GatePolicy
    base: GateSide
    new: GateSide
    lines: tuple[GateLine, ...]
    remarks: tuple[Remark, ...] = ()
    settled: Settled | None = None  #: where the runs were topped up until it was decided

    @property
    def exit_code(self) -> ExitCode:
        """0 for a pass, 3 for a regression, 4 where that is open or not certified."""
        return _CODES[self.verdict]

    @property
    def other_verdict(self) -> GateVerdict | None:
        """The verdict for the other target; None where it was not asked for."""
        lines = [
            replace(line, verdict=line.other.verdict)
            for line in self.lines
            if line.other is not None
        ]
        return verdict_of(tuple(lines)) if len(lines) == len(self.lines) else None

    @property
    def deciding(self) -> tuple[GateLine, ...]:
        """The lines that make the verdict what it is."""
        if self.verdict == "pass":
            return tuple(line for line in self.lines if line.tier == "required")
        tiers = ("required", "supporting") if self.verdict == "regression" else ("required",)
        return tuple(
            line for line in self.lines if line.verdict == self.verdict and line.tier in tiers
        )

    @property
    def n_deciding(self) -> int:
        """How many comparisons might have shown a regression: the number that is allowed for."""
        return sum(
            line.tier != "advisory" and line.verdict != "not-certified" and not line.is_limit
            for line in self.lines
        )

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict, numbers in full."""
        return {
            "passband": FORMAT,
            "version": VERSION,
            "made_by": __version__,
            "name": self.policy.name,
            "verdict": self.verdict,
            "exit_code": int(self.exit_code),
            "over": self.policy.over,
            "other_over": OTHER[self.policy.over],
            "other_verdict": self.other_verdict,
            "base": json_values(self.base),
            "new": json_values(self.new),
            "policy": self.policy.as_json(),
            "comparisons": [line.as_json() for line in self.lines],
            "remarks": [str(remark) for remark in self.remarks],
            "settled": None if self.settled is None else self.settled.as_json(),
        }


def verdict_of(lines: tuple[GateLine, ...]) -> GateVerdict:
    """Return the verdict on a gate; without a required comparison nothing is shown.

    >>> verdict_of(())
    'not-certified'
    """
    if any(line.verdict == "regression" and line.tier != "advisory" for line in lines):
        return "regression"
    required = [line for line in lines if line.tier == "required"]
    if not required or any(line.verdict == "not-certified" for line in required):
        return "not-certified"
    return "pass" if all(line.has_passed for line in required) else "undecided"

"""Plan `passband gate --settle`: fixed, hashed and saved before the first look.

What settling a gate will probably take, before anything is asked.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.run.settle.side import RecordedTask
from passband.stats.decision import LookErrors, content_hash, load_content, save_content
from passband.stats.sequential import LookPlan, likely_rounds
from passband.summary import GateLine
from passband.trials import setting_differences

FORMAT = "passband settle 1"
_GOAL = ("policy", "base", "new", "max_cost", "max_rounds")  # what the command says


@dataclass(frozen=True)
class SettlePlan:
    """When to look at two runs, what may be spent, and which verdicts are sought."""

    looks: tuple[int, ...]  #: rounds
    alpha: float
    comparisons: int  #: that may show a regression
    policy: Mapping[str, Any]  #: of the gate
    base: Mapping[str, Any]  #: the model and its tasks
    new: Mapping[str, Any]
    max_cost: float | None
    max_rounds: int | None
    before: int  #: complete rounds that were there
    trials_before: int  #: of both models
    cost_before: float | None

    def look_plan(self, tolerance: float = 1.0) -> LookPlan:
        """Return the looks, with the levels that go with them."""
        return LookPlan(self.looks, tolerance, alpha=self.alpha, comparisons=self.comparisons)

    def errors_at(self, rounds: float, *, is_last: bool, taken: int | None = None) -> LookErrors:
        """Return the errors that a look may make; a last one spends what is left of them.

        `rounds` are those that its information is worth, and `taken` those of the look before.
        """
        plan = self.look_plan()
        alphas = (self.alpha / self.comparisons, self.alpha)
        if is_last:
            levels = [plan.level_at_end(rounds, alpha, taken) for alpha in alphas]
        else:
            levels = [plan.levels(alpha)[self.looks.index(int(rounds))] for alpha in alphas]
        regression, passing = ((1.0 - level) / 2.0 for level in levels)
        return LookErrors(regression, passing)

    @property
    def sha256(self) -> str:
        return content_hash(_plain(self))

    def save(self, path: Path) -> None:
        """Write the plan; a process that is killed meanwhile leaves none."""
        draft = path.with_name(f"{path.name}.new")
        save_content(draft, FORMAT, _plain(self))
        os.replace(draft, path)

    @classmethod
    def load(cls, path: Path) -> SettlePlan:
        """Read a plan, and refuse one that was changed after it was saved."""
        names = {field.name for field in fields(cls)}
        content = load_content(path, FORMAT, names, noun="plan of looks")
        return cls(**{**content, "looks": tuple(content["looks"])})

    def require_goal(self, other: SettlePlan, path: Path) -> None:
        """Refuse a command whose goal is another than the plan's, which has begun."""
        old, new = ({name: _plain(plan)[name] for name in _GOAL} for plan in (self, other))
        changed = [
            f"{name} was {was}, is {now}" for name, was, now in setting_differences(old, new)
        ]
        if changed:
            raise InvalidInput(
                f"{path} is the plan of this gate, and it has begun: {'; '.join(changed)}. A plan "
                "that changes between its looks no longer bounds the errors. Go on with the same "
                "options, or gate fresh trials in other directories."
            )


def plan_path(directory: Path, base: Mapping[str, Any], new: Mapping[str, Any]) -> Path:
    """Return where the plan of a pair of runs is: in the directory of the new one."""
    text = json.dumps([base, new], sort_keys=True)
    return directory / f"settle-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"


@dataclass(frozen=True)
class PlanEnd:
    """Where the money of a plan ended."""

    rounds: int  # complete
    trials: int | None  # in all of the open tasks; None of earlier versions, which left some out


def read_end(path: Path) -> PlanEnd | None:
    """Return where the budget of a plan ended; None if it has not."""
    file = _end_file(path)
    if not file.is_file():
        return None
    try:
        content = json.loads(file.read_text("utf-8"))
        trials = content.get("trials")
        return PlanEnd(int(content["rounds"]), None if trials is None else int(trials))
    except (AttributeError, OSError, ValueError, KeyError, TypeError):
        raise InvalidInput(
            f"{file}: cannot be read; it says after how many rounds the budget ended."
        ) from None


def write_end(path: Path, end: PlanEnd) -> None:
    """Record where the budget of a plan ended."""
    file = _end_file(path)
    draft = file.with_name(f"{file.name}.new")
    draft.write_text(json.dumps(asdict(end)) + "\n", "utf-8")
    os.replace(draft, file)


def _end_file(path: Path) -> Path:
    return path.with_suffix(".end.json")


def _plain(plan: SettlePlan) -> dict[str, Any]:
    """Return the plan as JSON would give it back."""
    content: dict[str, Any] = json.loads(json.dumps(asdict(plan)))
    return content


_TIMES = (0.0, -1.0, -2.5, -5.0)  # the tolerance


@dataclass(frozen=True)
class ExpectedEnd:
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
    held: tuple[RecordedTask, ...]
    likely: tuple[ExpectedEnd, ...]

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


def likely_ends(plan: SettlePlan, lines: Sequence[GateLine]) -> Iterator[ExpectedEnd]:
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
        yield ExpectedEnd(shown, *likely_rounds(looks, _noise(line), difference))


def _noise(line: GateLine) -> float:
    """Return the standard error of a difference after one round, from its interval now."""
    if line.low is None or line.high is None or not line.n_problems:
        return 0.0
    rounds = sum(line.trials) / 2 / line.n_problems
    return (line.high - line.low) / 2.0 / 1.96 * math.sqrt(rounds)

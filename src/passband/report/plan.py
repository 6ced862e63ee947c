"""Plans in words: what `passband plan` has to say."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from passband.errors import InvalidInput
from passband.report.groups import read_groups
from passband.report.render import render
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.plan import Detectable, Plan, detectable, plan_difference, plan_width
from passband.stats.interval.estimate import Over

__all__ = ["PlanReport", "make_plan"]


@dataclass(frozen=True)
class PlanReport:
    """A plan, or what the data at hand could detect."""

    found: Plan | Detectable

    def text(self) -> str:
        """Return the designs as a table, and the chosen one in a sentence."""
        if isinstance(self.found, Detectable):
            return (
                f"{self.found.n_problems} problems find a difference in {self.found.metric} of "
                f"{self.found.delta:.3f} with power {self.found.power:g} "
                f"at level {self.found.level:g}\n" + "".join(f"{n}\n" for n in self.found.notes)
            )
        rows = [
            {"trials each": d.trials, "problems": d.problems, "in all": d.total}
            for d in self.found.options
        ]
        return render(rows, "table") + f"\n{self.found}\n" if rows else f"{self.found}\n"

    def as_json(self) -> str:
        return json.dumps(asdict(self.found), indent=2) + "\n"

    def save(self, path: Path) -> None:
        if isinstance(self.found, Detectable):
            raise InvalidInput("there is no plan to write; give --half-width or --difference.")
        self.found.save(path)


def make_plan(
    *,
    half_width: float | None,
    difference: float | None,
    pilot: Path | None,
    metric: str,
    over: Over,
    between: float | None,
    within: float | None,
    trials: int,
    problems: int | None,
    level: float,
    power: float,
) -> PlanReport:
    """Return the plan for a half-width or a difference; without either, what the pilot detects."""
    if half_width is not None and difference is not None:
        raise InvalidInput("give either --half-width or --difference, not both.")
    outcomes = _pilot(pilot)
    if half_width is not None:
        return PlanReport(
            plan_width(
                half_width,
                pilot=outcomes,
                metric=metric,
                over=over,
                between=between,
                within=within,
                problems=problems,
                level=level,
            )
        )
    if difference is not None:
        if between is None:
            raise InvalidInput("a difference needs --between, the variance of the differences.")
        return PlanReport(
            plan_difference(
                difference,
                between=between,
                within_a=within or 0.0,
                trials=trials,
                level=level,
                power=power,
                metric=metric,
            )
        )
    if outcomes is None:
        raise InvalidInput("give --half-width, --difference, or a --pilot to see what it detects.")
    return PlanReport(detectable(outcomes, metric, level=level, power=power))


def _pilot(path: Path | None) -> Outcomes | None:
    if path is None:
        return None
    reading = read_groups(path, columns={})
    if len(reading.groups) > 1:
        raise InvalidInput(f"{path}: a pilot must hold one model; found several {reading.by[0]}s.")
    return reading.groups[0][1]

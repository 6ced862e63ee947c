"""Plans in words: what `passband plan` has to say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.report.groups import read_groups
from passband.report.render import render
from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.plan.plan import Detectable, Plan, detectable, plan
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
        table = render(rows, "table") + "\n" if rows else ""
        return f"{table}{self.found}\n" + "".join(f"{note}\n" for note in self.found.notes)

    def as_json(self) -> str:
        return json.dumps(self.found.as_json(), indent=2) + "\n"

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
    over: Over | None,
    between: float | None,
    within: float | None,
    trials: int | None,
    problems: int | None,
    correlation: float | None,
    level: float,
    power: float | None,
) -> PlanReport:
    """Return the plan for a half-width or a difference; without either, what the pilot detects.

    An option that was given and does not apply is refused.
    """
    if half_width is not None and difference is not None:
        raise InvalidInput("give either --half-width or --difference, not both.")
    given: dict[str, object] = {"over": over, "trials": trials, "problems": problems}
    given |= {"between": between, "within": within, "correlation": correlation, "power": power}
    if pilot is not None:
        _refuse(given, "a --pilot, which has its own variances", ("between", "within"))
    outcomes = _pilot(pilot)
    if half_width is not None:
        _refuse(given, "--half-width", ("trials", "power", "correlation"))
    elif difference is not None:
        _refuse(given, "--difference", ("over", "problems"))
        if pilot is None:
            _refuse(given, "--difference without --pilot", ("correlation",))
    else:
        return PlanReport(_detected(outcomes, metric, level, given))
    return PlanReport(
        plan(
            half_width=half_width,
            difference=difference,
            pilot=outcomes,
            metric=metric,
            over=over,
            between=between,
            within=within,
            trials=trials,
            problems=problems,
            correlation=correlation,
            level=level,
            power=power,
        )
    )


def _refuse(given: Mapping[str, object], goal: str, names: tuple[str, ...]) -> None:
    for name in names:
        if given[name] is not None:
            raise InvalidInput(f"--{name} does not apply to {goal}; leave it out.")


def _detected(
    pilot: Outcomes | None, metric: str, level: float, given: Mapping[str, Any]
) -> Detectable:
    if pilot is None:
        raise InvalidInput("give --half-width, --difference, or a --pilot to see what it detects.")
    _refuse(given, "a --pilot alone", ("over", "trials", "problems"))
    told = {name: given[name] for name in ("correlation", "power") if given[name] is not None}
    return detectable(pilot, metric, level=level, **told)


def _pilot(path: Path | None) -> Outcomes | None:
    if path is None:
        return None
    reading = read_groups(path, columns={})
    if len(reading.groups) > 1:
        raise InvalidInput(f"{path}: a pilot must hold one model; found several {reading.by[0]}s.")
    return reading.groups[0][1]

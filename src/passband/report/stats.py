"""The metrics of a file of trials, in groups where it holds several models or tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from passband.notes import Note
from passband.readers import Groups, read
from passband.report.render import Cell, Row
from passband.stats.data.layout import error_prefix
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.decision.plan.plan import Plan
from passband.stats.interval.estimate import Estimate, Over, estimate
from passband.stats.interval.rounding import rounded_interval, rounded_value

__all__ = ["Group", "StatsReport", "Wanted", "default_metrics", "measure_file"]

_MEASURED = (
    "metric", "value", "low", "high", "se", "level", "over", "method", "problems", "left out",
    "trials",
)  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """What kind of estimates are wanted; the arguments of `estimate`."""

    over: Over = "problems"
    method: str = "auto"
    level: float = 0.95
    policy: Policy = "drop"
    seed: int | str | None = None


@dataclass(frozen=True)
class Group:
    """The trials of one model on one task, or of the whole file."""

    key: tuple[str, ...]
    outcomes: Outcomes
    estimates: list[Estimate]


@dataclass(frozen=True)
class StatsReport:
    """Everything `passband stats` has to say about a file."""

    reading: Groups
    wanted: Wanted
    groups: list[Group]
    whole_curve: bool = False  # whether some metric was asked for at every k

    @property
    def by(self) -> tuple[str, ...]:
        return self.reading.by

    def remarks(self) -> list[str]:
        """Return in words what was read, how it was understood, and what was left out."""
        lines = list(map(str, self.reading.remarks))
        for group in self.groups:
            name = f"{' / '.join(group.key)}: " if group.key else ""
            lines.append(name + str(group.outcomes).removeprefix("Outcomes(").removesuffix(")"))
            if group.outcomes.unscored:
                lines.append(f"{name}{_TREATMENT[self.wanted.policy]}")
        return lines

    def warnings(self) -> list[str]:
        """Return the remarks to be shown even where only the result is wanted."""
        return [str(remark) for remark in self.reading.remarks if remark.important]

    def explanation(self) -> list[str]:
        """Return what the intervals mean, and where they are weak."""
        level = f"{100 * self.wanted.level:.10g}%"
        lines = [_MEANING[self.wanted.over].format(level=level)]
        if self.whole_curve:
            lines.append("Along a curve they hold one k at a time; passband.band holds for all k.")
        found: dict[Note, list[str]] = {}
        for group in self.groups:
            for each in group.estimates:
                for note in each.notes:
                    found.setdefault(note, []).append(" / ".join((*group.key, each.metric)))
        lines += [f"{', '.join(names)}: {note}" for note, names in found.items()]
        return lines

    def against(self, plan: Path | None) -> list[str]:
        """Return what was planned and what was done, group by group."""
        if plan is None:
            return []
        planned = Plan.load(plan)
        return [
            f"{' / '.join(group.key)}: {said}" if group.key else said
            for group in self.groups
            for said in [planned.check(group.outcomes)]
        ]

    def rows(self) -> list[Row]:
        """Return one row per metric and group for people: numbers rounded by their error."""
        interval = f"{100 * self.wanted.level:.10g}% interval"
        return [
            {
                **self._key(group),
                "metric": found.metric,
                "value": rounded_value(found.value, found.low, found.high),
                interval: rounded_interval(found.low, found.high),
                "problems": found.n_problems,
                "left out": found.left_out,
                "trials": found.n_trials,
            }
            for group in self.groups
            for found in group.estimates
        ]

    def full_rows(self) -> list[Row]:
        """Return one row per metric and group for programs: numbers in full."""
        return [
            {
                **self._key(group),
                "metric": found.metric,
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "se": found.se,
                "level": found.level,
                "over": found.over,
                "method": found.method,
                "problems": found.n_problems,
                "left out": found.left_out,
                "trials": found.n_trials,
            }
            for group in self.groups
            for found in group.estimates
        ]

    def _key(self, group: Group) -> dict[str, Cell]:
        return dict(zip(map(_head, self.by), group.key, strict=True))

    def as_json(self) -> dict[str, Any]:
        """Return the report for programs, numbers in full."""
        return {
            "source": self.reading.source,
            "columns": asdict(self.reading.columns) if self.reading.columns else None,
            **asdict(self.wanted),
            "groups": [
                {
                    "by": dict(zip(self.by, group.key, strict=True)),
                    "n_problems": group.outcomes.n_problems,
                    "status": group.outcomes.status_counts,
                    "metrics": [found.as_json() for found in group.estimates],
                }
                for group in self.groups
            ],
        }


_TREATMENT = {
    "drop": "trials without a score are left out (--policy fail counts them as failures)",
    "fail": "trials without a score count as failures",
}
_MEANING = {
    "problems": (
        "Intervals ({level}) are for problems like these, asked the same way; "
        "--over trials gives them for these very problems."
    ),
    "trials": (
        "Intervals ({level}) are for these very problems, the model sampled again; "
        "--over problems gives them for problems like these."
    ),
}


def measure_file(
    path: Path,
    metrics: Sequence[str],
    *,
    columns: Mapping[str, str | None],
    by: Sequence[str] = (),
    threshold: float | None = None,
    wanted: Wanted | None = None,
) -> StatsReport:
    """Read a file, split it where it holds several models or tasks, and measure each part."""
    wanted = wanted or Wanted()
    reading = read(path, columns=columns, by=by, threshold=threshold)
    groups = [_measured(one.key, one.outcomes, metrics, wanted) for one in reading.groups]
    return StatsReport(reading, wanted, groups, any("*" in name for name in metrics))


def default_metrics(outcomes: Outcomes, *, most: int | None = None) -> list[str]:
    """Return what to show when nothing was asked for: k = 1, 2, 4, ... that all problems allow.

    With `most`, every second or third of them, so that there are no more than that.
    """
    fewest = int(outcomes.trials[outcomes.trials > 0].min(initial=outcomes.most_trials()))
    powers = fewest.bit_length()
    step = 1 if most is None else -(-powers // most)
    ks = ",".join(str(2**power) for power in range(0, powers, step))
    return [f"pass@{ks}", f"pass^{ks}"] if outcomes.is_binary else ["avg", f"max@{ks}"]


def _measured(
    key: tuple[str, ...],
    outcomes: Outcomes,
    metrics: Sequence[str],
    wanted: Wanted,
) -> Group:
    with error_prefix(key):
        counted = outcomes.under(wanted.policy)
        counted.require(1)
        asked = list(metrics) or default_metrics(counted)
        return Group(key, outcomes, estimate(outcomes, asked, **asdict(wanted)))


def _head(name: str) -> str:
    taken = name in _MEASURED or name.endswith("% interval")
    return f"{name} (column)" if taken else name

"""The metrics of a file of trials, in groups where it holds several models or tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from passband.report.render import Row
from passband.stats.files import read
from passband.stats.measure import Measurement, measure_all
from passband.stats.outcomes import Outcomes, Policy
from passband.stats.tables import Roles, Table

__all__ = ["Group", "StatsReport", "default_metrics", "measure_file"]

#: Columns that set apart what must not be pooled; a table with several values is split by them.
SPLIT_BY = ("model", "task", "run")


@dataclass(frozen=True)
class Group:
    """The trials of one model on one task, or of the whole file."""

    key: tuple[str, ...]
    outcomes: Outcomes
    measurements: list[Measurement]


@dataclass(frozen=True)
class StatsReport:
    """Everything `passband stats` has to say about a file."""

    source: str
    roles: Roles | None  # None where the file is a bare matrix
    by: tuple[str, ...]
    policy: str
    groups: list[Group]

    def remarks(self) -> list[str]:
        """Return in words what was read, how it was understood, and what was left out."""
        lines = [f"columns: {self.roles}" if self.roles else "read as a matrix, a row per problem"]
        if self.by:
            lines.append(f"split by: {', '.join(self.by)}")
        for group in self.groups:
            name = f"{' / '.join(group.key)}: " if group.key else ""
            lines.append(name + str(group.outcomes).removeprefix("Outcomes(").removesuffix(")"))
            if group.outcomes.unscored:
                lines.append(f"{name}{_TREATMENT[self.policy]}")
        return lines

    def rows(self) -> list[Row]:
        """Return one row per metric and group."""
        return [
            {
                **dict(zip(self.by, group.key, strict=True)),
                "metric": found.metric,
                "value": found.value,
                "problems": found.n_problems,
                "left out": found.left_out,
                "trials": found.n_trials,
            }
            for group in self.groups
            for found in group.measurements
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the report for programs, numbers in full."""
        return {
            "source": self.source,
            "columns": asdict(self.roles) if self.roles else None,
            "policy": self.policy,
            "groups": [
                {
                    "by": dict(zip(self.by, group.key, strict=True)),
                    "n_problems": group.outcomes.n_problems,
                    "status": group.outcomes.status_counts,
                    "metrics": [asdict(found) for found in group.measurements],
                }
                for group in self.groups
            ],
        }


_TREATMENT = {
    "drop": "trials without a score are left out (--policy fail counts them as failures)",
    "fail": "trials without a score count as failures",
}


def measure_file(
    path: Path,
    metrics: Sequence[str],
    *,
    columns: Mapping[str, str | None],
    by: Sequence[str] = (),
    threshold: float | None = None,
    policy: Policy = "drop",
) -> StatsReport:
    """Read a file, split it where it holds several models or tasks, and measure each part."""
    found = read(path)
    roles: Roles | None = None
    chosen: tuple[str, ...] = ()
    parts: list[tuple[tuple[str, ...], Outcomes]]
    if isinstance(found, Outcomes):
        parts = [((), found)]
    else:
        roles = found.roles(**columns)
        chosen = tuple(by) or _natural_split(found, roles)
        parts = [(key, part.outcomes(**asdict(roles))) for key, part in _split(found, chosen)]
    groups = []
    for key, outcomes in parts:
        judged = outcomes if threshold is None else outcomes.binarize(threshold)
        asked = metrics or default_metrics(judged)
        groups.append(Group(key, judged, measure_all(judged, asked, policy=policy)))
    return StatsReport(str(path), roles, chosen, policy, groups)


def default_metrics(outcomes: Outcomes) -> list[str]:
    """Return what to show when nothing was asked for: k = 1, 2, 4, ... that all problems allow."""
    fewest = int(outcomes.trials[outcomes.trials > 0].min(initial=outcomes.most_trials()))
    ks = ",".join(str(2**power) for power in range(fewest.bit_length()))
    return [f"pass@{ks}", f"pass^{ks}"] if outcomes.is_binary else ["avg", f"max@{ks}"]


def _natural_split(table: Table, roles: Roles) -> tuple[str, ...]:
    taken = set(asdict(roles).values())
    return tuple(name for name in SPLIT_BY if name not in taken and table.several(name))


def _split(table: Table, by: tuple[str, ...]) -> list[tuple[tuple[str, ...], Table]]:
    return table.split(by) if by else [((), table)]

"""The metrics of a file of trials, in groups where it holds several models or tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.report.render import Cell, Row
from passband.stats.estimate import Estimate, Over, estimate
from passband.stats.files import read
from passband.stats.outcomes import Outcomes, Policy
from passband.stats.rounding import rounded_interval, rounded_value
from passband.stats.tables import ROLES, Roles, Table

__all__ = ["Group", "StatsReport", "Wanted", "default_metrics", "measure_file"]

#: Columns that set apart what must not be pooled; a table with several values is split by them.
SPLIT_BY = (
    "model", "model_name", "model_id", "task", "task_name", "dataset", "benchmark",
    "run", "run_id", "run_name", "scorer", "metric",
)  # fmt: skip

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

    source: str
    roles: Roles | None  # None where the file is a bare matrix
    by: tuple[str, ...]
    wanted: Wanted
    groups: list[Group]
    asides: tuple[str, ...] = ()  # on how the file was understood

    def remarks(self) -> list[str]:
        """Return in words what was read, how it was understood, and what was left out."""
        read_as = f"columns: {self.roles}" if self.roles else "read as a matrix, a row per problem"
        lines = [read_as, *self.asides]
        if self.by:
            lines.append(f"split by: {', '.join(self.by)}")
        for group in self.groups:
            name = f"{' / '.join(group.key)}: " if group.key else ""
            lines.append(name + str(group.outcomes).removeprefix("Outcomes(").removesuffix(")"))
            if group.outcomes.unscored:
                lines.append(f"{name}{_TREATMENT[self.wanted.policy]}")
        return lines

    def explanation(self) -> list[str]:
        """Return what the intervals mean, and where they are weak."""
        level = f"{100 * self.wanted.level:g}%"
        lines = [_MEANING[self.wanted.over].format(level=level)]
        found: dict[str, list[str]] = {}
        for group in self.groups:
            for each in group.estimates:
                for note in each.notes:
                    found.setdefault(note, []).append(" / ".join((*group.key, each.metric)))
        lines += [f"{', '.join(names)}: {note}" for note, names in found.items()]
        return lines

    def rows(self) -> list[Row]:
        """Return one row per metric and group for people: numbers rounded by their error."""
        interval = f"{100 * self.wanted.level:g}% interval"
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
            "source": self.source,
            "columns": asdict(self.roles) if self.roles else None,
            **asdict(self.wanted),
            "groups": [
                {
                    "by": dict(zip(self.by, group.key, strict=True)),
                    "n_problems": group.outcomes.n_problems,
                    "status": group.outcomes.status_counts,
                    "metrics": [asdict(found) for found in group.estimates],
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
    found = read(path, columns=[name for name in (*columns.values(), *by) if name])
    if isinstance(found, Outcomes):
        group = _measured((), found, metrics, threshold, wanted)
        return StatsReport(str(path), None, (), wanted, [group])
    table = found.long(**columns)
    roles = table.roles(**columns)
    chosen = tuple(by) or _natural_split(table, roles)
    groups = [
        _measured(key, part, metrics, threshold, wanted)
        for key, part in _split(table, roles, chosen)
    ]
    asides = _asides(table, roles, chosen, guessed=not columns.get("score"))
    return StatsReport(str(path), roles, chosen, wanted, groups, asides)


def default_metrics(outcomes: Outcomes) -> list[str]:
    """Return what to show when nothing was asked for: k = 1, 2, 4, ... that all problems allow."""
    fewest = int(outcomes.trials[outcomes.trials > 0].min(initial=outcomes.most_trials()))
    ks = ",".join(str(2**power) for power in range(fewest.bit_length()))
    return [f"pass@{ks}", f"pass^{ks}"] if outcomes.is_binary else ["avg", f"max@{ks}"]


def _natural_split(table: Table, roles: Roles) -> tuple[str, ...]:
    taken = set(asdict(roles).values())
    return tuple(
        name for name in table.matching(SPLIT_BY) if name not in taken and table.several(name)
    )


def _split(
    table: Table, roles: Roles, by: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Outcomes]]:
    if not by:
        yield (), table.outcomes(**asdict(roles))
        return
    for key, part in table.scored(roles).split(by):
        with _named(key):
            outcomes = part.outcomes(**asdict(roles))
        yield key, outcomes


def _measured(
    key: tuple[str, ...],
    outcomes: Outcomes,
    metrics: Sequence[str],
    threshold: float | None,
    wanted: Wanted,
) -> Group:
    with _named(key):
        judged = outcomes if threshold is None else outcomes.binarize(threshold)
        counted = judged.under(wanted.policy)
        counted.require(1)
        asked = list(metrics) or default_metrics(counted)
        return Group(key, judged, estimate(judged, asked, **asdict(wanted)))


@contextmanager
def _named(key: tuple[str, ...]) -> Iterator[None]:
    """Say in an error which group of the table it is about."""
    try:
        yield
    except InvalidInput as error:
        raise type(error)(f"{' / '.join(key)}: {error}" if key else str(error)) from None


def _asides(table: Table, roles: Roles, by: tuple[str, ...], *, guessed: bool) -> tuple[str, ...]:
    """Return what else the columns could have meant."""
    lines = [table.unfolded] if table.unfolded else []
    rivals = [name for name in table.matching(ROLES["score"]) if name != roles.score]
    if rivals and guessed:
        lines.append(f"not used as score: {', '.join(rivals)} (choose with --score)")
    runs = [name for name in table.matching(("run", "run_id")) if name in by]
    if runs and roles.trial is None:
        lines.append(f"if {runs[0]} numbers the trials of a problem, say --trial {runs[0]}")
    return tuple(lines)


def _head(name: str) -> str:
    return f"{name} (column)" if name in _MEASURED else name

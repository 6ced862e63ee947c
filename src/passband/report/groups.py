"""A file of trials, taken apart where it holds several models or tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from passband.errors import InvalidInput
from passband.stats.data.files import read
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.tables import ROLES, Roles, Table
from passband.trials.reader import Trials

__all__ = ["Reading", "named", "read_groups"]

#: Columns that set apart what must not be pooled; a table with several values is split by them.
SPLIT_BY = (
    "model", "model_name", "model_id", "task", "task_name", "dataset", "benchmark",
    "run", "run_id", "run_name", "scorer", "metric",
)  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """What a file holds, and how its columns were understood."""

    source: str
    roles: Roles | None  # None where the file is a bare matrix
    by: tuple[str, ...]
    groups: list[tuple[tuple[str, ...], Outcomes]]
    asides: tuple[str, ...] = ()  # on what else the columns could have meant
    read_as: str = "read as a matrix, a row per problem"

    def understood(self) -> list[str]:
        """Return in words how the file was read."""
        split = [f"split by: {', '.join(self.by)}"] if self.by else []
        return [self.read_as, *self.asides, *split]


def read_groups(
    path: Path,
    *,
    columns: Mapping[str, str | None],
    by: Sequence[str] = (),
    threshold: float | None = None,
) -> Reading:
    """Read a file, split it by columns that must not be pooled, and cut scores at a threshold."""
    if path.is_dir():
        return _read_run(path, columns.get("score"), threshold)
    found = read(path, columns=[name for name in (*columns.values(), *by) if name])
    if isinstance(found, Outcomes):
        return Reading(str(path), None, (), [((), _cut(found, threshold))])
    table = found.long(**columns)
    roles = table.roles(**columns)
    chosen = tuple(by) or _natural_split(table, roles)
    groups = [(key, _cut(part, threshold)) for key, part in _split(table, roles, chosen)]
    asides = _asides(table, roles, chosen, guessed=not columns.get("score"))
    return Reading(str(path), roles, chosen, groups, asides, f"columns: {roles}")


def _read_run(directory: Path, scorer: str | None, threshold: float | None) -> Reading:
    """Read the trials of a run directory, task by task."""
    with Trials(directory) as trials:
        runs = [run for run in trials.runs() if trials.statuses(run.number)]
        if not runs:
            raise InvalidInput(f"{directory} holds no trials yet.")
        by: tuple[str, ...] = ("task",) if len(runs) > 1 else ()
        by += ("model",) if len({run.model for run in runs}) > 1 else ()
        groups: list[tuple[tuple[str, ...], Outcomes]] = [
            (
                tuple(getattr(run, name) for name in by),
                _cut(trials.outcomes(run, run.scorer(scorer)), threshold),
            )
            for run in runs
        ]
        used = ", ".join(f"{run.task} scored by {run.scorer(scorer).name}" for run in runs)
    return Reading(str(directory), None, by, groups, (), f"run directory: {used}")


def _cut(outcomes: Outcomes, threshold: float | None) -> Outcomes:
    return outcomes if threshold is None else outcomes.binarize(threshold)


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
        with named(key):
            outcomes = part.outcomes(**asdict(roles))
        yield key, outcomes


@contextmanager
def named(key: tuple[str, ...]) -> Iterator[None]:
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

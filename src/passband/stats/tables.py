"""A table with one row per trial, and how its columns become outcomes.

The smallest table has a column that says which problem a row belongs to and one with its score:

    task_id,passed
    HumanEval/0,1
    HumanEval/0,0
    HumanEval/1,1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from passband.errors import InvalidInput, UnknownName, WrongType, nearest
from passband.stats.outcomes import MISSING, Outcomes
from passband.stats.rewards import Rewards
from passband.types import Floats, Ints

__all__ = ["ROLES", "Roles", "Table"]

#: What a column can be, and the names it is guessed from, the surest first.
ROLES: Mapping[str, tuple[str, ...]] = {
    "problem": (
        "problem_id", "problem", "question_id", "question", "task_id", "item_id", "item", "doc_id",
        "sample_id", "example_id", "instance_id", "prompt_id", "record_id", "scenario_id", "id",
    ),
    "trial": (
        "trial", "trial_id", "repeat", "repetition", "attempt", "epoch", "sample", "sample_index",
        "completion_id", "generation", "run_index", "draw", "seed",
    ),
    "score": (
        "score", "correct", "is_correct", "passed", "pass", "success", "resolved", "solved",
        "reward", "acc", "accuracy", "exact_match", "outcome", "result", "value",
    ),
    "cluster": ("cluster", "cluster_id"),
    "status": ("status",),
}  # fmt: skip

_REQUIRED = ("problem", "score")
_YES = frozenset({"true", "yes", "pass", "passed", "correct", "success"})
_NO = frozenset({"false", "no", "fail", "failed", "incorrect", "wrong", "failure"})
_ABSENT = frozenset({"", "na", "n/a", "nan", "none", "null", "missing"})


@dataclass(frozen=True)
class Roles:
    """Which column plays which part."""

    problem: str
    score: str
    trial: str | None = None
    cluster: str | None = None
    status: str | None = None

    def __str__(self) -> str:
        return ", ".join(f"{role} = {name}" for role, name in vars(self).items() if name)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, by name."""

    columns: Mapping[str, Sequence[Any]]

    @staticmethod
    def of(table: Any) -> Table:
        """Take columns by name, a list of records, or a data frame of any library."""
        if isinstance(table, Table):
            return table
        if isinstance(table, Mapping):
            return Table({str(name): list(column) for name, column in table.items()})._checked()
        names = getattr(table, "column_names", None) or getattr(table, "columns", None)
        if names is not None:
            return Table({str(name): _listed(table[name]) for name in names})._checked()
        return Table.of_records(table)

    @staticmethod
    def of_records(records: Iterable[Any]) -> Table:
        """Take one mapping per row; a key that a row lacks is a missing value."""
        rows = list(records)
        for at, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise WrongType(f"row {at + 1} is {type(row).__name__}, not a record of columns.")
        names = dict.fromkeys(str(name) for row in rows for name in row)
        return Table({name: [row.get(name) for row in rows] for name in names})._checked()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def roles(self, **given: str | None) -> Roles:
        """Return the columns that were named, and guess the rest from their names."""
        unknown = set(given) - set(ROLES)
        if unknown:
            name = min(unknown)
            raise UnknownName(f"no column role named {name!r}.{nearest(name, ROLES)}")
        chosen = {role: self._column(role, name) for role, name in given.items() if name}
        for role, names in ROLES.items():
            if role not in chosen:
                taken = set(chosen.values())
                guess = next((c for c in self._matching(names) if c not in taken), None)
                if guess is not None:
                    chosen[role] = guess
        for role in _REQUIRED:
            if role not in chosen:
                raise UnknownName(self._no_column(role))
        return Roles(**chosen)

    def outcomes(self, **given: str | None) -> Outcomes:
        """Return the outcomes of all rows together."""
        roles = self.roles(**given)
        problem_of, problems = _numbered(self.columns[roles.problem])
        if roles.trial is not None:
            self._refuse_duplicates(roles, problem_of, problems)
        scores = _scores(roles.score, self.columns[roles.score])
        scored = ~np.isnan(scores)
        trials = np.bincount(problem_of[scored], minlength=len(problems))
        statuses = self.columns[roles.status] if roles.status else [MISSING] * len(self)
        unscored = _by_status(problem_of[~scored], len(problems), _kept(statuses, ~scored))
        successes, rewards = _collected(problem_of[scored], scores[scored], trials)
        clusters = self._clusters(roles, problem_of, problems) if roles.cluster else None
        return Outcomes(problems, trials, successes, rewards, clusters, unscored)

    def split(self, by: Sequence[str]) -> list[tuple[tuple[str, ...], Table]]:
        """Return a table for each combination of values in the columns `by`, in order of rows."""
        columns = [self.columns[self._column("--by", name)] for name in by]
        keys = list(zip(*[[_label(value) for value in column] for column in columns], strict=True))
        rows: dict[tuple[str, ...], list[int]] = {}
        for at, key in enumerate(keys):
            rows.setdefault(key, []).append(at)
        return [(key, self._rows(chosen)) for key, chosen in rows.items()]

    def several(self, name: str) -> bool:
        """Say whether there is a column of that name with more than one value in it."""
        return name in self.columns and len({_label(v) for v in self.columns[name]}) > 1

    def _rows(self, chosen: Sequence[int]) -> Table:
        return Table({n: [column[at] for at in chosen] for n, column in self.columns.items()})

    def _matching(self, names: Sequence[str]) -> list[str]:
        lowered = {name.lower().strip(): name for name in reversed(list(self.columns))}
        return [lowered[name] for name in names if name in lowered]

    def _column(self, role: str, name: str) -> str:
        if name not in self.columns:
            found = ", ".join(self.columns)
            raise UnknownName(
                f"no column named {name!r} (for {role}).{nearest(name, self.columns)} "
                f"Found: {found}."
            )
        return name

    def _no_column(self, role: str) -> str:
        usual = ", ".join(ROLES[role][:4])
        closest = next((hint for name in self.columns if (hint := nearest(name, ROLES[role]))), "")
        return (
            f"no column looks like a {role}; found: {', '.join(self.columns)}.{closest} "
            f"Name it {usual} or say which one it is."
        )

    def _checked(self) -> Table:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if not lengths or not max(lengths.values()):
            raise InvalidInput("the table is empty.")
        if len(set(lengths.values())) > 1:
            raise InvalidInput(f"columns must have equal lengths; got {lengths}.")
        return self

    def _refuse_duplicates(self, roles: Roles, problem_of: Ints, problems: Sequence[str]) -> None:
        assert roles.trial is not None
        trial_of, trials = _numbered(self.columns[roles.trial])
        pair = problem_of * len(trials) + trial_of
        _, first, repeats = np.unique(pair, return_index=True, return_counts=True)
        if repeats.max() == 1:
            return
        twice = sorted(first[repeats > 1])[:3]
        shown = "; ".join(f"({problems[problem_of[at]]}, {trials[trial_of[at]]})" for at in twice)
        more = int((repeats > 1).sum()) - len(twice)
        raise InvalidInput(
            f"a trial must stand in one row; ({roles.problem}, {roles.trial}) is repeated for "
            f"{shown}" + (f" and {more} more" if more > 0 else "") + ". If the table holds "
            "several models or tasks, split it by that column."
        )

    def _clusters(self, roles: Roles, problem_of: Ints, problems: Sequence[str]) -> list[str]:
        assert roles.cluster is not None
        cluster_of: dict[int, str] = {}
        for problem, value in zip(problem_of.tolist(), self.columns[roles.cluster], strict=True):
            label = _label(value)
            if cluster_of.setdefault(problem, label) != label:
                raise InvalidInput(
                    f"a problem must be in one cluster; {problems[problem]!r} is in "
                    f"{cluster_of[problem]!r} and {label!r}."
                )
        return [cluster_of[problem] for problem in range(len(problems))]


def _listed(column: Any) -> list[Any]:
    to_list = getattr(column, "to_pylist", None) or getattr(column, "tolist", None)
    return list(to_list() if to_list is not None else column)


def _label(value: object) -> str:
    """Write a value as a name; 3.0 and 3 are the same one."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _numbered(values: Sequence[object]) -> tuple[Ints, list[str]]:
    """Return the number of each value and the names in order of first appearance."""
    numbers: dict[str, int] = {}
    of = [numbers.setdefault(_label(value), len(numbers)) for value in values]
    return np.array(of, dtype=np.int64), list(numbers)


def _scores(name: str, column: Sequence[object]) -> Floats:
    """Read scores: numbers, booleans, words for yes and no, or nothing."""
    known: dict[object, float] = {}
    scores = np.empty(len(column))
    for at, value in enumerate(column):
        try:
            score = known.get(value)
        except TypeError:  # lists and the like cannot be looked up, nor read
            score = None
        if score is None:
            score = _score(name, at, value)
            known[value] = score
        scores[at] = score
    return scores


def _score(name: str, at: int, value: object) -> float:
    text = "" if value is None else str(value).strip().lower()
    if text in _ABSENT or text in _YES or text in _NO:
        return np.nan if text in _ABSENT else float(text in _YES)
    try:
        score = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidInput(
            f"column {name} must hold numbers, true/false, pass/fail or nothing; "
            f"row {at + 1} has {value!r}."
        ) from None
    if np.isinf(score):
        raise InvalidInput(f"column {name} must hold finite numbers; row {at + 1} has {value!r}.")
    return score


def _kept(values: Sequence[object], keep: Any) -> list[str]:
    return [_label(values[at]) for at in np.flatnonzero(keep).tolist()]


def _by_status(problem_of: Ints, count: int, statuses: list[str]) -> dict[str, Ints]:
    """Count the rows without a score per problem, by what their status says."""
    found: dict[str, list[int]] = {}
    for problem, status in zip(problem_of.tolist(), statuses, strict=True):
        word = MISSING if status.strip().lower() in _ABSENT | {"ok"} else status
        found.setdefault(word, []).append(problem)
    return {status: np.bincount(at, minlength=count) for status, at in found.items()}


def _collected(
    problem_of: Ints, scores: Floats, trials: Ints
) -> tuple[Ints | None, Rewards | None]:
    """Return success counts where every score is 0 or 1, and all scores where not."""
    ones = scores == 1
    if (ones | (scores == 0)).all():
        return np.bincount(problem_of[ones], minlength=len(trials)), None
    order = np.argsort(problem_of, kind="stable")
    return None, Rewards(scores[order], np.concatenate([[0], np.cumsum(trials)]))

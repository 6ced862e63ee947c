"""A table with one row per trial, and how its columns become outcomes.

The smallest table has a column that says which problem a row belongs to and one with its score:

    task_id,passed
    HumanEval/0,1
    HumanEval/0,0
    HumanEval/1,1

A table with one column per trial, or with counts of trials and successes, is unfolded first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from passband.errors import InvalidInput, UnknownName, WrongType, nearest
from passband.stats.data.graded import GradedScores
from passband.stats.data.outcomes import MISSING, Outcomes
from passband.types import Floats, Ints

__all__ = ["ROLES", "Roles", "Table"]

#: What a column can be, and the names it is guessed from, the surest first. Capitals, spaces,
#: dashes and underscores make no difference.
ROLES: Mapping[str, tuple[str, ...]] = {
    "problem": (
        "problem_id", "problem", "question_id", "question", "task_id", "item_id", "item", "doc_id",
        "sample_id", "example_id", "instance_id", "prompt_id", "record_id", "scenario_id", "id",
    ),
    "trial": (
        "trial", "trial_id", "repeat", "repetition", "attempt", "epoch", "sample", "sample_index",
        "completion_id", "generation_id", "run_index", "draw", "seed",
    ),
    "score": (
        "score", "correct", "is_correct", "passed", "pass", "success", "resolved", "solved",
        "reward", "acc", "accuracy", "exact_match", "outcome", "result", "value",
    ),
    "cluster": ("cluster", "cluster_id"),
    "status": ("status",),
}  # fmt: skip

#: Columns with counts, for tables that have one row per problem and no score.
_SUCCESSES = ("successes", "n_correct", "num_correct", "n_passed", "num_passed", "c")
_TRIALS = ("trials", "n_trials", "num_trials", "n_samples", "num_samples", "total", "n")
#: What stands before the number in the columns of a table with one column per trial.
_NUMBERED = (*ROLES["trial"], *ROLES["score"], "run", "try", "response", "t", "r", "")

_MOST_UNFOLDED = 20_000_000

_REQUIRED = ("problem", "score")
_YES = frozenset({"true", "yes", "pass", "passed", "correct", "success"})
_NO = frozenset({"false", "no", "fail", "failed", "incorrect", "wrong", "failure"})
_ABSENT = frozenset({"", "na", "n/a", "nan", "none", "null", "missing", "<na>"})


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
    unfolded: str = ""  #: in words, where the rows were made from columns or counts

    @staticmethod
    def of(table: Any) -> Table:
        """Take columns by name, a list of records, or a data frame of any library."""
        if isinstance(table, Table):
            return table
        if isinstance(table, Mapping):
            columns = {str(name): _listed(str(name), column) for name, column in table.items()}
            return Table(columns)._checked()
        names = getattr(table, "column_names", None) or getattr(table, "columns", None)
        if names is not None:
            if len(set(names)) < len(names):
                raise InvalidInput(f"column names must be distinct; got {_listing(names)}.")
            return Table({str(name): _listed(str(name), table[name]) for name in names})._checked()
        return Table.of_records(table)

    @staticmethod
    def of_records(records: Iterable[Any]) -> Table:
        """Take one mapping per row; a key that a row lacks is a missing value."""
        if not isinstance(records, Iterable):
            raise WrongType(f"need columns or records; got {type(records).__name__}.")
        rows = list(records)
        for at, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise WrongType(f"row {at + 1} is {type(row).__name__}, not a record of columns.")
        names = dict.fromkeys(name for row in rows for name in row)
        return Table({str(name): [row.get(name) for row in rows] for name in names})._checked()

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
                guess = next((c for c in self.matching(names) if c not in taken), None)
                if guess is not None:
                    chosen[role] = guess
        for role in _REQUIRED:
            if role not in chosen:
                raise UnknownName(self._no_column(role, set(chosen.values())))
        return Roles(**chosen)

    def outcomes(self, **given: str | None) -> Outcomes:
        """Return the outcomes of all rows together."""
        table = self.long(**given)
        return table._outcomes(table.roles(**given))

    def long(self, **given: str | None) -> Table:
        """Return the table with one row per trial, also where it has a column per trial or counts.

        >>> table = Table.of({"problem": ["a", "b"], "n": [2, 1], "c": [1, 1]}).long()
        >>> dict(table.columns)
        {'problem': ['a', 'a', 'b'], 'score': [1, 0, 1]}
        """
        if given.get("score") or self.matching(ROLES["score"]):
            return self
        wide = [name for name in self.columns if _is_numbered(name)]
        if len(wide) > 1:
            return self._from_wide(wide, bool(given.get("problem")))
        successes, trials = self.matching(_SUCCESSES), self.matching(_TRIALS)
        return self._from_counts(successes[0], trials[0]) if successes and trials else self

    def scored(self, roles: Roles) -> Table:
        """Return the table with its scores as numbers, which checks every row on the way."""
        self._refuse_nameless(roles, _numbered(self.columns[roles.problem])[1])
        scores = _scores(roles.score, self.columns[roles.score])
        return Table({**self.columns, roles.score: scores.tolist()}, self.unfolded)

    def _outcomes(self, roles: Roles) -> Outcomes:
        problem_of, problems = _numbered(self.columns[roles.problem])
        self._refuse_nameless(roles, problems)
        if roles.trial is not None:
            self._refuse_duplicates(roles, problem_of, problems)
        scores = _scores(roles.score, self.columns[roles.score])
        scored = ~np.isnan(scores)
        trials = np.bincount(problem_of[scored], minlength=len(problems))
        statuses = self.columns[roles.status] if roles.status else [MISSING] * len(self)
        unscored = _by_status(problem_of[~scored], len(problems), _kept(statuses, ~scored))
        successes, graded = _collected(problem_of[scored], scores[scored], trials)
        clusters = self._clusters(roles, problem_of, problems) if roles.cluster else None
        return Outcomes(problems, trials, successes, graded, clusters, unscored)

    def split(self, by: Sequence[str]) -> list[tuple[tuple[str, ...], Table]]:
        """Return a table for each combination of values in the columns `by`, in order of rows."""
        columns = [self.columns[self._column("--by", name)] for name in by]
        keys = zip(*[[_label(value) for value in column] for column in columns], strict=True)
        rows: dict[tuple[str, ...], list[int]] = {}
        for at, key in enumerate(keys):
            rows.setdefault(key, []).append(at)
        return [(key, self._rows(chosen)) for key, chosen in rows.items()]

    def several(self, name: str) -> bool:
        """Say whether a column has more than one value in it."""
        return len(_numbered(self.columns[name])[1]) > 1

    def matching(self, names: Sequence[str]) -> list[str]:
        """Return the columns with one of the names, however they are written, in that order."""
        found: dict[str, list[str]] = {}
        for name in self.columns:
            found.setdefault(_key(name), []).append(name)
        keys = dict.fromkeys(map(_key, names))
        return [column for key in keys for column in found.get(key, ())]

    def _rows(self, chosen: Sequence[int]) -> Table:
        return Table({n: [column[at] for at in chosen] for n, column in self.columns.items()})

    def _from_wide(self, wide: Sequence[str], has_problem: bool) -> Table:
        others = {name: column for name, column in self.columns.items() if name not in wide}
        if not has_problem and not self.matching(ROLES["problem"]):
            others["problem"] = range(len(self))
        columns = {name: [v for v in column for _ in wide] for name, column in others.items()}
        columns["trial"] = list(wide) * len(self)
        by_row = zip(*[self.columns[name] for name in wide], strict=True)
        columns["score"] = [score for row in by_row for score in row]
        return Table(columns, f"a column per trial: {_listing(wide)}")

    def _from_counts(self, successes: str, trials: str) -> Table:
        c, n = (_scores(name, self.columns[name]) for name in (successes, trials))
        good = (n >= 1) & (c >= 0) & (c <= n) & (c == np.floor(c)) & (n == np.floor(n))
        if not good.all():
            at = int(np.flatnonzero(~good)[0])
            raise InvalidInput(
                f"counts must be whole, with {trials} >= 1 and 0 <= {successes} <= {trials}; "
                f"row {at + 1} has {successes} = {c[at]:g} and {trials} = {n[at]:g}."
            )
        if n.sum() > _MOST_UNFOLDED:
            raise InvalidInput(
                f"column {trials} adds up to {n.sum():.0f} trials, more than the {_MOST_UNFOLDED} "
                "that fit in a table; use Outcomes.from_counts."
            )
        others = {k: v for k, v in self.columns.items() if k not in (successes, trials)}
        rows = np.repeat(np.arange(len(self)), n.astype(np.int64)).tolist()
        columns = {name: [column[at] for at in rows] for name, column in others.items()}
        columns["score"] = [
            int(j < c[at]) for at, count in enumerate(n.astype(np.int64)) for j in range(count)
        ]
        return Table(columns, f"counts: {successes} successes of {trials} trials")

    def _column(self, role: str, name: str) -> str:
        if name not in self.columns:
            raise UnknownName(
                f"no column named {name!r} (for {role}).{nearest(name, self.columns)} "
                f"Found: {_listing(self.columns)}."
            )
        return name

    def _no_column(self, role: str, taken: set[str]) -> str:
        free = [name for name in self.columns if name not in taken]
        closest = next((hint for usual in ROLES[role] if (hint := nearest(usual, free))), "")
        return (
            f"no column looks like a {role}; found: {_listing(self.columns)}.{closest} Say which "
            f"one it is with {role}= (in the shell, --{role}), "
            f"or name it {', '.join(ROLES[role][:3])}."
        )

    def _checked(self) -> Table:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if not lengths or not max(lengths.values()):
            raise InvalidInput("the table is empty.")
        if len(set(lengths.values())) > 1:
            shown = _listing([f"{name} with {length}" for name, length in lengths.items()])
            raise InvalidInput(f"columns must have equal lengths; got {shown}.")
        return self

    def _refuse_nameless(self, roles: Roles, problems: Sequence[str]) -> None:
        if _ABSENT.isdisjoint(name.strip().lower() for name in problems):
            return
        for at, value in enumerate(self.columns[roles.problem]):
            if _is_absent(value):
                raise InvalidInput(f"column {roles.problem} is empty in row {at + 1}.")

    def _refuse_duplicates(self, roles: Roles, problem_of: Ints, problems: Sequence[str]) -> None:
        assert roles.trial is not None
        trial_of, trials = _numbered(self.columns[roles.trial])
        pair = problem_of * len(trials) + trial_of
        _, first, repeats = np.unique(pair, return_index=True, return_counts=True)
        if repeats.max() == 1:
            return
        twice = sorted(first[repeats > 1])[:3]
        shown = "; ".join(
            f"({_short(problems[problem_of[at]])}, {_short(trials[trial_of[at]])})" for at in twice
        )
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


def _listed(name: str, column: Any) -> list[Any]:
    to_list = getattr(column, "to_pylist", None) or getattr(column, "tolist", None)
    found = to_list() if to_list is not None else column
    if isinstance(found, (str, bytes, Mapping)) or not isinstance(found, Iterable):
        raise WrongType(f"column {name} must be a list of values; got {_short(repr(found))}.")
    return list(found)


def _listing(names: Iterable[object]) -> str:
    """Write out names, the first dozen of them."""
    every = [_short(str(name)) for name in names]
    return ", ".join(every[:12]) + (f" and {len(every) - 12} more" if len(every) > 12 else "")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _key(name: str) -> str:
    """Reduce a column name to what it is recognized by."""
    return re.sub(r"[\s_-]", "", name).lower()


def _is_numbered(name: str) -> bool:
    shape = re.fullmatch(r"(.*?)\d+", _key(name))
    return shape is not None and shape[1] in map(_key, _NUMBERED)


def _is_absent(value: object) -> bool:
    return value is None or str(value).strip() in ("", "nan", "<NA>")


def _label(value: object) -> str:
    """Write a value as a name; 3.0 and 3 are the same one."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _numbered(values: Sequence[object]) -> tuple[Ints, list[str]]:
    """Return the number of each value and the names in order of first appearance."""
    try:
        distinct = dict.fromkeys(values)
    except TypeError:  # lists and the like cannot be looked up
        values = [_label(value) for value in values]
        distinct = dict.fromkeys(values)
    numbers: dict[str, int] = {}
    number_of = {v: numbers.setdefault(_label(v), len(numbers)) for v in distinct}
    return np.fromiter(map(number_of.__getitem__, values), np.int64, len(values)), list(numbers)


def _scores(name: str, column: Sequence[object]) -> Floats:
    """Read scores: numbers, booleans, words for yes and no, or nothing."""
    try:
        known = dict.fromkeys(column, np.nan)
    except TypeError:  # lists and the like cannot be looked up, though a few can be read
        return np.array([_score(name, value, column) for value in column])
    for value in known:
        known[value] = _score(name, value, column)
    return np.fromiter(map(known.__getitem__, column), np.float64, len(column))


def _score(name: str, value: object, column: Sequence[object]) -> float:
    text = "" if value is None else str(value).strip().lower()
    if text in _ABSENT or text in _YES or text in _NO:
        return np.nan if text in _ABSENT else float(text in _YES)
    try:
        score = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"column {name} must hold numbers, true/false, pass/fail or nothing; "
            f"{_row_with(value, column)}."
        ) from None
    if np.isinf(score):
        raise InvalidInput(f"column {name} must hold finite numbers; {_row_with(value, column)}.")
    return score


def _row_with(value: object, column: Sequence[object]) -> str:
    at = next(at for at, other in enumerate(column) if other is value)
    return f"row {at + 1} has {_short(repr(value))}"


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
) -> tuple[Ints | None, GradedScores | None]:
    """Return success counts where every score is 0 or 1, and all scores where not."""
    ones = scores == 1
    if (ones | (scores == 0)).all():
        return np.bincount(problem_of[ones], minlength=len(trials)), None
    order = np.argsort(problem_of, kind="stable")
    return None, GradedScores(scores[order], np.concatenate([[0], np.cumsum(trials)]))

"""Find the role of each column in a table of trials by its name and values.

A column such as `checkpoint` under whose every value every problem occurs is a condition. Rows
that differ in it are not trials of the same thing, though they look like trials.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from passband.errors import InvalidInput, UnknownName, nearest
from passband.files import matching
from passband.stats.data.cells import (
    BOOLEAN,
    distinct_labels,
    is_absent,
    listing,
    number,
    number_labels,
    parse_scores,
)
from passband.types import Ints

#: Says of each row of an adaptive test why its problem was chosen.
CHOSEN = "adaptive_reason"

#: What a column can be, and the names it is guessed from, the surest first. Capitals, spaces,
#: dashes and underscores make no difference.
ROLES: Mapping[str, tuple[str, ...]] = {
    "problem": (
        "problem_id", "problem", "question_id", "question", "task_id", "item_id", "item", "doc_id",
        "sample_id", "example_id", "instance_id", "prompt_id", "record_id", "scenario_id", "id",
    ),
    "trial": (
        "trial", "trial_id", "repeat", "repetition", "attempt", "rollout", "rollout_id",
        "replicate", "epoch", "sample", "sample_index", "completion_id", "generation_id",
        "run_index", "draw", "seed",
    ),
    "score": (
        "score", "correct", "is_correct", "passed", "pass", "success", "resolved", "solved",
        "reward", "acc", "accuracy", "exact_match", "outcome", "result", "value",
    ),
    "cluster": ("cluster", "cluster_id"),
    "status": ("status",),
    "answer": (
        "extracted", "extracted_answer", "extracted_prediction", "parsed_answer", "model_answer",
        "prediction", "predictions", "predicted", "pred", "filtered_resps", "final_answer",
        "answers", "answer",
    ),
    "judge": (),  # never guessed
    "label": (),
}  # fmt: skip

#: Columns that set apart what must not be pooled; a table with several values is split by them.
SPLIT_BY = (
    "model", "model_name", "model_id", "checkpoint", "ckpt", "step", "global_step",
    "task", "task_name", "dataset", "benchmark", "subset", "split",
    "run", "run_id", "run_name", "scorer", "metric", "filter",
    "temperature", "top_p", "num_fewshot",
)  # fmt: skip

#: Columns that describe what a trial led to, as scores do; they set nothing apart.
OUTCOME_NAMES = (
    "answer", "completion", "completion_tokens", "error", "explanation", "extracted_answer",
    "filtered_resps", "finish_reason", "gold", "grade", "judgement", "judgment", "output",
    "prediction", "reason", "refused", "resps", "response", "rule", "score_status", "stop_reason",
    "target", "truncated", "verdict",
)  # fmt: skip

_TRIAL_WORDS = frozenset(
    [
        "trial",
        "repeat",
        "repetition",
        "attempt",
        "rollout",
        "replicate",
        "epoch",
        "sample",
        "draw",
        "seed",
        "idx",
        "index",
        "iteration",
        "generation",
        "completion",
    ]
)
_REQUIRED = ("problem", "score")


def refuse_chosen(columns: Mapping[str, Sequence[Any]]) -> None:
    """Raise `InvalidInput` if problems were chosen by their answers, as in an adaptive test."""
    if any(not is_absent(reason) for reason in columns.get(CHOSEN, ())):
        raise InvalidInput(
            f"holds an adaptive test (column {CHOSEN}): its items were chosen for what they tell "
            "about ability, so averages over them estimate nothing. passband stats on its run "
            "directory gives ability (theta) and the accuracy of the whole bank."
        )


@dataclass(frozen=True)
class Roles:
    """The column of each role."""

    problem: str
    score: str
    trial: str | None = None
    cluster: str | None = None
    status: str | None = None
    answer: str | None = None
    judge: str | None = None  #: the score, where it is a judge's
    label: str | None = None  #: what a person says of the trial

    def __str__(self) -> str:
        return ", ".join(f"{role} = {name}" for role, name in vars(self).items() if name)


def is_trial_name(name: str) -> bool:
    """Return whether a column is named like a number of the trial, as rollout_idx is.

    >>> is_trial_name("rollout_idx"), is_trial_name("checkpoint")
    (True, False)
    """
    return not _TRIAL_WORDS.isdisjoint(re.split(r"[\s_-]+", name.lower()))


def find_roles(columns: Mapping[str, Sequence[Any]], chosen: Mapping[str, str | None]) -> Roles:
    """Return the columns that were chosen for roles, and guess the rest from their names."""
    if unknown := set(chosen) - set(ROLES):
        name = min(unknown)
        raise UnknownName(f"no column role named {name!r}.{nearest(name, ROLES)}")
    roles = {role: require_column(columns, role, name) for role, name in chosen.items() if name}
    _refuse_empty_cluster(columns, roles.get("cluster"))
    _take_judge_as_score(roles)
    for role in ROLES:
        if role not in roles and role != "answer":  # see `answers`
            taken = set(roles.values())
            usual = score_columns(columns) if role == "score" else matching(columns, ROLES[role])
            guess = next((name for name in usual if name not in taken), None)
            if guess is not None:
                roles[role] = guess
    for role in _REQUIRED:
        if role not in roles:
            raise UnknownName(_no_column(columns, role, set(roles.values())))
    return Roles(**roles)


def _take_judge_as_score(roles: dict[str, str]) -> None:
    """Use the judge's column as the score column."""
    judge, label = roles.get("judge"), roles.get("label")
    if judge is not None and roles.setdefault("score", judge) != judge:
        raise InvalidInput(
            f"judge ({judge}) and score ({roles['score']}) name two columns; the judge's scores "
            "are the scores."
        )
    if label is not None and label == roles.get("score"):
        raise InvalidInput(f"column {label} is both the score and the label; name two columns.")


def score_columns(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the columns that look like scores, the likeliest first.

    Sample logs of lm-eval have `resps`, and name the columns of their scores in `metrics`.
    """
    usual = matching(columns, ROLES["score"])
    listed = next(iter(columns.get("metrics", ())), None)
    if "resps" in columns and isinstance(listed, list):
        names = [name for name in listed if isinstance(name, str)]
        usual += [name for name in names if name in columns and name not in usual]
    return usual


def require_column(columns: Iterable[str], role: str, name: str) -> str:
    """Return the name of a column; raise `UnknownName` if there is none of that name."""
    if name not in columns:
        raise UnknownName(
            f"no column named {name!r} (for {role}).{nearest(name, columns)} "
            f"Found: {listing(columns)}."
        )
    return name


def _refuse_empty_cluster(columns: Mapping[str, Sequence[Any]], name: str | None) -> None:
    """Raise `InvalidInput` if a column without any value was chosen for the clusters."""
    if name is not None and all(map(is_absent, columns[name])):
        raise InvalidInput(f"column {name} (for cluster) is empty in every row.")


def _no_column(columns: Iterable[str], role: str, taken: set[str]) -> str:
    free = [name for name in columns if name not in taken]
    closest = next((hint for usual in ROLES[role] if (hint := nearest(usual, free))), "")
    return (
        f"no column looks like a {role}; found: {listing(columns)}.{closest} Say which "
        f"one it is with {role}= (in the shell, --{role}), "
        f"or name it {', '.join(ROLES[role][:3])}."
    )


Columns = Mapping[str, Sequence[Any]]

MOST_VALUES = 50  # of a condition
#: Columns that may name the kind of a score.
_KINDS = ("name", "score_name", "key", "dimension", "criterion", "feedback_key")
_MOST_KINDS = 12
_COVERED = 0.9  # of all pairs of a problem and a value
_BALANCED = 0.4  # of the problems: those with the commonest number of rows under a value


@dataclass(frozen=True)
class TableCondition:
    """A column that takes several values, under each of which (nearly) every problem occurs."""

    column: str
    values: tuple[str, ...]
    is_complete: bool  #: every problem occurs under every value

    def __str__(self) -> str:
        every = "every" if self.is_complete else "nearly every"
        return (
            f"column {self.column} has {len(self.values)} values ({listing(self.values, 4)}), each "
            f"with {every} problem; pooled as trials; --by {self.column} splits"
        )


def split_columns(columns: Columns, roles: Roles, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to split by: those chosen, and known ones that vary within their groups.

    Without chosen ones, every known column that takes several values.
    """
    taken = {*vars(roles).values(), *chosen}
    names = [name for name in matching(columns, SPLIT_BY) if name not in taken]
    kinds = _kinds(columns, roles, taken)
    taken |= set(kinds)
    names += kinds
    group_of, count = group_numbers(columns, chosen)
    for name in names:
        numbers, labels = number_labels(columns[name])
        if len(labels) > 1 and len(np.unique(group_of * len(labels) + numbers)) > count:
            taken.add(name)
    return (*chosen, *(name for name in names if name in taken))


def _kinds(columns: Columns, roles: Roles, taken: Iterable[str | None]) -> list[str]:
    """Return the columns that distinguish kinds of scores."""
    skip = set(taken)
    return [
        name
        for name in matching(columns, _KINDS)
        if name not in skip and _are_kinds(columns[name], columns, roles)
    ]


def _are_kinds(column: Sequence[object], columns: Columns, roles: Roles) -> bool:
    """Return whether values go with different ranges of scores, or each with as many unique ids.

    One score of each kind is what an export of scores has for every answer.
    """
    if distinct_labels(column, _MOST_KINDS) is None:
        return False
    numbers, labels = number_labels(column)
    values = np.nan_to_num(parse_scores(roles.score, columns[roles.score]))
    is_beyond = (values < 0) | (values > 1)
    beyond = np.bincount(numbers[is_beyond], minlength=len(labels)) > 0
    if beyond.any() and not beyond.all():
        return True
    counts = np.bincount(numbers)
    is_unique = len(number_labels(columns[roles.problem])[1]) == len(numbers)
    return bool(is_unique and len(labels) > 1 and counts.min() == counts.max() > 1)


def group_numbers(columns: Columns, by: Sequence[str]) -> tuple[Ints, int]:
    """Return the group of each row, numbered in order of rows, and how many groups there are."""
    height = len(next(iter(columns.values())))
    group_of: Ints = np.zeros(height, dtype=np.int64)
    for name in by:
        numbers, labels = number_labels(columns[name])
        group_of = ranked(group_of * len(labels) + numbers)
    return group_of, int(group_of.max(initial=0)) + 1


def ranked(codes: Ints) -> Ints:
    """Renumber codes 0, 1, ... in order of first appearance.

    >>> ranked(np.array([7, 3, 7, 9])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbers: Ints = rank[inverse]
    return numbers


def find_conditions(
    columns: Columns, skip: Iterable[str | None], unit_of: Ints, units: int
) -> list[TableCondition]:
    """Return the columns, but for those to skip, that look like conditions.

    `unit_of` is the number of each row's problem, within its group where the table is split.
    """
    most = most_values(len(unit_of), units)
    candidates = [
        _condition(name, columns[name], unit_of, units, most)
        for name in condition_candidates(columns, skip)
        if most > 1
    ]
    return [condition for condition in candidates if condition is not None]


def condition_candidates(names: Iterable[str], skip: Iterable[str | None]) -> list[str]:
    """Return the columns whose names allow them to be conditions."""
    listed = list(names)
    usual = [name for role in ROLES.values() for name in role]
    skipped = {*skip, *matching(listed, (*usual, *OUTCOME_NAMES))}
    return [name for name in listed if name not in skipped and name.strip() and ":" not in name]


def most_values(rows: int, units: int) -> int:
    """Return the most values that a condition can have, under which each unit needs rows."""
    return min(MOST_VALUES, int(rows / (_COVERED * units))) if units > 1 else 0


def _condition(
    name: str, column: Sequence[object], unit_of: Ints, units: int, most: int
) -> TableCondition | None:
    values = distinct_labels(column, most)
    if values is None or len(values) < 2:
        return None
    value_of, _ = number_labels(column)
    rows = np.bincount(unit_of * len(values) + value_of, minlength=units * len(values))
    return condition_of(name, values, rows.reshape(units, len(values)))


def condition_of(name: str, values: Sequence[str], rows: Ints) -> TableCondition | None:
    """Return a column as a condition, by its number of rows for each unit and value; else None."""
    if (rows > 0).mean() < _COVERED or _numbers_trials(name, values, int(rows.max())):
        return None
    if all(map(_is_numeric, values)) and not _is_balanced(rows):
        return None  # a score of another kind: 0 or 1 as it happens
    return TableCondition(name, tuple(values), bool((rows > 0).all()))


def _numbers_trials(name: str, values: Sequence[str], most_rows: int) -> bool:
    """Return whether a column only numbers the rows of each problem: 0, 1, 2, ..."""
    if most_rows > 1:
        return False
    counted = {str(number) for number in range(len(values) + 1)}
    return is_trial_name(name) or set(values) in (counted - {"0"}, counted - {str(len(values))})


def _is_numeric(value: str) -> bool:
    if value.strip().lower() in BOOLEAN:
        return True
    try:
        number(value)
    except ValueError:
        return False
    return True


def _is_balanced(rows: Ints) -> bool:
    """Return whether most problems have equal numbers of rows under each value, as if by design."""
    commonest = [np.bincount(counts).max() for counts in rows.T]
    return bool(min(commonest) >= _BALANCED * len(rows))

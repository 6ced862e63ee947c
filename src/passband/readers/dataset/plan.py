"""What to count in the files of a data set: the columns by role, and how each is numbered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from passband.column_names import matching
from passband.errors import InvalidInput
from passband.readers.dataset.schema import Schema
from passband.readers.options import Options
from passband.stats.data.columns import (
    CHOSEN,
    ROLES,
    SPLIT_BY,
    Roles,
    find_roles,
    require_column,
    score_columns,
)
from passband.stats.data.count_columns import may_count
from passband.stats.data.failed_rows import ERROR_NAMES
from passband.trials.rows import LOWER_IS_BETTER

__all__ = ["NotCounted", "Plan", "plan_of", "reason_against"]


class NotCounted(Exception):
    """Why the rows of a data set cannot be counted file by file; says what is not possible."""


@dataclass(frozen=True)
class Plan:
    """The columns to read, and what their footers say of them; it can be pickled."""

    roles: Roles
    keys: tuple[str, ...]  #: columns that may split the data set, those that were asked for first
    kinds: Mapping[str, str]
    bounds: Mapping[str, tuple[int, int] | None]
    threshold: float | None
    rows: int

    @property
    def columns(self) -> list[str]:
        """The columns of the files that are read."""
        roles = self.roles
        named = [roles.problem, roles.score, roles.trial, roles.status, *self.keys]
        return [name for name in dict.fromkeys(named) if name is not None and name in self.kinds]


def plan_of(schema: Schema, options: Options) -> Plan:
    """Find roles and columns to split by from names, and compare all files in these columns."""
    columns: Mapping[str, Sequence[object]] = dict.fromkeys(schema.names, ())
    chosen = {role: name for role, name in options.columns.items() if role != "cluster"}
    roles = find_roles(columns, chosen)
    named = dict.fromkeys(require_column(columns, "--by", name) for name in options.by)
    taken = {*vars(roles).values(), *named}
    keys = (*named, *(name for name in matching(columns, SPLIT_BY) if name not in taken))
    used = [name for name in (*vars(roles).values(), *keys) if name is not None]
    schema.require_same(used, roles.score)
    schema.refuse_nested(name for name in used if name != roles.score)
    real = [name for name in used if not schema.is_key(name)]
    if any(schema.is_key(n) for n in (roles.problem, roles.score, roles.trial, roles.status) if n):
        raise InvalidInput("a folder named key=value can only split a data set, not hold a role.")
    return Plan(
        roles,
        keys,
        {name: schema.kind(name) for name in real},
        {name: schema.bounds(name) for name in real},
        options.threshold,
        schema.rows,
    )


def reason_against(schema: Schema, options: Options) -> str | None:
    """Return why a data set cannot be counted, though it may be read whole; None if it can."""
    names = schema.names
    score = options.columns.get("score") or next(
        iter(score_columns(dict.fromkeys(names, ()))), None
    )
    clusters = [options.columns.get("cluster"), *matching(names, ROLES["cluster"])]
    reasons = {
        "votes need the answer of every trial": options.answers,
        "the first trials of each problem are chosen row by row": options.first is not None,
        "a judge's scores are corrected trial by trial": "judge" in options.columns
        or "label" in options.columns,
        "clusters of problems are read row by row": "cluster" in options.columns
        or any(name in names and not schema.is_empty(name) for name in clusters if name),
        "scores of which lower ones are better are cut row by row": options.threshold is not None
        and any(scale.lower_is_better for scale in options.scales.values()),
        "there is no column of scores with one row per trial": score is None,
        "columns may hold counts": score is not None and may_count(names, score),
        "errors keep failures apart row by row": any(
            not schema.is_empty(name) for name in matching(names, ERROR_NAMES)
        ),
        f"column {LOWER_IS_BETTER} says which scores are better": LOWER_IS_BETTER in names,
        "the responses of a sample log (column resps) are read row by row": "resps" in names,
        f"column {CHOSEN} marks an adaptive test": CHOSEN in names and not schema.is_empty(CHOSEN),
    }
    if score is not None:
        reasons["lists of scores are unfolded row by row"] = bool(
            matching(names, (f"{score}_repeats",))
        ) or (score in names and not schema.is_key(score) and schema.kind(score) == "nested")
    return next((reason for reason, holds in reasons.items() if holds), None)

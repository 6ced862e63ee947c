"""Tables of other shapes, unfolded into one row per trial.

A table may have a column per trial, counts of successes and trials, or a list of scores in a
cell, as the `exact_match_repeats` beside the `exact_match` of a sample log.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from passband.errors import InvalidInput
from passband.files import matching, normalized
from passband.stats.data.cells import is_absent, listing, parse_scores, shortened
from passband.stats.data.columns import ROLES, score_columns
from passband.stats.data.count_columns import CountColumns, count_columns, refuse_bare_counts

Columns = Mapping[str, Sequence[Any]]

#: What precedes the number in the names of a table with one column per trial.
_NUMBERED = frozenset(
    map(normalized, (*ROLES["trial"], *ROLES["score"], "run", "try", "response", "t", "r", ""))
)
COUNTS = "counts"  #: how the words begin that describe rows made from counts
_MOST_UNFOLDED = 20_000_000


class Unfolded(NamedTuple):
    """Hold columns with one row per trial, and a description of their source."""

    columns: Columns
    made_from: str


def unfold(columns: Columns, chosen: Mapping[str, str | None]) -> Unfolded | None:
    """Return the columns with one row per trial, or None where they have that already."""
    score = chosen.get("score") or chosen.get("judge")
    is_chosen = score is not None
    score = score or next(iter(score_columns(columns)), None)
    if not is_chosen and score is not None:
        counts = count_columns(columns, score, chosen.get("problem"))
        if counts is not None:
            return _from_counts(columns, counts)
    if score is not None:
        if score not in columns:
            return None
        answer = chosen.get("answer")
        answers = [answer] if answer else matching(columns, ROLES["answer"])
        unfolded = _from_lists(columns, score, [name for name in answers if name in columns])
        if unfolded is None and not is_chosen:
            refuse_bare_counts(columns, score)
        return unfolded
    wide = [name for name in columns if _is_numbered(name)]
    if len(wide) > 1:
        return _from_wide(columns, wide, bool(chosen.get("problem")))
    counts = count_columns(columns, None, chosen.get("problem"))
    return None if counts is None else _from_counts(columns, counts)


def _is_numbered(name: str) -> bool:
    shape = re.fullmatch(r"(.*?)\d+", normalized(name))
    return shape is not None and shape[1] in _NUMBERED


def _height(columns: Columns) -> int:
    return len(next(iter(columns.values())))


# -- a column per trial --------------------------------------------------------------------


def _from_wide(columns: Columns, wide: Sequence[str], has_problem: bool) -> Unfolded:
    others = {name: column for name, column in columns.items() if name not in wide}
    if not has_problem and not matching(others, ROLES["problem"]):
        others["problem"] = range(_height(columns))
    long = {name: [value for value in column for _ in wide] for name, column in others.items()}
    long["trial"] = list(wide) * _height(columns)
    by_row = zip(*[columns[name] for name in wide], strict=True)
    long["score"] = [score for row in by_row for score in row]
    return Unfolded(long, f"a column per trial: {listing(wide)}")


# -- counts --------------------------------------------------------------------------------


def _from_counts(columns: Columns, named: CountColumns) -> Unfolded:
    successes, trials = named.successes, named.others
    c, n = (parse_scores(name, columns[name]) for name in (successes, trials))
    if named.are_failures:
        n, trials = c + n, f"{successes} + {trials}"
    good = (n >= 1) & (c >= 0) & (c <= n) & (c == np.floor(c)) & (n == np.floor(n))
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        raise InvalidInput(
            f"counts must be whole, with {trials} >= 1 and 0 <= {successes} <= {trials}; "
            f"row {row + 1} has {successes} = {c[row]:g} and {trials} = {n[row]:g}."
        )
    if n.sum() > _MOST_UNFOLDED:
        raise InvalidInput(
            f"column {trials} adds up to {n.sum():.0f} trials, more than the {_MOST_UNFOLDED} "
            "that fit in a table; use Outcomes.from_counts."
        )
    counts = n.astype(np.int64)
    used = (named.successes, named.others)
    long = _repeated({k: v for k, v in columns.items() if k not in used}, counts)
    numbers = [trial for count in counts.tolist() for trial in range(count)]
    for trial in matching(long, ROLES["trial"])[:1]:
        long[trial] = [f"{old}.{new}" for old, new in zip(long[trial], numbers, strict=True)]
    long["score"] = [
        int(trial < c[row]) for row, count in enumerate(counts) for trial in range(count)
    ]
    return Unfolded(long, f"{COUNTS}: {successes} successes of {trials} trials")


def _repeated(columns: Columns, counts: Any) -> dict[str, list[Any]]:
    if not columns:
        return {}
    rows = np.repeat(np.arange(_height(columns)), counts).tolist()
    return {name: [column[row] for row in rows] for name, column in columns.items()}


# -- a list of scores in a cell ------------------------------------------------------------


def _from_lists(columns: Columns, score: str, answers: Sequence[str]) -> Unfolded | None:
    beside = matching(columns, (f"{score}_repeats",))
    for name in (*beside, score):
        lists = _lists(columns[name])
        if lists is not None:
            unfolded = _from_repeats(columns, score, name, lists)
            counts = _repeats(columns, score, lists)
            return _with_answers(unfolded, columns, answers, list(map(len, counts)))
    filled = [cell for name in beside for cell in columns[name] if not is_absent(cell)]
    if filled:
        raise InvalidInput(
            f"column {beside[0]} should list the scores of the repeats of {score}; "
            f"got {shortened(repr(filled[0]))}."
        )
    return None


def _from_repeats(
    columns: Columns, score: str, name: str, lists: Sequence[list[Any] | None]
) -> Unfolded:
    scores = _repeats(columns, score, lists)
    trial = next(iter(matching(columns, ROLES["trial"])), None)
    others = {k: v for k, v in columns.items() if k not in (score, name)}
    long = _repeated(others, [len(repeats) for repeats in scores])
    long[score] = [value for repeats in scores for value in repeats]
    numbers = [number for repeats in scores for number in range(len(repeats))]
    if trial is None:
        long["trial"] = numbers
    else:
        long[trial] = [f"{old}.{new}" for old, new in zip(long[trial], numbers, strict=True)]
    if not long[score]:
        raise InvalidInput(f"column {name} has no repeats in any row.")
    return Unfolded(long, f"repeats: {name} lists the scores of {score}, a trial each")


def _repeats(columns: Columns, score: str, lists: Sequence[list[Any] | None]) -> list[list[Any]]:
    """Return the scores of each row: its list, or the single score where it has none."""
    return [
        [single] if repeats is None else repeats
        for repeats, single in zip(lists, columns[score], strict=True)
    ]


def _with_answers(
    unfolded: Unfolded, columns: Columns, names: Sequence[str], counts: Sequence[int]
) -> Unfolded:
    """Unfold the lists of answers beside the lists of scores, where they are as long."""
    long = dict(unfolded.columns)
    for name in names:
        lists = _lists(columns[name]) or []
        flat = [_only(cells, count) for cells, count in zip(lists, counts, strict=False)]
        if flat and [len(cells) for cells in flat] == list(counts):
            long[name] = [cell for cells in flat for cell in cells]
    return unfolded._replace(columns=long)


def _only(cells: list[Any] | None, count: int) -> list[Any]:
    """Return the answers of a row; sample logs hold a list of them in a list."""
    if cells is None:
        return [None] * count
    nested = len(cells) == 1 and count != 1 and isinstance(cells[0], list)
    return cells[0] if nested else cells


def _lists(column: Sequence[Any]) -> list[list[Any] | None] | None:
    """Return the lists in a column, None for empty cells; None if it holds anything else."""
    lists: list[list[Any] | None] = []
    for cell in column:
        value = _parsed(cell) if isinstance(cell, str) else _plain(cell)
        if value is not None and not isinstance(value, list):
            return None
        lists.append(value)
    return lists if any(value is not None for value in lists) else None


def _plain(cell: Any) -> Any:
    return cell.tolist() if isinstance(cell, np.ndarray) else cell


def _parsed(text: str) -> Any:
    """Parse a bracketed list from a CSV cell; return other text unchanged."""
    stripped = text.strip()
    if not stripped:
        return None
    if not stripped.startswith("["):
        return text
    try:
        return json.loads(stripped.replace("True", "true").replace("False", "false"))
    except (ValueError, RecursionError):
        return text

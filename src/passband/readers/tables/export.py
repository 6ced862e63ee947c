"""Trials that `passband export` wrote, read back with every scorer, status and answer.

An export is a plain table too: options that name its columns have it read as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from passband.errors import InvalidInput
from passband.files import column_names, form_of, unguarded
from passband.readers.groups import Groups
from passband.readers.log import Log, Source
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.stats.data import (
    CHOSEN,
    UNSTATED,
    Scale,
    Table,
    error_prefix,
    is_absent,
    number,
    refuse_chosen,
)
from passband.trials import (
    LOWER_IS_BETTER,
    SCORE_STATUSES,
    STATUSES,
    ProblemRow,
    ScoreRow,
    TrialRow,
)

_COLUMNS = frozenset(
    ("task", "model", "problem_id", "trial", "status", "score", "score_status", "answer", "rule")
)
_MAIN = "score"  # an export does not name its main scorer
_OF_LOGS = ("task", "model", "scorer")

_REPEATED = (
    "row {} repeats trial ({}, {}) of an earlier row; each trial needs its own. If an export is "
    "there twice, take one away; two runs of a model are compared, not joined."
)

Columns = Mapping[str, Sequence[Any]]
Word = TypeVar("Word", bound=str)


@register_reader("export")
class Export:
    """Reads an export of passband, in JSON lines, CSV or Parquet."""

    def sniff(self, path: Path) -> bool:
        return form_of(path.name) is not None and is_export(column_names(path))

    def read(self, path: Path, options: Options) -> Groups | list[Log]:
        """Return a log for each task and model; a table, where options name other columns."""
        from passband.readers.tables.table import TableReader, read_table

        table = read_table(path)
        if not isinstance(table, Table):
            return TableReader().read(path, options)
        if form_of(path.name) in ("csv", "tsv"):
            table = _of_cells(table)
        return content_of_export(table, options, Source.of("export", path))


def is_export(names: Iterable[str]) -> bool:
    """Return whether columns are those of an export."""
    return set(names) >= _COLUMNS


def content_of_export(table: Table, options: Options, source: Source) -> Groups | list[Log]:
    """Return a log for each task and model; a table, where options name other columns."""
    from passband.readers.tables.table import groups_of_table

    by_column = set(options.columns) - {"score"} or set(options.by) - set(_OF_LOGS)
    if by_column or not _is_scorer(table, options.columns.get("score")):
        return groups_of_table(table, _directed(table, options), source.file)
    with error_prefix([source.file] if source.file else []):
        if missing := sorted(_COLUMNS - set(table.columns)):
            raise InvalidInput(f"is no export of passband; it lacks the column {missing[0]}.")
        runs = [_Rows(table.columns, rows) for rows in _runs(table.columns)]
        return [run.log(source) for run in runs if run.is_wanted(options.tasks)]


def _directed(table: Table, options: Options) -> Options:
    """Return the options with the direction of the columns of scores that state one.

    A table of several runs has one direction for all of them.
    """
    scales = dict(options.scales)
    for name, column in table.columns.items():
        head, _, scorer = name.partition(":")
        if head == LOWER_IS_BETTER and any(map(_is_true, column)):
            score = f"score:{scorer}" if scorer else _MAIN
            scales[score] = Scale(lower_is_better=True).joined(
                scales.get(score, UNSTATED), f"column {name}"
            )
    return replace(options, scales=scales)


def _is_true(cell: Any) -> bool:
    return str(cell).lower() == "true"


def _of_cells(table: Table) -> Table:
    """Return the columns with the guard against formulas undone; an empty cell is an absent one."""
    return replace(
        table,
        columns={
            name: [unguarded(cell) if cell[:1] == "'" else cell or None for cell in column]
            for name, column in table.columns.items()
        },
    )


def _is_scorer(table: Table, name: str | None) -> bool:
    """Return whether a name is that of a scorer, or of no column at all."""
    return name is None or name == _MAIN or name not in table.columns


def _runs(columns: Columns) -> list[list[int]]:
    """Return the rows of each task and model."""
    runs: dict[tuple[str, str], list[int]] = {}
    for row, key in enumerate(zip(columns["task"], columns["model"], strict=True)):
        runs.setdefault((str(key[0]), str(key[1])), []).append(row)
    return list(runs.values())


def _messages(prompt: str) -> list[Any]:
    """Return the messages of a prompt: one of the user, or the JSON list of several.

    >>> _messages("2+2"), _messages('[["system", "Be brief."], ["user", "2+2"]]')
    ([['user', '2+2']], [['system', 'Be brief.'], ['user', '2+2']])
    """
    if prompt.startswith('[["'):
        try:
            pairs = json.loads(prompt)
        except (ValueError, RecursionError):
            return [["user", prompt]]
        if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            return list(pairs)
    return [["user", prompt]]


class _Rows:
    """The rows of one task and model."""

    def __init__(self, columns: Columns, rows: list[int]) -> None:
        self._columns = columns
        self._rows = rows
        self._empty: Sequence[Any] = [None] * len(columns["task"])
        others = [name.partition(":")[2] for name in columns if name.startswith("score:")]
        used = [name for name in others if not all(map(is_absent, self._column(f"score:{name}")))]
        self._scorers = (_MAIN, *used)

    def is_wanted(self, tasks: Sequence[str]) -> bool:
        """Return whether the rows may be read; an adaptive test only where others are wanted."""
        if tasks and self._text("task", self._rows[0]) not in tasks:
            return CHOSEN not in self._columns
        refuse_chosen({CHOSEN: [self._cell(CHOSEN, row) for row in self._rows]})
        return True

    def log(self, source: Source) -> Log:
        """Return the rows as a log."""
        problem_of: dict[str, int] = {}
        problems: list[ProblemRow] = []
        trials: list[TrialRow] = []
        seen: set[tuple[int, int]] = set()
        for row in self._rows:
            key = self._text("problem_id", row) or ""
            if key not in problem_of:
                problem_of[key] = len(problems)
                problems.append(self._problem(len(problems), key, row))
            trials.append(self._trial(problem_of[key], row))
            place = trials[-1].problem, trials[-1].trial
            if place in seen and not is_absent(self._cell("trial", row)):
                raise InvalidInput(_REPEATED.format(row + 1, key, place[1]))
            seen.add(place)
        task, model = (self._text(name, self._rows[0]) or "" for name in ("task", "model"))
        suffixes = {name: f":{name}" if place else "" for place, name in enumerate(self._scorers)}
        scales = {
            name: Scale(lower_is_better=True)
            for name, suffix in suffixes.items()
            if _is_true(self._cell(f"{LOWER_IS_BETTER}{suffix}", self._rows[0]))
        }
        return Log(task, model, source, problems, trials, self._scorers, scales=scales)

    def _problem(self, position: int, key: str, row: int) -> ProblemRow:
        target, prompt = self._text("target", row), self._text("prompt", row)
        record: dict[str, Any] = {"targets": [] if target is None else [target]}
        if prompt is not None:
            record["messages"] = _messages(prompt)
        return ProblemRow(position, key, json.dumps(record), self._text("cluster", row))

    def _trial(self, problem: int, row: int) -> TrialRow:
        return TrialRow(
            problem=problem,
            trial=self._whole("trial", row) or 0,
            status=self._word("status", row, STATUSES),
            text=self._text("completion", row),
            reasoning=self._text("reasoning", row),
            prompt_tokens=self._whole("prompt_tokens", row),
            completion_tokens=self._whole("completion_tokens", row),
            latency_ms=self._whole("latency_ms", row),
            attempts=self._whole("attempts", row) or 1,
            seed=self._whole("seed", row),
            cost=self._number("cost", row),
            request_id=self._text("request_id", row),
            scores=[score for n in range(len(self._scorers)) for score in self._scores(n, row)],
            finish_reason=self._text("finish_reason", row),
            reasoning_tokens=self._whole("reasoning_tokens", row),
            cached_tokens=self._whole("cached_tokens", row),
        )

    def _scores(self, scorer: int, row: int) -> Iterator[ScoreRow]:
        suffix = f":{self._scorers[scorer]}" if scorer else ""
        value, status = self._number(f"score{suffix}", row), f"score_status{suffix}"
        if value is None and is_absent(self._cell(status, row)):
            return
        yield ScoreRow(
            scorer,
            value,
            "ok" if is_absent(self._cell(status, row)) else self._word(status, row, SCORE_STATUSES),
            self._text(f"answer{suffix}", row),
            self._text(f"rule{suffix}", row),
            self._text(f"detail{suffix}", row),
        )

    # -- cells -----------------------------------------------------------------------------

    def _column(self, name: str) -> list[Any]:
        return [self._cell(name, row) for row in self._rows]

    def _cell(self, name: str, row: int) -> Any:
        return self._columns.get(name, self._empty)[row]

    def _text(self, name: str, row: int) -> str | None:
        cell = self._cell(name, row)
        return None if cell is None else str(cell)

    def _number(self, name: str, row: int) -> float | None:
        cell = self._cell(name, row)
        if is_absent(cell):
            return None
        try:
            return number(cell)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(f"row {row + 1} has {name} {cell!r:.60}, not a number.") from None

    def _whole(self, name: str, row: int) -> int | None:
        cell = self._cell(name, row)
        if is_absent(cell):
            return None
        try:
            return int(cell)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(
                f"row {row + 1} has {name} {cell!r:.60}, not a whole number."
            ) from None

    def _word(self, name: str, row: int, words: Sequence[Word]) -> Word:
        cell = self._cell(name, row)
        for word in words:
            if word == cell:
                return word
        raise InvalidInput(
            f"row {row + 1} has {name} {cell!r:.60}; it must be one of {', '.join(words)}."
        )

"""Second readings of a data set: trials that occur twice, gaps, columns that are conditions.

The hashes of the trials of a cell add up to its fingerprint. That of consecutive trials is known
beforehand, so a cell whose sum is that one has each of them once; another set of trials has the
same sum with probability 2**-64. Only cells with another sum, or trials without a fingerprint, are
read again, and all their trials compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from passband.errors import InvalidInput
from passband.files import matching
from passband.readers.dataset.batches import DataPart, RowBatch, flags, labelled, numbers
from passband.readers.dataset.cells import CellIndex, problem_of_key
from passband.readers.dataset.codes import LabelCodes, PlaceCodes, trial_codes
from passband.readers.dataset.counting import DatasetTallies, RowCounter, mixed
from passband.readers.dataset.schema import CountPlan, Schema
from passband.readers.groups import Remark
from passband.stats.data import (
    SPLIT_BY,
    TableCondition,
    condition_candidates,
    condition_of,
    error_prefix,
    label,
    most_values,
    shortened,
)
from passband.types import Ints

LARGEST_MASK = 100_000_000  # pairs of a cell and a trial, a byte each
LARGEST_PART = 16_000_000  # pairs that are sorted at a time
LARGEST_SPAN = 1 << 22  # of trial numbers; what is spread further is an identifier, no numbering
MOST_LABELS = 5_000_000  # of trials that are text
LARGEST_CONDITIONS = 50_000_000  # cells by values
_SHOWN = 3
_LOCATED = 1000  # cells with duplicates among which the first ones are looked for
_NULL = 0x9E3779B97F4A7C15  # stands in for a trial that is null


def check_trials(
    parts: Sequence[DataPart], plan: CountPlan, tallies: DatasetTallies, split: Sequence[str]
) -> Remark | None:
    """Raise `InvalidInput` for a trial that occurs twice; return a remark where numbers have gaps.

    `tallies` are the counts of the same parts, and `split` the columns that set groups apart.
    """
    if plan.roles.trial is None:
        return None
    codes: PlaceCodes | LabelCodes | None = trial_codes(plan)
    if codes is None and plan.kinds[plan.roles.trial] != "integer":
        codes = LabelCodes()
    suspects = np.flatnonzero(_suspicious(tallies, codes))
    if not len(suspects):
        return None
    check = _Check(parts, plan, tallies, codes, suspects)
    spans = TrialSpans(len(suspects))
    repeated = check.repeated(spans)
    if len(repeated.cells):
        check.refuse(repeated, split)
    return None if isinstance(codes, LabelCodes) else check.gaps(spans)


def _suspicious(tallies: DatasetTallies, codes: PlaceCodes | LabelCodes | None) -> Any:
    """Return which cells may hold a trial twice, or lack one."""
    cells = tallies.cells
    if not isinstance(codes, PlaceCodes):
        several = cells.rows > 1
        return several if codes is not None else np.full(len(several), several.any())
    hashes = mixed(np.arange(codes.count))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes, dtype=np.uint64)])
    start = _least(tallies, codes)[cells.keys >> 32]
    end = np.minimum(start + cells.rows, codes.count)
    return (start + cells.rows > codes.count) | (cells.prints != sums[end] - sums[start])


def _least(tallies: DatasetTallies, codes: PlaceCodes) -> Ints:
    """Return the least trial of each group; 0 where none has a number."""
    assert tallies.starts is not None
    return np.where(tallies.starts < codes.count, tallies.starts, 0)


class TrialSpans:
    """Collects the first and the last trial number of some cells, and how many there are."""

    def __init__(self, cells: int) -> None:
        ends = np.iinfo(np.int64)
        self.first, self.last = np.full(cells, ends.max), np.full(cells, ends.min)
        self._trials = np.zeros(cells, dtype=np.int64)

    def add(self, cells: Ints, trials: Any) -> None:
        """Add rows: the cell of each, and its trial."""
        trials = trials.astype(np.int64)
        np.minimum.at(self.first, cells, trials)
        np.maximum.at(self.last, cells, trials)
        np.add.at(self._trials, cells, 1)

    def missing(self, start: Ints) -> Ints:
        """Return how many trials each cell lacks from `start` to its last, if none occurs twice."""
        spans = np.where(self._trials > 0, self.last - start + 1, 0)
        spans[(spans < 0) | (spans > LARGEST_SPAN)] = 0  # negative where it does not fit 64 bits
        return np.maximum(spans - self._trials, 0)


@dataclass(frozen=True)
class _Pairs:
    """Pairs of a cell, by its place among the suspects, and a trial."""

    cells: Ints
    trials: Any

    @classmethod
    def joined(cls, pieces: Sequence[_Pairs]) -> _Pairs:
        """Return the pairs of all pieces."""
        cells = np.concatenate([piece.cells for piece in pieces])
        return cls(cells, np.concatenate([piece.trials for piece in pieces]))

    def hashes(self) -> Any:
        """Return a hash of each pair.

        Trials are mixed first: a cell and a trial of the same number would be 0.
        """
        return mixed(self.cells.astype(np.uint64) ^ mixed(self.trials))


@dataclass(frozen=True)
class _Check:
    """The second reading of cells that may hold a trial twice."""

    parts: Sequence[DataPart]
    plan: CountPlan
    tallies: DatasetTallies
    codes: PlaceCodes | LabelCodes | None  #: of trials; None for integers of any size
    suspects: Ints  #: their places among the cells of the tallies

    def _rows(self, spans: TrialSpans | None = None) -> Iterator[tuple[RowBatch, Ints, Ints, Any]]:
        """Yield batches; of the rows of suspects in each the number, the suspect and the trial.

        A trial is its code, or else its own number, as uint64. Numbers are added to the spans.
        """
        index = CellIndex(self.tallies.cells.keys[self.suspects])
        for batch, keys in RowCounter(self.plan, self.tallies).keyed(self.parts):
            cells = index.find(keys)
            rows = np.flatnonzero(cells >= 0)
            cells, array = cells[rows], batch.columns[str(self.plan.roles.trial)]
            trials = self._trials(array)[rows]
            if spans is not None and not isinstance(self.codes, LabelCodes):
                valid = ~flags(array.is_null())[rows] if array.null_count else slice(None)
                spans.add(cells[valid], trials[valid])
            yield batch, rows, cells, trials

    def _trials(self, array: Any) -> Any:
        if self.codes is None:
            return _integers(array)
        if isinstance(self.codes, PlaceCodes):
            return self.codes.look_up(array).astype(np.uint64)
        codes = self.codes.complete(self.codes.look_up(array))
        if len(self.codes) > MOST_LABELS:
            raise InvalidInput(
                f"the column of trials has more than {MOST_LABELS:,} different texts; write them "
                "as integers, or leave the column out with another one as trial."
            )
        return codes.astype(np.uint64)

    def repeated(self, spans: TrialSpans) -> _Pairs:
        """Return the pairs that occur more than once, and fill the spans.

        Pairs are sorted part by part; a part is those whose hash has a certain remainder.
        """
        if self._are_distinct(spans):
            return _Pairs(np.zeros(0, np.int32), np.zeros(0, np.uint64))
        count = -(-int(self.tallies.cells.rows[self.suspects].sum()) // LARGEST_PART)
        parts = [self._repeated(part, count, None if part else spans) for part in range(count)]
        return _Pairs.joined(parts)

    def _are_distinct(self, spans: TrialSpans) -> bool:
        """Return whether a table of all pairs, where there is room for one, has each only once."""
        codes, count = self.codes, 0
        if not isinstance(codes, PlaceCodes) or len(self.suspects) * len(codes) > LARGEST_MASK:
            return False
        seen = np.zeros(len(self.suspects) * len(codes), dtype=bool)
        for _, rows, cells, trials in self._rows(spans):
            seen[cells * len(codes) + trials.astype(np.int64)] = True
            count += len(rows)
        return int(np.count_nonzero(seen)) == count

    def _repeated(self, part: int, count: int, spans: TrialSpans | None) -> _Pairs:
        pieces = []
        for _, _, cells, trials in self._rows(spans):
            piece = _Pairs(cells.astype(np.int32), trials)
            mine = piece.hashes() % np.uint64(count) == part
            pieces.append(_Pairs(piece.cells[mine], trials[mine]))
        pairs = _Pairs.joined(pieces)
        order = np.argsort(pairs.hashes())
        cells, trials = pairs.cells[order], pairs.trials[order]
        same = (cells[1:] == cells[:-1]) & (trials[1:] == trials[:-1])
        starts = np.flatnonzero(same & ~np.concatenate([[False], same[:-1]]))
        return _Pairs(cells[starts], trials[starts])

    # -- what is reported ------------------------------------------------------------------

    def refuse(self, repeated: _Pairs, split: Sequence[str]) -> NoReturn:
        """Raise `InvalidInput` with the first pairs of the first group, and their files."""
        keys, first = (getattr(self.tallies.cells, n)[self.suspects] for n in ("keys", "first"))
        groups = keys[repeated.cells] >> 32
        least = np.full(len(self.tallies.groups.labels), np.iinfo(np.int64).max)
        np.minimum.at(least, self.tallies.cells.keys >> 32, self.tallies.cells.first)
        group = int(groups[np.argmin(least[groups])])
        is_mine = groups == group
        cells = np.unique(repeated.cells[is_mine])
        cells = cells[np.argsort(first[cells])][:_LOCATED]
        is_located = np.isin(repeated.cells, cells)
        names, files = self._located(
            _Pairs(repeated.cells[is_located], repeated.trials[is_located])
        )
        more = int(is_mine.sum()) - len(names)
        roles, labels = self.plan.roles, self.tallies.groups.labels[group]
        own = dict(zip(self.plan.keys, labels, strict=True))
        with error_prefix([own[name] for name in split]):
            raise InvalidInput(
                f"each trial needs its own row; ({roles.problem}, {roles.trial}) is repeated for "
                f"{'; '.join(names)}{f' and {more:,} more' if more > 0 else ''} "
                f"({_listed(files)}). If the data set holds several models or tasks, split "
                "it by that column; if a file is there twice, take one away."
            )

    def _located(self, repeated: _Pairs) -> tuple[list[str], list[str]]:
        """Return the names of the first pairs in the order of rows, and the files they are in."""
        names: dict[int, str] = {}
        files: dict[str, None] = {}
        wanted = repeated.hashes()
        for batch, rows, cells, trials in self._rows():
            hashes = _Pairs(cells, trials).hashes()
            wanted = wanted if len(names) < _SHOWN else np.array([*names], dtype=np.uint64)
            for at in np.flatnonzero(np.isin(hashes, wanted)).tolist():
                code = int(hashes[at])
                if code not in names and len(names) == _SHOWN:
                    continue
                trial = batch.columns[str(self.plan.roles.trial)][int(rows[at])].as_py()
                text = f"({self._problem(int(cells[at]))}, {shortened(label(trial))})"
                names.setdefault(code, text)
                files[str(batch.part.file)] = None
        return list(names.values()), list(files)

    def gaps(self, spans: TrialSpans) -> Remark | None:
        """Return a remark if cells lack trials below their last one."""
        groups = self.tallies.cells.keys[self.suspects] >> 32
        if isinstance(self.codes, PlaceCodes):
            low, least = self.codes.low, _least(self.tallies, self.codes)
        else:  # all cells are suspects
            low, least = 0, np.full(len(self.tallies.groups.labels), np.iinfo(np.int64).max)
            np.minimum.at(least, groups, spans.first)
        start = least[groups]
        missing = spans.missing(start)
        lacking = np.flatnonzero(missing)
        if not len(lacking):
            return None
        first = int(lacking[np.argmin(self.tallies.cells.first[self.suspects[lacking]])])
        example = low + self._first_missing(first, int(start[first]))
        return Remark(
            f"column {self.plan.roles.trial} has gaps: {int(missing.sum()):,} trials below the "
            f"last one are missing, of {len(lacking):,} problems (such as {example} of "
            f"{self._problem(first)})",
            important=True,
        )

    def _first_missing(self, cell: int, start: int) -> int:
        """Return the first number from `start` that no trial of a cell has."""
        own = replace(self, suspects=self.suspects[[cell]])
        numbers = [trials.astype(np.int64) for *_, trials in own._rows()]
        above = np.unique(np.concatenate(numbers)) - start
        above = above[above >= 0]
        return start + int(np.argmax(np.append(above, -1) != np.arange(len(above) + 1)))

    def _problem(self, cell: int) -> str:
        key = self.tallies.cells.keys[self.suspects[cell]]
        return shortened(self.tallies.problems.labels([int(problem_of_key(key))])[0])


def _integers(array: Any) -> Any:
    """Return integers of any size as uint64."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.null_count == len(array):
        return np.full(len(array), _NULL, dtype=np.uint64)
    values = numbers(array.fill_null(0) if array.null_count else array).astype(np.uint64)
    if array.null_count:
        values[flags(array.is_null())] = _NULL
    return values


def _listed(files: list[str]) -> str:
    return f"in {', '.join(files[:4])}{f' and {len(files) - 4} more' if len(files) > 4 else ''}"


# -- conditions ----------------------------------------------------------------------------


def condition_remarks(
    parts: Sequence[DataPart],
    schema: Schema,
    plan: CountPlan,
    tallies: DatasetTallies,
    split: Sequence[str],
) -> Iterator[Remark]:
    """Yield a remark on each column that sets apart what is pooled as trials."""
    units = len(tallies.cells.keys)
    most = most_values(tallies.rows, units)
    skip = {*split, *vars(plan.roles).values(), *matching(schema.names, SPLIT_BY)}
    names = [name for name in condition_candidates(schema.names, skip) if _is_same(schema, name)]
    if most < 2 or not names:
        return
    names = _with_few_values(parts, names, most)
    unchecked = [name for name in names if units * most > LARGEST_CONDITIONS]
    if unchecked:
        yield Remark(
            f"too many problems to see whether trials should be split by {', '.join(unchecked)}; "
            "if so, say --by",
            important=True,
        )
        return
    tables = {name: _ValueCounts(units, most) for name in names}
    _fill(tables, parts, plan, tallies)
    for name, table in tables.items():
        if (condition := table.condition(name)) is not None:
            yield Remark(str(condition), important=True)


def _is_same(schema: Schema, name: str) -> bool:
    """Return whether a column is in every file, with single values of one type."""
    if schema.is_key(name):
        return True
    kinds = {footer.kinds.get(name, "absent") for footer in schema.footers} - {"null"}
    return len(kinds) == 1 and kinds.isdisjoint({"nested", "absent"})


def _with_few_values(parts: Sequence[DataPart], names: list[str], most: int) -> list[str]:
    """Leave out columns that have many values in the first batch; texts go at once."""
    for part in parts:
        keys = {name for name, _ in part.file.keys}
        columns = [name for name in names if name not in keys]
        with part.file.opened() as file:
            batch = next(file.iter_batches(1024, columns=columns), None)
        if batch is not None and batch.num_rows:
            few = {n for n in columns if len(batch.column(n).unique()) <= most}
            return [name for name in names if name in few or name in keys]
    return []


def _fill(
    tables: dict[str, _ValueCounts],
    parts: Sequence[DataPart],
    plan: CountPlan,
    tallies: DatasetTallies,
) -> None:
    index = CellIndex(tallies.cells.keys)
    real = [name for name in tables if name not in dict(parts[0].file.keys)]
    for batch, keys in RowCounter(plan, tallies).keyed(parts, real):
        units, folders = index.find(keys), dict(batch.part.file.keys)
        for name, table in tables.items():
            if name in batch.columns:
                table.add(units, *labelled(batch.columns[name]))
            else:
                table.add(units, [label(folders[name])], np.zeros(1, dtype=np.int64))


class _ValueCounts:
    """The number of rows of each cell under each value of a column, while values are few."""

    def __init__(self, units: int, most: int) -> None:
        self._most = most
        self._codes = LabelCodes()
        self._rows = np.zeros((units, most), dtype=np.int32)

    def add(self, units: Ints, labels: list[str], places: Ints) -> None:
        """Add rows: the cell of each, and the place of its label, or that of all of them."""
        if len(self._codes) > self._most:
            return
        used = np.unique(places)
        codes = np.zeros(len(labels), dtype=np.int64)
        codes[used] = self._codes.codes_of([labels[place] for place in used])
        if len(self._codes) <= self._most:
            np.add.at(self._rows, (units, codes[places]), 1)

    def condition(self, name: str) -> TableCondition | None:
        """Return the condition that the values are, if they are one."""
        count = len(self._codes)
        if not 2 <= count <= self._most:
            return None
        return condition_of(name, self._codes.labels(range(count)), self._rows[:, :count])

"""Files of a data set in, counts per group and problem out.

What a file gives is a `DatasetTallies`, which can be pickled and added to others, so that another
machine can count a file: `count_files` takes the `map` that does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from passband.errors import InvalidInput
from passband.readers.dataset.address import require_key
from passband.readers.dataset.batches import DataPart, RowBatch, labelled, numbers, prepared
from passband.readers.dataset.cells import (
    SCORELESS,
    CellCounts,
    CellGrid,
    pack,
    problem_of_key,
    summed,
)
from passband.readers.dataset.codes import (
    GroupCodes,
    LabelCodes,
    OutOfRange,
    PlaceCodes,
    RowKeys,
    problem_codes,
    trial_codes,
)
from passband.readers.dataset.schema import CountPlan
from passband.readers.dataset.scores import RowStates, states_of
from passband.stats.data import is_nameless
from passband.types import Ints

_MOST_STATUSES = 1000
_PENDING = 1_000_000  # cells without a score that are collected before they are added up

Map = Callable[[Callable[[DataPart], "DatasetTallies"], Sequence[DataPart]], Iterable[Any]]


@dataclass(frozen=True)
class DatasetTallies:
    """Counts of some files; the keys of cells have the codes of problems and groups."""

    problems: PlaceCodes | LabelCodes
    groups: GroupCodes
    cells: CellCounts
    unscored: Any = None  #: table of rows without a score: status, key of the cell, count, first
    graded: frozenset[int] = frozenset()  #: groups with scores other than 0 and 1
    starts: Ints | None = None  #: code of the least trial of each group, where trials have codes
    rows: int = 0


def count_files(
    parts: Sequence[DataPart], plan: CountPlan, map: Map | None = None
) -> DatasetTallies:
    """Count the rows of files.

    With `map`, which is called like the built-in one, each file is counted by its own call of
    `count_file`, wherever that runs; without, all in this process.
    """
    if map is None:
        counter = RowCounter(plan)
        counter.count(parts)
        tallies = counter.tallies()
    else:
        tallies = merged(list(map(partial(count_file, plan=plan), parts)), plan)
    _refuse_nameless(parts, plan, tallies)
    return tallies


def count_file(part: DataPart, plan: CountPlan) -> DatasetTallies:
    """Count the rows of one file."""
    counter = RowCounter(plan)
    counter.count([part])
    return counter.tallies()


def mixed(values: Any) -> Any:
    """Return integers as random ones: the finalizer of SplitMix64, which is one to one.

    >>> len(set(mixed(np.arange(1000)).tolist()))
    1000
    """
    z = np.asarray(values).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class _Prepared:
    """What is found out about a batch in other threads."""

    problems: Any  #: what their codes look up
    keys: RowKeys
    states: RowStates | None = None
    trials: Ints | None = None  #: codes, where trials have some


class RowCounter:
    """Counts the rows of files, in their order."""

    def __init__(self, plan: CountPlan, known: DatasetTallies | None = None) -> None:
        self._plan = plan
        self._problems = problem_codes(plan) if known is None else known.problems
        self._groups = GroupCodes(plan.keys) if known is None else known.groups
        self._trials = trial_codes(plan)
        width = len(self._problems) if isinstance(self._problems, PlaceCodes) else 1024
        self._cells = CellGrid(width, prints=self._trials is not None, rows=plan.rows)
        trials = 0 if self._trials is None else self._trials.count
        self._hashes = mixed(np.arange(trials + 1))
        self._none = trials  # the code of null
        self._least = np.zeros(0, dtype=np.int64)  # trial of each group
        self._unscored: list[Any] = []
        self._graded: set[int] = set()
        self._rows = 0

    def count(self, parts: Sequence[DataPart]) -> None:
        """Count the rows of these files."""
        for batch, ready in prepared(parts, self._plan.columns, self._prepare):
            with _errors_of(batch):
                self._add(batch, ready)

    def keyed(
        self, parts: Sequence[DataPart], columns: Sequence[str] = ()
    ) -> Iterator[tuple[RowBatch, Ints]]:
        """Read files that have been counted again; yield batches, and the cell of each row."""
        plan = self._plan
        names = dict.fromkeys([plan.roles.problem, *plan.columns, *columns])
        for batch, ready in prepared(parts, list(names), self._look_up):
            problems = self._problems.complete(ready.problems)
            yield batch, pack(self._groups.complete(ready.keys), problems)

    def tallies(self) -> DatasetTallies:
        """Return what was counted."""
        return DatasetTallies(
            self._problems,
            self._groups,
            self._cells.counts(),
            summed(self._unscored, ["status", "key"]) if self._unscored else None,
            frozenset(self._graded),
            None if self._trials is None else self._least[: len(self._groups.labels)],
            self._rows,
        )

    def _look_up(self, batch: RowBatch) -> _Prepared:
        problems = self._problems.look_up(batch.columns[self._plan.roles.problem])
        return _Prepared(problems, RowKeys(batch, self._plan.keys))

    def _prepare(self, batch: RowBatch) -> _Prepared:
        for name, value in batch.part.file.keys:
            if name in batch.columns:
                require_key(batch.part.file, name, value, batch.columns[name].unique())
        roles = self._plan.roles
        with _errors_of(batch):
            array = batch.columns[roles.problem]
            if array.null_count:
                row = int(np.flatnonzero(np.asarray(array.is_null()))[0])
                raise InvalidInput(f"{batch.place(row)}: column {roles.problem} is empty.")
            states = states_of(batch, self._plan)
            trials = None
            if self._trials is not None:
                trials = self._trials.look_up(batch.columns[str(roles.trial)])
            found = self._look_up(batch)
            return _Prepared(found.problems, found.keys, states, trials)

    def _add(self, batch: RowBatch, ready: _Prepared) -> None:
        problems = self._problems.complete(ready.problems)
        groups = self._groups.complete(ready.keys)
        assert ready.states is not None
        states = ready.states.states
        hashes = None if ready.trials is None else self._hashes[ready.trials]
        self._cells.add(groups, problems, states, hashes, batch.first_row)
        if ready.trials is not None:
            self._note_least(groups, ready.trials)
        self._rows += batch.rows
        if ready.states.has_missing:
            self._add_unscored(batch, pack(groups, problems), np.flatnonzero(states == SCORELESS))
        if ready.states.graded is not None:
            rows = np.broadcast_to(groups, batch.rows)[ready.states.graded]
            self._graded.update(np.unique(rows).tolist())

    def _note_least(self, groups: Ints | int, trials: Ints) -> None:
        more = int(np.max(groups)) + 1 - len(self._least)
        if more > 0:
            room = max(more, len(self._least))
            self._least = np.concatenate([self._least, np.full(room, self._none)])
        if isinstance(groups, int):
            self._least[groups] = min(int(self._least[groups]), int(trials.min()))
        elif (is_open := self._least[groups] > 0).any():
            np.minimum.at(self._least, groups[is_open], trials[is_open].astype(np.int64))

    def _add_unscored(self, batch: RowBatch, keys: Ints, rows: Ints) -> None:
        import pyarrow as pa

        name = self._plan.roles.status
        values = pa.nulls(len(rows)) if name is None else batch.columns[name].take(rows)
        labels, places = labelled(values)
        table = pa.table(
            {
                "status": pa.array(labels, pa.large_string()).take(pa.array(places)),
                "key": keys[rows],
                "count": np.ones(len(rows), dtype=np.int64),
                "first": batch.first_row + rows,
            }
        )
        self._unscored.append(summed([table], ["status", "key"]))
        if sum(map(len, self._unscored[1:])) > max(_PENDING, len(self._unscored[0])):
            self._unscored = [summed(self._unscored, ["status", "key"])]
        if len(self._unscored[-1]["status"].unique()) > _MOST_STATUSES:
            raise InvalidInput(
                f"column {name} has more than {_MOST_STATUSES} different statuses; choose the "
                "column with --status."
            )


@contextmanager
def _errors_of(batch: RowBatch) -> Iterator[None]:
    """Name the file in errors that broken files lead to."""
    try:
        yield
    except OutOfRange:
        raise InvalidInput(
            f"{batch.part.file}: its footer gives a wrong range of integers; write it again."
        ) from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{batch.part.file}: has text that is not UTF-8: {error}.") from None


def _refuse_nameless(parts: Sequence[DataPart], plan: CountPlan, tallies: DatasetTallies) -> None:
    """Raise `InvalidInput` with the first row whose problem is named by blanks."""
    if isinstance(tallies.problems, PlaceCodes):
        return
    problems = problem_of_key(tallies.cells.keys)
    labels = tallies.problems.labels(range(len(tallies.problems)))
    nameless = [code for code, text in enumerate(labels) if is_nameless(text)]
    if nameless and len(first := tallies.cells.first[np.isin(problems, nameless)]):
        row = int(first.min())
        part = next(part for part in reversed(parts) if part.first_row <= row and part.rows)
        name, place = plan.roles.problem, RowBatch(part, 0, {}, 0).place(row - part.first_row)
        raise InvalidInput(f"{place}: column {name} is empty.")


# -- several files -------------------------------------------------------------------------


def merged(parts: Sequence[DatasetTallies], plan: CountPlan) -> DatasetTallies:
    """Return the sums of tallies, whose problems and groups are numbered differently."""
    import pyarrow as pa

    problems, groups = problem_codes(plan), GroupCodes(plan.keys)
    cells, unscored, graded, starts = [], [], set(), []
    for part in parts:
        own_groups = groups.codes_of(part.groups.labels)
        renumbered = partial(_renumbered, groups=own_groups, problems=_codes(problems, part))
        cells.append(CellCounts(**(vars(part.cells) | {"keys": renumbered(part.cells.keys)})))
        if (table := part.unscored) is not None:
            keys = renumbered(numbers(table["key"].combine_chunks()))
            unscored.append(table.set_column(1, "key", pa.array(keys)))
        graded |= {int(own_groups[group]) for group in part.graded}
        if part.starts is not None:
            starts.append((own_groups, part.starts))
    least: Ints | None = None
    if (trials := trial_codes(plan)) is not None:
        least = np.full(len(groups.labels), trials.count)
        for own_groups, own in starts:
            np.minimum.at(least, own_groups, own)
    return DatasetTallies(
        problems,
        groups,
        CellCounts.merged(cells),
        summed(unscored, ["status", "key"]) if unscored else None,
        frozenset(graded),
        least,
        sum(part.rows for part in parts),
    )


def _codes(problems: PlaceCodes | LabelCodes, part: DatasetTallies) -> Ints | None:
    """Return the codes of the problems of a part; None if they are the same."""
    if isinstance(problems, PlaceCodes):
        return None
    return problems.codes_of(part.problems.labels(range(len(part.problems))))


def _renumbered(keys: Ints, groups: Ints, problems: Ints | None) -> Ints:
    own = problem_of_key(keys)
    packed: Ints = pack(groups[keys >> 32], own if problems is None else problems[own])
    return packed

"""Files of a data set in, counts per group and problem out.

What a file gives is a `Tallies`, which can be pickled and added to others, so that another machine
can count a file: `count_files` takes the `map` that does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from passband.errors import InvalidInput
from passband.readers.dataset.batches import Batch, Part, prepared
from passband.readers.dataset.cells import CellCounts, Cells, pack, problem_of_key
from passband.readers.dataset.coder import (
    Coder,
    IntegerCoder,
    LabelCoder,
    OutOfRange,
    problem_coder,
)
from passband.readers.dataset.first_trials import FirstTrials
from passband.readers.dataset.folder_keys import require_key
from passband.readers.dataset.grouping import Grouping
from passband.readers.dataset.plan import Plan
from passband.readers.dataset.states import MISSING_STATE, States, states_of
from passband.readers.dataset.trial_hash import LabelHash, NumberHash, TableHash, hash_for
from passband.stats.data.cells import is_nameless
from passband.types import Ints

__all__ = ["Counter", "Tallies", "Unscored", "count_file", "count_files"]

Map = Callable[[Callable[[Part], "Tallies"], Sequence[Part]], Iterable["Tallies"]]


@dataclass(frozen=True)
class Unscored:
    """The rows without a score that have one status."""

    keys: Ints  #: of cells
    counts: Ints
    first: dict[int, int]  #: by group, the number of its first such row


@dataclass(frozen=True)
class Tallies:
    """Counts of some files; `cells` has numbers of `groups` and `problems` in its keys."""

    problems: list[str]
    groups: list[tuple[str, ...]]  #: labels of the columns that may split
    cells: CellCounts
    unscored: dict[str, Unscored] = field(default_factory=dict)
    graded: frozenset[int] = frozenset()  #: groups with scores other than 0 and 1
    starts: dict[int, int] = field(default_factory=dict)  #: least trial of a group, if in a table
    rows: int = 0


def count_files(parts: Sequence[Part], plan: Plan, map: Map | None = None) -> Tallies:
    """Count the rows of files.

    With `map`, which is called like the built-in one, each file is counted by its own call of
    `count_file`, wherever that runs; without, all in this process.
    """
    if map is None:
        counter = Counter(plan)
        counter.count(parts)
        return counter.tallies()
    return merged(list(map(partial(count_file, plan=plan), parts)))


def count_file(part: Part, plan: Plan) -> Tallies:
    """Count the rows of one file."""
    counter = Counter(plan)
    counter.count([part])
    return counter.tallies()


@dataclass(frozen=True)
class _Prepared:
    """What other threads find out about a batch."""

    problems: Any
    keys: Any
    states: States
    trials: Any  #: their places in a table of hashes, if there is one
    hashes: Any  #: of trials, unless they are text


class Counter:
    """Counts the rows of files, in their order."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        name = plan.roles.problem
        self._problems: Coder = problem_coder(plan.kinds[name], plan.bounds[name], plan.rows)
        self._grouping = Grouping(plan)
        trial = plan.roles.trial
        self._hash = None if trial is None else hash_for(plan.kinds[trial], plan.bounds[trial])
        width = 1024
        if isinstance(self._problems, IntegerCoder) and (ends := plan.bounds[name]) is not None:
            width = min(ends[1] - ends[0] + 2, 1 << 20)
        self._cells = Cells(width, prints=trial is not None, rows=plan.rows)
        self._statuses: dict[str, list[tuple[Ints, Ints]]] = {}
        self._first: dict[str, dict[int, int]] = {}
        self._words = LabelCoder()
        self._graded: set[int] = set()
        self._first_trials = FirstTrials(getattr(self._hash, "count", 0))
        self._rows = 0

    @classmethod
    def restored(cls, plan: Plan, tallies: Tallies) -> Counter:
        """Return a counter that numbers problems and groups as tallies do."""
        counter = cls(plan)
        counter._problems.restore(tallies.problems)
        counter._grouping.restore(tallies.groups)
        return counter

    def count(self, parts: Sequence[Part]) -> None:
        """Count the rows of these files."""
        for batch, ready in prepared(parts, self._plan.columns, self._prepare):
            with _errors_of(batch):
                self._add(batch, ready)

    def cell_keys(self, batch: Batch) -> Ints:
        """Return the key of the cell of each row, of files that have been counted."""
        array = batch.columns[self._plan.roles.problem]
        problems = self._problems.complete(array, self._problems.look_up(array))
        groups = self._grouping.complete(batch, self._grouping.look_up(batch))
        keys: Ints = pack(groups.of_rows(), problems)
        return keys

    def tallies(self) -> Tallies:
        """Return what was counted."""
        return Tallies(
            self._problems.labels(),
            self._grouping.labels(),
            self._cells.counts(),
            {word: self._unscored(word) for word in self._statuses},
            frozenset(self._graded),
            self._first_trials.by_group(),
            self._rows,
        )

    def _prepare(self, batch: Batch) -> _Prepared:
        for name, value in batch.part.file.keys:
            if name in batch.columns:
                require_key(batch.part.file, name, value, batch.columns[name].unique())
        with _errors_of(batch):
            return _Prepared(
                self._problems.look_up(batch.columns[self._plan.roles.problem]),
                self._grouping.look_up(batch),
                states_of(batch, self._plan),
                *self._looked_up_trials(batch),
            )

    def _add(self, batch: Batch, ready: _Prepared) -> None:
        roles = self._plan.roles
        array = batch.columns[roles.problem]
        if array.null_count:
            row = int(np.flatnonzero(np.asarray(array.is_null()))[0])
            raise InvalidInput(f"{batch.place(row)}: column {roles.problem} is empty.")
        refuse = partial(self._refuse_absent, batch)
        problems = self._problems.complete(array, ready.problems, refuse)
        groups = self._grouping.complete(batch, ready.keys)
        hashes = ready.hashes
        if isinstance(self._hash, LabelHash):
            hashes = self._hash.hashes(batch.columns[str(roles.trial)])
        for group, rows in groups.pieces():
            own = None if hashes is None else hashes[rows]
            states = ready.states.states[rows]
            self._cells.add(group, problems[rows], states, own, batch.first_row + rows.start)
            if ready.trials is not None:
                self._first_trials.add(group, ready.trials[rows])
        self._rows += batch.rows
        if ready.states.has_missing:
            self._add_unscored(batch, groups.of_rows(), problems, ready.states)
        if ready.states.graded is not None:
            self._graded.update(np.unique(groups.of_rows()[ready.states.graded]).tolist())

    def _looked_up_trials(self, batch: Batch) -> tuple[Any, Any]:
        """Return the places and the hashes of trials, as far as other threads can find them."""
        if isinstance(self._hash, TableHash):
            places = self._hash.places(batch.columns[str(self._plan.roles.trial)])
            return places, self._hash.at(places)
        if isinstance(self._hash, NumberHash):
            return None, self._hash.hashes(batch.columns[str(self._plan.roles.trial)])
        return None, None  # labels get their numbers in the order of rows

    def _refuse_absent(self, batch: Batch, labels: list[str], rows: Ints) -> None:
        for text, row in zip(labels, rows.tolist(), strict=True):
            if is_nameless(text):
                name = self._plan.roles.problem
                raise InvalidInput(f"{batch.place(row)}: column {name} is empty.")

    # -- rows without a score --------------------------------------------------------------

    def _add_unscored(self, batch: Batch, groups: Ints, problems: Ints, states: States) -> None:
        rows = np.flatnonzero(states.states == MISSING_STATE)
        groups = groups[rows]
        keys = pack(groups, problems[rows])
        codes = self._status_codes(batch, rows)
        words = self._words.labels()
        for code in np.unique(codes).tolist():
            mine = codes == code
            self._statuses.setdefault(words[code], []).append(
                np.unique(keys[mine], return_counts=True)
            )
            own, first = np.unique(groups[mine], return_index=True)
            seen = self._first.setdefault(words[code], {})
            for group, row in zip(own.tolist(), rows[mine][first].tolist(), strict=True):
                seen.setdefault(group, batch.first_row + row)
            if len(self._statuses[words[code]]) > 64:
                self._statuses[words[code]] = [_summed(self._statuses[words[code]])]

    def _status_codes(self, batch: Batch, rows: Ints) -> Ints:
        name = self._plan.roles.status
        if name is None:
            return np.zeros(len(rows), dtype=np.int64) + _only_missing(self._words)
        array = batch.columns[name].take(rows)
        codes = self._words.complete(array, self._words.look_up(array))
        if len(self._words) > _MOST_STATUSES:
            raise InvalidInput(
                f"column {name} has more than {_MOST_STATUSES} different statuses; choose the "
                "column with --status."
            )
        return codes

    def _unscored(self, word: str) -> Unscored:
        keys, counts = _summed(self._statuses[word])
        return Unscored(keys, counts, self._first[word])


_MOST_STATUSES = 1000


@contextmanager
def _errors_of(batch: Batch) -> Iterator[None]:
    """Name the file in errors that broken files lead to."""
    try:
        yield
    except OutOfRange:
        raise InvalidInput(
            f"{batch.part.file}: its footer gives a wrong range of integers; write it again."
        ) from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{batch.part.file}: has text that is not UTF-8: {error}.") from None


def _only_missing(words: LabelCoder) -> int:
    """Return the number of the status of rows without any."""
    import pyarrow as pa

    return int(words.complete(pa.array([""]), None)[0])


def _summed(parts: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    keys, inverse = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, inverse, np.concatenate([counts for _, counts in parts]))
    return keys, counts


# -- several files -------------------------------------------------------------------------


def merged(parts: Sequence[Tallies]) -> Tallies:
    """Return the sums of tallies, whose problems and groups are numbered differently."""
    problem_of: dict[str, int] = {}
    group_of: dict[tuple[str, ...], int] = {}
    cells: list[CellCounts] = []
    unscored: dict[str, list[Unscored]] = {}
    graded: set[int] = set()
    starts: dict[int, int] = {}
    for part in parts:
        problems = _numbers(part.problems, problem_of)
        groups = _numbers(part.groups, group_of)
        renumbered = partial(_renumbered, groups=groups, problems=problems)
        cells.append(CellCounts(**(vars(part.cells) | {"keys": renumbered(part.cells.keys)})))
        for word, one in part.unscored.items():
            first = {int(groups[group]): row for group, row in one.first.items()}
            unscored.setdefault(word, []).append(Unscored(renumbered(one.keys), one.counts, first))
        graded |= {int(groups[group]) for group in part.graded}
        for group, start in part.starts.items():
            number = int(groups[group])
            starts[number] = min(start, starts.get(number, start))
    return Tallies(
        list(problem_of),
        list(group_of),
        CellCounts.merged(cells),
        {word: _joined(each) for word, each in unscored.items()},
        frozenset(graded),
        starts,
        sum(part.rows for part in parts),
    )


def _numbers(labels: Sequence[Any], number_of: dict[Any, int]) -> Ints:
    numbers = [number_of.setdefault(each, len(number_of)) for each in labels]
    return np.array(numbers, dtype=np.int64)


def _renumbered(keys: Ints, groups: Ints, problems: Ints) -> Ints:
    if not len(keys):
        return keys
    packed: Ints = pack(groups[keys >> 32], problems[problem_of_key(keys)])
    return packed


def _joined(parts: Sequence[Unscored]) -> Unscored:
    keys, counts = _summed([(part.keys, part.counts) for part in parts])
    first: dict[int, int] = {}
    for part in parts:
        for group, row in part.first.items():
            first[group] = min(row, first.get(group, row))
    return Unscored(keys, counts, first)

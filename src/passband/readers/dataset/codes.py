"""Problems, trials and groups of rows as small numbers.

Integers between known bounds are numbered by their distance from the least, without looking any
up. Other values are numbered by their labels, when they first appear: Arrow finds the distinct
values of a batch, in other threads, and only those are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from passband.errors import InvalidInput
from passband.readers.dataset.batches import RowBatch, encoded, flags, labelled, numbers
from passband.readers.dataset.schema import CountPlan
from passband.stats.data import label
from passband.types import Ints

MOST_GROUPS = 100_000
_LARGEST_RANGE = 1 << 24  # of problems that are numbered by place
LARGEST_TRIALS = 1 << 22  # range of trial numbers that have fingerprints
_SEVERAL = 4  # known values per row of a batch, beyond which only distinct values are looked up
_SHORTEST = 2048  # rows of a run on average, below which each row is looked at


class OutOfRange(Exception):
    """An integer is not between the bounds that the footers give for its column."""


class PlaceCodes:
    """Numbers the integers between two bounds by their distance from the lower one."""

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.count = high - low + 1  #: of integers; also the code of null

    def __len__(self) -> int:
        return self.count + 1

    def labels(self, codes: Iterable[int]) -> list[str]:
        """Return the labels of some codes."""
        return [str(None if code == self.count else self.low + code) for code in codes]

    def look_up(self, array: Any) -> Ints:
        """Return the code of each value; may run in any thread."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if array.null_count == len(array):
            return np.full(len(array), self.count)
        ends = [end.as_py() for end in pc.min_max(array).values()]
        if not self.low <= ends[0] <= ends[1] < self.low + self.count:
            raise OutOfRange
        if not array.null_count:
            return _less(numbers(array), self.low)
        codes = _less(numbers(array.fill_null(ends[0])), self.low).astype(np.int64)
        codes[flags(array.is_null())] = self.count
        return codes

    def complete(self, looked_up: Ints) -> Ints:
        """Return the codes that `look_up` has found."""
        return looked_up


@dataclass(frozen=True)
class _Labelled:
    """Labels of values of a type, and the place of each row's among them."""

    kind: Any
    labels: list[str]
    places: Ints


class LabelCodes:
    """Numbers values of any type by their labels: 3.0 and 3 have the same."""

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}
        self._known: Any = None  # values of a type, in the order of their codes

    def __len__(self) -> int:
        return len(self._code_of)

    def labels(self, codes: Iterable[int]) -> list[str]:
        """Return the labels of some codes."""
        labels = list(self._code_of)
        return [labels[code] for code in codes]

    def look_up(self, array: Any) -> Ints | _Labelled:
        """Return the code of each value if all are known; may run in any thread."""
        import pyarrow as pa
        import pyarrow.compute as pc

        is_coded, known = pa.types.is_dictionary(array.type), self._known
        values = array.dictionary if is_coded else array
        is_worthwhile = known is not None and len(known) <= _SEVERAL * len(array)
        if is_worthwhile and known.type == values.type and not array.null_count:
            codes = pc.index_in(values, value_set=known)
            if not codes.null_count:
                own: Ints = numbers(codes)
                return own[numbers(array.indices)] if is_coded else own
        return _Labelled(values.type, *labelled(array))

    def complete(self, looked_up: Ints | _Labelled) -> Ints:
        """Return the code of each row, new labels being numbered."""
        if not isinstance(looked_up, _Labelled):
            return looked_up
        codes = self.codes_of(looked_up.labels)
        self._remember(looked_up.kind, len(looked_up.places))
        return codes[looked_up.places]

    def _remember(self, kind: Any, rows: int) -> None:
        """Keep values for Arrow to look up: a fourth of the time that finding labels takes."""
        import pyarrow as pa

        is_same = self._known is not None and self._known.type == kind
        if len(self) > _SEVERAL * rows or (is_same and len(self._known) == len(self)):
            return
        if pa.types.is_integer(kind) or kind in (pa.string(), pa.large_string()):
            try:
                self._known = pa.array(list(self._code_of), pa.large_string()).cast(kind)
            except pa.ArrowInvalid:  # earlier files had wider integers
                self._known = None

    def codes_of(self, labels: Sequence[str]) -> Ints:
        """Return the codes of labels, new ones being numbered."""
        code_of = self._code_of
        return np.array([code_of.setdefault(text, len(code_of)) for text in labels], np.int64)


def problem_codes(plan: CountPlan) -> PlaceCodes | LabelCodes:
    """Return the codes for the column of problems."""
    bounds = plan.bounds[plan.roles.problem]
    most = min(_LARGEST_RANGE, max(4 * plan.rows, 1 << 16))
    return LabelCodes() if bounds is None or _span(bounds) > most else PlaceCodes(*bounds)


def trial_codes(plan: CountPlan) -> PlaceCodes | None:
    """Return the codes for a column of trials that are integers in a small range."""
    bounds = None if plan.roles.trial is None else plan.bounds[plan.roles.trial]
    return None if bounds is None or _span(bounds) > LARGEST_TRIALS else PlaceCodes(*bounds)


def _span(bounds: tuple[int, int]) -> int:
    return bounds[1] - bounds[0] + 1


def _less(values: Any, low: int) -> Ints:
    """Return values minus the least, without overflow; as int32, as which they take, or int64."""
    if low == 0 and values.dtype in (np.int32, np.int64):
        return np.asarray(values)
    if values.dtype == np.uint64 and low > 0:
        values, low = values - np.uint64(low), 0
    return np.asarray(values.astype(np.int64) - low)


# -- groups --------------------------------------------------------------------------------


class RowKeys:
    """The distinct combinations of values in the key columns of a batch, and that of each row."""

    def __init__(self, batch: RowBatch, names: Sequence[str]) -> None:
        columns = {name: batch.columns[name] for name in names if name in batch.columns}
        folders = dict(batch.part.file.keys)
        starts = run_starts(columns.values(), batch.rows)
        height = batch.rows if starts is None else len(starts)
        places: Ints = np.zeros(height, dtype=np.int64)
        self.labels: list[tuple[str, ...]] = [()]
        for name in names:
            if name not in columns:
                self.labels = [(*labels, label(folders[name])) for labels in self.labels]
                continue
            array = columns[name] if starts is None else columns[name].take(starts)
            values, own = labelled(array)
            pairs, places = _distinct(places * len(values) + own)
            combined = (divmod(pair, len(values)) for pair in pairs)
            self.labels = [(*self.labels[before], values[last]) for before, last in combined]
        if len(self.labels) > 1 and starts is not None:
            places = np.repeat(places, np.diff(starts, append=batch.rows))
        #: of the combination of each row; None if all rows have the same
        self.places = places if len(self.labels) > 1 else None


class GroupCodes:
    """Numbers the combinations of values of key columns."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._code_of: dict[tuple[str, ...], int] = {}
        self._values: list[set[str]] = [set() for _ in names]

    @property
    def labels(self) -> list[tuple[str, ...]]:
        """The labels of each group, one for each key column."""
        return list(self._code_of)

    def complete(self, keys: RowKeys) -> Ints | int:
        """Return the group of each row of a batch, or that of all of them."""
        codes = self.codes_of(keys.labels)
        return int(codes[0]) if keys.places is None else codes[keys.places]

    def codes_of(self, groups: Sequence[tuple[str, ...]]) -> Ints:
        """Return the codes of groups, new ones being numbered."""
        for at, labels in enumerate(zip(*groups, strict=True)):
            self._values[at].update(labels)
            if len(self._values[at]) > MOST_GROUPS:
                raise InvalidInput(
                    f"column {self._names[at]} splits the trials into more than {MOST_GROUPS:,} "
                    "groups; leave it out of --by, or write it under another name."
                )
        code_of = self._code_of
        codes = [code_of.setdefault(labels, len(code_of)) for labels in groups]
        if len(code_of) > MOST_GROUPS:
            raise InvalidInput(
                f"columns {', '.join(self._names)} split the trials into more than "
                f"{MOST_GROUPS:,} groups; write those that need not split under other names."
            )
        return np.array(codes, dtype=np.int64)


def _distinct(values: Ints) -> tuple[list[int], Ints]:
    """Return distinct integers, and the place of each row's among them."""
    import pyarrow as pa

    distinct, places = encoded(pa.array(values))
    return distinct.to_pylist(), places


def run_starts(arrays: Iterable[Any], rows: int) -> Ints | None:
    """Return where runs of rows begin in which no array changes; None if they are short.

    Files are mostly written model by model and step by step, so that a few rows say what the
    group of all is.

    >>> import pyarrow as pa
    >>> run_starts([pa.array([5] * 3000 + [6] * 3000), pa.array(["a"] * 6000)], 6000).tolist()
    [0, 3000]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    starts = np.zeros(min(rows, 1), dtype=np.int64)
    for array in arrays:
        places = array.indices if pa.types.is_dictionary(array.type) else array
        try:
            ends = numbers(pc.run_end_encode(places).run_ends)
        except pa.ArrowNotImplementedError:  # a type that is rare
            return None
        starts = np.union1d(starts, ends[:-1]).astype(np.int64)
        if len(starts) > 1 + rows // _SHORTEST:
            return None
    return starts

"""Trials that occur twice, and gaps between trial numbers, in bounded memory.

The fingerprints of `trial_hash` clear every problem whose trials are numbered without a gap. Only
the others are read a second time: into a table of problems by trials where that is small, and
otherwise part by part, a part being the pairs whose hash falls into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from passband.errors import InvalidInput
from passband.readers.dataset.batches import Batch, Part, prepared
from passband.readers.dataset.cell_index import CellIndex
from passband.readers.dataset.cells import problem_of_key
from passband.readers.dataset.counting import Counter, Tallies
from passband.readers.dataset.plan import Plan
from passband.readers.dataset.spans import TrialSpans
from passband.readers.dataset.trial_hash import (
    LabelHash,
    TableHash,
    TrialHash,
    hash_for,
    mixed,
)
from passband.readers.groups import Remark
from passband.stats.data.cells import label, shortened
from passband.stats.data.layout import error_prefix
from passband.types import Ints

__all__ = ["check_trials"]

LARGEST_MASK = 100_000_000  # pairs of a problem and a trial
LARGEST_PART = 20_000_000  # pairs that are sorted at a time
_CHUNK = 60_000  # rows after which counts are cut at 2, so that 16 bits are enough
_SHOWN = 3
_LOCATED = 1000  # cells with duplicates among which the first ones are looked for


class _Pairs(NamedTuple):
    """Pairs of a cell and a trial that occur more than once."""

    keys: Ints  #: of cells
    hashes: Any  #: of trials


def check_trials(
    parts: Sequence[Part], plan: Plan, tallies: Tallies, split: Sequence[str]
) -> Remark | None:
    """Raise `InvalidInput` for a trial that occurs twice; return a remark where numbers have gaps.

    `tallies` are the counts of the same parts, and `split` the columns that set groups apart.
    """
    trial = plan.roles.trial
    if trial is None:
        return None
    hashed = hash_for(plan.kinds[trial], plan.bounds[trial])
    suspects = np.flatnonzero(_suspicious(tallies, hashed))
    if not len(suspects):
        return None
    check = _Check(parts, plan, tallies, hashed, suspects, tuple(split))
    if isinstance(hashed, TableHash) and len(suspects) * (hashed.count + 1) <= LARGEST_MASK:
        return check.by_mask(hashed)
    return check.by_sorting()


def _suspicious(tallies: Tallies, hashed: TrialHash) -> Any:
    """Return which cells may hold a trial twice, or lack one."""
    cells = tallies.cells
    if not isinstance(hashed, TableHash):
        several = cells.rows > 1
        return several if isinstance(hashed, LabelHash) else np.full(len(several), several.any())
    start = _starts(tallies, cells.keys >> 32)
    end = np.minimum(start + cells.rows, hashed.count)
    expected = hashed.sums[end] - hashed.sums[start]
    return (start + cells.rows > hashed.count) | (cells.prints != expected)


def _starts(tallies: Tallies, groups: Ints) -> Ints:
    """Return for each group how far its least trial is from the least of all."""
    starts = np.zeros(len(tallies.groups), dtype=np.int64)
    starts[list(tallies.starts)] = list(tallies.starts.values())
    return np.asarray(starts[groups])


@dataclass(frozen=True)
class _Check:
    """The second reading."""

    parts: Sequence[Part]
    plan: Plan
    tallies: Tallies
    hashed: TrialHash
    suspects: Ints  #: their places among the cells of the tallies
    split: tuple[str, ...]

    @property
    def _keys(self) -> Ints:
        keys: Ints = self.tallies.cells.keys[self.suspects]
        return keys

    def _trial(self, batch: Batch) -> Any:
        return batch.columns[str(self.plan.roles.trial)]

    # -- a table ---------------------------------------------------------------------------

    def by_mask(self, hashed: TableHash) -> Remark | None:
        """Count each pair of a problem and a trial, up to 2."""
        width = hashed.count + 1  # the last is null
        mask = np.zeros(len(self.suspects) * width, dtype=np.uint16)
        index, counter = CellIndex(self._keys), Counter.restored(self.plan, self.tallies)
        for batch, _ in prepared(self.parts, self.plan.columns, lambda batch: None):
            cells = index.find(counter.cell_keys(batch))
            rows = np.flatnonzero(cells >= 0)
            pairs = cells[rows] * width + hashed.places(self._trial(batch))[rows]
            for start in range(0, len(pairs), _CHUNK):
                chunk = pairs[start : start + _CHUNK]
                np.add.at(mask, chunk, np.uint16(1))
                mask[chunk] = np.minimum(mask[chunk], 2)
        grid = mask.reshape(len(self.suspects), width)
        if (grid >= 2).any():
            self._refuse(grid, hashed)
        return self._gaps(grid[:, :-1] > 0, hashed)

    def _refuse(self, grid: Any, hashed: TableHash) -> None:
        counts = (grid >= 2).sum(axis=1)
        chosen = self._first_group(np.flatnonzero(counts))
        located = chosen[:_LOCATED]
        cells, trials = np.nonzero(grid[located] >= 2)
        pairs = _Pairs(self._keys[located[cells]], hashed.at(trials))
        self._raise(pairs, int(counts[chosen].sum()))

    def _gaps(self, seen: Any, hashed: TableHash) -> Remark | None:
        """Return a remark if cells lack trials below their last one."""
        count = seen.shape[1]
        has_any = seen.any(axis=1)
        last = np.where(has_any, count - 1 - np.argmax(seen[:, ::-1], axis=1), -1)
        start = _starts(self.tallies, self._keys >> 32)
        missing = np.where(has_any, last - start + 1 - seen.sum(axis=1), 0)
        lacking = np.flatnonzero(missing > 0)
        if not len(lacking):
            return None
        first = lacking[np.argmin(self.tallies.cells.first[self.suspects[lacking]])]
        trial = int(np.flatnonzero(~seen[first, start[first] :])[0]) + int(start[first])
        return self._gap_remark(missing, first, f"{hashed.low + trial}")

    def _gap_remark(self, missing: Ints, first: int, example: str) -> Remark:
        problem = self.tallies.problems[int(problem_of_key(self._keys[first]))]
        return Remark(
            f"column {self.plan.roles.trial} has gaps: {int(missing.sum()):,} trials below the "
            f"last one are missing, of {np.count_nonzero(missing):,} problems (such as "
            f"{example} of {shortened(problem)})",
            important=True,
        )

    # -- part by part ----------------------------------------------------------------------

    def by_sorting(self) -> Remark | None:
        """Sort the pairs of suspects, those of one part after those of another."""
        total = int(self.tallies.cells.rows[self.suspects].sum())
        count = -(-total // LARGEST_PART)
        spans = TrialSpans(self._keys >> 32, len(self.tallies.groups))
        keys, hashes = [], []
        for number in range(count):
            pairs = self._twice(number, count, None if number else spans)
            keys.append(pairs.keys)
            hashes.append(pairs.hashes)
        found = _Pairs(np.concatenate(keys), np.concatenate(hashes))
        if not len(found.keys):
            return self._gaps_of_spans(spans)
        index = CellIndex(self._keys)
        chosen = self._first_group(np.unique(index.find(found.keys)))
        mine = np.isin(index.find(found.keys), chosen)
        located = np.isin(index.find(found.keys), chosen[:_LOCATED])
        self._raise(_Pairs(found.keys[located], found.hashes[located]), int(mine.sum()))

    def _gaps_of_spans(self, spans: TrialSpans) -> Remark | None:
        missing = spans.missing()
        lacking = np.flatnonzero(missing)
        if not len(lacking):
            return None
        first = int(lacking[np.argmin(self.tallies.cells.first[self.suspects[lacking]])])
        return self._gap_remark(missing, first, f"one below {spans.last(first)}")

    def _twice(self, number: int, count: int, spans: TrialSpans | None) -> _Pairs:
        """Return the pairs of a part that occur more than once, and fill the spans of trials."""
        counts_spans = spans is not None and not isinstance(self.hashed, LabelHash)
        keys: list[Ints] = [np.zeros(0, np.int64)]
        hashes: list[Any] = [np.zeros(0, np.uint64)]
        index, counter = CellIndex(self._keys), Counter.restored(self.plan, self.tallies)
        for batch, _ in prepared(self.parts, self.plan.columns, lambda batch: None):
            own, trials = counter.cell_keys(batch), self.hashed.hashes(self._trial(batch))
            cells = index.find(own)
            if spans is not None and counts_spans:
                spans.add(cells, own >> 32, self._trial(batch))
            mine = cells >= 0
            if count > 1:
                mine &= _codes(own, trials) % np.uint64(count) == number
            keys.append(own[mine])
            hashes.append(trials[mine])
        pairs = _Pairs(np.concatenate(keys), np.concatenate(hashes))
        order = np.argsort(_codes(*pairs))
        key, trial = pairs.keys[order], pairs.hashes[order]
        same = (key[1:] == key[:-1]) & (trial[1:] == trial[:-1])
        starts = np.flatnonzero(same & ~np.concatenate([[False], same[:-1]]))
        return _Pairs(key[starts], trial[starts])

    # -- what is said ----------------------------------------------------------------------

    def _first_group(self, suspects: Ints) -> Ints:
        """Return those of the suspects that are in the first group, in the order of rows."""
        cells = self.tallies.cells
        groups = self._keys[suspects] >> 32
        first = np.full(len(self.tallies.groups), np.iinfo(np.int64).max)
        np.minimum.at(first, cells.keys >> 32, cells.first)
        group = groups[np.argmin(first[groups])]
        mine = suspects[groups == group]
        return np.asarray(mine[np.argsort(cells.first[self.suspects[mine]])])

    def _raise(self, pairs: _Pairs, count: int) -> NoReturn:
        """Find the first pairs again, with their files, and raise `InvalidInput`."""
        codes = _codes(*pairs)
        names: dict[int, str] = {}
        files: dict[str, None] = {}
        index, counter = CellIndex(np.unique(pairs.keys)), Counter.restored(self.plan, self.tallies)
        for batch, _ in prepared(self.parts, self.plan.columns, lambda batch: None):
            keys = counter.cell_keys(batch)
            rows = np.flatnonzero(index.find(keys) >= 0)
            found = _codes(keys[rows], self.hashed.hashes(self._trial(batch))[rows])
            wanted = codes if len(names) < _SHOWN else np.array([*names], dtype=np.uint64)
            for at in np.flatnonzero(np.isin(found, wanted)).tolist():
                code, row = int(found[at]), int(rows[at])
                if code not in names and len(names) == _SHOWN:
                    continue
                problem = self.tallies.problems[int(problem_of_key(keys[row]))]
                trial = label(self._trial(batch)[row].as_py())
                names.setdefault(code, f"({shortened(problem)}, {shortened(trial)})")
                files[str(batch.part.file)] = None
        more = count - len(names)
        roles = self.plan.roles
        labels = self.tallies.groups[int(pairs.keys[0] >> 32)]
        own = dict(zip(self.plan.keys, labels, strict=True))
        with error_prefix([own[name] for name in self.split]):
            raise InvalidInput(
                f"each trial needs its own row; ({roles.problem}, {roles.trial}) is repeated for "
                f"{'; '.join(names.values())}{f' and {more:,} more' if more > 0 else ''} "
                f"({_listed(list(files))}). If the data set holds several models or tasks, split "
                "it by that column; if a file is there twice, take one away."
            )


def _codes(keys: Ints, hashes: Any) -> Any:
    """Return one number for each pair.

    Hashes are mixed again: those of a cell and a trial of the same number are equal.
    """
    return mixed(np.asarray(keys).astype(np.uint64) ^ mixed(hashes))


def _listed(files: list[str]) -> str:
    return f"in {', '.join(files[:4])}{f' and {len(files) - 4} more' if len(files) > 4 else ''}"

"""Record which shards of a run a store holds, and which are missing.

A shard's run says which one it is: `shard` in its configuration, with `index` (from 1), `of` and
`batch`. A store that some shards were merged into lists them: `shards`, with `of`, `batch` and
`merged`. One that holds all of them says nothing, and neither does a run that was never split: both
lack no shard, and what a shard is merged with then lacks none either. The list only says what is
missing; which trials are there is known from the trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.trials.file.schema import SHARDS_FOLDER, STORE_FILE

SHARD, _SEVERAL = "shard", "shards"


@dataclass(frozen=True)
class Shards:
    """Shards of a run, all of which were planned in the same way."""

    of: int
    batch: int
    merged: frozenset[int]
    is_one: bool = False  # a shard as it was asked, which nothing was merged into

    @classmethod
    def in_config(cls, config: Mapping[str, Any]) -> Shards | None:
        """Return those that the configuration of a run states; None where it states none.

        >>> Shards.in_config({"shard": {"index": 3, "of": 16, "batch": 8}})
        Shards(of=16, batch=8, merged=frozenset({3}), is_one=True)
        """
        if SHARD in config:
            plan = config[SHARD]
            return cls(plan["of"], plan["batch"], frozenset([plan["index"]]), is_one=True)
        if _SEVERAL in config:
            plan = config[_SEVERAL]
            return cls(plan["of"], plan["batch"], frozenset(plan["merged"]))
        return None

    def plus(self, other: Shards) -> Shards:
        """Return the shards of both; another number of shards or another batch is refused."""
        for name, mine, theirs in (("of", self.of, other.of), ("batch", self.batch, other.batch)):
            if mine != theirs:
                raise InvalidInput(_WHY[name].format(mine, theirs))
        return replace(self, merged=self.merged | other.merged, is_one=False)

    @property
    def missing(self) -> list[int]:
        """The shards that are not there, by index."""
        return [index for index in range(1, self.of + 1) if index not in self.merged]

    def remark(self, end: str = "merged yet") -> str | None:
        """Return which shards are missing, in words; None if none is.

        >>> Shards(16, 8, frozenset(range(1, 13))).remark()
        'shards 13 to 16 of 16 are not merged yet'
        >>> Shards(4, 8, frozenset([1, 2, 4])).remark()
        'shard 3 of 4 is not merged yet'
        """
        missing = self.missing
        if not missing:
            return None
        words = ("shard", "is") if len(missing) == 1 else ("shards", "are")
        return f"{words[0]} {_listed(missing)} of {self.of} {words[1]} not {end}"


_WHY = {
    "of": "one belongs to a run split into {} shards, the other to one split into {}, and these "
    "do not divide its trials in the same way",
    "batch": "one asks for {} trials per request, the other for {}, and these draw other seeds",
}


def join_shards(one: Shards | None, other: Shards | None) -> Shards | None:
    """Return the shards of two stores of a run; None where one of them lacks no shard."""
    return None if one is None or other is None else one.plus(other)


def without_shards(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration of a run without its shards."""
    return {name: value for name, value in config.items() if name not in (SHARD, _SEVERAL)}


def shards_only(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the configuration of a run says of its shards, and nothing else of it."""
    return {name: config[name] for name in (SHARD, _SEVERAL) if name in config}


def with_shards(config: Mapping[str, Any], shards: Shards | None) -> dict[str, Any]:
    """Return the configuration of a run that these shards were merged into.

    >>> with_shards({}, Shards(2, 8, frozenset([2])))
    {'shards': {'of': 2, 'batch': 8, 'merged': [2]}}
    >>> with_shards({"shard": {"index": 2, "of": 2, "batch": 8}}, Shards(2, 8, frozenset([1, 2])))
    {}
    """
    kept = without_shards(config)
    if shards is None or not shards.missing:
        return kept
    plan = {"of": shards.of, "batch": shards.batch, "merged": sorted(shards.merged)}
    return {**kept, _SEVERAL: plan}


def unmerged_shards(directory: Path) -> int:
    """Return how many shards of a run that one process leads are still in stores of their own."""
    return len(list((directory / SHARDS_FOLDER).glob(f"*-of-*/{STORE_FILE}")))


def _listed(numbers: Iterable[int]) -> str:
    """Return numbers in words, three and more in a row by the first and the last.

    >>> _listed([2, 7, 9]), _listed([1, 2, 3, 5]), _listed([1, 2])
    ('2, 7 and 9', '1 to 3 and 5', '1 and 2')
    """
    rows: list[list[int]] = []
    for number in numbers:
        if rows and rows[-1][-1] == number - 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    words: list[str] = []
    for row in rows:
        words += [f"{row[0]} to {row[-1]}"] if len(row) > 2 else map(str, row)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)

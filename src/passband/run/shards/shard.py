"""One of N parts of a run, by the place of a block: the same on every machine, and balanced.

A block, the trials of one problem that one request may ask for, belongs to shard
`(position of the problem + number of the block) mod N`. So every problem is spread over all shards,
shards differ by a block or so in a row of N, and a block stays where it is when `n` or the data
grow. Single trials would not do: a request carries the seed of its first trial, so a shard that
asks for other blocks than one machine would draws other answers.

What a store says about the shard that it holds, and whether a run may go on with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.trials import SHARD

MOST_SHARDS = 1 << 20  # the completions of a shard have numbers of their own, 2**40 of them
_FORM = re.compile(r"([0-9]{1,7})/([0-9]{1,7})")


@dataclass(frozen=True)
class Shard:
    """Shard `index` of `of`, counted from 1."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard that the text INDEX/N names.

        >>> Shard.parse("3/16")
        Shard(index=3, of=16)
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise InvalidInput(f"--shard takes INDEX/N, such as 3/16; got {text!r}.")
        index, of = map(int, match.groups())
        if not 1 <= of <= MOST_SHARDS:
            raise InvalidInput(f"--shard {text}: there can be 1 to {MOST_SHARDS} shards.")
        if not 1 <= index <= of:
            raise InvalidInput(
                f"--shard {text}: the shards of {of} are numbered 1 to {of}; where a scheduler "
                "counts from 0, add 1."
            )
        return cls(index, of)

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @property
    def directory_name(self) -> str:
        """Name of a directory for the shard, so that they sort in their order.

        >>> Shard(3, 16).directory_name
        '03-of-16'
        """
        return f"{self.index:0{len(str(self.of))}}-of-{self.of}"

    @property
    def first_body(self) -> int:
        """Number after which the shard numbers completions, so that no two shards share one."""
        return self.index << 40

    def part_of(self, whole: int) -> int:
        """Return the shard's part of a number of things, at least 1; the first get the rest.

        >>> [Shard(index, 3).part_of(64) for index in (1, 2, 3)]
        [22, 21, 21]
        """
        each, rest = divmod(whole, self.of)
        return max(1, each + (self.index <= rest))

    def mask(self, problem: int, n: int, size: int) -> int:
        """Return which of the first n trials of a problem are the shard's, as bits.

        >>> [f"{Shard(index, 3).mask(0, 5, 2):05b}" for index in (1, 2, 3)]
        ['00011', '01100', '10000']
        """
        first = (self.index - 1 - problem) % self.of
        block = (1 << size) - 1
        bits = 0
        for start in range(first * size, n, self.of * size):
            bits |= block << start
        return bits & ((1 << n) - 1)


@dataclass(frozen=True)
class Taken(Mapping[int, int]):
    """Trials of each problem that a run need not ask for, as bits.

    They are recorded, here or in the store that the shard will be merged into, or belong to
    another shard.
    """

    problems: int
    n: int
    size: int  # trials of a block
    recorded: Mapping[int, int]
    elsewhere: Mapping[int, int]
    shard: Shard | None

    def __getitem__(self, problem: int) -> int:
        here = self.recorded.get(problem, 0) | self.elsewhere.get(problem, 0)
        return here if self.shard is None else here | self._others[problem % self.shard.of]

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.problems))

    def __len__(self) -> int:
        return self.problems

    @cached_property
    def _others(self) -> list[int]:
        """Trials of other shards, by the position of the problem modulo the number of shards."""
        assert self.shard is not None
        everything = (1 << self.n) - 1
        first = range(min(self.shard.of, self.problems))
        return [everything & ~self.shard.mask(place, self.n, self.size) for place in first]


def shard_entry(shard: Shard | None, batch: int) -> dict[str, Any]:
    """Return the entry of a run's config that says which part of the run a store holds.

    >>> shard_entry(Shard(3, 16), 8), shard_entry(None, 8)
    ({'shard': {'index': 3, 'of': 16, 'batch': 8}}, {})
    """
    if shard is None:
        return {}
    return {SHARD: {"index": shard.index, "of": shard.of, "batch": batch}}


def check_shard(
    directory: Path, earlier: Mapping[str, Any], shard: Shard | None, batch: int
) -> None:
    """Refuse to go on with another part of a run than the directory holds.

    `earlier` is the config of the run there; empty if there is none.
    """
    if not earlier:
        return
    held = earlier.get(SHARD)
    if held is None:
        if shard is not None:
            raise InvalidInput(
                f"{directory} holds a whole run, not shard {shard} of it; give the shard a "
                "directory of its own with --out."
            )
        return
    name = f"{held['index']}/{held['of']}"
    if shard is None:
        raise InvalidInput(
            f"{directory} holds shard {name} of a run; go on with --shard {name}, or merge the "
            "shards into another directory (passband merge) and go on with that."
        )
    if str(shard) != name:
        raise InvalidInput(
            f"{directory} holds shard {name} of the run, not {shard}; give each shard a directory "
            "of its own with --out."
        )
    if held["batch"] != batch:
        raise InvalidInput(
            f"{directory} holds shard {name} with {held['batch']} completions per request, now "
            f"there are {batch}; other requests carry other seeds. Give --batch {held['batch']}."
        )

"""The order of choices: a permutation for each problem, the same in every run.

It is drawn by a generator seeded with the task's seed and name and the problem's key. Data that
name the right answer first need it, and a run that is resumed or scored again must find the same.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ChoiceOrder:
    """The permutations of one task.

    >>> ChoiceOrder("gpqa", 0).permuted(("right", "a", "b", "c"), "rec2")
    ('b', 'c', 'a', 'right')
    """

    task: str
    seed: int

    def permuted(self, choices: Sequence[str], key: str) -> tuple[str, ...]:
        """Return the choices of a problem in its order; every order is as likely as another."""
        name = f"choices\0{self.task}\0{self.seed}\0{key}".encode("utf-8", "surrogatepass")
        generator = random.Random(int.from_bytes(hashlib.sha256(name).digest(), "big"))
        left, ordered = list(choices), []
        while left:
            # random() alone is promised to give the same numbers in every version of Python.
            ordered.append(left.pop(int(generator.random() * len(left))))
        return tuple(ordered)


def example_key(row: Mapping[str, Any]) -> str:
    """Return a name for the row of a worked example, which has none of its own."""
    text = json.dumps(row, sort_keys=True, default=str)
    return f"example {hashlib.sha256(text.encode()).hexdigest()}"

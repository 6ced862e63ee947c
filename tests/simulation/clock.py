"""A clock that stands still until the simulation moves it, in the place of the machine's own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import NoReturn
from unittest.mock import patch

BEGAN = 1_700_000_000.0  # Unix time at which every simulation begins


@dataclass
class Clock:
    """Seconds since the simulation began, and by how much the wall clock has jumped."""

    now: float = 1_000.0
    jumped: float = 0.0

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return BEGAN + self.now + self.jumped

    @contextmanager
    def in_place(self, seed: str) -> Iterator[None]:
        """Replace the machine's clocks by this one, and seed the pauses that are drawn."""
        state = random.getstate()
        random.seed(seed)
        with ExitStack() as stack:
            stack.enter_context(patch("time.monotonic", self.monotonic))
            stack.enter_context(patch("time.time", self.wall))
            stack.enter_context(patch("time.sleep", _refuse))
            stack.callback(random.setstate, state)
            yield


def _refuse(seconds: float) -> NoReturn:
    raise AssertionError(f"the simulation was to wait for {seconds} real seconds")

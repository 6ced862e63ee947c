"""The trials to label, drawn at random with known probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from passband.stats.data.values import ArrayValue
from passband.stats.judged.design import Design
from passband.types import ArrayLike, Floats, Ints

__all__ = ["Drawn", "draw_labels"]


@dataclass(frozen=True, eq=False)
class Drawn(ArrayValue):
    """Trials to label, in the order in which to label them."""

    rows: Ints  #: positions among the trials that were given
    probability: Floats  #: of each drawn trial, of being drawn
    design: Design
    seed: int | str


def draw_labels(
    problem: Sequence[object] | ArrayLike,
    trial: Sequence[int] | ArrayLike,
    count: int,
    *,
    seed: int | str,
    design: Design = "spread",
    score: Sequence[float | None] | ArrayLike | None = None,
    threshold: float = 0.5,
    each: int | None = None,
) -> Drawn:
    """Draw `count` trials to label; the same for the same trials and seed, in whatever order.

    A larger count keeps what a smaller one drew, and adds to it. `score` is the judge's, needed by
    the design "verdict"; `each` is the number of labels in each chosen problem for the design
    "problem" (all of its trials by default).
    """
    raise NotImplementedError

"""Items of a bank, as parameters of response curves.

With σ(x) = 1 / (1 + exp(-x)), and no factor of 1.7 anywhere::

    1pl, 2pl     P(right)  = σ(a (θ - b))           1pl: one a for all items
    3pl          P(right)  = c + (1 - c) σ(a (θ - b))
    graded       P(score ≥ j/m) = σ(a (θ - step_j)),  j = 1 ... m     (Samejima 1969)
    continuous   mean of the score = σ(a (θ - b)), its variance φ mean (1 - mean)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from passband.errors import InvalidInput, WrongType
from passband.stats.checks import check_choice
from passband.types import ArrayLike, Floats, Ints

ItemModel = Literal["1pl", "2pl", "3pl", "graded", "continuous"]


@dataclass(frozen=True, eq=False)
class Items:
    """Parameters of the items of a bank, in arrays that cannot be written to.

    `a` is the discrimination, `b` the difficulty, `c` the chance of guessing right. Graded items
    have `steps`, a row of rising thresholds each, with NaN after the last; their `b` is the mean
    threshold. Continuous items have a dispersion `phi`: 1 is the spread of 0/1 scores, and scores
    that vary less have a smaller one.

    >>> items = Items("2pl", a=[1.0, 2.0], b=[0.0, 1.0])
    >>> items.expected(1.0).round(3).tolist()
    [0.731, 0.5]
    """

    model: ItemModel
    a: Floats
    b: Floats = None  # type: ignore[assignment]  # filled in below
    c: Floats = None  # type: ignore[assignment]
    steps: Floats | None = None
    phi: Floats = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        check_model(self.model)
        a = _column("a", self.a, None)
        steps = _steps(self.model, self.steps, len(a))
        difficulty: Floats | None = self.b if steps is None else np.nanmean(steps, axis=1)
        if difficulty is None:
            raise InvalidInput(f"b, the difficulty, is needed for {self.model!r} items.")
        values = {
            "a": a,
            "b": _column("b", difficulty, len(a)),
            "c": _column("c", self.c, len(a), absent=0.0),
            "phi": _column("phi", self.phi, len(a), absent=1.0),
        }
        _check_values(self.model, values)
        for name, value in {**values, "steps": steps}.items():
            if value is not None:
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.a)

    def take(self, index: Ints | list[int] | slice) -> Items:
        """Return some of the items, by position."""
        rows = index if isinstance(index, slice) else np.asarray(index, dtype=np.intp)
        some = object.__new__(Items)  # without the checks that these have passed already
        object.__setattr__(some, "model", self.model)
        for name in ("a", "b", "c", "steps", "phi"):
            column = getattr(self, name)
            values = None if column is None else column[rows]
            if values is not None:
                values.flags.writeable = False
            object.__setattr__(some, name, values)
        return some

    def expected(self, theta: ArrayLike) -> Floats:
        """Return the expected scores at one ability, or a column of them for each of several."""
        from passband.stats.irt.curves import expected_scores

        at = np.asarray(theta, dtype=np.float64)
        values = expected_scores(self, np.atleast_1d(at))
        return values if at.ndim else values[:, 0]

    @property
    def grades(self) -> Ints:
        """Number of steps of each item: 1 but for graded ones."""
        if self.steps is None:
            return np.ones(len(self), dtype=np.intp)
        count: Ints = np.isfinite(self.steps).sum(axis=1)
        return count


def check_model(model: object) -> None:
    """Refuse an unknown model name."""
    check_choice("model", model, get_args(ItemModel))


def _column(
    name: str, values: ArrayLike | None, length: int | None, absent: float = np.nan
) -> Floats:
    try:
        given = np.full(length or 0, absent) if values is None else values
        column = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise WrongType(f"{name} must be numbers, one for each item; got {values!r}.") from None
    if column.ndim != 1 or (length is not None and len(column) != length):
        wanted = "one number for each item" if length is None else f"{length} numbers, as a has"
        raise InvalidInput(f"{name} must be {wanted}; got an array of shape {column.shape}.")
    if not len(column):
        raise InvalidInput("there are no items: a bank has at least one.")
    bad = np.flatnonzero(~np.isfinite(column))
    if len(bad):
        raise InvalidInput(f"{name} of item {bad[0]} is {column[bad[0]]}; it must be finite.")
    return column


def _steps(model: ItemModel, steps: ArrayLike | None, length: int) -> Floats | None:
    if model != "graded":
        if steps is not None:
            raise InvalidInput(f"steps belong to graded items; these are {model!r}.")
        return None
    if steps is None:
        raise InvalidInput("graded items need steps: a row of rising thresholds for each item.")
    rows = np.array(steps, dtype=np.float64)
    if rows.ndim != 2 or len(rows) != length or not rows.shape[1]:
        raise InvalidInput(f"steps must have a row for each of {length} items; got {rows.shape}.")
    there = np.isfinite(rows)
    rising = np.all(~there[:, 1:] | (there[:, :-1] & (np.diff(rows, axis=1) > 0.0)), axis=1)
    bad = np.flatnonzero(~rising | ~there[:, 0] | np.isinf(rows).any(axis=1))
    if len(bad):
        row = rows[bad[0]].tolist()
        raise InvalidInput(
            f"steps of item {bad[0]} must rise, with NaN only at the end; got {row}."
        )
    return rows


def _check_values(model: ItemModel, values: dict[str, Floats]) -> None:
    a, c, phi = values["a"], values["c"], values["phi"]
    rules = (
        ("a", a, a > 0.0, "must be above 0: leave out items that good models fail more often"),
        ("c", c, (c >= 0.0) & (c < 1.0), "must be at least 0 and below 1"),
        ("c", c, (c == 0.0) | (model == "3pl"), f"must be 0 for {model!r}: only 3pl has guessing"),
        ("phi", phi, phi > 0.0, "must be above 0"),
        ("phi", phi, (phi == 1.0) | (model == "continuous"), "must be 1 unless continuous"),
        ("a", a, (a == a[0]) | (model != "1pl"), "must be the same for all 1pl items"),
    )
    for name, column, holds, rule in rules:
        bad = np.flatnonzero(~np.asarray(holds))
        if len(bad):
            raise InvalidInput(f"{name} of item {bad[0]} {rule}; got {column[bad[0]]:g}.")

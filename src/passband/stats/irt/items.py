"""Items of a bank: the parameters of their response curves, and the curves.

With σ(x) = 1 / (1 + exp(-x)), and no factor of 1.7 anywhere::

    1pl, 2pl     P(right)  = σ(a (θ - b))           1pl: one a for all items
    3pl          P(right)  = c + (1 - c) σ(a (θ - b))
    graded       P(score ≥ j/m) = σ(a (θ - step_j)),  j = 1 ... m     (Samejima 1969)
    continuous   mean of the score = σ(a (θ - b)), its variance φ mean (1 - mean)

Probabilities, likelihoods and their slopes have a row per item and a column per ability.

All of a graded item rests on one identity. With u the threshold below the grade, v the one above
(-∞ and ∞ at the ends)::

    P(grade) = σ(a(θ-u)) σ(-a(θ-v)) (1 - exp(-a(v-u)))

which loses no digits in the tails, and whose logarithm has the slope a(σ(-a(θ-u)) - σ(a(θ-v))).

`information` is Fisher's information on an ability, `kl_information` Kullback and Leibler's.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from passband.errors import InvalidInput, WrongType
from passband.stats.checks import as_number, as_positive, check_choice
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


def log_sigmoid(x: Floats) -> Floats:
    """Return log σ(x)."""
    result: Floats = -np.logaddexp(0.0, -x)
    return result


def sigmoid(x: Floats) -> Floats:
    """Return σ(x)."""
    small = np.exp(-np.abs(x))
    result: Floats = np.where(x >= 0.0, 1.0, small) / (1.0 + small)
    return result


def expected_scores(items: Items, theta: Floats) -> Floats:
    """Return the expected score of every item at every ability."""
    if items.steps is None:
        c = items.c[:, None]
        return c + (1.0 - c) * sigmoid(_logits(items, theta))
    passed = sigmoid(items.a[:, None, None] * (theta[:, None] - items.steps[:, None, :]))
    total: Floats = np.nansum(passed, axis=2) / items.grades[:, None]
    return total


def log_likelihood(items: Items, theta: Floats, scores: Floats) -> Floats:
    """Return the log-likelihood of one score of every item, at every ability.

    A score between 0 and 1 counts as that share of a success. Guessing aside, it is divided by
    the dispersion, which is 1 but for continuous items.
    """
    if items.steps is not None:
        return _graded_log_likelihood(items, theta, scores)
    x = _logits(items, theta)
    c, share = items.c[:, None], scores[:, None]
    right = log_sigmoid(x)
    wrong = np.log1p(-c) + right - x  # log σ(-x) = log σ(x) - x
    if items.model == "3pl":
        right = np.log(c + (1.0 - c) * sigmoid(x))
    result: Floats = (share * right + (1.0 - share) * wrong) / items.phi[:, None]
    return result


def _graded_log_likelihood(items: Items, theta: Floats, scores: Floats) -> Floats:
    below, above = _between(items, scores)
    a = items.a[:, None]
    return (
        log_sigmoid(a * (theta - below[:, None]))
        + log_sigmoid(-a * (theta - above[:, None]))
        + np.log(-np.expm1(-a * (above - below)[:, None]))
    )


def score_slope(items: Items, theta: Floats, scores: Floats) -> Floats:
    """Return the derivative of `log_likelihood` by ability."""
    a = items.a[:, None]
    if items.steps is not None:
        below, above = _between(items, scores)
        lower, upper = sigmoid(-a * (theta - below[:, None])), sigmoid(a * (theta - above[:, None]))
        return a * (lower - upper)
    c = items.c[:, None]
    s = sigmoid(_logits(items, theta))
    right = c + (1.0 - c) * s
    result: Floats = a * (scores[:, None] - right) * _share_known(s, right) / items.phi[:, None]
    return result


class Slopes(NamedTuple):
    """Fisher information of one trial, and Warm's J = Σ P' P'' / P over the possible scores."""

    information: Floats
    warm: Floats


def slopes(items: Items, theta: Floats) -> Slopes:
    """Return the information and Warm's J of every item at every ability."""
    if items.steps is not None:
        return _graded_slopes(items, theta)
    a, c, phi = items.a[:, None], items.c[:, None], items.phi[:, None]
    s = sigmoid(_logits(items, theta))
    known = _share_known(s, c + (1.0 - c) * s)
    first = a * a * s * (1.0 - s) * (1.0 - c) * known / phi
    return Slopes(first, a * first * (1.0 - 2.0 * s))


def _graded_slopes(items: Items, theta: Floats) -> Slopes:
    edges = grade_edges(items)[:, None, :]
    a = items.a[:, None, None]
    reach = theta[:, None] - edges
    passed = sigmoid(a * reach)
    bell = passed * sigmoid(-a * reach)
    gaps = edges[..., 1:] - np.where(edges[..., :-1] < np.inf, edges[..., :-1], -np.inf)
    chance = passed[..., :-1] * sigmoid(-a * reach[..., 1:]) * -np.expm1(-a * gaps)
    first = a * (bell[..., :-1] - bell[..., 1:])
    turn = bell * (1.0 - 2.0 * passed)
    second = a * a * (turn[..., :-1] - turn[..., 1:])
    share = first / np.maximum(chance, np.finfo(np.float64).tiny)
    return Slopes((first * share).sum(axis=2), (second * share).sum(axis=2))


def grade_edges(items: Items) -> Floats:
    """Return the thresholds of every item between -∞ and ∞, with ∞ for those it lacks."""
    assert items.steps is not None
    ends = np.full((len(items), 1), np.inf)
    return np.concatenate([-ends, np.where(np.isnan(items.steps), np.inf, items.steps), ends], 1)


def _between(items: Items, scores: Floats) -> tuple[Floats, Floats]:
    """Return the thresholds around the grade that each score is."""
    edges = grade_edges(items)
    grade: Ints = np.rint(scores * items.grades).astype(np.intp)
    rows = np.arange(len(items))
    return edges[rows, grade], edges[rows, grade + 1]


def _logits(items: Items, theta: Floats) -> Floats:
    return items.a[:, None] * (theta - items.b[:, None])


def _share_known(s: Floats, right: Floats) -> Floats:
    """Return the probability that a right answer was known, not guessed."""
    return s / np.maximum(right, np.finfo(np.float64).tiny)


def information(items: Items, theta: float) -> Floats:
    """Return Fisher's information of one trial of each item at an ability.

    It is the expected curvature of the log-likelihood; 1 / √(sum) is the standard error that the
    items together would give. For 2pl items a² P (1 - P), for 3pl items a² ((P - c) / (1 - c))²
    (1 - P) / P.

    >>> information(Items("2pl", a=[1.0, 2.0], b=[0.0, 0.0]), 0.0).tolist()
    [0.25, 1.0]
    """
    at = np.array([as_number("theta", theta)])
    return slopes(items, at).information[:, 0]


def kl_information(items: Items, theta: float, delta: float) -> Floats:
    """Return the divergence of each item, summed over abilities within `delta` of `theta`.

    ``∫ KL(θ || t) dt`` over t from θ - δ to θ + δ: how well one trial tells θ from abilities
    around it, which matters while θ is known to no better than δ. Chang and Ying (1996), Applied
    Psychological Measurement 20. By Gauss and Legendre with 12 points.

    >>> kl_information(Items("2pl", a=[1.0, 2.0], b=[0.0, 0.0]), 0.0, 1.0).round(4).tolist()
    [0.0813, 0.3052]
    """
    centre, half = as_number("theta", theta), as_positive("delta", delta)
    nodes, weights = _legendre()
    result: Floats = _divergence(items, centre, centre + half * nodes) @ (half * weights)
    return result


@functools.cache
def _legendre() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(12)  # takes longer than all the rest for one item


def _divergence(items: Items, theta: float, others: Floats) -> Floats:
    """Return the divergence of each item's scores at `theta` from those at other abilities."""
    points = np.concatenate([[theta], others])
    if items.steps is None:
        right = expected_scores(items, points)
        chances = np.stack([right, 1.0 - right], axis=2)
    else:
        passed = sigmoid(
            items.a[:, None, None] * (points[:, None] - grade_edges(items)[:, None, :])
        )
        chances = passed[..., :-1] - passed[..., 1:]
    chances = np.maximum(chances, 1e-300)
    here, there = chances[:, :1], chances[:, 1:]
    total: Floats = (here * np.log(here / there)).sum(axis=2) / items.phi[:, None]
    return total

"""Split outcomes into strata by labels, and weigh these: equally, by size, or as given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from passband.errors import InvalidInput, UnknownName, WrongType, nearest
from passband.notes import Note
from passband.stats.checks import as_number
from passband.stats.data.cells import is_absent, label
from passband.stats.data.outcomes import Outcomes

Weights = str | Mapping[str, float]  # "equal", "size", or a share for each stratum

_EXACT = 1e-9  # of the sum, which rounding may miss
_ROUNDED = 0.005  # published shares have two or three digits


@dataclass(frozen=True)
class Shares:
    """The weight of each stratum; they add up to 1."""

    label: str  #: "equal", "size" or "given"
    values: Mapping[str, float]
    notes: tuple[Note, ...] = ()

    @property
    def method(self) -> str:
        """The name of the weights in an estimate's method."""
        return f"strata, {self.label} weights" if self.label != "size" else "strata, by size"


def shares_of(weights: Weights, sizes: Mapping[str, int]) -> Shares:
    """Return the share of each stratum, from a rule or from numbers.

    "equal" gives all strata the same, "size" each in proportion to its problems. Numbers must add
    up to 1. Shares that were rounded (within 0.005 of 1) and whole numbers, which are read as
    counts of a population, are divided by their sum, and a note says so.

    >>> shares_of("size", {"algebra": 30, "geometry": 10}).values
    {'algebra': 0.75, 'geometry': 0.25}
    >>> shares_of({"algebra": 0.7, "geometry": 0.4}, {"algebra": 30, "geometry": 10})
    Traceback (most recent call last):
    ...
    passband.errors.InvalidInput: weights must add up to 1; these add up to 1.1.
    """
    if weights == "equal":
        return Shares("equal", dict.fromkeys(sizes, 1.0 / len(sizes)))
    if weights == "size":
        total = sum(sizes.values())
        return Shares("size", {name: size / total for name, size in sizes.items()})
    if not isinstance(weights, Mapping):
        raise WrongType(
            f"weights must be 'equal', 'size' or a mapping from stratum to share; got {weights!r}."
        )
    return _given(weights, sizes)


def _given(weights: Mapping[str, float], sizes: Mapping[str, int]) -> Shares:
    weights = {label(name).strip(): weight for name, weight in weights.items()}
    _match(weights, sizes)
    numbers = {name: _weight(name, weights[name]) for name in sizes}
    total = math.fsum(numbers.values())
    if total <= 0.0:
        raise InvalidInput("weights must not all be 0.")
    shares = {name: number / total for name, number in numbers.items()}
    if abs(total - 1.0) <= _EXACT:
        return Shares("given", shares)
    are_counts = total > 1.0 and all(_is_whole(weights[name]) for name in sizes)
    if not are_counts and abs(total - 1.0) > _ROUNDED:
        raise InvalidInput(f"weights must add up to 1; these add up to {total:.10g}.")
    return Shares("given", shares, (scaled_weights(total, are_counts),))


def _is_whole(number: object) -> bool:
    return isinstance(number, Integral) or (isinstance(number, float) and number.is_integer())


def _match(weights: Mapping[str, float], sizes: Mapping[str, int]) -> None:
    for name in weights:
        if name not in sizes:
            hint = nearest(str(name), sizes) or f" There are {', '.join(list(sizes)[:10])}."
            raise UnknownName(f"weights: there is no stratum {name!r} in these data.{hint}")
    for name in sizes:
        if name not in weights:
            raise InvalidInput(
                f"weights: stratum {name!r} has none. Give it one (0 leaves it out of the mean)."
            )


def _weight(name: str, value: object) -> float:
    number = as_number(f"the weight of {name!r}", value)
    if not (math.isfinite(number) and number >= 0.0):
        raise InvalidInput(f"the weight of {name!r} must be a number of at least 0; got {value!r}.")
    return number


Labels = Sequence[object] | Mapping[str, object]


def split_by(outcomes: Outcomes, by: Labels) -> dict[str, Outcomes]:
    """Return the outcomes of each stratum, by label, in the order in which the labels appear.

    `by` is one label per problem, or a mapping from the names of the problems to labels.

    >>> strata = split_by(Outcomes.from_counts([3, 0, 8], 8), ["algebra", "geometry", "algebra"])
    >>> {name: stratum.successes.tolist() for name, stratum in strata.items()}
    {'algebra': [3, 8], 'geometry': [0]}
    """
    labels = _labels(outcomes, by)
    members: dict[str, list[int]] = {}
    for position, stratum in enumerate(labels):
        members.setdefault(stratum, []).append(position)
    check_names(members)
    return {name: outcomes.take(np.array(positions)) for name, positions in members.items()}


def _labels(outcomes: Outcomes, by: Labels) -> list[str]:
    names = outcomes.problems[:]
    if isinstance(by, Mapping):
        missing = [name for name in names if name not in by]
        if missing:
            raise InvalidInput(
                f"by has no label for problem {missing[0]!r}"
                + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
                + "; every problem belongs to one stratum."
            )
        labels = [by[name] for name in names]
    elif isinstance(by, str) or not hasattr(by, "__len__"):
        raise WrongType(
            f"by must be one label per problem, or a mapping from problem to label; got {by!r}."
        )
    else:
        labels = list(by)
        if len(labels) != len(names):
            raise InvalidInput(
                f"by must have one label for each of the {len(names)} problems; got {len(labels)}."
            )
    return [_label(name, value) for name, value in zip(names, labels, strict=True)]


def _label(problem: str, value: object) -> str:
    """Return a label as text; one that is missing is refused."""
    if is_absent(value):
        raise InvalidInput(f"by must have a label for every problem; that of {problem!r} is empty.")
    return label(value).strip()


def check_names(names: Sequence[str] | Mapping[str, object]) -> None:
    """Refuse names of strata that differ in nothing but case: most often one is a slip."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise InvalidInput(
                f"the strata {other!r} and {name!r} differ only in upper and lower case; "
                "spell them alike, or give them different names."
            )


def scaled_weights(total: float, are_counts: bool) -> Note:
    """Return the note on weights that were divided by their sum.

    >>> print(scaled_weights(1.002, are_counts=False))
    the weights add up to 1.002 and were divided by that
    """
    if are_counts:
        return Note("scaled-weights", f"the weights are read as counts, of {total:.10g} in all")
    return Note("scaled-weights", f"the weights add up to {total:.10g} and were divided by that")

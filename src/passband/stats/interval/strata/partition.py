"""Outcomes split into strata by a label of each problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from passband.errors import InvalidInput, WrongType
from passband.stats.data.cells import is_absent, label
from passband.stats.data.outcomes import Outcomes

__all__ = ["Labels", "check_names", "split_by"]

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

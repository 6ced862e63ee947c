"""Weights of strata as they are typed: a rule, shares by name, or a CSV file of them."""

from __future__ import annotations

import csv
from pathlib import Path

from passband.errors import InvalidInput, nearest
from passband.stats.interval.strata.weights import Weights

__all__ = ["read_weights"]

_RULES = ("equal", "size")


def read_weights(text: str) -> Weights:
    """Return weights from the text of an option.

    "equal" and "size" are rules. "algebra=0.7,geometry=0.3" are shares by name. Anything that ends
    in .csv is a file with a name and a share in each line; a first line without a number is its
    head.

    >>> read_weights("algebra=0.7, geometry=.3")
    {'algebra': 0.7, 'geometry': 0.3}
    """
    if text in _RULES:
        return text
    if text.lower().endswith(".csv"):
        return _of_file(Path(text))
    if "=" not in text:
        raise InvalidInput(
            f"weights must be equal, size, NAME=SHARE,... or a .csv file; got {text!r}."
            f"{nearest(text, _RULES)}"
        )
    pairs = [part.rpartition("=") for part in text.split(",") if part.strip()]
    return _weights([(name.strip(), share.strip()) for name, _, share in pairs], "weights")


def _of_file(path: Path) -> dict[str, float]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"weights: cannot read {path}: {error}.") from None
    for line, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise InvalidInput(
                f"{path}: each line must have a name and a share; line {line} has {len(row)} cells."
            )
    pairs = [(name.strip(), share.strip()) for name, share in rows]
    if pairs and _number(pairs[0][1]) is None:
        pairs = pairs[1:]
    return _weights(pairs, str(path))


def _weights(pairs: list[tuple[str, str]], place: str) -> dict[str, float]:
    if not pairs:
        raise InvalidInput(f"{place}: there are no weights.")
    weights: dict[str, float] = {}
    for name, text in pairs:
        number = _number(text)
        if not name or number is None:
            raise InvalidInput(f"{place}: expected NAME=SHARE with a number; got {name}={text}.")
        if name in weights:
            raise InvalidInput(f"{place}: {name!r} has two weights.")
        weights[name] = number
    return weights


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

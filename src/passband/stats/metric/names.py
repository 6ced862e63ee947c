"""The spelling of metrics: ``family@k``, ``family^k``, several k, every k, and a parameter.

pass@8    pass^8    pass@1,8,64    pass@1-8    pass@*    g-pass@8:0.75    g-pass@25:7/25    avg
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from passband.errors import InvalidInput

_SHAPE = re.compile(
    r"(?P<family>[a-z][a-z0-9-]*)"
    r"(?:(?P<mark>[@^])(?P<ks>\*|\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*))?"
    r"(?::(?P<parameter>.+))?",
    re.IGNORECASE | re.ASCII,
)
_MOST_KS = 10_000  # of a range
_NUMBER = re.compile(r"-?(\d+(\.\d*)?|\.\d+)(e-?\d{1,2})?|-?\d+/\d+", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class MetricName:
    """The parts of a metric name."""

    key: str  # "pass@", "pass^", "avg"
    ks: tuple[int, ...] | None  # None for every k, empty where the metric takes none
    parameter: str | None

    def at(self, k: int | str) -> str:
        """Return the name for one k, or for "*"."""
        behind = "" if self.parameter is None else f":{self.parameter}"
        return f"{self.key}{k}{behind}"


@lru_cache(maxsize=1024)
def parse_name(text: str) -> MetricName:
    """Parse a metric name.

    >>> parse_name("g-pass@8,16:0.75")
    MetricName(key='g-pass@', ks=(8, 16), parameter='0.75')
    """
    shape = _SHAPE.fullmatch(text.strip())
    if shape is None:
        raise InvalidInput(
            f"{text!r} is not the name of a metric; write for example pass@8, pass^8, "
            "pass@1,8, pass@1-8, pass@*, vote@8, g-pass@8:0.75 or avg."
        )
    key = shape["family"].lower() + (shape["mark"] or "")
    if shape["ks"] is None:
        return MetricName(key, (), shape["parameter"])
    if shape["ks"] == "*":
        return MetricName(key, None, shape["parameter"])
    ks = tuple(dict.fromkeys(k for part in shape["ks"].split(",") for k in _range(part, text)))
    return MetricName(key, ks, shape["parameter"])


def _range(part: str, text: str) -> range:
    """Return the values of k that "8" or "1-8" names."""
    first, _, last = part.partition("-")
    ks = range(int(first), int(last or first) + 1)
    if int(first) < 1:
        raise InvalidInput(f"k must be at least 1; got {text!r}.")
    if not ks:
        raise InvalidInput(f"a range of k must rise, as in pass@1-8; got {text!r}.")
    if len(ks) > _MOST_KS:
        raise InvalidInput(f"a range holds at most {_MOST_KS:,} values of k; got {text!r}.")
    return ks


def number(name: str, text: str) -> Fraction:
    """Read a decimal or a fraction, exactly."""
    try:
        if not _NUMBER.fullmatch(text.strip()):
            raise ValueError
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise InvalidInput(f"{name} must be a decimal or a fraction; got {text!r}.") from None


def unit_interval(name: str, text: str) -> Fraction:
    """Read a decimal or a fraction between 0 and 1, exactly.

    >>> unit_interval("tau", "7/25") == unit_interval("tau", "0.28")
    True
    """
    value = number(name, text)
    if not 0 <= value <= 1:
        raise InvalidInput(f"{name} must be in [0, 1]; got {text}.")
    return value

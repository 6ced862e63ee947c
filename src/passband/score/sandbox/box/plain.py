"""Encode plain values as JSON, to cross between a program and its tests.

Numbers, texts and lists are themselves; every other kind is an object with one tag. A value of a
subclass becomes one of the plain class, so that no method of a program's own comes along. What is
not plain becomes `Opaque`, which equals nothing.

>>> decode(encode([1, (2.5, None), {"a": {1}}]))
[1, (2.5, None), {'a': {1}}]
>>> decode(encode(object())) == decode(encode(object()))
False
"""

from __future__ import annotations

import builtins
import collections
import datetime
import decimal
import fractions
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # such aliases cannot be made by Python 3.8
    Writer = Callable[[Any, bool], object]  # of a value of one class; whether to be strict
    Reader = Callable[[Any], object]


_LONG = 1 << 12  # bits; Python refuses to write out longer numbers as decimal digits
_MOST_ITEMS = 100_000  # of an iterator


class NotPlain(BaseException):
    """A value that no tag fits, where none may be lost; tests cannot catch it by accident."""


class Opaque:
    """A value that did not cross: it has a type and a truth value, and equals nothing."""

    __slots__ = ("kind", "truth")

    def __init__(self, kind: str, truth: bool) -> None:
        self.kind, self.truth = kind, truth

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self.truth

    def __repr__(self) -> str:
        return f"<a {self.kind}>"


def encode(value: Any, strict: bool = False) -> object:
    """Return a value as JSON can hold it; if strict, raise for one that is not plain."""
    kind = type(value)
    if value is None or kind is bool or kind is str or kind is float:
        return value
    if kind is int:
        return value if -_LONG < value < _LONG else _whole(value)
    if kind is list:
        return [encode(item, strict) for item in value]
    if kind in _EXACT:
        return _EXACT[kind](value, strict)
    for base, write in _WRITERS.items():
        if isinstance(value, base):
            if strict and kind is not base and kind.__module__ != "numpy":
                break  # its other methods would be missed
            return write(value, strict)
    return _other(value, strict)


def _whole(value: int) -> object:
    return value if value.bit_length() < _LONG else {"int": hex(value)}


def _items(value: Iterable[object], strict: bool) -> list[object]:
    return [encode(item, strict) for item in value]


# By base-class methods only: a subclass may lie in its own.
_WRITERS: dict[type, Writer] = {
    int: lambda value, strict: _whole(int.__index__(value) + 0),
    float: lambda value, strict: float.__float__(value),
    str: lambda value, strict: str.__str__(value),
    list: lambda value, strict: _items(list.__iter__(value), strict),
    tuple: lambda value, strict: {"tuple": _items(tuple.__iter__(value), strict)},
    dict: lambda value, strict: {"dict": _pairs(value, strict)},
    set: lambda value, strict: {"set": _items(set.__iter__(value), strict)},
    frozenset: lambda value, strict: {"frozenset": _items(frozenset.__iter__(value), strict)},
    bytes: lambda value, strict: {"bytes": bytes.hex(value)},
    bytearray: lambda value, strict: {"bytearray": bytearray.hex(value)},
    complex: lambda value, strict: {"complex": [value.real, value.imag]},
    range: lambda value, strict: {"range": [value.start, value.stop, value.step]},
    fractions.Fraction: lambda value, strict: {
        "fraction": [_whole(value.numerator), _whole(value.denominator)]
    },
    decimal.Decimal: lambda value, strict: {"decimal": decimal.Decimal.__str__(value)},
}


def _pairs(value: dict[object, object], strict: bool) -> list[object]:
    return [[encode(k, strict), encode(v, strict)] for k, v in dict.items(value)]


def _date(value: datetime.date | datetime.time, strict: bool) -> object:
    """Write a date or a time; one with a time zone is not plain."""
    if getattr(value, "tzinfo", None) is not None:
        return _other(value, strict)
    return {type(value).__name__: value.isoformat()}


def _type(value: type, strict: bool) -> object:
    is_builtin = vars(builtins).get(value.__name__) is value
    return {"type": value.__name__} if is_builtin else _other(value, strict)


# Those of which a subclass is something else.
_EXACT: dict[type, Writer] = {
    type({}.keys()): lambda value, strict: {"keys": _items(value, strict)},
    type({}.values()): lambda value, strict: {"values": _items(value, strict)},
    type({}.items()): lambda value, strict: {"items": [_items(pair, strict) for pair in value]},
    collections.OrderedDict: lambda value, strict: {"OrderedDict": _pairs(value, strict)},
    collections.Counter: lambda value, strict: {"Counter": _pairs(value, strict)},
    collections.deque: lambda value, strict: {"deque": [_items(value, strict), value.maxlen]},
    type(iter([])): lambda value, strict: {"iterator": _items(value, strict)},
    type: _type,
    datetime.date: _date,
    datetime.datetime: _date,
    datetime.time: _date,
    datetime.timedelta: lambda value, strict: {
        "timedelta": [value.days, value.seconds, value.microseconds]
    },
}


def _other(value: Any, strict: bool) -> Any:
    """Write numpy's values and iterators; other values are opaque."""
    kind = type(value)
    if isinstance(value, Opaque):
        return {"opaque": [value.kind, value.truth]}
    if kind.__module__ == "numpy" and hasattr(value, "tolist"):
        plain = encode(value.tolist(), strict)
        return {"array": [plain, str(value.dtype)]} if value.ndim else plain
    if strict:
        raise NotPlain(f"{kind.__module__}.{kind.__qualname__}")
    if hasattr(kind, "__next__"):
        items = [item for item, _ in zip(value, range(_MOST_ITEMS))]  # noqa: B905 (Python 3.8)
        return {"iterator": [encode(item) for item in items]}
    return {"opaque": [str(kind.__qualname__), bool(value)]}


def decode(value: Any) -> Any:
    """Return the value that `encode` wrote; raises `ValueError` for anything else."""
    kind = type(value)
    if kind is list:
        return [decode(item) for item in value]
    if kind is not dict:
        return value
    if len(value) != 1:
        raise ValueError("a tagged value has one tag")
    ((tag, inner),) = value.items()
    if tag not in _READERS:
        raise ValueError("there is no such tag")
    try:
        return _READERS[tag](inner)
    except (TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise ValueError(str(error)) from None


def _array(inner: list[Any]) -> object:
    """Return an array of numpy where the tests have numpy."""
    plain, dtype = inner
    try:
        import numpy
    except ImportError:
        return Opaque("numpy.ndarray", True)
    return numpy.array(decode(plain), dtype=dtype)


def _builtin(name: str) -> type:
    value = vars(builtins).get(name)
    if not isinstance(value, type):
        raise ValueError("there is no such type")
    return value


def _dict(pairs: list[Any]) -> dict[Any, object]:
    return {decode(key): decode(item) for key, item in pairs}


_READERS: dict[str, Reader] = {
    "int": lambda inner: int(inner, 16),
    "tuple": lambda inner: tuple(map(decode, inner)),
    "dict": _dict,
    "OrderedDict": lambda inner: collections.OrderedDict(_dict(inner)),
    "Counter": lambda inner: collections.Counter(_dict(inner)),
    "keys": lambda inner: dict.fromkeys(map(decode, inner)).keys(),
    "values": lambda inner: dict(enumerate(map(decode, inner))).values(),
    "items": lambda inner: _dict(inner).items(),
    "deque": lambda inner: collections.deque(map(decode, inner[0]), inner[1]),
    "type": _builtin,
    "date": datetime.date.fromisoformat,
    "datetime": datetime.datetime.fromisoformat,
    "time": datetime.time.fromisoformat,
    "timedelta": lambda inner: datetime.timedelta(*inner),
    "set": lambda inner: set(map(decode, inner)),
    "frozenset": lambda inner: frozenset(map(decode, inner)),
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "complex": lambda inner: complex(*inner),
    "range": lambda inner: range(*inner),
    "fraction": lambda inner: fractions.Fraction(decode(inner[0]), decode(inner[1])),
    "decimal": decimal.Decimal,
    "iterator": lambda inner: iter(list(map(decode, inner))),
    "array": _array,
    "opaque": lambda inner: Opaque(str(inner[0]), bool(inner[1])),
}

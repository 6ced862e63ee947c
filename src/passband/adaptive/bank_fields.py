"""The fields of a bank file: of what type each is; what they mean is `bank`'s business."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_type_hints

from passband.errors import InvalidInput, Place
from passband.generate import Message

_ROLES = get_args(get_type_hints(Message)["role"])


def is_number(value: object) -> bool:
    """Return whether a value is a finite number.

    >>> is_number(1.5), is_number(float("nan")), is_number(True), is_number(10**400)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -math.inf < value < math.inf and abs(value) < 1e300


def check_header_types(header: Mapping[str, Any], place: Place) -> None:
    """Raise `InvalidInput` if a field of the header is of a type that it cannot have."""
    _check(header, _OF_HEADER, place)
    _check(header.get("sampling") or {}, _OF_SAMPLING, place)


def check_item_types(row: Mapping[str, Any], place: Place) -> None:
    """Raise `InvalidInput` if an optional field of an item is of a type that it cannot have."""
    _check(row, _OF_ITEM, place)


def _check(row: Mapping[str, Any], rules: Mapping[str, _Rule], place: Place) -> None:
    for name, (holds, wanted) in rules.items():
        value = row.get(name)
        if value is not None and not holds(value):
            raise InvalidInput(f"{name} must be {wanted}; got {value!r:.60}.", place=place)


_Rule = tuple[Callable[[Any], bool], str]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_messages(value: object) -> bool:
    return isinstance(value, list) and all(
        _are_texts(pair) and len(pair) == 2 and pair[0] in _ROLES for pair in value
    )


def _are_choices(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict) and one.keys() == {"id", "text"} and all(map(_is_text, one.values()))
        for one in value
    )


_TEXT: _Rule = (_is_text, "text")
_OBJECT: _Rule = (_is_object, "an object")
_NUMBER: _Rule = (is_number, "a number")
_OF_HEADER: Mapping[str, _Rule] = {
    "name": _TEXT,
    "scorer": _OBJECT,
    "sampling": _OBJECT,
    "provenance": _OBJECT,
    "hash": _TEXT,
}
_OF_SAMPLING: Mapping[str, _Rule] = {
    "temperature": _NUMBER,
    "top_p": _NUMBER,
    "max_tokens": _NUMBER,
    "stop": (_are_texts, "a list of texts"),
    "extra": _OBJECT,
}
_OF_ITEM: Mapping[str, _Rule] = {
    "choices": (_are_choices, 'a list of {"id": ..., "text": ...}, both of them text'),
    "content": _TEXT,
    "messages": (
        _are_messages,
        f'a list of ["role", "text"], the role one of {", ".join(_ROLES)}',
    ),
    "doc": _OBJECT,
    "quality": _OBJECT,
}

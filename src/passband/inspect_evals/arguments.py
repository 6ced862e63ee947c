"""Command lines of the form `key=value`, read into the fields of a dataclass.

The rules are those of the tool that users of this command come from: the first "=" splits, the
last of several equal keys holds, `None` is nothing, and names and values that do not fit are
refused with a hint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from passband.errors import InvalidInput, UnknownName, nearest
from passband.generate import JsonObject

C = TypeVar("C")
_TRUE, _FALSE = ("true", "1"), ("false", "0")


def parse_arguments(kind: type[C], words: Sequence[str]) -> C:
    """Return the configuration that `key=value` words describe.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Config:
    ...     tasks: str
    ...     limit: int | None = None
    >>> parse_arguments(Config, ["tasks=gsm8k", "limit=None", "limit=3"])
    Config(tasks='gsm8k', limit=3)
    """
    hints = get_type_hints(kind)
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    values: JsonObject = {}
    for word in words:
        key, text = _split(word)
        name, dot, part = key.partition(".")
        if name not in known:
            raise UnknownName(f"there is no option {name!r}.{nearest(name, known)}")
        is_mapping = _is_mapping(hints[name])
        if dot and not is_mapping:
            raise InvalidInput(f"{name} has no parts; give {name}=VALUE.")
        if is_mapping and text != "None":
            if not part:
                raise InvalidInput(f"give {name}.KEY=VALUE, once for each key.")
            values[name] = {**(values.get(name) or {}), part: text}
        else:
            values[name] = _value(name, text, hints[name])
    for field in fields(kind):  # type: ignore[arg-type]
        if field.default is field.default_factory is MISSING and field.name not in values:
            raise InvalidInput(f"{field.name} is required; give {field.name}=VALUE.")
    return kind(**values)


def _split(word: str) -> tuple[str, str]:
    if word.startswith("-"):
        plain = word.lstrip("-")
        raise InvalidInput(f"options take no dashes; write {plain}, not {word}.")
    key, equals, text = word.partition("=")
    if not equals:
        raise InvalidInput(f"options have the form key=value; got {word!r}.")
    return key.strip(), text


def _is_mapping(hint: Any) -> bool:
    return any((get_origin(one) or one) in (dict, Mapping) for one in _choices(hint))


def _choices(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the only type."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _value(name: str, text: str, hint: Any) -> Any:
    """Return a text as the type of a field, whose types are tried in order."""
    choices = _choices(hint)
    if text == "None":
        if type(None) in choices:
            return None
        raise InvalidInput(f"{name} must have a value; got None.")
    readers: Mapping[Any, tuple[Callable[[str], Any], str]] = {
        bool: (_bool, "True or False"),
        int: (int, "a whole number"),
        float: (float, "a number"),
        str: (str, "a text"),
    }
    kinds = [kind for kind in choices if kind in readers]
    for kind in kinds:
        try:
            return readers[kind][0](text)
        except ValueError:
            continue
    wanted = " or ".join(readers[kind][1] for kind in kinds)
    raise InvalidInput(f"{name} must be {wanted}; got {text!r}.")


def _bool(text: str) -> bool:
    lowered = text.lower()
    if lowered in _TRUE or lowered in _FALSE:
        return lowered in _TRUE
    raise ValueError(text)

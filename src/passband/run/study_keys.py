"""The keys of a study file that are settings: what each may hold, and whose it may be.

A function of a value returns the setting, or raises `ValueError` with the words for what it
should be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from passband.tasks.gen_fields import read_gen

__all__ = ["ADJUSTMENTS", "KEYS", "OF_MODELS", "OF_STUDIES"]

ADJUSTMENTS = ("system", "num_fewshot", "fewshot_as_turns", "gen")
"""Keys that are adjustments of tasks (`passband.tasks.adjust`), and not options of a run."""


def _whole(least: int) -> Callable[[Any], int]:
    def convert(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"a whole number, {least} or more")
        return value

    return convert


def _number(words: str, is_valid: Callable[[float], bool]) -> Callable[[Any], float]:
    def convert(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not is_valid(value):
            raise ValueError(f"a number {words}")
        return float(value)

    return convert


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("text")
    return value


def _seed(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError("a number or text")
    return str(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _one_of(*words: str) -> Callable[[Any], str]:
    def convert(value: Any) -> str:
        if value not in words:
            raise ValueError(" or ".join(words))
        return str(value)

    return convert


def _texts(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not values or not all(isinstance(v, str) for v in values):
        raise ValueError("text, or a list of texts")
    return tuple(values)


def _addresses(value: Any) -> str | tuple[str, ...]:
    addresses = _texts(value)
    return addresses[0] if len(addresses) == 1 else addresses


def _path(value: Any) -> Path:
    return Path(_text(value))


def _gen(value: Any) -> dict[str, Any]:
    """Return the fields of requests, checked as those of --gen are; null leaves a field out."""
    if not isinstance(value, Mapping):
        raise ValueError("a mapping of fields, such as {top_k: 20}")
    return read_gen(f"{k}={'' if v is None else json.dumps(v)}" for k, v in value.items())


_positive = _number("above 0", lambda value: value > 0)
_BOTH: dict[str, Callable[[Any], Any]] = {
    "temperature": _number("of at least 0", lambda value: value >= 0),
    "top_p": _number("above 0 and at most 1", lambda value: 0 < value <= 1),
    "max_tokens": _whole(1),
    "seed": _seed,
    "concurrency": _whole(1),
    "batch": _whole(1),
    "timeout": _positive,
    "system": lambda value: value if value == "" else _text(value),
    "num_fewshot": _whole(0),
    "fewshot_as_turns": _flag,
    "gen": _gen,
    "stream": _flag,
}
_STUDY: dict[str, Callable[[Any], Any]] = {
    "n": _whole(1),
    "limit": _whole(1),
    "max_cost": _positive,
    "max_failed": _number("between 0 and 1", lambda value: 0 <= value <= 1),
    "out": _path,
    "truncated": _one_of("leave", "score"),
    "policy": _one_of("drop", "fail", "error"),
    "metrics": _texts,
    "level": _number("between 0 and 1", lambda value: 0 < value < 1),
}
_MODEL: dict[str, Callable[[Any], Any]] = {"name": _text, "base_url": _addresses}

KEYS: Mapping[str, Callable[[Any], Any]] = {**_BOTH, **_STUDY, **_MODEL}
OF_STUDIES = (*_STUDY, *_BOTH)
OF_MODELS = (*_MODEL, *_BOTH)

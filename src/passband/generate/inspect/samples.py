"""Samples of Inspect as problems: their keys, their prompts, and what identifies them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, cast

from passband.errors import InvalidInput
from passband.generate.problem import Problem
from passband.generate.provider import Message
from passband.score import Reference


def keyed_samples(name: str, dataset: Iterable[Any]) -> dict[str, Any]:
    """Return the samples of a data set by key: their ids, or 1, 2, ... for those without."""
    samples: dict[str, Any] = {}
    for position, sample in enumerate(dataset, start=1):
        if sample.id is None:
            sample = sample.model_copy(update={"id": position})
        key = str(sample.id)
        if key in samples:
            ids = " and ".join(map(repr, (samples[key].id, sample.id)))
            raise InvalidInput(f"{name}: two samples have the same id: {ids}.")
        samples[key] = sample
    return samples


def problem_of(key: str, sample: Any) -> Problem:
    """Return a sample as a problem; its record changes if the sample does."""
    targets = (sample.target,) if isinstance(sample.target, str) else tuple(sample.target)
    choices = tuple(sample.choices or ())
    return Problem(key, _messages(sample.input), Reference(targets, choices, _doc(sample)))


def text_of(content: Any) -> str:
    """Return the text of a message's content; anything else shows as its type."""
    if isinstance(content, str):
        return content
    return "\n".join(part.text if part.type == "text" else f"[{part.type}]" for part in content)


def _messages(prompt: Any) -> tuple[Message, ...]:
    if isinstance(prompt, str):
        return (Message("user", prompt),)
    return tuple(Message(cast(Any, turn.role), text_of(turn.content)) for turn in prompt)


def _doc(sample: Any) -> dict[str, Any]:
    """Return what else a sample consists of, as JSON values."""
    doc: dict[str, Any] = {}
    if sample.metadata:
        doc["metadata"] = _plain(sample.metadata)
    if not isinstance(sample.input, str) and not all(map(_is_plain, sample.input)):
        doc["input"] = [
            _plain(turn.model_dump(exclude_none=True, exclude={"id"})) for turn in sample.input
        ]
    for name in ("files", "setup", "sandbox"):
        if value := getattr(sample, name, None):
            doc[name] = _shortened(_plain(value))
    return doc


def _is_plain(turn: Any) -> bool:
    return isinstance(turn.content, str) and turn.role in ("system", "user", "assistant")


def _plain(value: Any) -> Any:
    """Return a value as JSON values; an object that has none is its type, the same each time."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(
        _ordered(value), fallback=lambda thing: f"<{type(thing).__qualname__}>"
    )


def _ordered(value: Any) -> Any:
    """Return a value with its sets as sorted lists: their own order is another in each process."""
    if isinstance(value, Mapping):
        return {key: _ordered(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_ordered(part) for part in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(_ordered, value), key=repr)
    return value


def _shortened(value: Any, most: int = 500) -> Any:
    """Return JSON values with long texts, such as contents of files, as digests."""
    if isinstance(value, Mapping):
        return {key: _shortened(part, most) for key, part in value.items()}
    if isinstance(value, list):
        return [_shortened(part, most) for part in value]
    if isinstance(value, str) and len(value) > most:
        return f"sha256:{hashlib.sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return value

"""Derive pydantic models from dataclasses and named tuples, to check JSON from files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import AfterValidator, BaseModel, ConfigDict, create_model

from passband.json_values import record_keys

#: The keys of a type of record, each with the default of a key that may be missing, or `...`.
Keys = Callable[[type], Mapping[str, Any]]


class RecordModel(BaseModel):
    """The JSON of one type of record; a key that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    record: ClassVar[type]


class _OwnShape(NamedTuple):
    """JSON that the record reads itself, with a version of its own."""

    record: Any
    values: dict[str, Any]


class Models:
    """The models of records; `names` are those that their modules import for type checkers only."""

    def __init__(self, keys: Keys, names: Mapping[str, type]) -> None:
        self._keys = keys
        self._names = dict(names)
        self._models: dict[type, type[RecordModel]] = {}

    def of(self, record: type) -> type[RecordModel]:
        """Return the model of a type of record."""
        if record not in self._models:
            model = create_model(record.__name__, __base__=RecordModel, **self.fields(record))
            model.record = record
            self._models[record] = model
        return self._models[record]

    def fields(self, record: type) -> dict[str, Any]:
        """Return the fields of the model: annotations and defaults by key."""
        hints = get_type_hints(record, localns=self._names)
        keys = self._keys(record)
        return {name: (self._annotation(hints[name]), default) for name, default in keys.items()}

    def _annotation(self, hint: Any) -> Any:
        """Return a type with models in place of its records."""
        if isinstance(hint, type) and record_keys(hint):
            if hasattr(hint, "from_json"):
                return Annotated[dict[str, Any], AfterValidator(partial(_OwnShape, hint))]
            return self.of(hint)
        origin = get_origin(hint)
        if origin in (None, Literal):
            return hint
        parts = tuple(map(self._annotation, get_args(hint)))
        return Union[parts] if origin in (Union, UnionType) else origin[parts]  # noqa: UP007


def record_of(value: Any) -> Any:
    """Return the records that a validated model holds, all the way down."""
    if isinstance(value, _OwnShape):
        return value.record.from_json(value.values)
    if isinstance(value, RecordModel):
        return value.record(**{name: record_of(part) for name, part in value})
    return tuple(map(record_of, value)) if isinstance(value, tuple) else value

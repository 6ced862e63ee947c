"""The JSON of a summary: its versions, how it is written and read, its schema.

A key that a later version brought is written only where it says something, and a summary has the
oldest version that has all its keys: programs that read version 1 read all summaries but those
that need more. Version 2 has adaptive tests, certificates and combined groups, version 3 judges,
version 4 findings about the data.

The schema is in the package as schema.json; ``python -m passband.summary.json`` prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from passband.errors import InvalidInput
from passband.json_values import json_values, record_keys
from passband.notes import Note
from passband.stats.interval import Estimate
from passband.summary.summary import Combined, Group, Line, Request, ScorerCounts, Summary
from passband.summary.until import UntilResult

if TYPE_CHECKING:
    from passband.summary.json_models import Models

KIND = "summary"
NEWEST = 4

#: The version that brought a key, which is written only where it differs from its default.
_SINCE: Mapping[type, Mapping[str, int]] = {
    Request: {
        "stopped_after": 2, "cap": 2, "certify": 2, "calibrate": 2, "weights": 2, "population": 2,
        "judge": 3, "label": 3, "prices": 3, "accept": 4, "first": 4,
    },
    Summary: {"combined": 2},
    Group: {
        "adaptive": 2, "until": 2, "bracket": 2, "incomplete": 2, "programs": 2, "judge": 3,
        "evidence": 4,
    },
    Line: {"lower_is_better": 4},
    Estimate: {"certificate": 2},
    ScorerCounts: {"no_verdict": 2},
    Note: {"severity": 4},
}  # fmt: skip
#: Keys that are always written, and are missing in files of early versions.
_LATER: Mapping[type, frozenset[str]] = {UntilResult: frozenset({"against"})}
#: The keys in the order of the file, where they are not the fields of the class.
_ORDER: Mapping[type, tuple[str, ...]] = {
    Line: (
        "metric", "scorer", "name", "filter", "reduction", "estimate", "reason", "lower_is_better",
    ),
    Group: (
        "task", "model", "n_problems", "n_trials", "is_binary", "n_clusters", "retried", "by",
        "trials_per_problem", "statuses", "scorers", "notes", "lines", "adaptive", "until",
        "bracket", "incomplete", "judge", "programs", "evidence",
    ),
    Combined: ("name", "weighting", "strata", "by", "weights", "lines"),
    Summary: ("columns", "remarks", "groups", "combined"),
}  # fmt: skip


def group_json(group: Group) -> dict[str, Any]:
    """Return a group as JSON-serialisable values."""
    return json_values(group, _keys_of)


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON-serialisable values."""
    return json_values(estimate, _keys_of)


def as_json(summary: Summary) -> dict[str, Any]:
    """Return a summary as JSON-serialisable values."""
    return {
        "passband": KIND,
        "version": max(_versions(summary)),
        "source": summary.source,
        **json_values(summary.request, _keys_of),
        **json_values(summary, _keys_of),
    }


def to_json(summary: Summary) -> str:
    """Return a summary as JSON text: the same bytes for the same summary."""
    return json.dumps(as_json(summary), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _keys_of(record: object) -> Iterator[str]:
    """Yield the keys to write of a record: of those that came later, what is no default."""
    kind: type = type(record)
    late = _SINCE.get(kind, {})
    for name in _order(kind):
        if name not in late or getattr(record, name) != _defaults(kind)[name]:
            yield name


def _versions(value: object) -> Iterator[int]:
    """Yield the version that brought each key that is written of a value."""
    yield 1
    parts: Iterable[object] = ()
    if isinstance(value, Mapping):
        parts = value.values()
    elif record_keys(type(value)):
        late = _SINCE.get(type(value), {})
        names = list(_keys_of(value))
        yield from (late[name] for name in names if name in late)
        parts = [getattr(value, name) for name in names]
        if isinstance(value, Summary):
            parts = [value.request, *parts]
    elif isinstance(value, (list, tuple)):
        parts = value
    for part in parts:
        yield from _versions(part)


def _order(record: type) -> tuple[str, ...]:
    return _ORDER.get(record) or record_keys(record)


@cache
def _defaults(record: type) -> Mapping[str, Any]:
    """Return the defaults of the fields that have one."""
    if not is_dataclass(record):
        return dict(getattr(record, "_field_defaults", {}))
    return {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(record)
    }


# -- reading -------------------------------------------------------------------------------


def from_json(text: str | bytes) -> Summary:
    """Read a summary; raise `InvalidInput` for another version or another kind of JSON."""
    from pydantic import ValidationError

    from passband.summary.json_models import record_of

    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not a passband summary: not JSON ({error}).") from None
    if not isinstance(values, dict) or values.get("passband") != KIND:
        raise InvalidInput("not a passband summary: 'passband' must be 'summary'.")
    if values.get("version") not in range(1, NEWEST + 1):
        raise InvalidInput(
            f"the summary has version {values.get('version')!r}; this passband reads versions "
            f"1 to {NEWEST}. Write it again with `passband stats RUN --json`."
        )
    try:
        model = _model().model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"not a passband summary: {where}: {first['msg']}.") from None
    parts = {name: record_of(part) for name, part in model if name not in ("passband", "version")}
    request = Request(**{name: parts.pop(name) for name in record_keys(Request)})
    return Summary(request=request, **parts)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a summary."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_model().model_json_schema(),
        "title": "passband summary",
    }


@cache
def _model() -> Any:
    """Return the pydantic model of the file: the request's keys beside those of the summary."""
    from pydantic import create_model

    from passband.adaptive import Step
    from passband.stats.judged import JudgeAgreement, JudgedSplit, Prices
    from passband.summary.json_models import Models, RecordModel

    late = (Step, JudgeAgreement, JudgedSplit, Prices)
    models: Models = Models(_readable, {record.__name__: record for record in late})
    fields: dict[str, Any] = {
        "passband": (Literal["summary"], ...),
        "version": (Literal[1, 2, 3, 4], ...),
        "source": (str, ...),
        **models.fields(Request),
        **models.fields(Summary),
    }
    about = "A summary of recorded trials, as passband writes it."
    return create_model("Summary", __base__=RecordModel, __doc__=about, **fields)


def _readable(record: type) -> Mapping[str, Any]:
    """Return the keys of a record, each with its default where it may be missing, or `...`."""
    late = {*_SINCE.get(record, ()), *_LATER.get(record, ())}
    defaults = _defaults(record)
    return {name: defaults[name] if name in late else ... for name in _order(record)}


if __name__ == "__main__":
    print(json.dumps(schema(), indent=2))

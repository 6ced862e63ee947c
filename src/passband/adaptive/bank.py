"""Banks: calibrated items of several splits, how they are scored, and where they come from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np

from passband.adaptive.bank_file import MARK, BankRows, read_rows, write_rows
from passband.adaptive.item import BankItem, Option
from passband.errors import InvalidInput, Place, UnknownName, nearest
from passband.generate import JsonMapping, JsonObject, Message
from passband.stats.irt import Items

_ROLES = get_args(get_type_hints(Message)["role"])


def is_number(value: object) -> bool:
    """Return whether a value is a finite number.

    >>> is_number(1.5), is_number(float("nan")), is_number(True), is_number(10**400)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -math.inf < value < math.inf and abs(value) < 1e300


def check_header_types(header: JsonMapping, place: Place) -> None:
    """Raise `InvalidInput` if a field of the header is of a type that it cannot have."""
    _check(header, _OF_HEADER, place)
    _check(header.get("sampling") or {}, _OF_SAMPLING, place)


def check_item_types(row: JsonMapping, place: Place) -> None:
    """Raise `InvalidInput` if an optional field of an item is of a type that it cannot have."""
    _check(row, _OF_ITEM, place)


def _check(row: JsonMapping, rules: Mapping[str, _Rule], place: Place) -> None:
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


VERSION = 1
_STEEPEST = 50  # no answers tell an item from a steeper one, and posteriors lose their digits
_FURTHEST = 1000
MODELS = ("1pl", "2pl", "3pl", "graded", "continuous")
_HEADER = (MARK, "name", "model", "rho", "scorer", "sampling", "provenance", "hash")
_ROW = (
    "id", "split", "question", "targets", "choices", "content", "messages", "doc", "quality",
    "a", "b", "c", "steps", "phi",
)  # fmt: skip


@dataclass(frozen=True)
class Bank:
    """Items and their parameters; `of_split` gives the items of one test.

    The hash is over everything in the file but itself, and stays that of the whole bank in
    `of_split`, so that it tells whether a run was asked from this bank.
    """

    name: str
    items: Sequence[BankItem]
    parameters: Items
    rho: float = 0.0  # correlation of repeated trials of one item, given ability
    scorer: JsonMapping = field(default_factory=dict)  # arguments of `make_scorer`
    sampling: JsonMapping = field(default_factory=dict)  # that it was calibrated with
    provenance: JsonMapping = field(default_factory=dict)
    hash: str = ""

    def __post_init__(self) -> None:
        if len(self.items) != len(self.parameters):
            raise InvalidInput(
                f"bank {self.name!r} has {len(self.items)} items and the parameters of "
                f"{len(self.parameters)}."
            )
        if not self.items:
            raise InvalidInput(f"bank {self.name!r} is empty; a test needs at least one item.")
        if not self.hash:
            object.__setattr__(self, "hash", _hash_of(self))

    @property
    def model(self) -> str:
        return self.parameters.model

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The splits, in the order of their first items."""
        return tuple(dict.fromkeys(item.split for item in self.items))

    @cached_property
    def position(self) -> Mapping[str, int]:
        """The position of every item by its key."""
        return {item.key: place for place, item in enumerate(self.items)}

    def of_split(self, split: str) -> Bank:
        """Return the bank with the items of one split."""
        places = [place for place, item in enumerate(self.items) if item.split == split]
        if not places:
            raise UnknownName(
                f"bank {self.name!r} has no split {split!r}.{nearest(split, self.splits)} "
                f"It has {', '.join(self.splits)}."
            )
        items = [self.items[place] for place in places]
        return replace(self, items=items, parameters=self.parameters.take(np.array(places)))

    def item(self, key: str) -> BankItem:
        """Return an item by its key."""
        if key not in self.position:
            raise UnknownName(f"bank {self.name!r} has no item {key!r}.")
        return self.items[self.position[key]]

    @cached_property
    def scorer_spec(self) -> JsonMapping:
        """The arguments of `make_scorer`; without any, choices are read and text is compared."""
        if self.scorer:
            return self.scorer
        kinds = {item.choices is None for item in self.items}
        if len(kinds) > 1:
            raise InvalidInput(
                f"bank {self.name!r} has items with choices and items without; its header must "
                'name a scorer that suits both, such as {"name": "exact_match"}.'
            )
        return {"name": "exact_match" if kinds.pop() else "choice"}


def read_bank(path: str | Path) -> Bank:
    """Read a bank from a file of JSON lines or Parquet; whatever is wrong with it shows here."""
    rows = read_rows(Path(path))
    header = _checked_header(rows)
    if not rows.rows:
        raise InvalidInput(f"{path}: the bank is empty; a test needs at least one item.")
    model = header["model"]
    items: list[BankItem] = []
    lines: dict[str, int] = {}
    for line, row in rows.rows:
        item = _item(row, rows.place(line))
        if item.key in lines:
            raise InvalidInput(
                f"two items have the id {item.key!r}; the other is in line {lines[item.key]}.",
                place=rows.place(line),
            )
        lines[item.key] = line
        _check_parameters(model, row, rows.place(line))
        _check_slope(model, row, rows.rows[0][1], rows.place(line))
        items.append(item)
    bank = Bank(
        name=header.get("name") or Path(path).stem,
        items=tuple(items),
        parameters=parameters_of(model, [row for _, row in rows.rows]),
        rho=float(header.get("rho", 0.0)),
        scorer=header.get("scorer") or {},
        sampling=header.get("sampling") or {},
        provenance=header.get("provenance") or {},
    )
    return _with_right_hash(bank, header.get("hash"), rows.place(1))


def write_bank(bank: Bank, path: str | Path) -> None:
    """Write a whole bank as JSON lines or Parquet, by the ending of the name."""
    if _hash_of(bank) != bank.hash:
        raise InvalidInput(f"these are some of the items of bank {bank.name!r}; write the whole.")
    write_rows(Path(path), {**_header(bank), "hash": bank.hash}, _rows(bank))


def parameters_of(model: str, rows: Sequence[JsonMapping]) -> Items:
    """Return the parameters that rows hold as `a`, `b`, `c` or `steps`."""
    columns = {
        name: np.array([float(row.get(name, usual)) for row in rows])
        for name, usual in (("a", 1.0), ("b", 0.0), ("c", 0.0), ("phi", 1.0))
    }
    if model != "graded":
        return Items(model, **columns)  # type: ignore[arg-type]
    steps = np.full((len(rows), max(len(row["steps"]) for row in rows)), math.nan)
    for place, row in enumerate(rows):
        steps[place, : len(row["steps"])] = row["steps"]
    return Items("graded", columns["a"], steps=steps)


def _with_right_hash(bank: Bank, given: str | None, place: Place) -> Bank:
    if given is not None and given != bank.hash:
        raise InvalidInput(
            f"the hash is {given[:19]}..., but the contents give {bank.hash[:19]}...: the bank has "
            'changed since it was written. If that is meant, remove "hash" from the header.',
            place=place,
        )
    return bank


# -- what is in the file -------------------------------------------------------------------


def _header(bank: Bank) -> JsonObject:
    return {
        MARK: VERSION,
        "name": bank.name,
        "model": bank.model,
        "rho": float(bank.rho),
        "scorer": dict(bank.scorer),
        "sampling": dict(bank.sampling),
        "provenance": dict(bank.provenance),
    }


def _rows(bank: Bank) -> Iterator[JsonObject]:
    for place, item in enumerate(bank.items):
        row: JsonObject = {
            "id": item.key,
            "split": item.split,
            "question": item.question,
            "targets": list(item.targets),
            "choices": None if item.choices is None else [c._asdict() for c in item.choices],
            "content": item.content,
            "messages": [list(message) for message in item.messages] or None,
            "doc": dict(item.doc) or None,
            "quality": dict(item.quality) or None,
            **row_parameters(bank.parameters, place),
        }
        yield {name: value for name, value in row.items() if value is not None}


def row_parameters(items: Items, place: int) -> JsonObject:
    """Return the parameters of one item as `parameters_of` reads them."""
    a = float(items.a[place])
    if items.steps is not None:
        steps = items.steps[place]
        return {"a": a, "steps": steps[~np.isnan(steps)].tolist()}
    further = {"3pl": "c", "continuous": "phi"}.get(items.model)
    own = {"a": a, "b": float(items.b[place])}
    return own | ({further: float(getattr(items, further)[place])} if further else {})


def _hash_of(bank: Bank) -> str:
    digest = hashlib.sha256()
    for part in (_header(bank), *_rows(bank)):
        text = json.dumps(part, sort_keys=True, separators=(",", ":"))
        digest.update(text.encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"


# -- checks --------------------------------------------------------------------------------


def _checked_header(rows: BankRows) -> JsonMapping:
    header, place = rows.header, rows.place(1)
    version = header.get(MARK)
    if not isinstance(version, int) or version < 1:
        raise InvalidInput(
            f"{MARK} is the version of the format, {VERSION}; got {version!r}.", place=place
        )
    if version > VERSION:
        raise InvalidInput(
            f"the bank is of version {version}; this passband reads up to {VERSION}. Update it.",
            place=place,
        )
    _refuse_unknown(header, _HEADER, "header", place)
    check_header_types(header, place)
    model = header.get("model")
    if model not in MODELS:
        hint = nearest(str(model), MODELS)
        raise InvalidInput(
            f"unknown model {model!r}.{hint} Known: {', '.join(MODELS)}.", place=place
        )
    rho = header.get("rho", 0.0)
    if not is_number(rho) or not 0 <= rho <= 1:
        raise InvalidInput(f"rho must be from 0 to 1; got {rho!r}.", place=place)
    return header


def _refuse_unknown(row: JsonMapping, known: Sequence[str], where: str, place: Place) -> None:
    for name in row:
        if name not in known:
            hint = nearest(name, known) or f" Known: {', '.join(known)}."
            raise InvalidInput(f"the {where} has an unknown field {name!r}.{hint}", place=place)


def _item(row: JsonMapping, place: Place) -> BankItem:
    """Return the item of a row; raise if it lacks something or does not fit together."""
    _refuse_unknown(row, _ROW, "item", place)
    check_item_types(row, place)
    for name in ("id", "split", "question"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            raise InvalidInput(f"{name} must be text; got {row.get(name)!r}.", place=place)
    targets = row.get("targets")
    if not isinstance(targets, list) or not targets or any(not isinstance(t, str) for t in targets):
        raise InvalidInput(f"targets must be a list of texts; got {targets!r:.60}.", place=place)
    choices = _choices(row.get("choices"), targets, place)
    check_split(row["split"], place)
    return BankItem(
        key=row["id"],
        split=row["split"],
        question=row["question"],
        targets=tuple(targets),
        choices=choices,
        content=row.get("content"),
        messages=tuple((role, text) for role, text in row.get("messages") or ()),
        doc=row.get("doc") or {},
        quality=row.get("quality") or {},
    )


def check_split(split: str, place: Place | None = None) -> None:
    """Raise `InvalidInput` if `BANK:adaptive:SPLIT` could not name a split."""
    if split in ("", "*") or ":" in split or split != split.strip():
        raise InvalidInput(
            "a split must not be empty or '*', contain a colon, or begin or end with a space; got "
            f"{split!r}.",
            place=place,
        )


def _choices(given: Any, targets: Sequence[str], place: Place) -> tuple[Option, ...] | None:
    if given is None:
        return None
    ids = [choice["id"] for choice in given]
    if len(ids) < 2 or len(set(ids)) < len(ids):
        raise InvalidInput(
            f"choices must be two or more with ids of their own; got {ids}.", place=place
        )
    for target in targets:
        if target not in ids:
            raise InvalidInput(f"the target {target!r} is none of the choices {ids}.", place=place)
    return tuple(Option(choice["id"], choice["text"]) for choice in given)


def _check_parameters(model: str, row: JsonMapping, place: Place) -> None:
    a, c = row.get("a", 1.0), row.get("c", 0.0)
    if not is_number(a) or not 0 < a <= _STEEPEST:
        raise InvalidInput(
            f"a (discrimination) must be above 0 and at most {_STEEPEST}; got {a!r:.60}.",
            place=place,
        )
    if not is_number(c) or not 0 <= c < 1 or (c and model != "3pl"):
        raise InvalidInput(
            f"c (guessing) must be from 0 to below 1, and 0 outside 3pl; got {c!r}.", place=place
        )
    if model == "graded":
        steps = row.get("steps")
        if (
            not isinstance(steps, list)
            or not steps
            or not all(_is_difficulty(step) for step in steps)
            or any(low >= high for low, high in pairwise(steps))
        ):
            raise InvalidInput(f"steps must be ascending numbers; got {steps!r:.60}.", place=place)
        return
    phi = row.get("phi", 1.0)
    if not is_number(phi) or phi <= 0 or (phi != 1 and model != "continuous"):
        raise InvalidInput(
            f"phi (dispersion) must be above 0, and 1 unless continuous; got {phi!r}.", place=place
        )
    if not _is_difficulty(row.get("b")):
        raise InvalidInput(
            f"b (difficulty) must be a number from -{_FURTHEST} to {_FURTHEST}; got "
            f"{row.get('b')!r:.60}.",
            place=place,
        )
    if "steps" in row:
        raise InvalidInput(f"steps belong to the graded model, not to {model}.", place=place)


def _is_difficulty(value: object) -> bool:
    return is_number(value) and abs(float(value)) <= _FURTHEST  # type: ignore[arg-type]


def _check_slope(model: str, row: JsonMapping, first: JsonMapping, place: Place) -> None:
    a, other = row.get("a", 1.0), first.get("a", 1.0)
    if model == "1pl" and a != other:
        raise InvalidInput(
            f"a (discrimination) must be the same for all items of 1pl; got {a!r}, not {other!r}.",
            place=place,
        )

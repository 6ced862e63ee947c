"""Banks from results: respondents in, calibrated items with their provenance out."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np

from passband.adaptive.bank import Bank, check_split
from passband.adaptive.item import BankItem, Option
from passband.adaptive.respondents import Record, Respondent
from passband.errors import InvalidInput, NotEnoughData, UnknownName, nearest
from passband.generate import JsonMapping, JsonObject
from passband.stats.irt import Calibration, ItemModel, calibrate
from passband.types import Floats
from passband.version import __version__

_LEAST = 3  # respondents below which parameters mean nothing at all
_NAMED = 50  # respondents that the provenance names


@dataclass(frozen=True)
class CalibratedBank:
    """A bank, and how far to trust it."""

    bank: Bank
    calibration: Calibration
    respondents: Sequence[Respondent]
    dropped: Mapping[str, str]  # reasons by item


def calibrate_bank(
    respondents: Sequence[Respondent],
    name: str,
    *,
    model: ItemModel = "2pl",
    anchor: Bank | None = None,
    split_by: str | None = None,
    content: str | None = None,
) -> CalibratedBank:
    """Calibrate the problems that respondents were asked, and return them as a bank.

    With `anchor`, items that are also in that bank keep its parameters, and the new ones get on
    its scale. `split_by` is a column of the problems' data, or shares such as "train=2,test=1";
    without it, all items are of the split test. `content` is the column of content areas.
    """
    if len(respondents) < _LEAST:
        raise NotEnoughData(
            f"calibration compares models: {len(respondents)} respondents are too few, {_LEAST} "
            "the least, and below 100 parameters are rough. Add runs of other models or settings."
        )
    asked = {key for one in respondents for key in one.tallies}
    listed = dict.fromkeys(key for one in respondents for key in one.problems)
    keys = [key for key in listed if key in asked]  # in the order of the data
    totals, trials = _matrices(respondents, keys)
    asked_as = _records(respondents, keys)
    fitted = calibrate(totals, trials, model=model, **_anchors(anchor, asked_as, model))
    kept = [keys[column] for column in fitted.kept]
    records = {key: asked_as[key] for key in kept}
    split_of = _splits(split_by, records)
    items = [
        _item(key, record, split_of[key], content, _quality(fitted, place, trials))
        for place, (key, record) in enumerate(records.items())
    ]
    bank = Bank(
        name=name,
        items=tuple(items),
        parameters=fitted.items,
        rho=fitted.rho,
        scorer=_scorer(respondents),
        sampling=_sampling(respondents),
        provenance=_provenance(respondents, fitted, trials, anchor),
    )
    dropped = {keys[column]: reason for column, reason in fitted.dropped.items()}
    return CalibratedBank(bank, fitted, respondents, dropped)


def _matrices(respondents: Sequence[Respondent], keys: Sequence[str]) -> tuple[Floats, Floats]:
    totals, trials = np.zeros((2, len(respondents), len(keys)))
    columns = {key: column for column, key in enumerate(keys)}
    for row, one in enumerate(respondents):
        for key, (total, count) in one.tallies.items():
            totals[row, columns[key]], trials[row, columns[key]] = total, count
    return totals, trials


def _anchors(anchor: Bank | None, records: Mapping[str, Record], model: str) -> JsonObject:
    if anchor is None:
        return {}
    keys = list(records)
    shared = [key for key in keys if key in anchor.position]
    if len(shared) < 2:
        raise NotEnoughData(
            f"bank {anchor.name!r} shares {len(shared)} items with these results; linking needs 2 "
            "at the very least, and better 20."
        )
    if anchor.model != model:
        raise InvalidInput(f"bank {anchor.name!r} is of the model {anchor.model}, not {model}.")
    for key in shared:
        _check_same(anchor, key, records[key])
    columns = {key: column for column, key in enumerate(keys)}
    return {
        "anchors": anchor.parameters.take([anchor.position[key] for key in shared]),
        "anchored": [columns[key] for key in shared],
    }


def _check_same(anchor: Bank, key: str, record: Record) -> None:
    """Raise if the item of a bank has other targets than the problem of the same id."""
    item = anchor.item(key)
    ours = {item.letter(target) or target for target in item.targets}
    if record.get("targets") and ours != set(_choices(record)[1]):
        raise InvalidInput(
            f"item {key!r} of bank {anchor.name!r} has other targets than the problem {key!r} of "
            "these results: they are different problems under one id, and link nothing."
        )


# -- items -----------------------------------------------------------------------------------


def _records(respondents: Sequence[Respondent], keys: Sequence[str]) -> dict[str, Record]:
    """Return recorded problems by key; problems with one id must have the same targets."""
    found: dict[str, Record] = {}
    for one in respondents:
        for key, record in one.problems.items():
            known = found.setdefault(key, record)
            if list(known.get("targets") or ()) != list(record.get("targets") or ()):
                raise InvalidInput(
                    f"problem {key!r} of {one.name} has other targets than elsewhere: the results "
                    "are of different problems under one id."
                )
            if not known.get("messages") and record.get("messages"):
                found[key] = record
    return {key: found[key] for key in keys}


def _item(
    key: str, record: Record, split: str, content: str | None, quality: Mapping[str, float]
) -> BankItem:
    messages = tuple((str(role), str(text)) for role, text in record.get("messages") or ())
    if not messages or not record.get("targets"):
        raise InvalidInput(
            f"problem {key!r} has no {'targets' if messages else 'prompt'}, so that it could not "
            "be asked again; calibrate from run directories, or from logs that keep both."
        )
    doc = {name: value for name, value in (record.get("doc") or {}).items() if name != "irt"}
    choices, targets = _choices(record)
    is_question = len(messages) == 1 and messages[0][0] == "user" and choices is None
    return BankItem(
        key=key,
        split=split,
        question=messages[-1][1],
        targets=targets,
        choices=choices,
        content=None if content is None else str(_value(doc, content, key)),
        messages=() if is_question else messages,  # which show the choices already
        doc=doc,
        quality=quality,
    )


def _choices(record: Record) -> tuple[tuple[Option, ...] | None, tuple[str, ...]]:
    """Return choices under their letters, and targets as letters; no choices, no letters."""
    targets, texts = tuple(record["targets"]), list(record.get("choices") or ())
    letters = ascii_uppercase[: len(texts)]
    named = dict(zip(texts, letters, strict=False))
    picked = tuple(target if target in letters else named.get(target, "") for target in targets)
    if not 2 <= len(texts) <= len(ascii_uppercase) or not all(picked):
        return None, targets
    return tuple(map(Option, letters, texts)), picked


def _quality(fitted: Calibration, place: int, trials: Floats) -> dict[str, float]:
    """Return the known standard errors and fit of an item, rounded."""
    values = {
        "se_a": fitted.se.a[place],
        "se_b": fitted.se.b[place],
        "infit": fitted.fit.infit[place],
        "outfit": fitted.fit.outfit[place],
        "trials": trials[:, fitted.kept[place]].sum(),
    }
    return {n: round(float(v), 4) for n, v in values.items() if math.isfinite(v)}


# -- splits ----------------------------------------------------------------------------------


def _splits(split_by: str | None, records: Mapping[str, Record]) -> dict[str, str]:
    if split_by is None:
        return dict.fromkeys(records, "test")
    if "=" in split_by:
        shares = _shares(split_by)
        found = {key: _drawn(key, shares) for key in records}
    else:
        docs = {key: record.get("doc") or {} for key, record in records.items()}
        found = {key: str(_value(doc, split_by, key)) for key, doc in docs.items()}
    for split in dict.fromkeys(found.values()):
        check_split(split)
    return found


def _value(doc: JsonMapping, name: str, key: str) -> Any:
    if doc.get(name) is None:
        hint = nearest(name, doc) or f" It has {', '.join(doc) or 'none'}."
        raise UnknownName(f"the data of problem {key!r} have no {name!r}.{hint}")
    return doc[name]


def _shares(text: str) -> dict[str, float]:
    """Return shares of splits.

    >>> _shares("train=2,test=1")
    {'train': 2.0, 'test': 1.0}
    """
    try:
        pairs = [part.split("=") for part in text.split(",")]
        shares = {name.strip(): float(share) for name, share in pairs}
    except ValueError:
        raise InvalidInput(f"shares of splits are given as train=2,test=1; got {text!r}.") from None
    if len(shares) < len(pairs):
        raise InvalidInput(f"each split must have one share; got {text!r}.")
    if any(not (math.isfinite(share) and share > 0) for share in shares.values()):
        raise InvalidInput(f"shares of splits must be above 0; got {text!r}.")
    return shares


def _drawn(key: str, shares: Mapping[str, float]) -> str:
    """Return the split of an item, drawn by a hash of its id: it never changes."""
    digest = hashlib.sha256(f"split\0{key}".encode("utf-8", "surrogatepass")).digest()
    luck = int.from_bytes(digest[:8], "big") / 2**64 * sum(shares.values())
    for name, share in shares.items():
        if luck < share:
            return name
        luck -= share
    return list(shares)[-1]  # rounding has left nothing else


# -- the bank as a whole ---------------------------------------------------------------------


def _scorer(respondents: Sequence[Respondent]) -> JsonObject:
    """Return the scorer that all respondents share, if they do, without its scale."""
    specs = [one.scorer for one in respondents]
    first = specs[0]
    if first is None or "name" not in first or any(spec != first for spec in specs):
        return {}
    return {name: value for name, value in first.items() if name != "bounds"}


def _sampling(respondents: Sequence[Respondent]) -> JsonObject:
    """Return the settings that all respondents share."""
    settings = [one.sampling or {} for one in respondents]
    return {
        name: value
        for name, value in settings[0].items()
        if value not in (None, [], {}) and all(other.get(name) == value for other in settings)
    }


def _provenance(
    respondents: Sequence[Respondent], fitted: Calibration, trials: Floats, anchor: Bank | None
) -> JsonObject:
    names = [one.name for one in respondents]
    return {
        "passband": __version__,
        "task": respondents[0].task,
        "respondents": len(names),
        "names": names[:_NAMED],
        "trials": int(trials.sum()),
        "items_dropped": len(fitted.dropped),
        "converged": fitted.converged,
        "log_likelihood": round(fitted.log_likelihood, 4),
        **({} if anchor is None else {"anchor": {"bank": anchor.name, "hash": anchor.hash}}),
        "notes": [str(note) for note in fitted.notes],
    }

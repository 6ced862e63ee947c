"""The task of a bank: the items of one split as problems, asked as a design chooses them.

Banks by name: the built-in ones, those of PASSBAND_BANKS, and those in ./banks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

from passband.adaptive.bank import Bank, read_bank, row_parameters
from passband.adaptive.bank_file import ENDINGS
from passband.adaptive.dataset import ADAPTIVE, FALLBACK, parse_dataset, resolve_splits
from passband.adaptive.design import Design
from passband.errors import InvalidInput, UnknownName, nearest
from passband.generate import JsonObject, Problem, Sampling
from passband.score import Scorer, make_scorer
from passband.tasks import Task

BUILTIN = Path(__file__).parent / "builtin"


class BankEntry(NamedTuple):
    """The file of a bank, by the name that finds it."""

    name: str
    path: Path


def list_banks() -> list[BankEntry]:
    """List every bank that can be used by its name, sorted by name; reads none of them.

    >>> [entry.name for entry in list_banks() if entry.path.parent == BUILTIN]
    ['arithmetic']
    """
    entries = {path.resolve(): BankEntry(path.stem, path) for path in _files()}
    return sorted(entries.values())


def find_bank(name: str | Path) -> Bank | None:
    """Return a bank by its name or by the path of its file; None if no bank has the name."""
    path = Path(name)
    if path.suffix in ENDINGS or len(path.parts) > 1:
        return read_bank(path)
    found = [entry.path for entry in list_banks() if entry.name == str(name)]
    if len(found) > 1:
        paths = ", ".join(map(str, found))
        raise InvalidInput(
            f"bank {str(name)!r} is in several files: {paths}; give the path of one."
        )
    return read_bank(found[0]) if found else None


def required_bank(name: str | Path) -> Bank:
    """Return a bank as `find_bank` does; raise `UnknownName` if there is none."""
    bank = find_bank(name)
    if bank is None:
        known = sorted({entry.name for entry in list_banks()})
        hint = nearest(str(name), known) or f" Known: {', '.join(known[:20]) or 'none'}."
        raise UnknownName(f"there is no bank named {str(name)!r}.{hint}")
    return bank


def _files() -> Iterator[Path]:
    folders = os.environ.get("PASSBAND_BANKS", "").split(os.pathsep)
    own = [Path(folder).expanduser() for folder in folders if folder]
    for folder in (BUILTIN, *own, Path("banks")):
        if folder.is_dir():
            yield from sorted(p for p in folder.iterdir() if p.suffix in ENDINGS and p.is_file())


@dataclass(frozen=True, kw_only=True)
class AdaptiveTask(Task):
    """A task whose problems are the items of one split of a bank."""

    bank: Bank
    design: Design


def adaptive_tasks(
    name: str, design: Design | None = None, order: Sequence[str] = FALLBACK
) -> list[AdaptiveTask]:
    """Return the tasks of `BANK:adaptive[:SPLIT]`: one, or with `*` one for each split."""
    dataset = parse_dataset(name)
    bank = required_bank(dataset.id)
    splits = resolve_splits(dataset.dataset, dataset.split, bank.splits, order)
    return [task_of_bank(bank.of_split(split), design) for split in splits]


def task_of_bank(bank: Bank, design: Design | None = None) -> AdaptiveTask:
    """Return the items of one split as a task, scored as the bank says.

    A problem is stored with the parameters of its item, so that ability can be computed again
    without the bank.
    """
    design = design or Design()
    if len(bank.splits) > 1:
        raise InvalidInput(
            f"a test is of one split; {bank.name!r} has {', '.join(bank.splits)}. Choose one "
            "with of_split."
        )
    (split,) = bank.splits
    problems = [item.problem(_stored(bank, place)) for place, item in enumerate(bank.items)]

    def load(limit: int | None) -> Sequence[Problem]:
        if limit is not None:
            raise InvalidInput(
                "--limit would change the bank; --max-items limits how many of its items are asked."
            )
        return problems

    of_bank = {"bank": bank.name, "hash": bank.hash, "split": split}
    return AdaptiveTask(
        name=f"{bank.name}:{ADAPTIVE}:{split}",
        path=None,
        sampling=_sampling(bank),
        repeats=design.trials,
        scorers=(_scorer(bank),),
        metrics=(),
        load=load,
        config={ADAPTIVE: {**of_bank, "model": bank.model, "rho": float(bank.rho)}},
        spec={**of_bank, "design": design.as_json()},
        bank=bank,
        design=design,
    )


def _stored(bank: Bank, place: int) -> JsonObject:
    """Return the fields that are stored with an item beyond its data."""
    content = bank.items[place].content
    stored: JsonObject = {"irt": row_parameters(bank.parameters, place)}
    return stored if content is None else {**stored, "content": content}


def _sampling(bank: Bank) -> Sampling:
    known = [field.name for field in fields(Sampling)]
    for name in bank.sampling:
        if name not in known:
            hint = nearest(name, known) or f" Known: {', '.join(known)}."
            raise UnknownName(f"bank {bank.name!r}: sampling has no {name!r}.{hint}")
    return Sampling(**{**bank.sampling, "stop": tuple(bank.sampling.get("stop", ()))})


def _scorer(bank: Bank) -> Scorer:
    try:
        scorer = make_scorer(**bank.scorer_spec)
    except TypeError as error:  # an argument that no scorer has, or none of the needed
        raise InvalidInput(f"bank {bank.name!r}: its scorer cannot be made: {error}.") from None
    low, high = (scorer.spec or {}).get("bounds") or (0.0, 1.0)
    if low is None or high is None or low < 0 or high > 1:
        raise InvalidInput(
            f"bank {bank.name!r}: {scorer.name} gives scores outside 0 to 1, which no model of "
            "items allows."
        )
    return scorer

"""Banks by name: the built-in ones, those of PASSBAND_BANKS, and those in ./banks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from passband.adaptive.bank import Bank, read_bank
from passband.adaptive.bank_file import ENDINGS
from passband.errors import InvalidInput, UnknownName, nearest

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

"""Plug-ins: modules outside passband that register metrics, scorers, providers or readers.

A package announces its module under the entry-point group `passband.plugins`; a user names further
modules in PASSBAND_IMPORT (separated by commas) or with --import. Importing the module runs its
`register_*` decorators, and the names it registers then work like built-in ones.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from passband.errors import InvalidInput, describe, warn

GROUP = "passband.plugins"
VARIABLE = "PASSBAND_IMPORT"

failures: dict[str, str] = {}  # installed plug-ins that could not be imported, and why
_imported: dict[str, None] = {}  # modules that the user named, in the order of their import
_is_loaded = False
_importing: list[str] = []  # plug-ins under import, the innermost last


def load() -> None:
    """Import every plug-in, once per process.

    An installed plug-in that fails is skipped with a warning and remembered in `failures`: a
    broken package that the command does not need must not stop it. A module named in
    PASSBAND_IMPORT was asked for, so its failure is an error, at every attempt.
    """
    global _is_loaded
    if _is_loaded:
        return
    _is_loaded = True  # first: a plug-in that looks something up comes back here
    try:
        import_modules(_modules_of_environment(), VARIABLE)
    except InvalidInput:
        _is_loaded = False
        raise
    _load_installed()


def import_modules(names: list[str] | None, option: str = "--import") -> None:
    """Import modules that the user named, in this order."""
    for name in names or ():
        import_module(name, option)


def import_module(name: str, option: str = "--import") -> None:
    """Import one module that the user named; the working folder is searched last."""
    if name.endswith(".py") or os.sep in name:
        stem = os.path.basename(name).removesuffix(".py")
        raise InvalidInput(f"{option} takes the name of a module, not a file; try {option} {stem}.")
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    try:
        with _registering(name):
            importlib.import_module(name)
        _imported[name] = None
    except (Exception, SystemExit) as error:
        raise InvalidInput(
            f"{option} {name}: the module cannot be imported: {describe(error)}"
        ) from error


def named_modules() -> list[str]:
    """Return the modules that the user has named, here or in PASSBAND_IMPORT."""
    return list(dict.fromkeys([*_imported, *_modules_of_environment()]))


def source() -> str | None:
    """Return the name of the plug-in under import, or None outside of any."""
    return _importing[-1] if _importing else None


def failures_hint() -> str:
    """Return a sentence that names the plug-ins that failed, for the end of an error."""
    if not failures:
        return ""
    reasons = "; ".join(f"{name} ({reason})" for name, reason in failures.items())
    return f" Plug-ins that could not be imported: {reasons}."


def _modules_of_environment() -> list[str]:
    names = os.environ.get(VARIABLE, "").split(",")
    return [name.strip() for name in names if name.strip()]


def _load_installed() -> None:
    from importlib.metadata import entry_points  # 20 ms that most commands do without

    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            with _registering(entry.name):
                entry.load()
        except (Exception, SystemExit) as error:
            failures[entry.name] = describe(error)
            warn(f"plug-in {entry.name!r} ({entry.value}) is not used: {failures[entry.name]}")


@contextmanager
def _registering(name: str) -> Iterator[None]:
    _importing.append(name)
    try:
        yield
    finally:
        _importing.pop()

"""Plug-ins: modules outside passband that register metrics, scorers, providers or readers.

A package announces its module under the entry-point group `passband.plugins`; a user names further
modules in PASSBAND_IMPORT (separated by commas) or with --import. Importing the module runs its
`register_*` decorators, and the names it registers then work like built-in ones.
"""

from __future__ import annotations

import importlib
import os
import sys

from passband.errors import InvalidInput

__all__ = ["GROUP", "VARIABLE", "failures", "failures_hint", "import_module", "load"]

GROUP = "passband.plugins"
VARIABLE = "PASSBAND_IMPORT"

_loaded = False
failures: dict[str, str] = {}  # plug-ins that could not be imported, and why


def load() -> None:
    """Import every plug-in, once per process.

    A package whose plug-in fails is remembered in `failures` and skipped: a broken package that
    nobody asked for must not stop a command. A module named in PASSBAND_IMPORT was asked for, so
    its failure is an error.
    """
    global _loaded
    if _loaded:
        return
    _loaded = True  # first: a plug-in that looks something up comes back here
    for name in os.environ.get(VARIABLE, "").split(","):
        if name.strip():
            import_module(name.strip(), f"{VARIABLE} names")
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as error:
            failures[entry.name] = f"{type(error).__name__}: {error}"


def import_module(name: str, who: str = "--import names") -> None:
    """Import a module that the user named; the working folder is searched too."""
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    try:
        importlib.import_module(name)
    except Exception as error:
        raise InvalidInput(
            f"{who} the module {name!r}, which cannot be imported: {type(error).__name__}: {error}"
        ) from error


def failures_hint() -> str:
    """Return a sentence that names the plug-ins that failed, for the end of an error."""
    if not failures:
        return ""
    reasons = "; ".join(f"{name} ({reason})" for name, reason in failures.items())
    return f" Plug-ins that could not be imported: {reasons}."

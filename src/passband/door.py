"""Doors: packages that import a public name when it is first used.

A package's ``__init__.pyi`` lists its public names, one import per line. People and type checkers
read that list, and so does this module, which makes it true at run time:

    __getattr__, __dir__ = open_door(__name__, __file__)

Importing the package imports nothing else, so a command pays only for the names that it uses.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable

_IMPORT = re.compile(r"^from (\S+) import \(?\s*(\w+)", re.MULTILINE)


def open_door(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the package's `__getattr__` and `__dir__`, which read its stub when first called."""
    homes: dict[str, str] = {}

    def listed() -> dict[str, str]:
        if not homes:
            with open(os.path.splitext(file)[0] + ".pyi", encoding="utf-8") as stub:
                homes.update((name, module) for module, name in _IMPORT.findall(stub.read()))
        return homes

    def find(name: str) -> object:
        if name == "__all__":
            return sorted(listed())
        if name.startswith("__") or name not in listed():  # dunders are asked for at every import
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = homes[name]
        if module == package:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *listed()})

    return find, names

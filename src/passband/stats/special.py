"""Functions of scipy.special, imported without the parts of numpy that nothing here uses.

    from passband.stats.special import betaln

scipy clones the namespace of numpy, and so imports all that numpy lists, with numpy.f2py and
numpy.testing: 0.1 s, longer than a command takes to read and measure a small table. While
scipy.special is imported, numpy leaves these two out of its lists; they still are where they were,
and are imported by whoever names them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

_NOT_CLONED = {"f2py", "testing", "test"}  # `test` is an object of numpy.testing


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_special(), name)
    return value


@lru_cache(maxsize=1)
def _special() -> ModuleType:
    with _shortened_lists(np):
        return importlib.import_module("scipy.special")


@contextmanager
def _shortened_lists(module: ModuleType) -> Iterator[None]:
    """Leave names out of `from module import *` and of `dir(module)` within the block."""
    listed, directory = module.__all__, module.__dir__
    names = sorted(set(directory()) - _NOT_CLONED)
    try:
        module.__all__ = [name for name in listed if name not in _NOT_CLONED]
        module.__dir__ = lambda: names  # type: ignore[method-assign]
        yield
    finally:
        module.__all__ = listed
        module.__dir__ = directory  # type: ignore[method-assign]

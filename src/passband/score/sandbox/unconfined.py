"""No sandbox at all: plain processes, with limits and a clock, for --unsafe-code."""

from __future__ import annotations

import sys

from passband.score.sandbox.recipe import BOOT, Recipe, variables
from passband.score.sandbox.zygotes import Zygotes

__all__ = ["unconfined"]


def unconfined(size: int | None = None) -> Zygotes:
    """Return a stand-in for a sandbox: programs can do whatever the user can."""
    return Zygotes("none", _recipe, is_isolated=False, size=size)


def _recipe(hash_seed: int) -> Recipe:
    command = (sys.executable, "-s", "-B", "-c", BOOT)
    return Recipe(command, variables(hash_seed), settings={"namespaces": False, "filter": ""})

"""Addresses and keys of services with a protocol of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from passband.errors import InvalidInput

__all__ = ["api_key", "native_url"]


def native_url(kind: str, model: str, given: str | None, variable: str, default: str) -> str:
    """Return the address of a service: as given, that of a variable, or the usual one."""
    if not model:
        raise InvalidInput(f"--model {kind}: needs the name of a model, such as {kind}:NAME.")
    return given or os.environ.get(variable, "").strip() or default


def api_key(variables: Sequence[str], needed: bool, headers: Mapping[str, str], header: str) -> str:
    """Return the key of the first variable that is set; a header of the user's may replace it."""
    found = [(name, os.environ.get(name, "").strip()) for name in variables]
    name, key = next(((n, k) for n, k in found if k), (variables[0], ""))
    if not key.isprintable():
        raise InvalidInput(f"{name} holds a line break or the like; set it again.")
    is_replaced = not {header, "authorization"}.isdisjoint(map(str.lower, headers))
    if needed and not key and not is_replaced:
        raise InvalidInput(
            f"{' or '.join(variables)} is not set. Set it, or give the address of another server "
            "with --base-url."
        )
    return "" if is_replaced else key

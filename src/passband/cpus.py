"""Cores that this process may use."""

from __future__ import annotations

import os

__all__ = ["VARIABLE", "available_cpus"]

VARIABLE = "PASSBAND_CPUS"


def available_cpus() -> int:
    """Return the number of cores that this process may use."""
    return int(os.environ.get(VARIABLE) or os.cpu_count() or 1)

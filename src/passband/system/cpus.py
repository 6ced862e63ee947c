"""Count the processors that this process may use, for every pool of threads or processes."""

from __future__ import annotations

import os

from passband.errors import InvalidInput

CPUS_VARIABLE = (
    "PASSBAND_CPUS"  # the share of a process that shares its machine with others of passband
)


def available_cpus() -> int:
    """Return the number of processors for this process, at least 1.

    PASSBAND_CPUS decides where it is set: whatever starts several processes of passband on one
    machine gives each its share, as each would take all processors otherwise. Without it, these are
    the processors that the system lets this process run on, which in a container or under taskset
    may be fewer than the machine has.
    """
    setting = os.environ.get(CPUS_VARIABLE, "").strip()
    if setting:
        return _checked(setting)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _checked(setting: str) -> int:
    if not (setting.isascii() and setting.isdigit() and int(setting) >= 1):
        raise InvalidInput(
            f"{CPUS_VARIABLE} must be a whole number, 1 or more; got {setting!r:.40}."
        )
    return int(setting)

"""What a trial in a sandbox may use."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from passband.errors import InvalidInput

__all__ = ["DEFAULT", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one trial may use; whatever goes beyond is stopped, and the sandbox lives on.

    Memory counts for each process of a trial, disk for all of its files together. The wall clock
    is twice the processor time by default: a trial that runs out of the first long before the
    second was kept waiting by others, and is run again.

    >>> Limits(wall=10).cpu
    3.0
    """

    wall: float = 6.0  # seconds from start to end
    cpu: float = 3.0  # seconds of processor time; the kernel counts them whole
    memory: int = 1 << 30  # bytes of address space, each process
    disk: int = 16 << 20  # bytes in files, all of them gone after the trial
    processes: int = 8  # processes and threads at a time
    files: int = 64  # open at a time
    output: int = 64 << 10  # bytes kept of standard output, and of standard error

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not (is_number and math.isfinite(value) and value > 0):
                raise InvalidInput(f"limit {name!r} must be a number above 0; got {value!r}.")


DEFAULT = Limits()

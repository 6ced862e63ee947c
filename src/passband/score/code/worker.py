"""What a worker process does for the scorer of programs, in one module so that one worker will do.

Only these functions let the compiler of CPython see source that a model or a data set brought.
"""

from __future__ import annotations

from passband.score.code.entry_point import called_function_here, uses_function_here
from passband.score.code.program import find_program_here
from passband.score.code.source import Fault, read_source

__all__ = ["called_function_here", "fault_here", "find_program_here", "uses_function_here"]


def fault_here(text: str) -> str | None:
    """Return why a text is no Python, or None."""
    source = read_source(text)
    if not isinstance(source, Fault):
        return None
    return source.message if source.line is None else f"line {source.line}: {source.message}"

"""A key that is in the environment of every test, and must be nowhere else.

It is sent to the servers of the tests. It may be in no file that a test leaves, in no output, and
in the environment of no process that passband starts. Tests that write a key on purpose use
another.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

VARIABLES = ("OPENAI_API_KEY", "PASSBAND_CANARY_KEY")
_LARGEST = 1 << 28  # bytes of a file that is searched
_BESIDE = ("subprocess", "asyncio", "concurrent", "threading", "contextlib")


def canary() -> str:
    """Return the key of this session."""
    return os.environ.get(VARIABLES[1], "")


def is_shown(*texts: str) -> bool:
    """Return whether any of these texts has the key, or most of it."""
    key = canary()[3:]
    return bool(key) and any(key in text for text in texts)


def files_with_key(folder: Path) -> list[Path]:
    """Return the files below a folder that hold the key."""
    key = canary()[3:].encode()
    return [
        path for path in sorted(folder.rglob("*")) if key and _is_file(path) and _has(path, key)
    ]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink() and path.stat().st_size <= _LARGEST
    except OSError:
        return False


def _has(path: Path, key: bytes) -> bool:
    try:
        return key in path.read_bytes()
    except OSError:  # a test took the right to read it
        return False


_ASKING = ("passband.run.shards.local",)  # starts processes that ask the model


@contextmanager
def planted() -> Iterator[None]:
    """Put a new key into the environment, and watch every process that is started."""
    key = f"sk-canary-{secrets.token_hex(16)}"
    with (
        patch.dict(os.environ, dict.fromkeys(VARIABLES, key)),
        patch.object(subprocess.Popen, "__init__", _watched(subprocess.Popen.__init__)),
    ):
        yield


def _watched(start: Any) -> Any:
    def begin(process: Any, *arguments: Any, **options: Any) -> None:
        environment = options.get("env")
        values = os.environ if environment is None else environment
        is_ours = _caller().startswith("passband.") and _caller() not in _ASKING
        if is_ours and is_shown(*map(str, values.values())):
            raise AssertionError(f"a process of {_caller()} would get the key")
        start(process, *arguments, **options)

    return begin


def _caller() -> str:
    """Return the module that starts a process, those of Python left out."""
    frame = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name != __name__ and name.partition(".")[0] not in _BESIDE:
            return name
        frame = frame.f_back
    return ""

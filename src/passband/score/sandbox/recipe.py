"""Describe how to start a zygote, and collect the source that is sent into it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from passband.score.sandbox.box.wire import Message

__all__ = ["BOOT", "ZygoteRecipe", "variables"]

# Reads one frame from standard input, makes modules of the sources in it, and calls the last one.
BOOT = """
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import json, os, types
def exactly(length):
    data = b""
    while len(data) < length:
        piece = os.read(0, length - len(data))
        if not piece:
            sys.exit("nothing to do")
        data += piece
    return data
job = json.loads(exactly(int.from_bytes(exactly(4), "big")).decode())
box = sys.modules["box"] = types.ModuleType("box")
box.__path__ = []
for name, source in job["sources"]:
    module = sys.modules["box." + name] = types.ModuleType("box." + name)
    module.__package__ = "box"
    setattr(box, name, module)
    exec(compile(source, "<box." + name + ">", "exec"), module.__dict__)
module.main(job["settings"])
"""
# In the order of their imports: the interpreter inside has no finder that could look for one.
_MODULES = (
    "wire", "plain", "program", "tests", "confine", "child", "mains", "running", "zygote",
)  # fmt: skip
_BOX = Path(__file__).resolve().with_name("box")


@dataclass(frozen=True)
class ZygoteRecipe:
    """The command that starts a zygote, its environment and its settings."""

    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    user: int | None = None  # to start it as
    settings: Message = field(default_factory=dict)
    is_remote: bool = False  # only bytes reach it, and no open files

    def first_frame(self) -> Message:
        """Return the first frame for the interpreter: its program."""
        modules = (*_MODULES, "client", "front") if self.is_remote else _MODULES
        return {"sources": sources(modules), "settings": dict(self.settings)}


@functools.cache
def sources(modules: tuple[str, ...]) -> list[list[str]]:
    """Return the sources of modules of the box."""
    return [[name, (_BOX / f"{name}.py").read_text("utf-8")] for name in modules]


def variables(hash_seed: int) -> dict[str, str]:
    """Return the environment of programs: the same everywhere, and nothing of the user's."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": str(hash_seed),
    }

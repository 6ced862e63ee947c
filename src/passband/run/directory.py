"""Where a run goes if nobody says: the same place for the same command, so that it resumes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

__all__ = ["default_directory"]

_LONGEST = 60  # characters of a name


def default_directory(tasks: Sequence[str], model: str) -> Path:
    """Return the run directory of tasks and a model.

    >>> default_directory(["arithmetic"], "openai:org/model").as_posix()
    'runs/arithmetic-openai-org-model'
    """
    name = "+".join(tasks)
    if len(name) > _LONGEST:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[: _LONGEST - 10]}-{digest[:8]}"
    safe = "".join(c if c.isalnum() or c in "._+-" else "-" for c in f"{name}-{model}")
    return Path("runs") / safe.strip(".")

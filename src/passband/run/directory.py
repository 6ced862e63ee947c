"""The default run directory: one per model, so that the same command resumes.

Every task of a model goes there, so that a task requested alone and the same task requested beside
others are never asked twice.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from passband.run.shard import Shard

__all__ = ["default_directory", "shard_directory"]

_LONGEST = 60  # characters of a name


def default_directory(model: str, name: str | None = None, parent: Path = Path("runs")) -> Path:
    """Return the run directory of a model, or of a run that has a name.

    >>> default_directory("openai:org/model").as_posix()
    'runs/openai-org-model'
    >>> default_directory("openai:policy", "step 100").as_posix()
    'runs/step-100'
    """
    text = name or model
    safe = "".join(c if c.isalnum() or c in "._+-" else "-" for c in text).strip(".") or "run"
    if len(safe) > _LONGEST:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        safe = f"{safe[: _LONGEST - 9]}-{digest[:8]}"
    return parent / safe


def shard_directory(run: Path, shard: Shard) -> Path:
    """Return the directory of a shard of a run: beside that of the run, which they are merged into.

    >>> shard_directory(Path("runs/tiny"), Shard(3, 16)).as_posix()
    'runs/tiny-shards/03-of-16'
    """
    return run.with_name(f"{run.name}-shards") / shard.directory_name

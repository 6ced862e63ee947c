"""Where an installed lm-eval is; nothing of it is imported to find out."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from contextlib import suppress
from pathlib import Path


def lm_eval_tasks() -> Path | None:
    """Return the folder of lm-eval's task files; None if it is not installed."""
    try:
        spec = importlib.util.find_spec("lm_eval")
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        tasks = Path(folder) / "tasks"
        if tasks.is_dir():
            return tasks
    return None


def lm_eval_version() -> str:
    """Return the version of the installed lm-eval."""
    for name in ("lm_eval", "lm-eval"):
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(name)
    return "unknown"


def is_of_lm_eval(path: Path) -> bool:
    """Return whether a file is among the task files of an installed lm-eval."""
    tasks = lm_eval_tasks()
    return tasks is not None and tasks.resolve() in path.resolve().parents

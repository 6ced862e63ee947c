"""Names taken from the path of a log, where the log itself does not say whose it is."""

from __future__ import annotations

from pathlib import Path

from passband.records import ENDINGS

__all__ = ["plain_name"]


def plain_name(path: Path, *endings: str) -> str:
    """Return the name of a file without its endings, to stand for the model.

    >>> plain_name(Path("runs/gpt-4o.jsonl_results.jsonl.gz"), "_results", ".jsonl")
    'gpt-4o'
    >>> plain_name(Path("qwen_eval_results.json"), "_eval_results")
    'qwen'
    """
    name = path.name.removesuffix(".gz")
    if Path(name).suffix.lower() in ENDINGS:
        name = Path(name).stem
    for ending in endings:
        name = name.removesuffix(ending) or name
    return name

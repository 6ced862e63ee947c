"""Name the task, the model and the problems of a log that does not, by its path and content."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.files import ENDINGS
from passband.trials import canonical_json

UNKNOWN = "unknown"  #: the name of a model that a log does not name
_LONGEST_TEXT = 60  # characters of a problem that its key begins with


def label(value: Any, default: str = UNKNOWN) -> str:
    """Return a name that a log gives, or the default where it is empty or no text."""
    return value if isinstance(value, str) and value.strip() else default


def problem_key(text: str, content: Any) -> str:
    """Return the key of a problem without an id: the beginning of its text, and a hash.

    What has the same text and content is the same problem, in whichever file and order.

    >>> problem_key("2+2?", {"target": "4"})
    '2+2? [b04cbcc901]'
    """
    shown = " ".join(text.split())[:_LONGEST_TEXT].strip()
    return f"{shown} [{_digest([text, content])}]".strip()


def lookalikes(keys: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of ids that differ only in spaces, or in how Unicode writes a character.

    >>> lookalikes(["a", "a ", "b", "\u00e9", "e\u0301"])
    [('a', 'a '), ('é', 'é')]
    """
    first: dict[str, str] = {}
    pairs = ((first.setdefault(_plain(key), key), key) for key in keys)
    return [(earlier, key) for earlier, key in pairs if earlier != key]


def _plain(key: str) -> str:
    text = key if key.isascii() else unicodedata.normalize("NFKC", key)
    return " ".join(text.split())


def _digest(content: Any) -> str:
    try:
        data = canonical_json(content)
    except (RecursionError, ValueError) as error:
        raise InvalidInput(f"the data of a problem cannot be stored: {error}.") from None
    return hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()[:10]


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

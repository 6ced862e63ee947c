"""Files of plans: JSON with the hash of its content, so that a later change shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput

__all__ = ["content_hash", "load_content", "save_content"]


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the hash of a plan's content, whatever file it is in."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def save_content(path: str | Path, format: str, content: Mapping[str, Any]) -> None:
    """Write a plan's content as JSON, with its hash."""
    whole = {"format": format, "plan": content, "sha256": content_hash(content)}
    try:
        Path(path).write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be written; {error.strerror}.") from None


def load_content(
    path: str | Path, format: str, names: set[str], *, noun: str = "plan"
) -> dict[str, Any]:
    """Read a plan's content, and refuse one that was changed after it was saved.

    `names` are the fields that it must have, `noun` is what to call it in errors.
    """
    try:
        whole = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read; {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: a {noun} must be JSON; {error}.") from None
    if not isinstance(whole, dict) or whole.get("format") != format:
        raise InvalidInput(f"{path}: not a {noun}; its format must be {format!r}.")
    content = whole.get("plan")
    if not isinstance(content, dict) or set(content) != names:
        raise InvalidInput(
            f"{path}: a {noun} must have exactly the fields {', '.join(sorted(names))}."
        )
    if content_hash(content) != whole.get("sha256"):
        raise InvalidInput(
            f"{path}: the plan was changed after it was saved; its content has the hash "
            f"{content_hash(content)[:12]}..., the file says {str(whole.get('sha256'))[:12]}..."
        )
    return content

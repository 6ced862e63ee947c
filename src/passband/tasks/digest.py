"""A hash of a text and of files, by which a task knows that its data are what they were."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

__all__ = ["digest_of"]

_PIECE = 1 << 20  # bytes


def digest_of(text: str, files: Iterable[Path]) -> str | None:
    """Hash a text and the names and contents of files; return None if one cannot be read."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    try:
        for path in files:
            # The name says how a file is read, and no name holds a zero byte.
            digest.update(b"\0%b\0%d\0" % (os.fsencode(path.name), path.stat().st_size))
            with path.open("rb") as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()

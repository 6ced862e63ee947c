"""Python source as a text that comments, formatting and the version of Python do not change."""

from __future__ import annotations

import ast
import hashlib
import threading

__all__ = ["parsed", "shape", "text_digest"]

_PARSES = 100  # attempts
_parsing = threading.Lock()


def parsed(source: bytes | str) -> ast.Module:
    """Return the syntax tree; CPython 3.11 may fail at that while another thread does the same."""
    for _ in range(_PARSES):
        try:
            with _parsing:
                return ast.parse(source)
        except SystemError:
            continue
    return ast.parse(source)


def shape(node: object) -> str:
    """Return a syntax tree as text that is the same in every version of Python.

    >>> shape(parsed("x = 1")) == shape(parsed("x=(1)  # one"))
    True
    """
    if isinstance(node, ast.JoinedStr):  # Python 3.12 has empty texts in the formats of f-strings
        node.values = [value for value in node.values if not _is_empty_text(value)]
    if isinstance(node, ast.AST):
        fields = ((name, getattr(node, name, None)) for name in node._fields if name != "kind")
        inside = ",".join(
            f"{name}={shape(value)}" for name, value in fields if value not in (None, [])
        )
        return f"{type(node).__name__}({inside})"
    if isinstance(node, list):
        return f"[{','.join(map(shape, node))}]"
    return repr(node)


def text_digest(text: str) -> str:
    """Return the digest of a text as it is recorded."""
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _is_empty_text(node: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == ""

"""Python source as a text that comments, formatting and the version of Python do not change.

The statements of a script that a function uses.

A script is edited between runs, in what it asks for; the model is only part of it.
"""

from __future__ import annotations

import ast
import hashlib
import threading
from collections.abc import Iterable, Iterator

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


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_EVERYTHING = "*"  # what "from module import *" defines


def used_statements(tree: ast.Module, names: Iterable[str]) -> list[ast.stmt]:
    """Return the statements that define names, and those that they use, in the script's order.

    >>> tree = ast.parse("a = 1; b = 2; a += b; c = 3")
    >>> [ast.unparse(statement) for statement in used_statements(tree, ["a"])]
    ['a = 1', 'b = 2', 'a += b']
    """
    defining: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _defined(statement):
            defining.setdefault(name, []).append(statement)
    waiting, seen = [name for name in names if name in defining], set[str]()
    used: set[int] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for statement in defining.get(name, ()):
            used.add(id(statement))
            waiting += [_EVERYTHING, *_names(statement)]
    return [statement for statement in tree.body if id(statement) in used]


def defined_at(tree: ast.Module, line: int) -> str | None:
    """Return the name of the function or class of the script that a line belongs to, if any."""
    for node in tree.body:
        if isinstance(node, _DEFINITIONS):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first <= line <= (node.end_lineno or node.lineno):
                return node.name
    return None


def _names(statement: ast.stmt) -> Iterator[str]:
    return (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a script defines or changes."""
    if isinstance(node, _DEFINITIONS):
        yield node.name
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, _DEFINITIONS):
            yield inner.name
        elif isinstance(inner, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in inner.names)
        elif isinstance(inner, ast.Attribute | ast.Subscript) and isinstance(inner.ctx, ast.Store):
            yield from _root(inner)


def _root(target: ast.expr) -> Iterator[str]:
    """Yield the name of the object that an assignment such as settings["n"] = 1 changes."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id

r"""Untrusted Python source: does it compile, and what does it define?

Deeply nested source exhausts the compiler of CPython, and on some versions crashes it. So this
module does its work in a worker process
(`passband.score.workers.worker_pool`), never in the process that runs an evaluation.

>>> read_source("def f(x):\n    return x").defines("f")
True
>>> read_source("x = 1\nreturn x")
SourceFault(line=2, message="'return' outside function")
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

LONGEST = 500_000  # characters that are compiled
_TRIES = 64  # ends of a broken program that are tried
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


class SourceFault(NamedTuple):
    """Why a text is no program, and in which line that shows."""

    line: int | None
    message: str


@dataclass(frozen=True)
class PythonSource:
    """A text that compiles."""

    text: str
    tree: ast.Module

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that it binds at its top level."""
        return frozenset(name for node in self.tree.body for name in _bound(node))

    def defines(self, name: str) -> bool:
        """Return whether it binds a name at its top level."""
        return name in self.names

    @property
    def is_definitions(self) -> bool:
        """Whether running it only defines functions, classes, imports and constants."""
        return bool(self.tree.body) and all(map(_is_definition, self.tree.body))

    @property
    def reads_input(self) -> bool:
        """Whether it looks like a program that reads standard input."""
        return any(
            (isinstance(node, ast.Name) and node.id == "input")
            or (isinstance(node, ast.Attribute) and node.attr == "stdin")
            or (isinstance(node, ast.Call) and _opens_input(node))
            for node in ast.walk(self.tree)
        )


def read_source(text: str) -> PythonSource | SourceFault:
    """Compile a text as a module, without running any of it.

    What only the second half of the compiler refuses, such as `return` outside of a function, is
    refused here as well. Constants are not computed beyond a few bytes.
    """
    if len(text) > LONGEST:
        return SourceFault(None, f"it has {len(text):,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, "<program>")
            compile(text, "<program>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return SourceFault(error.lineno, error.msg)
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        return SourceFault(None, str(error) or type(error).__name__)
    return PythonSource(text, tree)


def longest_prefix(text: str, fewest: int = 1) -> PythonSource | None:
    """Return the longest run of first lines that compiles, of at least some lines; None if none.

    Every run that contains the token at which the compiler gave up fails in the same place, so the
    next run to try ends before that line. A text that takes more than 64 tries has no prefix.
    """
    lines = text.splitlines(keepends=True)
    for _ in range(_TRIES):
        while lines and not lines[-1].strip():
            lines.pop()
        if len(lines) < fewest:
            return None
        source = read_source("".join(lines))
        if isinstance(source, PythonSource):
            return source
        if source.line is None:
            return None
        del lines[max(0, min(source.line, len(lines)) - 1) :]
    return None


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, _DEFINITIONS):
        return [node.name]
    if isinstance(node, _IMPORTS):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _is_definition(node: ast.stmt) -> bool:
    if isinstance(node, (*_DEFINITIONS, *_IMPORTS)) or _is_docstring(node):
        return True
    value = getattr(node, "value", None)
    return isinstance(node, (ast.Assign, ast.AnnAssign)) and not any(
        isinstance(part, ast.Call) for part in ast.walk(value or node)
    )


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _opens_input(call: ast.Call) -> bool:
    is_open = isinstance(call.func, ast.Name) and call.func.id == "open"
    first = call.args[0] if call.args else None
    return is_open and isinstance(first, ast.Constant) and first.value in (0, "/dev/stdin")

"""Digests of Python source, by which a resumed run notices that a model or a task is another.

A digest is of what Python reads: comments, blank lines and formatting are no change, docstrings
are. A file counts together with the files beside it that it imports, and theirs; installed packages
do not. What cannot be seen is said in words: the state of an object, a function without source.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import inspect
import json
import sys
import sysconfig
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

__all__ = ["file_digests", "function_spec", "source_digest"]

_MOST = 500  # files that one file may bring along
_LAYERS = 100  # of partials, decorators and methods around a function
_PARSES = 100  # attempts
_parsing = threading.Lock()
_PRIVATE = ("key", "token", "secret", "password")  # values that may change and are not kept
_PLAIN = (str, int, float, bool, type(None))


def source_digest(source: bytes | str) -> str:
    """Return a digest of source code that comments and formatting do not change.

    >>> source_digest("x = 1  # one") == source_digest("x=1")
    True
    """
    try:
        shown = _shape(_parsed(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        shown = source if isinstance(source, str) else source.hex()
    return _digest(shown)


def file_digests(path: Path, root: Path | None = None) -> dict[str, str]:
    """Return the digests of a file and of the files that it imports from its own folder.

    `root` is a further folder that imports are looked up in; names are relative to it.
    """
    base = root or path.parent
    digests: dict[str, str] = {}
    waiting = [path.resolve()]
    while waiting and len(digests) < _MOST:
        file = waiting.pop()
        name = _name(file, base.resolve())
        if name in digests:
            continue
        try:
            source = file.read_bytes()
        except OSError:
            continue
        digests[name] = source_digest(source)
        waiting += _imported(file, source, base.resolve())
    return dict(sorted(digests.items()))


def function_spec(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what the answers of a function depend on: digests of its source and bound values.

    `unseen` says what may change without anyone noticing.
    """
    core, bound, unseen = _unwrapped(function)
    code = _code_of(core)
    if not code:
        unseen = [*unseen, f"the source of {_qualified(core)}, of which there is none"]
    kept = {name: value for name, value in bound.items() if _is_public(name) and _is_plain(value)}
    hidden = sorted(name for name in bound if _is_public(name) and name not in kept)
    if hidden:
        unseen = [*unseen, f"the values of {', '.join(hidden)}"]
    return {
        "name": _qualified(core),
        **({"code": code} if code else {}),
        **({"values": _digest(json.dumps(kept, sort_keys=True))} if kept else {}),
        **({"unseen": unseen} if unseen else {}),
    }


# -- functions -----------------------------------------------------------------------------


def _unwrapped(function: Any) -> tuple[Any, dict[str, Any], list[str]]:
    """Return the function inside, the values that are bound to it, and what is not seen."""
    bound: dict[str, Any] = {}
    unseen: list[str] = []
    for _ in range(_LAYERS):
        if isinstance(function, functools.partial):
            bound |= {f"argument {i}": value for i, value in enumerate(function.args)}
            bound |= function.keywords
            function = function.func
        elif isinstance(function, MethodType):
            if not isinstance(function.__self__, type | ModuleType):
                unseen.append(f"the state of the {type(function.__self__).__name__}")
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function, FunctionType):
            return function, bound | _closed_over(function), unseen
        elif isinstance(call := vars(type(function)).get("__call__"), FunctionType):
            if getattr(function, "__dict__", None):
                unseen.append(f"the state of the {type(function).__name__}")
            function = call
        else:
            break
    return function, bound, unseen


def _closed_over(function: FunctionType) -> dict[str, Any]:
    """Return the variables of an outer function that a function uses and does not set.

    Lists and the like may be what it counts its calls with; functions are in its file.
    """
    bound = {}
    own = set(_assigned(function.__code__))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
        if name not in own and not isinstance(value, FunctionType | type | ModuleType):
            bound[name] = value if isinstance(value, _PLAIN) else object()
    return bound


def _assigned(code: CodeType) -> Iterator[str]:
    """Yield the variables of outer functions that a function sets, or a function inside it."""
    for step in dis.get_instructions(code):
        if step.opname == "STORE_DEREF":
            yield str(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _assigned(inner)


def _code_of(function: Any) -> dict[str, str]:
    """Return digests of the module's file, or of the function itself where there is none."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if module is None or file is None or not Path(file).is_file() or Path(file).suffix != ".py":
        return _own_source(function)
    path = Path(file)
    if module.__name__ == "__main__":
        own = _slice(path.read_bytes(), getattr(function, "__qualname__", ""))
        return {path.name: own} if own else _own_source(function)
    return file_digests(path, _import_root(module.__name__, path))


def _own_source(function: Any) -> dict[str, str]:
    try:
        return {_qualified(function): source_digest(textwrap.dedent(inspect.getsource(function)))}
    except (OSError, TypeError):
        return {}


def _slice(source: bytes, name: str) -> str | None:
    """Return a digest of a script's function and of what it uses of the script.

    A script is edited between runs, in what it asks for; the model is only part of it.
    """
    try:
        tree = _parsed(source)
    except (SyntaxError, ValueError):
        return None
    defined = {name: node for node in tree.body for name in _defined(node)}
    waiting, used = [name.partition(".")[0]], set()
    while waiting:
        name = waiting.pop()
        if name in defined and name not in used:
            used.add(name)
            names = (node.id for node in ast.walk(defined[name]) if isinstance(node, ast.Name))
            waiting += names
    nodes = {id(defined[name]): defined[name] for name in used}
    return (
        _digest("".join(_shape(node) for node in tree.body if id(node) in nodes)) if used else None
    )


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    else:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id


def _qualified(function: Any) -> str:
    kind = type(function)
    module = getattr(function, "__module__", None) or kind.__module__
    return f"{module}.{getattr(function, '__qualname__', kind.__name__)}"


def _is_public(name: str) -> bool:
    return not any(word in name.lower() for word in _PRIVATE)


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    return isinstance(value, _PLAIN)


# -- files ---------------------------------------------------------------------------------


def _import_root(module: str, path: Path) -> Path:
    """Return the folder that a module's first name is found in."""
    levels = len(module.split(".")) - (path.name != "__init__.py")
    folders = path.resolve().parents
    return folders[min(levels, len(folders) - 1)]


def _imported(file: Path, source: bytes, root: Path) -> Iterator[Path]:
    """Yield the files that a file imports from its own folder or the root."""
    try:
        tree = _parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    folders = [] if _is_installed(file) else [file.parent, root]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _found(alias.name, folders)
        elif isinstance(node, ast.ImportFrom):
            bases = (
                [file.parents[node.level - 1]] if 0 < node.level <= len(file.parents) else folders
            )
            for alias in node.names:
                yield from _found(".".join(filter(None, (node.module, alias.name))), bases)


def _found(dotted: str, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the files of a dotted name: of its packages, and of the module itself."""
    parts = dotted.split(".")
    for folder in folders:
        for length in range(1, len(parts) + 1):
            place = folder.joinpath(*parts[:length])
            yield from (p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file())


def _is_installed(file: Path) -> bool:
    """Return whether a file belongs to a package or to Python, whose folders hold many others."""
    if {"site-packages", "dist-packages"} & set(file.parts):
        return True
    return file.is_relative_to(Path(sysconfig.get_path("stdlib")).resolve())


def _name(file: Path, base: Path) -> str:
    return file.relative_to(base).as_posix() if file.is_relative_to(base) else file.name


# -- digests -------------------------------------------------------------------------------


def _parsed(source: bytes | str) -> ast.Module:
    """Return the syntax tree; CPython 3.11 may fail at that while another thread does the same."""
    for _ in range(_PARSES):
        try:
            with _parsing:
                return ast.parse(source)
        except SystemError:
            continue
    return ast.parse(source)


def _shape(node: object) -> str:
    """Return a syntax tree as text that is the same in every version of Python."""
    if isinstance(node, ast.JoinedStr):  # Python 3.12 has empty texts in the formats of f-strings
        node.values = [value for value in node.values if not _is_empty_text(value)]
    if isinstance(node, ast.AST):
        fields = ((name, getattr(node, name, None)) for name in node._fields if name != "kind")
        inside = ",".join(
            f"{name}={_shape(value)}" for name, value in fields if value not in (None, [])
        )
        return f"{type(node).__name__}({inside})"
    if isinstance(node, list):
        return f"[{','.join(map(_shape, node))}]"
    return repr(node)


def _is_empty_text(node: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == ""


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"

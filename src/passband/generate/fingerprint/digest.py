"""Digests of Python source, by which a resumed run notices that a model or a task is another.

A digest is of what Python reads: comments, blank lines and formatting are no change, docstrings
are. A file counts together with the files beside it that it imports, and theirs; installed packages
do not. What cannot be seen is said in words: the state of an object, a function without source.

Python source as a text that comments, formatting and the version of Python do not change.

The statements of a script that a function uses.

A script is edited between runs, in what it asks for; the model is only part of it.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import inspect
import json
import re
import sys
import sysconfig
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from passband.generate.provider import JsonObject

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


_MOST = 500  # files that one file may bring along
_LAYERS = 100  # of partials, decorators and methods around a function
_PRIVATE = re.compile(r"(?:key|token|secret|password)$", re.IGNORECASE)  # may change, not kept
_PLAIN = (str, int, float, bool, type(None))


def source_digest(source: bytes | str) -> str:
    """Return a digest of source code that comments and formatting do not change.

    >>> source_digest("x = 1  # one") == source_digest("x=1")
    True
    """
    try:
        shown = shape(parsed(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        shown = source if isinstance(source, str) else source.hex()
    return text_digest(shown)


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


def function_spec(function: Callable[..., Any]) -> JsonObject:
    """Return what the answers of a function depend on: digests of its source and bound values.

    `unseen` says what may change without anyone noticing.
    """
    *wrappers, core = layers = list(_layers(function))
    code = _code_of(core)
    for wrapper in wrappers:
        code |= _wrapper_code(wrapper, code)
    unseen = [state for layer in layers for state in _unseen_state(layer)]
    if not code:
        unseen = [*unseen, f"the source of {_qualified(core)}, of which there is none"]
    bound = {name: value for layer in layers for name, value in _bound(layer)}
    public = {name: value for name, value in bound.items() if _is_public(name, value)}
    kept = {name: value for name, value in public.items() if _is_plain(value)}
    hidden = sorted(name for name in public if name not in kept)
    if hidden:
        unseen = [*unseen, f"the values of {', '.join(hidden)}"]
    return {
        "name": _qualified(core),
        **({"code": code} if code else {}),
        **({"values": text_digest(json.dumps(kept, sort_keys=True))} if kept else {}),
        **({"unseen": unseen} if unseen else {}),
    }


# -- functions -----------------------------------------------------------------------------


def _layers(function: Any) -> Iterator[Any]:
    """Yield a function, and what it wraps, binds or calls in its stead, the innermost last."""
    for _ in range(_LAYERS):
        yield function
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, MethodType):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function, FunctionType):
            return
        elif isinstance(
            call := inspect.getattr_static(type(function), "__call__", None), FunctionType
        ):
            function = call
        else:
            return


def _bound(layer: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values that a layer passes on or uses."""
    if isinstance(layer, functools.partial):
        yield from ((f"argument {i}", value) for i, value in enumerate(layer.args))
        yield from layer.keywords.items()
    elif isinstance(layer, FunctionType) and not _is_of_package(layer):
        yield from _defaults(layer)
        yield from _closed_over(layer).items()
        if not hasattr(sys.modules.get(layer.__module__ or ""), "__file__"):  # a notebook
            yield from (pair for pair in _globals(layer) if isinstance(pair[1], _PLAIN))


def _defaults(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield plain defaults of parameters, which need not be what the source says: x=x."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = function.__defaults__ or ()
    last = zip(reversed(names), reversed(values), strict=False)
    for name, value in (*last, *(function.__kwdefaults__ or {}).items()):
        if isinstance(value, _PLAIN):
            yield f"default {name}", value


def _unseen_state(layer: Any) -> Iterator[str]:
    """Yield what a method or a callable object may depend on beyond its source."""
    owner = layer.__self__ if isinstance(layer, MethodType) else layer
    if isinstance(owner, type | ModuleType | FunctionType | functools.partial):
        return
    has_state = bool(getattr(owner, "__dict__", None)) or any(
        getattr(kind, "__slots__", ()) for kind in type(owner).__mro__
    )
    if isinstance(layer, MethodType) or (has_state and not hasattr(owner, "__wrapped__")):
        yield f"the state of the {type(owner).__name__}"


def _closed_over(function: FunctionType) -> JsonObject:
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
    """Yield the outer variables that a function sets, or a function inside it."""
    for step in dis.get_instructions(code):
        if step.opname in ("STORE_DEREF", "STORE_GLOBAL"):
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
        return _script_digests(path, function)
    return file_digests(path, _import_root(module.__name__, path))


def _wrapper_code(wrapper: Any, known: Mapping[str, str]) -> dict[str, str]:
    """Return digests of a function around another, unless they are known or a package made it."""
    if not isinstance(wrapper, FunctionType) or _is_of_package(wrapper):
        return {}
    new = {name: one for name, one in _code_of(wrapper).items() if known.get(name) != one}
    return {f"{name} ({wrapper.__code__.co_name})": one for name, one in new.items()}


def _is_of_package(function: FunctionType) -> bool:
    return _is_installed(Path(function.__code__.co_filename))


def _own_source(function: Any) -> dict[str, str]:
    """Return digests of a function and of the functions that it uses, in a notebook as well."""
    digests: dict[str, str] = {}
    waiting = [function]
    while waiting:
        one = waiting.pop()
        if _qualified(one) not in digests:
            try:
                source = textwrap.dedent(inspect.getsource(one))
            except (OSError, TypeError):
                continue
            digests[_qualified(one)] = source_digest(source)
            waiting += [value for _, value in _globals(one) if isinstance(value, FunctionType)]
    return digests


def _globals(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield the global variables that a function uses and does not set."""
    if not isinstance(function, FunctionType):
        return
    own = set(_assigned(function.__code__))
    for name in dict.fromkeys(_global_names(function.__code__)):
        if name in function.__globals__ and name not in own:
            yield name, function.__globals__[name]


def _script_digests(path: Path, function: Any) -> dict[str, str]:
    """Return digests of what a function uses of its script, and of files that this imports."""
    try:
        tree = parsed(path.read_bytes())
    except (SyntaxError, ValueError):
        return _own_source(function)
    code = getattr(function, "__code__", None)
    # By its place: a wrapper has the name of what it wraps.
    name = None if code is None else defined_at(tree, code.co_firstlineno)
    written = str(getattr(function, "__qualname__", "")).partition(".")[0]
    named = used_statements(tree, [name or written])
    # A lambda has no name by which the script knows it.
    own = {} if named else _own_source(function)
    tree.body = named or used_statements(tree, _global_names(code))
    digests = {path.name: text_digest("".join(map(shape, tree.body)))} if tree.body else {}
    for file in _imports_of(tree, path, path.parent.resolve()):
        if file.resolve() != path.resolve():
            digests |= file_digests(file, path.parent)
    return {**own, **digests}


def _global_names(code: CodeType | None) -> Iterator[str]:
    """Yield the names that a function's code looks up outside of it."""
    if code is None:
        return
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _global_names(inner)


def _qualified(function: Any) -> str:
    kind = type(function)
    module = getattr(function, "__module__", None) or kind.__module__
    return f"{module}.{getattr(function, '__qualname__', kind.__name__)}"


def _is_public(name: str, value: Any) -> bool:
    """Return whether a value is part of a model; a key is not, and max_tokens is no key."""
    return not (_PRIVATE.search(name) and isinstance(value, str | bytes))


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
        yield from _imports_of(parsed(source), file, root)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return


def _imports_of(tree: ast.Module, file: Path, root: Path) -> Iterator[Path]:
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

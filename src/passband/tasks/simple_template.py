"""Templates that are plain enough to be rendered in this process, even if untrusted.

A simple template puts columns into text: it names them, takes parts of them, chooses between them,
and passes them through filters and methods whose result is no longer than what they get, save for a
small factor. It assigns nothing, and its loops are not nested. So the number of its expressions and
the size of a row bound its work and its memory, and both have a limit here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from jinja2 import nodes

__all__ = ["fits", "has_loop", "is_simple"]

MOST_EXPRESSIONS = 200
MOST_ITEMS = 64  # of a list that is written out
LONGEST_ARGUMENT = 64  # characters; the factor by which replacing or joining may lengthen
LARGEST_ROW = 100_000  # characters in the columns that a template reads
LARGEST_LOOPED_ROW = 3_000  # each round may compare all of it
MOST_GROWING = 2  # calls, one inside the other, whose result may be longer than what they get

FILTERS = frozenset(
    {
        "abs", "capitalize", "count", "d", "default", "first", "float", "int", "join", "last",
        "length", "list", "lower", "replace", "round", "string", "title", "trim", "upper",
        "wordcount",
    }
)  # fmt: skip
METHODS = frozenset(
    {
        "capitalize", "casefold", "count", "endswith", "find", "get", "index", "isalnum", "isalpha",
        "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "istitle", "isupper", "items",
        "keys", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind",
        "rindex", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip",
        "swapcase", "title", "upper", "values",
    }
)  # fmt: skip
# Of those, the ones that write nothing of their arguments, or one of them as it is.
FINDING = frozenset(
    {"count", "d", "default", "endswith", "find", "get", "index", "rfind", "rindex", "startswith"}
)
# What makes items of characters, each of which is written as several, or puts text between them.
GROWING = frozenset(
    {
        "items", "join", "list", "partition", "rpartition", "rsplit", "split", "splitlines",
        "string",
    }
)  # fmt: skip
TESTS = frozenset(
    {
        "boolean", "defined", "divisibleby", "even", "false", "float", "integer", "iterable",
        "lower", "mapping", "none", "number", "odd", "sequence", "string", "true", "undefined",
        "upper",
    }
)  # fmt: skip

_CHEAP = (
    nodes.And, nodes.Compare, nodes.Concat, nodes.CondExpr, nodes.Const, nodes.Getattr,
    nodes.Getitem, nodes.If, nodes.Name, nodes.Not, nodes.Operand, nodes.Or, nodes.Output,
    nodes.Pair, nodes.Slice, nodes.TemplateData,
)  # fmt: skip
_SUMS = (nodes.Add, nodes.Neg, nodes.Sub)


def is_simple(tree: nodes.Template) -> bool:
    """Return whether a template, as parsed, is simple."""
    every = list(tree.find_all(nodes.Node))
    return len(every) <= MOST_EXPRESSIONS and all(_is_simple(node, ()) for node in tree.body)


def has_loop(tree: nodes.Template) -> bool:
    """Return whether a template repeats anything."""
    return tree.find(nodes.For) is not None


def fits(row: Mapping[str, Any], columns: Collection[str], largest: int) -> bool:
    """Return whether some columns hold at most `largest` characters and items together."""
    left = largest
    values = [row[name] for name in columns if name in row]
    while values and left >= 0:
        value = values.pop()
        if isinstance(value, str):
            left -= len(value)
        elif isinstance(value, Mapping):
            left -= len(value) + sum(len(str(key)) for key in value)
            values += value.values() if left >= 0 else ()
        elif isinstance(value, list | tuple):
            left -= len(value)
            values += value if left >= 0 else ()
        elif not isinstance(value, int | float | None):
            return False
    return left >= 0


def _is_simple(node: nodes.Node, within: tuple[type[nodes.Node], ...]) -> bool:
    """Return whether a node is simple inside of loops and lists that it is `within`."""
    if isinstance(node, nodes.For):
        return _is_simple_loop(node, within)
    if isinstance(node, nodes.Filter | nodes.Test | nodes.Call):
        return nodes.For not in within and _is_simple_call(node, within)
    if isinstance(node, nodes.List | nodes.Tuple | nodes.Dict):
        if within or len(node.items) > MOST_ITEMS:
            return False
        within = (nodes.List,)
    elif not isinstance(node, _CHEAP) and (nodes.For in within or not isinstance(node, _SUMS)):
        return False
    return all(_is_simple(child, within) for child in node.iter_child_nodes())


def _is_simple_loop(node: nodes.For, within: tuple[type[nodes.Node], ...]) -> bool:
    if nodes.For in within or node.recursive or node.test is not None:
        return False
    if not isinstance(node.iter, nodes.Name | nodes.Getattr | nodes.Getitem) or not _is_simple(
        node.iter, within
    ):
        return False
    return all(_is_simple(child, (*within, nodes.For)) for child in (*node.body, *node.else_))


def _is_simple_call(
    node: nodes.Filter | nodes.Test | nodes.Call, within: tuple[type[nodes.Node], ...]
) -> bool:
    target = node.node
    if isinstance(node, nodes.Call):
        name, known = (target.attr if isinstance(target, nodes.Getattr) else ""), METHODS
    else:
        name, known = node.name, FILTERS if isinstance(node, nodes.Filter) else TESTS
    if name not in known or target is None or node.dyn_args or node.dyn_kwargs:
        return False
    inner = node.find_all((nodes.Filter, nodes.Call))
    if _grows(node) and sum(map(_grows, inner)) >= MOST_GROWING:
        return False
    arguments = [*node.args, *(pair.value for pair in node.kwargs)]
    return _is_simple(target, within) and all(
        _is_simple(argument, within) if name in FINDING else _is_small(argument)
        for argument in arguments
    )


def _grows(node: nodes.Expr) -> bool:
    """Return whether the result of a call may be longer than what it is called with."""
    if not isinstance(node, nodes.Filter | nodes.Call):
        return False
    name = getattr(node.node, "attr", "") if isinstance(node, nodes.Call) else node.name
    if name != "replace":
        return name in GROWING
    texts = [getattr(argument, "value", None) for argument in node.args[:2]]
    old, new = texts if len(texts) == 2 else (None, None)
    return not (isinstance(old, str) and isinstance(new, str) and len(new) <= len(old))


def _is_small(node: nodes.Node) -> bool:
    """Return whether an argument is a short constant."""
    if not isinstance(node, nodes.Const):
        return False
    value = node.value
    return len(value) <= LONGEST_ARGUMENT if isinstance(value, str) else value in range(-1000, 1000)

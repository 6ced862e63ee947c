"""Templates that can read a problem and write text, and nothing else.

They run in Jinja's immutable sandbox. On top of what it forbids, what a template may build and how
often it may loop is limited, so that a short line of a task file cannot take all memory or time.
The limits are no proof against every template that an attacker could write: untrusted templates
that are more than plain text with columns in it are rendered in a process of their own
(`passband.tasks.prompt.rendering`).

Templates that are plain enough to be rendered in this process, even if untrusted.

A simple template puts columns into text: it names them, takes parts of them, chooses between them,
and passes them through filters and methods whose result is no longer than what they get, save for a
small factor. It assigns nothing, and its loops are not nested. So the number of its expressions and
the size of a row bound its work and its memory, and both have a limit here.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, wraps
from typing import Any

from jinja2 import StrictUndefined, TemplateError, UndefinedError, nodes
from jinja2.exceptions import SecurityError, TemplateAssertionError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from passband.errors import InvalidInput, nearest
from passband.score import compile_pattern

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


WHOLE_ROW = "doc"  # by which a template has columns whose names are no identifiers

LONGEST = 1_000_000  # characters of a text, items of a list
LARGEST_PRODUCT = 50_000_000  # characters that replacing or joining might at worst give
MOST_ROUNDS = 100_000  # of all loops and macro calls of one rendering
LARGEST_POWER = 10_000  # bits
_WIDTH = re.compile(r"[0-9]{6,}|\{[^{}]*\{")  # in a format: padding to a million, or to a variable


class Template:
    """One template, parsed and checked.

    It is compiled when it is first rendered, because compiling evaluates what is constant in it.
    `killable` says that this process may be ended if a regular expression never is.

    >>> Template("Q: {{ question }}").render({"question": "2+2?"})
    'Q: 2+2?'
    >>> Template('{{ doc["Correct Answer"] }}').render({"Correct Answer": "4"})
    '4'
    """

    def __init__(self, source: str, *, killable: bool = False) -> None:
        self.source = source
        self._environment = _environment(killable)
        try:
            self._tree = self._environment.parse(source)
            _check_names(self._tree, self._environment)
            self.columns = frozenset(name.name for name in self._tree.find_all(nodes.Name))
            self.is_simple, self.has_loop = is_simple(self._tree), has_loop(self._tree)
        except (TemplateError, RecursionError, ValueError) as error:  # a number of 5,000 digits
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> InvalidInput:
        line = getattr(error, "lineno", None) or 1
        where = f" (line {line} of the template)" if "\n" in self.source.strip() else ""
        return InvalidInput(f"the template cannot be read{where}: {_sentence(error)}")

    @cached_property
    def _compiled(self) -> Any:
        try:
            _Counting().visit(self._tree)
            return self._environment.from_string(self._tree)
        except (TemplateError, RecursionError, ValueError, SyntaxError, MemoryError) as error:
            # The last three are Python's, which compiles it: 30 nested loops, ...
            raise self._unreadable(error) from None

    def read_by(self, row: Mapping[str, Any]) -> Collection[str]:
        """Return the columns of a row that the template may read."""
        return row.keys() if WHOLE_ROW in self.columns else self.columns

    def render(self, row: Mapping[str, Any]) -> str:
        """Return the text for a row; raise `InvalidInput` if an expression fails."""
        try:
            return self.write(row)
        except UndefinedError as error:
            raise InvalidInput(undefined(str(error.message), row)) from None

    def write(self, row: Mapping[str, Any]) -> str:
        """Return the text for a row; raise `UndefinedError` for what the row does not have."""
        pieces: list[str] = []
        length = 0
        compiled = self._compiled
        self._environment.rounds.left = MOST_ROUNDS
        try:
            for piece in compiled.root_render_func(self._context(row)):
                length += len(piece)
                if length > LONGEST:
                    raise SecurityError(f"its text is longer than {LONGEST:,} characters")
                pieces.append(piece)
        except UndefinedError:
            raise
        except RecursionError:
            raise InvalidInput("the template calls itself too deeply.") from None
        except MemoryError:
            raise InvalidInput("the template failed: it needs too much memory.") from None
        except Exception as error:
            # An expression of the template may raise anything: wrong types, division by zero, ...
            raise InvalidInput(f"the template failed: {_sentence(error)}") from None
        return "".join(pieces)

    def _context(self, row: Mapping[str, Any]) -> Any:
        """Return what `generate` of Jinja would make, several times as fast.

        It merges the global names one by one for each row, through a chain of mappings.
        """
        environment, compiled = self._environment, self._compiled
        whole = {WHOLE_ROW: _Columns(row)} if WHOLE_ROW in self.columns else {}
        variables = {**environment.globals, **whole, **row}
        return environment.context_class(environment, variables, compiled.name, compiled.blocks)


def _sentence(error: Exception) -> str:
    return f"{str(error).rstrip('.') or type(error).__name__}."


class _Columns(dict[str, Any]):
    """A whole row; the name of the class tells in messages that a column is missing."""


_MISSING = re.compile(r"'([^']*)' is undefined|'[\w.]*_Columns object' has no attribute '(.*)'")


def undefined(message: str, columns: Iterable[str]) -> str:
    """Return a sentence about a name that a row does not have, with the nearest that it has."""
    missing = _MISSING.match(message)
    if missing is None:
        return f"the template failed: {message.rstrip('.')}."
    name, known = missing[1] or missing[2], [str(column) for column in columns]
    hint = nearest(name, known) or f" The columns are {', '.join(known) or 'none'}."
    return f"there is no column {name!r}.{hint}"


# -- the sandbox ---------------------------------------------------------------------------


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox with limits on size and on rounds."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def __init__(self, killable: bool) -> None:
        super().__init__(undefined=StrictUndefined, keep_trailing_newline=True)
        self.rounds = threading.local()
        del self.globals["lipsum"]  # writes text of any length
        self.filters["regex_replace"] = _replace_at_once if killable else _regex_replace
        self.filters = {name: _limited(name, f) for name, f in self.filters.items()}

    def round(self) -> str:
        """Count one round of a loop or one call of a macro."""
        left = getattr(self.rounds, "left", MOST_ROUNDS) - 1
        self.rounds.left = left
        if left < 0:
            raise SecurityError(f"its loops take more than {MOST_ROUNDS:,} rounds")
        return ""

    def joined(self, *parts: Any) -> str:
        """Join texts, as the operator ~ does."""
        texts = [str(part) for part in parts]
        _check_size(sum(map(len, texts)))
        return "".join(texts)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        _check_operands(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        method = getattr(__obj, "__wrapped__", __obj)  # the sandbox wraps str.format
        text = getattr(method, "__self__", None)
        if isinstance(text, str):
            _check_arguments(method.__name__, (text, *args, *kwargs.values()))
        return super().call(__context, __obj, *args, **kwargs)


@lru_cache(maxsize=2)
def _environment(killable: bool) -> _Environment:
    return _Environment(killable)


def _check_names(tree: nodes.Node, environment: _Environment) -> None:
    """Raise for a filter or a test that does not exist, unless it may never be reached."""
    for node in _certain(tree):
        if isinstance(node, nodes.Filter) and node.name not in environment.filters:
            raise TemplateAssertionError(f"No filter named {node.name!r}.", node.lineno)
        if isinstance(node, nodes.Test) and node.name not in environment.tests:
            raise TemplateAssertionError(f"No test named {node.name!r}.", node.lineno)


def _certain(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield the nodes below a node that no condition is in front of."""
    for child in node.iter_child_nodes():
        if not isinstance(child, nodes.If | nodes.CondExpr):
            yield child
            yield from _certain(child)


class _Counting(NodeTransformer):
    """Puts a count into every loop and macro, and a limit on joining texts."""

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> nodes.Node:
        node = self.generic_visit(node, *args, **kwargs)
        if isinstance(node, nodes.Concat):
            return _call("joined", node.nodes, node.lineno)
        if isinstance(node, nodes.For | nodes.Macro | nodes.CallBlock):
            count = _call("round", [], node.lineno)
            node.body.insert(0, nodes.ExprStmt(count, lineno=node.lineno))
        return node


def _call(method: str, arguments: list[nodes.Expr], line: int) -> nodes.Call:
    function = nodes.EnvironmentAttribute(method, lineno=line)
    return nodes.Call(function, arguments, [], None, None, lineno=line)


# -- limits --------------------------------------------------------------------------------


def _check_size(size: int) -> None:
    if size > LONGEST:
        raise SecurityError(f"it would build something longer than {LONGEST:,}")


def _check_operands(operator: str, left: Any, right: Any) -> None:
    if operator == "**":
        if isinstance(left, int) and isinstance(right, int):
            bits = max(1, abs(left).bit_length()) * abs(right)
            if bits > LARGEST_POWER:
                raise SecurityError("it would compute a power that is too large")
    elif operator == "%":
        if isinstance(left, str):
            _check_arguments("format", (left, right))
    elif operator == "*":
        for several, times in ((left, right), (right, left)):
            if isinstance(several, str | list | tuple) and isinstance(times, int):
                _check_size(len(several) * times)
        if isinstance(left, int) and isinstance(right, int):
            _check_size(left.bit_length() + right.bit_length())
    elif isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
        _check_size(len(left) + len(right))


def _check_arguments(name: str, arguments: tuple[Any, ...]) -> None:
    """Check the arguments of a method of a text, or of a filter."""
    for argument in arguments[1:]:
        if isinstance(argument, int) and abs(argument) > LONGEST:
            raise SecurityError(f"{name} is called with a number beyond {LONGEST:,}")
    first = arguments[0] if arguments else ""
    if name in ("format", "format_map") and isinstance(first, str) and _WIDTH.search(first):
        raise SecurityError("a format asks for a very wide field")
    if name in ("replace", "regex_replace", "join", "indent", "expandtabs", "translate"):
        sizes = [len(item) for item in arguments if isinstance(item, str | list | tuple)]
        numbers = [abs(item) for item in arguments[1:] if isinstance(item, int)]
        # The longest, once for each place of the next: no result can be longer than this.
        longest, next_longest = [*sorted([*sizes, *numbers, 0, 0], reverse=True)][:2]
        if (longest + 1) * (next_longest + 1) > LARGEST_PRODUCT:
            raise SecurityError(f"{name} could build something very long")


def _limited(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Check the arguments of a filter; Jinja's own first argument, if it has one, is kept."""
    skipped = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)  # keeps the mark that says which first argument Jinja passes
    def checked(*args: Any, **kwargs: Any) -> Any:
        _check_arguments(name, (*args[skipped:], *kwargs.values()))
        return function(*args, **kwargs)

    return checked


def _regex_replace(string: str, pattern: str, repl: str, count: int = 0) -> str:
    """Replace by regular expression; the names of the arguments may be used in templates."""
    return compile_pattern(pattern).replace(string, repl, count)


def _replace_at_once(string: str, pattern: str, repl: str, count: int = 0) -> str:
    """Do the same in a process that is ended if it takes too long."""
    compile_pattern(pattern)  # which says what is wrong with it
    return re.sub(pattern, repl, string, count=count)

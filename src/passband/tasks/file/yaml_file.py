"""YAML files read so that nothing in them can act, and every key keeps its line.

Plain data comes out: text, numbers, true and false, null, lists and mappings, and inert
references for ``!function module.name``. Every other tag, aliases, duplicate keys and files
beyond a megabyte are errors, reported with their lines. (In the files of an installed lm-eval a
duplicate key is a warning.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from passband.errors import Place
from passband.tasks.diagnostics import Diagnostic
from passband.tasks.file.file_access import FileAccess, is_of_lm_eval, is_system_file

LARGEST_FILE = 1_000_000  # bytes; far beyond any task file, far below what would hurt
LONGEST_NUMBER = 400  # characters; 1:1:1:... to the base of 60 takes the square of its length
DEEPEST = 40  # levels of nesting; the readers behind this one recurse

KeyPath = tuple[Any, ...]  # the keys and list positions that lead to a value

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_scalars = yaml.constructor.SafeConstructor()


@dataclass(frozen=True, slots=True)
class FunctionReference:
    """A ``!function module.name``; nothing is imported until the task is trusted."""

    module: str
    name: str
    file: Path  # the YAML file, beside which the module is looked for
    line: int

    @property
    def place(self) -> Place:
        return Place(self.file, self.line)

    def __str__(self) -> str:
        return f"!function {self.module}.{self.name}"


@dataclass(frozen=True)
class YamlFile:
    """The values of a file, the line of each, and the mistakes in it."""

    path: Path
    values: dict[str, Any]
    places: Mapping[KeyPath, Place]
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def place(self, *keys: Any) -> Place:
        """Return the line of a value, or else of the innermost value around it."""
        for length in range(len(keys), 0, -1):
            if keys[:length] in self.places:
                return self.places[keys[:length]]
        return Place(self.path, 1)

    def report(self, message: str, *keys: Any) -> None:
        """Record an error in the value that these keys lead to."""
        self.diagnostics.append(Diagnostic.at(self.place(*keys), message))

    def warn(self, message: str, *keys: Any) -> None:
        """Record a warning about the value that these keys lead to."""
        self.diagnostics.append(Diagnostic.at(self.place(*keys), message, "warning"))


def read_with_includes(
    path: Path, file: YamlFile | None = None, *, trust: bool = False
) -> YamlFile:
    """Read a file and those that it includes; the keys of the including file win.

    `file` is what `read_yaml` has returned for the path, if it was read already; it is not
    changed, so it can be used again.
    """
    file = file or read_yaml(path)
    reach = FileAccess(path.parent, trust)
    return _merged(replace(file, diagnostics=list(file.diagnostics)), (), reach)


def read_yaml(path: Path) -> YamlFile:
    """Read one file by itself; its ``include`` is a key like any other."""
    reader = _Reader(path)
    values = reader.read()
    return YamlFile(path, values, reader.places, reader.diagnostics)


def references(value: Any) -> Iterator[FunctionReference]:
    """Yield every function that is referred to anywhere in a value."""
    if isinstance(value, FunctionReference):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def plain_json(value: Any) -> Any:
    """Return a value as JSON can hold it: references as their text, keys as text."""
    if isinstance(value, FunctionReference):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain_json(inner) for inner in value]
    return value


# -- includes ------------------------------------------------------------------------------


def _merged(file: YamlFile, above: tuple[Path, ...], reach: FileAccess) -> YamlFile:
    includes = file.values.get("include")
    own = {key: value for key, value in file.values.items() if key != "include"}
    if includes is None:
        return replace(file, values=own)
    values: dict[str, Any] = {}
    places: dict[KeyPath, Place] = {}
    for name in includes if isinstance(includes, list) else [includes]:
        included = _included(file, name, (*above, file.path.resolve()), reach)
        _lay_over(values, places, included)
        file.diagnostics.extend(included.diagnostics)
    _lay_over(values, places, replace(file, values=own))
    return YamlFile(file.path, values, places, file.diagnostics)


def _included(file: YamlFile, name: Any, above: tuple[Path, ...], reach: FileAccess) -> YamlFile:
    """Return a file that is included; a relative path may lead upwards, as shared settings do.

    Nothing but settings can be read in this way: any other key is an error.
    """
    nothing = YamlFile(file.path, {}, {})
    if not isinstance(name, str):
        file.report(f"include must be the path of a YAML file; got {name!r}.", "include")
        return nothing
    path = file.path.parent / name
    if path.resolve() in above:
        file.report(f"{name} includes itself, directly or through another file.", "include")
        return nothing
    if not path.is_file():
        file.report(f"include: no file {path}; the path is relative to this file.", "include")
        return nothing
    try:
        if Path(name).is_absolute() or is_system_file(path.resolve()):
            path = reach.resolved(path)
    except OSError as error:
        file.report(f"include: {error}.", "include")
        return nothing
    return _merged(read_yaml(path), above, reach)


def _lay_over(values: dict[str, Any], places: dict[KeyPath, Place], file: YamlFile) -> None:
    """Let the keys of a file replace those that are there, each with the lines of its inside."""
    for path in [path for path in places if path[0] in file.values]:
        del places[path]
    values.update(file.values)
    places.update(file.places)


# -- one file ------------------------------------------------------------------------------


class _Reader:
    """Turns one file into plain values, and collects lines and diagnostics on the way."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: dict[KeyPath, Place] = {}
        self.diagnostics: list[Diagnostic] = []

    def read(self) -> dict[str, Any]:
        text = self._text()
        node = self._node(text) if text is not None else None
        if node is None:
            if not self.diagnostics:
                self._report(1, "the file is empty.")
            return {}
        if not isinstance(node, yaml.MappingNode):
            self._report(_line(node), "the file must be a mapping of keys to values.")
            return {}
        values = self._mapping(node, ())
        return {key: value for key, value in values.items() if isinstance(key, str)}

    def _text(self) -> str | None:
        try:
            with self.path.open("rb") as file:
                data = file.read(LARGEST_FILE + 1)
        except OSError as error:
            self._report(1, f"cannot be read: {error.strerror or error}.")
            return None
        if len(data) > LARGEST_FILE:
            self._report(
                1, f"the file is larger than {LARGEST_FILE:,} bytes; keep data in data files."
            )
            return None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self._report(data.count(b"\n", 0, error.start) + 1, "is not UTF-8 text.")
            return None

    def _node(self, text: str) -> yaml.Node | None:
        try:
            if self._is_tame(text):
                node: yaml.Node | None = yaml.compose(text, Loader=_Loader)
                return node
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._report(mark.line + 1 if mark else 1, f"is not YAML: {_what(error, text)}.")
        except yaml.YAMLError as error:
            self._report(1, f"is not YAML: {' '.join(str(error).split())}.")
        return None

    def _is_tame(self, text: str) -> bool:
        """Check the parser's events before anything is built from them."""
        depth = 0
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.AliasEvent):
                self._report(_line(event), "aliases (*name) are not accepted; write the value out.")
                return False
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                self._report(_line(event), f"is nested deeper than {DEEPEST} levels.")
                return False
        return True

    def _value(self, node: yaml.Node, path: KeyPath) -> Any:
        if node.tag == "!function":
            return self._function(node)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return [self._item(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        return self._unknown_tag(node)

    def _item(self, node: yaml.Node, path: KeyPath) -> Any:
        self.places[path] = Place(self.path, _line(node))
        return self._value(node, path)

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, path)
            if key is None:
                continue
            if key in values and not self._replaces(key_node, (*path, key)):
                continue
            self.places[(*path, key)] = Place(self.path, _line(key_node))
            values[key] = self._value(value_node, (*path, key))
        return values

    def _replaces(self, node: yaml.Node, path: KeyPath) -> bool:
        """Report a key that is there already; return whether its value counts all the same."""
        message = f"duplicate key {path[-1]!r}; the first one is in line {self.places[path].line}"
        if not is_of_lm_eval(self.path):
            self._report(_line(node), f"{message}.")
            return False
        message = f"{message}. The last one counts, as in lm-eval."
        self.diagnostics.append(Diagnostic(self.path, _line(node), message, "warning", True))
        for inner in [place for place in self.places if place[: len(path)] == path]:
            del self.places[inner]
        return True

    def _key(self, node: yaml.Node, path: KeyPath) -> Any:
        if node.tag == f"{_TAG}merge":
            self._report(_line(node), "merge keys (<<) are not accepted; use include.")
            return None
        key = self._scalar(node) if isinstance(node, yaml.ScalarNode) else None
        if key is None or (not path and not isinstance(key, str)):
            self._report(_line(node), "a key must be text.")
            return None
        return key

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        kind = node.tag.removeprefix(_TAG)
        # A date stays the text it is written as: JSON has no dates.
        if kind in ("str", "timestamp", "value"):
            return node.value
        if kind == "null":
            return None
        build = {
            "bool": _scalars.construct_yaml_bool,
            "int": _scalars.construct_yaml_int,
            "float": _scalars.construct_yaml_float,
        }.get(kind)
        return self._unknown_tag(node) if build is None else self._number(node, build)

    def _number(self, node: yaml.ScalarNode, build: Any) -> Any:
        try:
            number = build(node) if len(node.value) <= LONGEST_NUMBER else math.nan
        except (KeyError, ValueError):
            number = math.nan
        if isinstance(number, float) and not math.isfinite(number):
            self._report(_line(node), f"{node.value[:40]!r} is not a finite number.")
            return None
        return number

    def _function(self, node: yaml.Node) -> FunctionReference | None:
        module, _, name = str(node.value).strip().rpartition(".")
        pieces = [*module.split("."), name]
        if not isinstance(node, yaml.ScalarNode) or not all(map(str.isidentifier, pieces)):
            self._report(_line(node), "!function must be followed by module.name.")
            return None
        return FunctionReference(module, name, self.path, _line(node))

    def _unknown_tag(self, node: yaml.Node) -> None:
        tag = node.tag.replace(_TAG, "!!")
        self._report(_line(node), f"the tag {tag} is not accepted; only !function has a meaning.")

    def _report(self, line: int, message: str) -> None:
        self.diagnostics.append(Diagnostic(self.path, line, message))


def _line(marked: Any) -> int:
    return int(marked.start_mark.line) + 1


def _what(error: yaml.MarkedYAMLError, text: str) -> str:
    what = " ".join(piece for piece in (error.context, error.problem) if piece)
    mark = error.problem_mark
    lines = text.splitlines()
    if mark is not None and mark.line < len(lines) and "\t" in lines[mark.line]:
        what += "; the line has a tab, which YAML does not take for indentation"
    return what

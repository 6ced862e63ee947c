"""The beginning of a JSON file, by which readers recognize their own files.

A log may be of any size, and several readers look at it: its beginning is read once, and what is
cut off in the middle is closed, so that `[{"id": 1, "te` is read as `[{"id": 1}]`.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.files import form_of, parse_json, read_text, text_lines

_BEGINNING = 1 << 18  # characters
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|"', re.DOTALL)
_SNIFFED = 5  # lines that may be bad before a file is not recognized
_DEEPEST = 500  # levels of nesting that are followed
_CLOSING = {"{": "}", "[": "]"}


def head_of(path: Path) -> Any:
    """Return the beginning of a JSON document, or the first value of JSON lines; else None."""
    try:
        if form_of(path.name) not in ("json", "jsonl") or not path.is_file():
            return None
        stat = path.stat()
        return _head(path, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError):  # the reader that takes the file says what is wrong with it
        return None


def first_item(path: Path) -> Any:
    """Return the first value of a JSON list or of JSON lines; else None."""
    head = head_of(path)
    if isinstance(head, list):
        return head[0] if head else None
    return head


@lru_cache(maxsize=8)
def _head(path: Path, changed: int, size: int) -> Any:
    try:
        text = read_text(path, _BEGINNING)
    except InvalidInput:
        return None
    stripped = text.lstrip()
    line, _, rest = stripped.partition("\n")
    try:
        if rest.strip():
            return json.loads(line)  # JSON lines, or a document of one line
    except (ValueError, RecursionError):
        pass
    for parsed in (json.loads, completed):  # a file that is cut off begins as a whole one does
        try:
            return parsed(stripped)
        except (ValueError, RecursionError):
            pass
    return None


def first_record(path: Path) -> dict[str, Any]:
    """Return the first object among the first lines of a file; an empty one if there is none.

    Of a file that may be one document, only the beginning is read: its first line may be all of it.
    """
    try:
        if form_of(path.name) == "json":
            head = head_of(path)
            return head if isinstance(head, dict) else {}
        if form_of(path.name) != "jsonl" or not path.is_file():
            return {}
        stat = path.stat()
        return _first_record(path, stat.st_mtime_ns, stat.st_size)
    except OSError:  # the reader that takes the file says what is wrong with it
        return {}


@lru_cache(maxsize=8)
def _first_record(path: Path, changed: int, size: int) -> dict[str, Any]:
    try:
        for place, line in islice(text_lines(path), _SNIFFED):
            try:
                value = parse_json(line, place)
            except InvalidInput:
                continue
            return value if isinstance(value, dict) else {}
    except InvalidInput:  # the reader that takes the file says what is wrong with it
        pass
    return {}


def completed(text: str) -> Any:
    """Return the value of a JSON text that may end anywhere, without what is incomplete.

    >>> completed('{"a": [1, 2, {"b": "c", "d": "e')
    {'a': [1, 2, {'b': 'c'}]}
    >>> completed('[{"a": 1}, {"b: c", "d')
    [{'a': 1}, {}]
    """
    closings = [""]  # what closes the objects and lists that are open, for each depth
    end, closing = 0, ""
    after_colon = False
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == '"':
            break  # a text that is cut off
        if len(closings) > _DEEPEST:
            raise ValueError("too deeply nested")
        if token in "{[":
            closings.append(_CLOSING[token] + closings[-1])
        elif token in "}]":
            if len(closings) == 1:
                break
            closings.pop()
        if token == ":":
            after_colon = True
            continue
        is_key = closings[-1][:1] == "}" and token[0] == '"' and not after_colon
        after_colon = False
        if token == "," or is_key:
            continue
        if token[0] not in '{}[]"' and match.end() == len(text):
            break  # a number may go on
        end, closing = match.end(), closings[-1]
        if not closing:
            break
    return json.loads(text[:end] + closing)

"""Inputs that are nearly right: valid samples, changed in a few places by a seeded generator.

A change keeps the shape of the sample (JSON stays JSON, an archive stays an archive) more often
than not, since what is broken in its first byte is refused before anything interesting happens.
"""

from __future__ import annotations

import io
import json
import math
import random
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["CHANGES", "mutated"]

LARGEST = 1 << 16  # bytes of an input
NESTED = 900  # brackets that json still reads and a careless walk no longer does

TOKENS: Sequence[bytes] = (
    b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n\n", b"\r\n", b"\t", b" ", b'"',
    b"'",
    b"\\", b"{", b"}", b"[", b"]", b",", b":", b"#", b"&a ", b"*a", b"- ", b"null", b"NaN",
    b"1e999",
    b"-1", b"0", b"9" * 25, b"9" * 5000, b"1" + b"0" * 400, b"\\ud800", b"[" * 3000,
    b'{"a":' * 1500,
    b"\x1b[31m", "\u202e".encode(), "٣".encode(), "½".encode(), "é".encode(), b"=1+1", b"../x",
)  # fmt: skip
VALUES: Sequence[Any] = (
    None, True, False, 0, 1, -1, 2, 0.5, -0.0, 1e308, math.nan, math.inf, -math.inf, 2**31, 2**53,
    2**63,
    -(2**63) - 1, 10**30, 10**400, "", " ", "0", "1", "-1", "nan", "inf", "1e999", "C", "I", "ok",
    "pass",
    "é", "\ud800", "\0", "\x1b[31m", "\u202e", "=1", "../x", "x" * 500, [], {}, [[]], [None], [1,
    "a"],
    {"": None}, {"a": {"a": []}}, "2026-01-01T00:00:00+00:00",
)  # fmt: skip
YAML_VALUES: Sequence[str] = (
    "null", "true", "-1", "0", "1e400", ".nan", ".inf", "''", "x", "[]", "{}", "[a, [b]]",
    "{a: {b: c}}",
    "!function f.g", "!!python/object:os.system x", "!!binary aa", "&a [*a]", "*a", "<<: *a",
    "2026-01-01",
    "1:30:00", "0x1F", "0o17", "1_000", "'{{ x }}'", "'{{ x | length }}'", "'{% for a in x %}'",
    "|", ">-",
    "? a", "%YAML 9.9", "---", "...", "@", "`", "\t", "é", "pass@4", "maj@*",
    "[{metric: exact_match}]",
)  # fmt: skip

Change = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def mutated(data: bytes, shape: str, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Return an input with a few changes of its shape; `others` lend it parts."""
    change = CHANGES[shape]
    for _ in range(1 + int(rng.expovariate(1.0))):
        data = change(data, rng, others)
    return data[:LARGEST]


# -- bytes -----------------------------------------------------------------------------------


def change_bytes(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Flip, drop, repeat, insert, cut or splice."""
    if not data:
        return rng.choice(TOKENS)
    start = rng.randrange(len(data))
    end = min(len(data), start + 1 + int(rng.expovariate(0.1)))
    kind = rng.randrange(8)
    if kind == 0:
        return data[:start] + bytes([data[start] ^ (1 << rng.randrange(8))]) + data[start + 1 :]
    if kind == 1:
        return data[:start] + data[end:]
    if kind == 2:
        return data[:end] + data[start:end] * rng.choice((1, 1, 2, 50)) + data[end:]
    if kind == 3:
        return data[:start] + rng.choice(TOKENS) + data[start:]
    if kind == 4:
        return data[:start] + rng.choice(TOKENS) + data[end:]
    if kind == 5:
        return data[:start] + bytes([rng.randrange(256)]) + data[start + 1 :]
    if kind == 6:
        return data[:start]
    other = rng.choice(others) if others else data
    return data[:start] + other[rng.randrange(len(other) + 1) :]


# -- JSON ------------------------------------------------------------------------------------


def change_json(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change a value somewhere in a document; one input in six loses its syntax."""
    if rng.random() < 0.17:
        return change_bytes(data, rng, others)
    try:
        whole = [json.loads(data)]
        _change_value(whole, rng)
        return json.dumps(whole[0]).encode()
    except (ValueError, RecursionError):
        return change_bytes(data, rng, others)


def _change_value(part: Any, rng: random.Random) -> None:
    while True:
        place = rng.choice(list(part)) if isinstance(part, dict) else rng.randrange(len(part))
        inner = part[place]
        if isinstance(inner, (dict, list)) and inner and rng.random() < 0.8:
            part = inner
            continue
        break
    kind = rng.randrange(6)
    if kind == 0 and len(part) > 1:
        del part[place]
    elif kind == 1 and isinstance(part, list):
        part.insert(rng.randrange(len(part) + 1), part[place])
    elif kind == 1:
        part[str(rng.choice(VALUES))[:20]] = part.pop(place)
    elif kind == 2:
        part[place] = part[rng.choice(list(part)) if isinstance(part, dict) else 0]
    elif kind == 3 and rng.random() < 0.1:
        part[place] = _nested(rng)
    elif kind == 4 and isinstance(inner, str):
        part[place] = change_bytes(inner.encode("utf-8", "replace"), rng, ()).decode(
            "utf-8", "replace"
        )
    else:
        part[place] = rng.choice(VALUES)


def _nested(rng: random.Random) -> Any:
    value: Any = 1
    for _ in range(rng.choice((30, 200, NESTED))):
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def change_lines(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change one line of JSON lines, drop it, write it twice, or move it."""
    lines = data.split(b"\n")
    place = rng.randrange(len(lines))
    kind = rng.randrange(8)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(rng.randrange(len(lines)), lines[place])
    elif kind == 2:
        lines.insert(rng.randrange(len(lines)), lines.pop(place))
    else:
        lines[place] = change_json(lines[place], rng, others)
    return b"\n".join(lines)


# -- text ------------------------------------------------------------------------------------


def change_yaml(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Replace the value of a key, or a line; move, drop or repeat lines."""
    if rng.random() < 0.2:
        return change_bytes(data, rng, others)
    lines = data.split(b"\n")
    place = rng.randrange(len(lines))
    kind = rng.randrange(6)
    value = rng.choice(YAML_VALUES).encode()
    if kind <= 2:
        head, colon, _ = lines[place].partition(b":")
        lines[place] = head + colon + b" " + value
    elif kind == 3:
        lines[place : place + 1] = [lines[place]] * rng.choice((0, 2))
    elif kind == 4:
        lines[place] = b" " * rng.randrange(8) + lines[place].strip()
    else:
        other = rng.choice(others).split(b"\n") if others else lines
        lines.insert(place, rng.choice(other))
    return b"\n".join(lines)


def change_csv(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change a cell, a line or a byte."""
    if rng.random() < 0.3:
        return change_bytes(data, rng, others)
    lines = data.split(b"\n")
    place = rng.randrange(len(lines))
    cells = re.split(rb"([,;\t])", lines[place])
    cell = rng.randrange(len(cells))
    value = rng.choice(VALUES)
    cells[cell] = str(value)[:600].encode("utf-8", "surrogatepass")
    lines[place] = b"".join(cells)
    return b"\n".join(lines)


# -- archives and folders --------------------------------------------------------------------


def change_zip(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change a member of an archive, leave one out, or change the bytes of the archive itself."""
    if rng.random() < 0.5:
        return change_bytes(data, rng, others)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # it is broken already
        return change_bytes(data, rng, others)
    if members:
        name = rng.choice(list(members))
        content = members.pop(name)
        if rng.random() < 0.9:
            members[name] = change_json(content, rng, ())
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return target.getvalue()


def change_file(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change a file of a folder; the first byte says which one it is."""
    change = change_lines if b"\n{" in data else change_json
    return data[:1] + change(data[1:], rng, [other[1:] for other in others])


CHANGES: Mapping[str, Change] = {
    "bytes": change_bytes,
    "json": change_json,
    "lines": change_lines,
    "yaml": change_yaml,
    "csv": change_csv,
    "zip": change_zip,
    "folder": change_file,
}

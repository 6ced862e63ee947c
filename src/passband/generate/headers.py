"""Headers that the user adds to every request; their values count as secrets.

Values are sent and nothing else: they are neither printed nor stored, and are taken out of
whatever a server sends back. A run records the names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from passband.errors import InvalidInput

__all__ = ["check_headers", "hidden_values", "merged_headers", "read_headers"]

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")  # a token of RFC 9110
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_LONGEST = 8_000  # characters of a value; servers refuse more
_OURS = ("content-type", "content-length", "transfer-encoding", "host", "connection", "accept")


def read_headers(words: Iterable[str]) -> dict[str, str]:
    """Return headers given as NAME=VALUE; the value $VAR is that of a variable.

    >>> read_headers(["X-Team=evals"])
    {'X-Team': 'evals'}
    """
    headers: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        name = name.strip()
        if not equals:
            raise InvalidInput(
                f"--header takes NAME=VALUE; got {_shown(name)} without an equals sign."
            )
        if name.lower() in map(str.lower, headers):
            raise InvalidInput(f"--header {_shown(name)} is given twice.")
        headers[name] = _expanded(name, value.strip())
    check_headers(headers)
    return headers


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise `InvalidInput` for a header that cannot be sent; the message has no value."""
    pairs: Iterable[tuple[object, object]] = headers.items()
    for name, value in pairs:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidInput(f"--header {_shown(str(name))}: this is no name of a header.")
        if name.lower() in _OURS:
            raise InvalidInput(f"--header {name}: this header belongs to passband's own client.")
        if not isinstance(value, str) or not value:
            raise InvalidInput(f"--header {name}: the value is empty.")
        if not value.isprintable() or len(value) > _LONGEST:
            raise InvalidInput(
                f"--header {name}: the value holds a line break or the like, or is longer than "
                f"{_LONGEST} characters."
            )


def merged_headers(own: Mapping[str, str], further: Mapping[str, str]) -> dict[str, str]:
    """Return headers with the user's, which replace those of the same name.

    >>> merged_headers({"Authorization": "Bearer k"}, {"authorization": "Basic x"})
    {'authorization': 'Basic x'}
    """
    named = {name.lower() for name in further}
    return {**{k: v for k, v in own.items() if k.lower() not in named}, **further}


def hidden_values(words: Iterable[str]) -> list[str]:
    """Return the words of a command without the values of its headers; variables stay.

    >>> hidden_values(["run", "--header", "X-Key=abc", "--header=X-Gate=$GATE", "-n", "4"])
    ['run', '--header', 'X-Key=...', '--header=X-Gate=$GATE', '-n', '4']
    """
    hidden, is_header = list[str](), False
    for word in words:
        if is_header:
            hidden.append(_hidden(word))
        elif word.startswith("--header="):
            hidden.append(f"--header={_hidden(word.removeprefix('--header='))}")
        else:
            hidden.append(word)
        is_header = word == "--header" and not is_header
    return hidden


def _hidden(header: str) -> str:
    name, _, value = header.partition("=")
    return header if _VARIABLE.fullmatch(value.strip()) else f"{name}=..."


def _expanded(name: str, value: str) -> str:
    """Return the value of a variable where one is named, also after a word such as Bearer."""
    scheme, blank, last = value.rpartition(" ")
    match = _VARIABLE.fullmatch(last)
    if match is None:
        return value
    variable = match[1] or match[2]
    found = os.environ.get(variable, "").strip()
    if not found:
        raise InvalidInput(f"--header {_shown(name)}: the variable {variable} is not set.")
    return f"{scheme}{blank}{found}"


def _shown(name: str) -> str:
    """Return a name as it is shown; what is no name may be a secret."""
    return name if _NAME.fullmatch(name) and len(name) <= 40 else "(not a name)"

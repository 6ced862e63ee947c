"""Keys, which are removed from whatever a server, a function or a client says.

A key is looked for as it is, and as programs write it: escaped in JSON, in percent signs, in HTML,
in base64 and in hexadecimal. Providers register the keys that they send (`add_secret`); variables
of the environment that are named like keys count too.

Headers that the user adds to every request; their values count as secrets.

Values are sent and nothing else: they are neither printed nor stored, and are taken out of
whatever a server sends back. A run records the names.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from passband.errors import InvalidInput

LONG_KEY = 16  # characters; "none" and the like are no secrets, and may be in any answer
_SHORT_KEY = 8  # in errors, which are no answers
_REDACTED = "[redacted]"
_NAMED = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_HIDDEN = re.compile(
    rb"\\+u00([2-7][0-9a-fA-F])|\\+x([2-7][0-9a-fA-F])|%([2-7][0-9a-fA-F])"
    rb"|&#[xX]0*([2-7][0-9a-fA-F]);|&#0*([0-9]{2,3});|\\+(/)"
)
_ESCAPED = re.compile(rb"\\u00[2-7]")  # a character that a key may have
_registered: dict[str, Secret] = {}


class Secret:
    """A key that is taken out of texts.

    >>> Secret("sk-1/2").removed_from('{"detail": "sk-1\\\\/2 is no key"}')
    '{"detail": "[redacted] is no key"}'
    >>> Secret("sk-1/2").removed_from(r"\\u0073k-1%2F2")
    '[redacted]'
    """

    def __init__(self, key: str) -> None:
        self._key = key
        plain, further = _spellings(key), _encodings(key) if len(key) >= LONG_KEY else ()
        self._quick = tuple(dict.fromkeys(filter(None, (*plain, *_in_base64(key)))))
        self._needles = tuple(dict.fromkeys((*self._quick, *further)))

    @property
    def is_long(self) -> bool:
        """Whether it can be no word of an answer."""
        return len(self._key) >= LONG_KEY

    def may_be_in(self, raw: bytes) -> bool:
        """Return whether the body of a reply may hold the key, as it is, in base64 or escaped.

        This is for every answer: some 0.3 us for each spelling and 2 kB. Escapes of characters
        that keys have are rare, so that looking closer at each reply that has one costs little.
        """
        if b"\\/" in raw or (b"\\u00" in raw and _ESCAPED.search(raw)):
            return True
        for needle in self._quick:  # noqa: SIM110  a generator takes as long again
            if needle in raw:
                return True
        return False

    def is_in_texts(self, *texts: str | None) -> bool:
        """Return whether a decoded text holds the key."""
        key = self._key
        for text in texts:  # noqa: SIM110
            if text is not None and key in text:
                return True
        return False

    def removed_from(self, text: str) -> str:
        """Return a text without the key."""
        raw = text.encode("utf-8", "surrogatepass")
        clean = self.removed_from_bytes(raw)
        return text if clean is raw else clean.decode("utf-8", "surrogatepass")

    def removed_from_bytes(self, raw: bytes) -> bytes:
        """Return the body of a reply without the key; the same object if it is not in there."""
        for needle in self._needles:
            if needle in raw:
                raw = raw.replace(needle, _REDACTED.encode())
        if self._key and any(mark in raw for mark in (b"\\", b"%", b"&#")):
            plain = _HIDDEN.sub(_shown, raw)
            if plain is not raw and any(needle in plain for needle in self._needles):
                return self.removed_from_bytes(plain)
        return raw


def add_secret(key: str) -> Secret:
    """Register a key that must not be stored or shown, and return it."""
    if key not in _registered:
        _registered[key] = Secret(key)
    return _registered[key]


def learn_secrets() -> None:
    """Register the keys that the environment holds by their names."""
    for name, value in os.environ.items():
        if len(value.strip()) >= _SHORT_KEY and _NAMED.search(name):
            add_secret(value.strip())


def redacted(text: str) -> str:
    """Return the text of an error without any key that is known."""
    learn_secrets()
    for secret in _known(_SHORT_KEY):
        text = secret.removed_from(text)
    return text


def redacted_values(value: Any) -> Any:
    """Return plain values with every text in them redacted, of long registered keys."""
    secrets = _known(LONG_KEY)
    return _walked(value, secrets) if secrets else value


def _known(shortest: int) -> list[Secret]:
    return [secret for key, secret in _registered.items() if len(key) >= shortest]


def _walked(value: Any, secrets: list[Secret]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = secret.removed_from(value)
        return value
    if isinstance(value, dict):
        return {_walked(key, secrets): _walked(inner, secrets) for key, inner in value.items()}
    if isinstance(value, list):
        return [_walked(inner, secrets) for inner in value]
    return value


def _shown(match: re.Match[bytes]) -> bytes:
    """Return the character of an escape; quotes and backslashes stay, or JSON would break."""
    *codes, decimal, slash = match.groups()
    if slash:
        return b"/"
    number = int(decimal) if decimal else int(next(filter(None, codes)), 16)
    return bytes([number]) if 32 < number < 127 and number not in b'"\\' else match[0]


def _spellings(key: str) -> Iterator[bytes]:
    """Yield the ways in which JSON has a key; some servers escape slashes."""
    escaped = json.dumps(key)[1:-1]
    raw = json.dumps(key, ensure_ascii=False)[1:-1]
    for text in (key, escaped, escaped.replace("/", "\\/"), raw):
        yield text.encode("utf-8", "surrogatepass")


def _in_base64(key: str) -> Iterator[bytes]:
    """Yield what base64 makes of a long key, whatever is in front of it, such as "Bearer "."""
    raw = key.encode("utf-8", "surrogatepass")
    for before in range(3 if len(key) >= LONG_KEY else 0):
        padded = bytes(before) + raw
        start, stop = -(-before * 8 // 6), len(padded) * 8 // 6
        yield base64.b64encode(padded)[start:stop]
        yield base64.urlsafe_b64encode(padded)[start:stop]


def _encodings(key: str) -> Iterator[bytes]:
    """Yield further ways in which errors and addresses have a key."""
    raw = key.encode("utf-8", "surrogatepass")
    yield quote(raw, safe="").encode()
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    yield html.escape(key).encode("utf-8", "surrogatepass")


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
                f"--header takes NAME=VALUE; got {_printable_name(name)} without an equals sign."
            )
        if name.lower() in map(str.lower, headers):
            raise InvalidInput(f"--header {_printable_name(name)} is given twice.")
        headers[name] = _expanded(name, value.strip())
    check_headers(headers)
    return headers


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise `InvalidInput` for a header that cannot be sent; the message has no value."""
    pairs: Iterable[tuple[object, object]] = headers.items()
    for name, value in pairs:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidInput(
                f"--header {_printable_name(str(name))}: this is no name of a header."
            )
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
        raise InvalidInput(f"--header {_printable_name(name)}: the variable {variable} is not set.")
    return f"{scheme}{blank}{found}"


def _printable_name(name: str) -> str:
    """Return a header's name for a message; anything that is not a name may be a secret."""
    return name if _NAME.fullmatch(name) and len(name) <= 40 else "(not a name)"

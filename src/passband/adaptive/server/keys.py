"""API keys: which ones a server takes."""

from __future__ import annotations

import functools
import hashlib
import hmac
import ipaddress
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from passband.errors import InvalidInput

KEYS_VARIABLE = "PASSBAND_SERVE_KEYS"
_SHORTEST = 16  # characters in a configured key
_LOCAL_NAMES = ("localhost", "ip6-localhost")


class Keys:
    """The keys that open a server; without any, every key that is not empty does.

    >>> keys = Keys(["correct-horse-battery"])
    >>> keys.accept("correct-horse-battery"), keys.accept("guess"), keys.accept("")
    (True, False, False)
    >>> Keys([]).accept("anything")
    True
    """

    def __init__(self, keys: Iterable[str]) -> None:
        # Digests are of one length, so that comparing tells nothing of a key's length either.
        self._digests = [_digest(key) for key in dict.fromkeys(keys)]

    @property
    def are_configured(self) -> bool:
        """Return whether only certain keys are accepted."""
        return bool(self._digests)

    def accept(self, key: str) -> bool:
        """Return whether a key opens the server, in a time that does not depend on the key."""
        if not self._digests:
            return bool(key)
        given = _digest(key)
        matches = [hmac.compare_digest(given, digest) for digest in self._digests]
        return any(matches)  # all were compared, whichever matches


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def read_keys(file: Path | None, environment: Mapping[str, str] | None = None) -> list[str]:
    """Read keys from a file, one a line, and from PASSBAND_SERVE_KEYS, separated by commas.

    Empty lines and lines that begin with "#" are left out. The text of a key is in no error.
    """
    variables = os.environ if environment is None else environment
    keys = [("$" + KEYS_VARIABLE, key) for key in variables.get(KEYS_VARIABLE, "").split(",")]
    if file is not None:
        keys += [(f"{file}:{number}", line) for number, line in enumerate(_lines(file), start=1)]
    found = [(place, key.strip()) for place, key in keys]
    found = [(place, key) for place, key in found if key and not key.startswith("#")]
    for place, key in found:
        _check(place, key)
    if file is not None and not found:
        raise InvalidInput(f"{file} holds no key; write one on each line.")
    return [key for _, key in found]


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8").splitlines()
    except UnicodeError:
        raise InvalidInput(f"{file} is not UTF-8 text, and so no list of keys.") from None
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}.") from None


def _check(place: str, key: str) -> None:
    if len(key) < _SHORTEST:
        raise InvalidInput(
            f"{place}: a key of {len(key)} characters can be guessed; use {_SHORTEST} or more."
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput(f"{place}: a key must be visible ASCII characters, as headers are.")


@functools.lru_cache(1000)
def is_loopback(host: str) -> bool:
    """Return whether a host is this machine as seen by itself.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host.lower() in _LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

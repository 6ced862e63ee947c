"""Parse addresses of a cluster, as --on and RAY_ADDRESS give them.

>>> parse_address("ray")
Address(kind='found', host=None, port=None)
>>> str(parse_address("ray://head.example"))
'ray://head.example:10001'
>>> str(parse_address("10.0.0.7:6379"))
'10.0.0.7:6379'
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from passband.errors import InvalidInput, nearest

VARIABLE = "RAY_ADDRESS"
CLIENT_PORT = 10001  # that a head node serves clients on, unless it was started with another
_GCS_PORT = 6379
_FORMS = (
    "Give ray (the cluster of RAY_ADDRESS, or the one that runs on this machine, or else a new one "
    f"here), ray://HOST:{CLIENT_PORT} (a cluster that this machine is no part of), or "
    f"HOST:{_GCS_PORT} (the head of a cluster that it is part of)."
)
_HOST = r"\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?"
_PLACE = re.compile(rf"(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?", re.ASCII)
Kind = Literal["found", "new", "gcs", "client"]


@dataclass(frozen=True)
class Address:
    """Where a cluster is: to be found, to be started here, or at a host and port.

    `gcs` is the port of the head's own service, for processes on a node of the cluster; `client`
    the port for those outside of it.
    """

    kind: Kind
    host: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        if self.host is None:
            return "ray"
        return f"{'ray://' if self.kind == 'client' else ''}{self.host}:{self.port}"


def parse_address(text: str, option: str = "--on") -> Address:
    """Return the address in the value of an option; raise `InvalidInput` with the right forms.

    Whatever might hold a secret is refused, and not repeated in the error.
    """
    value = text.strip()
    if value == "ray":
        return Address("found")
    if any(sign in value for sign in "@?#"):
        raise InvalidInput(
            f"{option}: an address of Ray is a host and a port, without a user, a password or "
            f"parameters; the value is not repeated here. {_FORMS}"
        )
    scheme, separator, authority = value.rpartition("://")
    match = _PLACE.fullmatch(authority)
    if separator and scheme != "ray":
        raise InvalidInput(
            f"{option} {value!r:.80} is no address of Ray.{_nearest(authority)} {_FORMS}"
        )
    if match is None or (match["port"] is None and not separator):
        raise InvalidInput(
            f"{option} {value!r:.80} is no address of Ray.{_nearest(value)} {_FORMS}"
        )
    port = int(match["port"] or CLIENT_PORT)
    if not 1 <= port <= 65535:
        raise InvalidInput(f"{option} {value!r:.80}: a port is a number from 1 to 65535.")
    return Address("client" if separator else "gcs", match["host"], port)


def resolved(address: Address, variables: Mapping[str, str] = os.environ) -> Address:
    """Return the address to connect to: for `ray`, RAY_ADDRESS if it is set."""
    setting = variables.get(VARIABLE, "").strip()
    if address.kind != "found" or setting in ("", "auto"):
        return address
    return Address("new") if setting == "local" else parse_address(setting, VARIABLE)


def _nearest(value: str) -> str:
    """Return the nearest valid address, as a clause of an error.

    >>> _nearest("Ray"), _nearest("auto"), _nearest("ray:/head:10001")
    (" Did you mean 'ray'?", " Did you mean 'ray'?", " Did you mean 'ray://head:10001'?")
    """
    if nearest(value, ["ray", "auto", "local"]):
        return " Did you mean 'ray'?"
    match = _PLACE.fullmatch(re.sub(r"^(?:[A-Za-z]+:/+|ray:)(?=.*[A-Za-z0-9])|/+$", "", value))
    if match is None:
        return ""
    return f" Did you mean 'ray://{match['host']}:{match['port'] or CLIENT_PORT}'?"

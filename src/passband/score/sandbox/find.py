"""Find the sandbox that holds on this machine.

With --unsafe-code programs may run where none holds, as plain processes with limits and a clock.
The setting belongs to the process, because scorers run in threads of their own; the command sets
it before scorers are made, and records it with the run:

    policy.is_unsafe_allowed = True
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

from passband.errors import InvalidInput, PassbandError, nearest
from passband.score.sandbox.bubblewrap import bubblewrap
from passband.score.sandbox.container import container
from passband.score.sandbox.probes.escapes import ESCAPES
from passband.score.sandbox.recipe import BOOT, ZygoteRecipe, variables
from passband.score.sandbox.zygotes import Zygotes
from passband.system import find_program


@dataclass
class Policy:
    """The permissions of the user."""

    is_unsafe_allowed: bool = False


policy = Policy()


def unconfined(size: int | None = None) -> Zygotes:
    """Return an unprotected stand-in: programs can do everything that the user can."""
    return Zygotes("none", _recipe, is_isolated=False, size=size)


def _recipe(hash_seed: int) -> ZygoteRecipe:
    command = (sys.executable, "-s", "-B", "-c", BOOT)
    return ZygoteRecipe(command, variables(hash_seed), settings={"namespaces": False, "filter": ""})


SETTING = "PASSBAND_SANDBOX"  # the name of a backend to use, and no other

_lock = threading.Lock()
_sandboxes: dict[str, Zygotes] = {}  # of this process, by backend


def find_sandbox(unsafe: bool | None = None) -> Zygotes:
    """Return the sandbox of this process; raise `InvalidInput` where none holds.

    unsafe: run programs without one where none holds; by default what `policy` says.
    """
    is_unsafe_allowed = policy.is_unsafe_allowed if unsafe is None else unsafe
    reasons = []
    for name in _wanted(is_unsafe_allowed):
        try:
            return _held(name)
        except PassbandError as error:
            reasons.append(f"{name}: {str(error).rstrip('.')}")
    reasons = reasons or [f"{SETTING}=none asks for none"]
    raise InvalidInput(
        f"code needs a sandbox, and none holds here ({'; '.join(reasons)}). See passband doctor; "
        "--unsafe-code runs programs without one, with all that you may do."
    )


def _wanted(is_unsafe_allowed: bool) -> list[str]:
    """Return the names of the backends to try, the best first."""
    setting = os.environ.get(SETTING)
    if setting and setting not in BACKENDS:
        raise InvalidInput(
            f"{SETTING}={setting} is no sandbox.{nearest(setting, BACKENDS)} "
            f"Known: {', '.join(BACKENDS)}."
        )
    names = [setting] if setting else list(BACKENDS)
    return [name for name in names if name != "none" or is_unsafe_allowed]


def _held(name: str) -> Zygotes:
    """Return the sandbox of a backend, made and tried once."""
    with _lock:  # or each thread of scorers would start and try one
        if name not in _sandboxes:
            sandbox = make_sandbox(name)
            sandbox.facts()
            if sandbox.is_isolated:
                _try(sandbox)
            atexit.register(sandbox.close)
            _sandboxes[name] = sandbox
        return _sandboxes[name]


def _try(sandbox: Zygotes) -> None:
    """Try the quick probes of escape; raise for the first one that gets through."""
    for probe in ESCAPES:
        if probe.is_quick and (reached := probe.got_through(sandbox)) is not None:
            sandbox.close()
            raise InvalidInput(f"the probe {probe.name!r} got through: {reached}.")


def make_sandbox(name: str, size: int | None = None) -> Zygotes:
    """Return a new sandbox of a backend; raise if a requirement is missing."""
    return BACKENDS[name](size)


def _bubblewrap(size: int | None) -> Zygotes:
    path = find_program("bwrap")
    if path is None:
        raise InvalidInput(
            "bubblewrap is not installed (apt install bubblewrap, or the like; the package of "
            "that name on PyPI is something else)."
        )
    return bubblewrap(path, size)


def _container(name: str, size: int | None) -> Zygotes:
    path = find_program(name)
    if path is None:
        raise InvalidInput(f"{name} is not installed.")
    return container(name, path, size)


BACKENDS: dict[str, Callable[[int | None], Zygotes]] = {
    "bubblewrap": _bubblewrap,
    "docker": functools.partial(_container, "docker"),
    "podman": functools.partial(_container, "podman"),
    "none": unconfined,
}
ISOLATED = tuple(name for name in BACKENDS if name != "none")

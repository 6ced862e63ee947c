"""Finding the sandbox that holds on this machine."""

from __future__ import annotations

import atexit
import functools

from passband.errors import InvalidInput
from passband.score.sandbox.policy import policy
from passband.score.sandbox.protocol import Sandbox
from passband.score.sandbox.unconfined import unconfined

__all__ = ["find_sandbox"]


def find_sandbox(unsafe: bool | None = None) -> Sandbox:
    """Return the sandbox of this process; raise `InvalidInput` where none holds.

    unsafe: run programs without one where none holds; by default what `policy` says.
    """
    if policy.is_unsafe_allowed if unsafe is None else unsafe:
        return _unconfined()
    raise InvalidInput("code needs a sandbox and none holds here; see passband doctor.")


@functools.cache
def _unconfined() -> Sandbox:
    sandbox = unconfined()
    atexit.register(sandbox.close)
    return sandbox

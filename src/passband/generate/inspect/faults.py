"""Errors of models, as Inspect passes them on, as faults that end a trial or the run.

Inspect makes all the attempts that there will be, so that each of these is final.
"""

from __future__ import annotations

from typing import Any

from passband.errors import describe
from passband.generate.provider import (
    Filtered,
    GaveUp,
    Hopeless,
    InvalidReply,
    ProviderFault,
    Rejected,
    TaskError,
)

_HOPELESS = (401, 402, 403, 404, 405)
_LONGEST = 500  # characters of an error


def final_fault(error: Exception, api: Any) -> ProviderFault:
    """Return the fault that a trial ends with, of the error of its model."""
    if isinstance(error, ProviderFault):
        return _of_provider(error)
    status = _status(error)
    detail = describe(error, _LONGEST)
    if status in _HOPELESS:
        return Hopeless(detail, http=status)
    if _is_transient(error, api):
        return GaveUp(detail, http=status)
    if status is not None and 400 <= status < 500:
        return Rejected(detail, http=status)
    return TaskError(detail, http=status)


def _of_provider(fault: ProviderFault) -> ProviderFault:
    """Return a fault of passband's own providers; none of them may be tried again."""
    if isinstance(fault, (Filtered, GaveUp, Hopeless, Rejected, TaskError)):
        return fault
    kind = Rejected if isinstance(fault, InvalidReply) else GaveUp
    return kind(fault.detail, http=fault.http)


def _status(error: Exception) -> int | None:
    for name in ("status_code", "code", "status"):
        value = getattr(error, name, None)
        if type(value) is int:
            return value
    return None


def _is_transient(error: Exception, api: Any) -> bool:
    """Return whether Inspect would have tried again, and so has done it to no avail."""
    decision = api.should_retry(error)
    return bool(getattr(decision, "retry", decision))

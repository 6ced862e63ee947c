"""When to come back: what a reply says about the time until the next request."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["LONGEST", "retry_after", "should_retry"]

LONGEST = 86_400.0  # seconds; a server that names a longer wait is tried again after a day


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that the server asks to wait: in ms, in seconds, or until a date.

    >>> retry_after({"retry-after-ms": "1500"}, 0.0)
    1.5
    >>> retry_after({"Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT"}, 20.0)
    40.0
    """
    fields = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(fields[name]) * unit
        except (KeyError, ValueError):
            continue
        if 0 <= seconds < float("inf"):
            return min(seconds, LONGEST)
    if "retry-after" not in fields:
        return None
    from email.utils import parsedate_to_datetime

    try:
        seconds = parsedate_to_datetime(fields["retry-after"]).timestamp() - now
        return min(max(0.0, seconds), LONGEST)
    except (ValueError, TypeError, OverflowError):
        return None


def should_retry(headers: Mapping[str, str]) -> bool | None:
    """Return whether another attempt may help, where the server says so (OpenAI, Anthropic).

    >>> should_retry({"X-Should-Retry": "false"}), should_retry({})
    (False, None)
    """
    fields = {name.lower(): value.strip().lower() for name, value in headers.items()}
    return {"true": True, "false": False}.get(fields.get("x-should-retry", ""))

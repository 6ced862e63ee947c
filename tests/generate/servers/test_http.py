"""When to come back, in every way in which servers say it."""

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.generate.servers.http import retry_after, should_retry

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "1"}, 1.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"RETRY-AFTER": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Thu, 99 Jan 2026 00:00:00 GMT"}, None),
        ({"retry-after": "1e300"}, 86_400.0),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, 86_400.0),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.text(max_size=30))
def test_any_retry_after_is_read_or_left_out(text: str) -> None:
    found = retry_after({"retry-after": text}, NOW)
    assert found is None or 0 <= found <= 86_400


@pytest.mark.parametrize(
    ("value", "expected"), [("true", True), (" False ", False), ("maybe", None), ("", None)]
)
def test_should_retry(value: str, expected: bool | None) -> None:
    assert should_retry({"X-Should-Retry": value}) is expected

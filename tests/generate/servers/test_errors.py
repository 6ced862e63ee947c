"""What an error means, by its status, its codes and its words; servers in test_wire_servers.py."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.generate.provider import (
    Filtered,
    Hopeless,
    InvalidReply,
    ProviderFault,
    RateLimited,
    Rejected,
    TimedOut,
    TooLong,
    Unavailable,
    UnsupportedSetting,
)
from passband.generate.servers.errors import fault_in_success, fault_of

NOW = 1_700_000_000.0


def fault(status: int, body: bytes | dict[str, Any] = b"", **headers: str) -> ProviderFault:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return fault_of(status, named, raw, NOW)


def in_success(body: dict[str, Any]) -> ProviderFault:
    return fault_in_success(body["error"], json.dumps(body).encode())


def error(code: Any = None, message: str = "No.", kind: Any = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error("context_length_exceeded"), TooLong),
        (400, error("content_filter"), Filtered),
        (400, error("content_policy_violation"), Filtered),
        (400, error(None, kind="content_filter_error"), Filtered),
        (401, error("invalid_api_key"), Hopeless),
        (402, error(), Hopeless),
        (403, error(), Hopeless),
        (404, error("model_not_found"), Hopeless),
        (405, b"", Hopeless),
        (408, b"", TimedOut),
        (409, b"", Unavailable),
        (413, b"", Rejected),
        (422, b"", Rejected),
        (425, b"", Unavailable),
        (429, error("rate_limit_exceeded"), RateLimited),
        (429, b"", RateLimited),
        (429, error("insufficient_quota"), Hopeless),
        (429, error(kind="insufficient_quota"), Hopeless),
        (429, error(message="You exceeded your current quota, see billing."), Hopeless),
        (403, error("billing_not_active"), Hopeless),
        (301, b"", Rejected),
        (302, b"", Rejected),
        (500, b"", Unavailable),
        (502, b"<html>", Unavailable),
        (503, b"", Unavailable),
        (504, b"", Unavailable),
        (529, b"", Unavailable),
    ],
)
def test_a_status_means(status: int, body: Any, kind: type[ProviderFault]) -> None:
    found = fault(status, body)
    assert type(found) is kind
    assert found.http == status
    assert f"HTTP {status}" in found.detail


@pytest.mark.parametrize(("status", "everyone"), [(500, False), (502, True), (503, True)])
def test_gateways_are_down_for_everyone(status: int, everyone: bool) -> None:
    found = fault(status)
    assert isinstance(found, Unavailable)
    assert found.everyone is everyone


def test_a_503_that_says_when_to_come_back_is_a_rate_limit() -> None:
    found = fault(503, b"", retry_after="3")
    assert isinstance(found, RateLimited)
    assert found.retry_after == 3.0


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"", "HTTP 500: (empty)"),
        (b"  a\n\n b ", "HTTP 500: a b"),
        (b"\xff\xfe", "HTTP 500: \ufffd\ufffd"),
        (b'"text"', 'HTTP 500: "text"'),
        (b'{"detail": "Not now"}', "HTTP 500: Not now"),
        (b'{"error": "Not now"}', "HTTP 500: Not now"),
        (b'{"error": null}', "HTTP 500: None"),
        (b'{"error": {"code": 5}}', 'HTTP 500: {"code": 5}'),
    ],
)
def test_what_an_error_says(body: bytes, shown: str) -> None:
    assert fault(500, body).detail == shown


def test_a_long_error_is_cut() -> None:
    assert len(fault(500, b"x" * 100_000).detail) < 400
    assert len(fault(500, error(message="x" * 100_000)).detail) < 400


@pytest.mark.parametrize(
    ("code", "kind"),
    [(429, RateLimited), (502, Unavailable), (401, Hopeless), (400, Rejected), (7, InvalidReply)],
)
def test_a_status_inside_a_success_counts(code: int, kind: type[ProviderFault]) -> None:
    assert type(in_success(error(code))) is kind


def test_no_money_in_a_success_is_hopeless() -> None:
    assert type(in_success(error("insufficient_quota"))) is Hopeless


@pytest.mark.parametrize("status", [498, 502, 503, 504, 520, 522, 524, 529, 530])
def test_what_is_down_is_waited_for_as_long_as_it_says(status: int) -> None:
    found = fault(status)
    assert isinstance(found, Unavailable)
    assert found.everyone
    assert isinstance(fault(status, b"", retry_after="3"), RateLimited)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("prompt is too long: 212345 token > 128000", TooLong),  # no n > 1
        ("when > 1", Rejected),
        ("The stop was flagged as unsupported", Rejected),  # a word, not the name of a setting
        ("`top_p` cannot be specified: not supported", UnsupportedSetting),
        ("temperature: not permitted", UnsupportedSetting),
        ("Unrecognized request argument supplied: 'top_k'", UnsupportedSetting),
    ],
)
def test_words_are_not_taken_for_others(message: str, kind: type[ProviderFault]) -> None:
    assert type(fault(400, error(message=message))) is kind


def test_the_setting_that_comes_first_is_named() -> None:
    found = fault(400, error(message="'top_p' is not supported with 'temperature'"))
    assert isinstance(found, UnsupportedSetting)
    assert found.setting == "top_p"


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://me:pw@new.example/v1/completions?k=v", "--base-url https://new.example/v1,"),
        ("/v2/chat/completions", "redirects to /v2/chat/completions."),
        ("http://[bad", "redirects to no address"),
    ],
)
def test_a_redirect_says_where_to(location: str, shown: str) -> None:
    found = fault(307, b"", Location=location)
    assert shown in found.detail
    assert "pw" not in found.detail


@given(st.integers(300, 599), st.binary(max_size=60))
def test_any_body_is_a_fault(status: int, raw: bytes) -> None:
    assert fault(status, raw).http == status


NAMES = ["error", "message", "code", "type", "detail", "details", "param", "metadata", "loc", "msg",
         "violations", "quotaId", "retryDelay", "status"]  # fmt: skip


@given(st.integers(400, 599), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner),
))  # fmt: skip
def test_any_json_is_a_fault(status: int, value: Any) -> None:
    raw = json.dumps(value).encode()
    assert fault(status, raw).http == status
    assert isinstance(fault_in_success(value, raw), ProviderFault)


def test_long_numbers_of_seconds_are_cut() -> None:
    found = fault(429, error(message=f"Please retry in {'9' * 9}h{'9' * 9}h"))
    assert isinstance(found, RateLimited)
    assert found.retry_after == 86_400.0

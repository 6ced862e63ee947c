"""Requests as JSON, replies as completions, errors as faults."""

import json
from contextlib import suppress
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.generate.provider import (
    Completion,
    Filtered,
    Hopeless,
    InvalidReply,
    Message,
    ProviderFault,
    RateLimited,
    Rejected,
    Request,
    Sampling,
    TimedOut,
    Unavailable,
)
from passband.generate.wire import PayloadWriter, fault_of, read_reply, retry_after

ANY_TEXT = st.text(st.characters())  # halves of surrogate pairs included
NOW = 1_700_000_000.0


def request(prompt: str = "What is 2 + 2?", n: int = 1, **sampling: Any) -> Request:
    return Request((Message("user", prompt),), Sampling(**sampling), tuple(range(7, 7 + n)))


def sent(asked: Request, *, chat: bool = True) -> Any:
    return json.loads(PayloadWriter("m", chat=chat).write(asked))


def choice(text: Any = "4", finish: Any = "stop", **message: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text} | message, "finish_reason": finish}


def reply(*choices: Any, **fields: Any) -> bytes:
    return json.dumps({"id": "chat-1", "choices": list(choices)} | fields).encode()


def read(raw: bytes, n: int = 1, *, chat: bool = True) -> list[Completion]:
    return read_reply(raw, request(n=n), chat=chat)


def fault(status: int, body: bytes | dict[str, Any] = b"", **headers: str) -> ProviderFault:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return fault_of(status, named, raw, NOW)


# --- requests --------------------------------------------------------------------------------


def test_what_was_left_open_is_not_sent() -> None:
    asked = Request((Message("user", "Hi"),), Sampling())
    assert sent(asked) == {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def test_everything_that_was_said_is_sent() -> None:
    asked = request("Hi", 3, temperature=0.0, top_p=0.9, max_tokens=5, stop=("\n",))
    body = sent(asked)
    assert body["temperature"] == 0.0
    assert body["top_p"] == 0.9
    assert body["max_tokens"] == 5
    assert body["stop"] == ["\n"]
    assert body["n"] == 3
    assert body["seed"] == 7


def test_extra_settings_are_sent_as_they_are() -> None:
    assert sent(request(extra={"min_p": 0.1, "n": 9}))["min_p"] == 0.1


def test_a_prompt_without_chat_is_one_text() -> None:
    asked = Request((Message("system", "Be short."), Message("user", "Hi")), Sampling())
    assert sent(asked, chat=False) == {"model": "m", "prompt": "Be short.\n\nHi"}


@given(ANY_TEXT)
def test_any_prompt_can_be_sent(prompt: str) -> None:
    body = PayloadWriter("m", chat=True).write(request(prompt))
    assert body.isascii()
    assert json.loads(body)["messages"][0]["content"] == prompt


# --- replies ---------------------------------------------------------------------------------


def test_a_reply_becomes_completions() -> None:
    raw = reply(choice("a"), choice("b", "length"), usage={"prompt_tokens": 9})
    first, second = read(raw, 2)
    assert first == Completion("a", "stop", None, 9, None, 7, "chat-1")
    assert (second.text, second.finish, second.prompt_tokens) == ("b", "length", 0)


def test_a_completion_without_chat_has_its_text_at_the_top() -> None:
    assert read(reply({"text": "4", "finish_reason": "stop"}), chat=False)[0].text == "4"


def test_fewer_choices_than_asked_are_returned_and_more_are_cut() -> None:
    assert len(read(reply(choice()), 4)) == 1
    assert len(read(reply(*[choice()] * 4), 2)) == 2


@pytest.mark.parametrize("finish", [None, "tool_calls", "eos", 3, "stop"])
def test_every_other_reason_to_finish_is_an_end(finish: Any) -> None:
    assert read(reply(choice("4", finish)))[0].finish == "stop"


@given(ANY_TEXT)
def test_any_text_is_read_exactly(text: str) -> None:
    assert read(reply(choice(text)))[0].text == text


def test_half_a_character_may_also_come_as_bytes() -> None:
    raw = json.dumps({"choices": [choice("a\ud800b")]}, ensure_ascii=False)
    assert read(raw.encode("utf-8", "surrogatepass"))[0].text == "a\ud800b"


def test_no_content_is_not_the_empty_text() -> None:
    assert read(reply(choice(None)))[0].text is None
    assert read(reply(choice("")))[0].text == ""


def test_the_words_of_a_refusal_are_the_answer() -> None:
    assert read(reply(choice(None, refusal="I cannot.")))[0].text == "I cannot."
    assert read(reply(choice("4", refusal=None)))[0].text == "4"


def test_content_may_come_in_parts() -> None:
    parts = [{"type": "text", "text": "fo"}, {"type": "image"}, "odd", {"text": "ur"}]
    assert read(reply(choice(parts)))[0].text == "four"


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_reasoning_is_kept_apart(name: str) -> None:
    found = read(reply(choice("4", **{name: "two and two"})))[0]
    assert (found.text, found.reasoning) == ("4", "two and two")


def test_reasoning_that_is_no_text_is_left_out() -> None:
    assert read(reply(choice("4", reasoning={"steps": 3})))[0].reasoning is None


@pytest.mark.parametrize("identity", [None, 5, {"a": 1}])
def test_an_odd_request_number_is_left_out(identity: Any) -> None:
    assert read(reply(choice(), id=identity))[0].request_id is None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        b"<html></html>",
        b'{"choices": [{"mess',
        b"[]",
        b"4",
        b"null",
        b"{}",
        b'{"choices": null}',
        b'{"choices": {}}',
        b'{"choices": []}',
        b'{"choices": ["text"]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": 4}}]}',
        b'{"choices": [{"message": {"content": {"text": "4"}}}]}',
        b'{"error": "overloaded"}',
        b'{"error": {"message": "overloaded"}, "choices": []}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_reply_is_invalid(raw: bytes) -> None:
    with pytest.raises(InvalidReply) as caught:
        read(raw)
    assert caught.value.http == 200
    assert len(caught.value.detail) < 500


def test_one_bad_choice_spoils_the_reply() -> None:
    with pytest.raises(InvalidReply):
        read(reply(choice(), {"message": None}), 2)


def test_no_text_is_invalid_where_there_is_no_message() -> None:
    with pytest.raises(InvalidReply, match="has no text"):
        read(reply({"text": None}), chat=False)


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    with pytest.raises(InvalidReply):
        read(raw)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=4), lambda inner: (
    st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["choices", "message", "content", "error", "usage"]), inner)
)))  # fmt: skip
def test_any_json_is_read_or_refused(value: Any) -> None:
    with suppress(ProviderFault):
        read(json.dumps(value).encode())


# --- tokens ----------------------------------------------------------------------------------


@given(st.lists(st.text(max_size=30), min_size=1, max_size=16), st.integers(0, 10**9))
def test_shares_of_tokens_add_up(texts: list[str], given_out: int) -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": given_out}
    found = read(reply(*map(choice, texts), usage=usage), len(texts))
    assert sum(each.prompt_tokens or 0 for each in found) == 11
    assert sum(each.completion_tokens or 0 for each in found) == given_out
    assert all((each.completion_tokens or 0) >= 0 for each in found)


def test_a_single_completion_gets_all_tokens() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 5}
    found = read(reply(choice(None), usage=usage))[0]
    assert (found.prompt_tokens, found.completion_tokens) == (3, 5)


@pytest.mark.parametrize("count", [-1, 10**30, True, "5", 5.0, None, [5]])
def test_a_count_that_is_none_is_left_out(count: Any) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": count}
    found = read(reply(choice("a"), choice("b"), usage=usage), 2)
    assert {each.prompt_tokens for each in found} == {None}
    assert {each.completion_tokens for each in found} == {None}


@pytest.mark.parametrize("usage", [None, [], "many", {}])
def test_usage_may_be_missing(usage: Any) -> None:
    assert read(reply(choice(), usage=usage))[0].completion_tokens is None


# --- faults ----------------------------------------------------------------------------------


def error(code: Any = None, message: str = "No.", kind: Any = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error("context_length_exceeded"), Rejected),
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
    with pytest.raises(ProviderFault) as caught:
        read(json.dumps(error(code)).encode())
    assert type(caught.value) is kind


def test_no_money_in_a_success_is_hopeless() -> None:
    with pytest.raises(Hopeless):
        read(json.dumps(error("insufficient_quota")).encode())


# --- when to come back -----------------------------------------------------------------------


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

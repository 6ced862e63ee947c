"""Requests as JSON, replies as completions, errors as faults."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.generate.provider import (
    Completion,
    InvalidReply,
    Message,
    ProviderFault,
    Request,
    Sampling,
    Unfinished,
)
from passband.generate.servers.openai_wire import PayloadWriter, read_reply

ANY_TEXT = st.text(st.characters())  # halves of surrogate pairs included


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


def test_a_limit_of_tokens_may_have_another_name() -> None:
    asked = request(max_tokens=5, length_name="max_completion_tokens")
    assert sent(asked)["max_completion_tokens"] == 5
    assert "max_tokens" not in sent(asked)
    writer = PayloadWriter("m", chat=True)
    asked = request(max_tokens=5)
    assert json.loads(writer.write(asked))["max_tokens"] == 5
    writer.rename_length("max_completion_tokens")
    assert json.loads(writer.write(asked)).keys() >= {"max_completion_tokens", "seed"}
    assert "max_tokens" not in json.loads(writer.write(asked))


def test_a_seed_may_have_another_name() -> None:
    body = json.loads(PayloadWriter("m", chat=True, seed_name="random_seed").write(request()))
    assert body["random_seed"] == 7
    assert "seed" not in body


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


@pytest.mark.parametrize("finish", ["", None, "OTHER"])
def test_an_answer_without_a_reason_is_not_taken_at_once(finish: Any) -> None:
    with pytest.raises(Unfinished) as caught:
        read(reply(choice("a"), choice("b", finish)), 2)
    assert [each.finish for each in caught.value.completions] == ["stop", "unknown"]
    assert [each.text for each in caught.value.completions] == ["a", "b"]


@pytest.mark.parametrize("finish", [3, True, ["stop"], {"reason": "stop"}, "moonlight"])
def test_an_unknown_reason_is_never_an_end(finish: Any) -> None:
    (found,) = read(reply(choice("4", finish)))
    assert (found.finish, found.finish_reason) == ("unknown", str(finish))


def placed(*places: Any) -> list[str | None]:
    choices = [choice(str(place)) | {"index": place} for place in places]
    return [each.text for each in read(reply(*choices), len(places))]


def test_choices_are_taken_by_their_index() -> None:
    assert placed(2, 0, 1) == ["0", "1", "2"]
    assert placed(7, 3) == ["3", "7"]


@pytest.mark.parametrize("places", [(1, 1, 0), (2, None, 0), (1, "0"), (1, True), (1.5, 0)])
def test_without_an_order_choices_are_taken_as_they_came(places: tuple[Any, ...]) -> None:
    assert placed(*places) == [str(place) for place in places]


def test_the_first_choices_by_index_are_taken_where_there_are_more() -> None:
    choices = [choice(str(place)) | {"index": place} for place in (2, 1, 0)]
    assert [each.text for each in read(reply(*choices), 2)] == ["0", "1"]


@given(ANY_TEXT)
def test_any_text_is_read_exactly(text: str) -> None:
    assert read(reply(choice(text)))[0].text == text


def test_a_byte_order_mark_is_skipped() -> None:
    assert read(b"\xef\xbb\xbf" + reply(choice()))[0].text == "4"


def test_half_a_character_may_also_come_as_bytes() -> None:
    raw = json.dumps({"choices": [choice("a\ud800b")]}, ensure_ascii=False)
    assert read(raw.encode("utf-8", "surrogatepass"))[0].text == "a\ud800b"


def test_no_content_is_not_the_empty_text() -> None:
    assert read(reply(choice(None)))[0].text is None
    assert read(reply(choice("")))[0].text == ""


@pytest.mark.parametrize("content", [None, "", []])
def test_the_words_of_a_refusal_are_kept(content: Any) -> None:
    (found,) = read(reply(choice(content, refusal="I cannot.")))
    assert (found.text, found.finish) == ("I cannot.", "content_filter")


def test_a_refusal_beside_an_answer_is_one() -> None:
    (found,) = read(reply(choice("Well", refusal="I cannot.")))
    assert (found.text, found.finish) == ("Well", "content_filter")
    assert read(reply(choice("4", refusal=None)))[0].finish == "stop"
    unnamed = {"message": {"content": "Well", "refusal": "I cannot."}, "finish_reason": "stop"}
    assert read(reply(unnamed))[0].finish == "content_filter"


def test_a_refusal_may_be_a_part() -> None:
    (found,) = read(reply(choice([{"type": "refusal", "refusal": "I cannot."}])))
    assert (found.text, found.finish) == ("I cannot.", "content_filter")


def test_calls_of_tools_are_kept_with_the_prompt() -> None:
    call = {"id": "1", "function": {"name": "add", "arguments": "{}"}, "weight": float("nan")}
    (found,) = read(reply(choice(None, "tool_calls", tool_calls=[call])))
    assert found.transcript == [
        {"role": "user", "content": "What is 2 + 2?"},
        {"role": "assistant", "content": None, "tool_calls": [call | {"weight": "NaN"}]},
    ]
    (old,) = read(reply(choice(None, "function_call", function_call={"name": "add"})))
    assert old.transcript is not None
    assert old.transcript[-1]["tool_calls"] == [{"type": "function", "function": {"name": "add"}}]


def test_calls_that_are_nested_too_deeply_to_be_stored_are_named() -> None:
    nested = b'{"function":' * 900 + b"1" + b"}" * 900
    raw = reply(choice(None, "tool_calls", tool_calls=["deep"])).replace(b'"deep"', nested)
    (found,) = read(raw)
    json.dumps(found.transcript)


def test_a_message_without_content_is_invalid_unless_it_has_reasoning() -> None:
    with pytest.raises(InvalidReply, match="no content"):
        read(reply({"message": {"role": "assistant"}, "finish_reason": "stop"}))
    thought = {"message": {"reasoning": "two"}, "finish_reason": "stop"}
    assert read(reply(thought))[0].reasoning == "two"


def test_the_reason_behind_a_router_counts_where_it_is_worse() -> None:
    cut = choice() | {"native_finish_reason": "MAX_TOKENS"}
    odd = choice() | {"native_finish_reason": "moonlight"}
    filtered = choice("4", "content_filter") | {"native_finish_reason": "STOP"}
    found = read(reply(cut, odd, filtered), 3)
    assert [each.finish for each in found] == ["length", "stop", "content_filter"]
    assert [each.finish_reason for each in found] == ["MAX_TOKENS", None, None]


def test_content_may_come_in_parts() -> None:
    parts = [{"type": "text", "text": "fo"}, {"type": "image"}, "odd", {"text": "ur"}]
    assert read(reply(choice(parts)))[0].text == "four"


THOUGHT = {"type": "thinking", "thinking": "a picture"}


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        (["42"], "str"),
        ([None], "NoneType"),
        ([7, 7], "int$"),
        ([[["x"]]], "list"),
        ([{}], ""),
        ([{"type": "text", "text": 42}], "text"),
        ([{"type": "image_url", "image_url": {"url": "data:,"}}], "image_url"),
        ([THOUGHT, {"type": "output_audio"}], "output_audio"),
        ([{"inlineData": {"mimeType": "image/png"}}], "inlineData"),
    ],
)
def test_parts_without_a_text_are_no_empty_answer(parts: list[Any], named: str) -> None:
    with pytest.raises(InvalidReply, match=f"no part of the reply's content has a text: {named}"):
        read(reply(choice(parts)))


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [THOUGHT],
        [{"type": "text", "text": ""}, {"type": "image_url"}],
        [{"type": "redacted_thinking", "data": "a"}],
        [{"type": "web_search_tool_result", "content": []}],
        [{"thoughtSignature": "a"}],
    ],
)
def test_parts_of_an_empty_answer(parts: list[Any]) -> None:
    assert read(reply(choice(parts)))[0].text == ""


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


def test_thoughts_that_are_only_in_the_total_are_counted() -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623}
    assert read(reply(choice(), usage=usage))[0].completion_tokens == 603
    assert read(reply(choice(), usage=usage | {"total_tokens": 9}))[0].completion_tokens == 198


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

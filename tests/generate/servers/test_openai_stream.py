"""Streamed answers, through the HTTP client."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from passband.generate.provider import (
    Completion,
    Filtered,
    InvalidReply,
    Message,
    ProviderFault,
    RateLimited,
    Rejected,
    Request,
    Sampling,
    Unavailable,
    Unfinished,
    UnsupportedSetting,
)
from passband.generate.servers import event_stream
from passband.generate.servers.openai import OpenAIServer
from support.servers import fault_server as faults
from support.servers.fault_server import Behaviour, Exchange, FaultServer, Received, Script
from support.servers.wire_servers import CALL, Case, error

Json = dict[str, Any]
ASKED = Request((Message("user", "What is 17 + 25?"),), Sampling(max_tokens=9), (5,))
USAGE = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
DONE = b"data: [DONE]\n\n"
ONLY = error(
    "This model only support stream mode, please enable the stream parameter to access the model. ",
    "invalid_parameter_error",
)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def chunk(index: int = 0, finish: str | None = None, **delta: Any) -> Json:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [choice]}


def encoded(*chunks: Json) -> bytes:
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks)


def streamed(*pieces: bytes, kind: str | None = "text/event-stream") -> Behaviour:
    """A stream of these pieces, each a part of its own."""

    async def play(exchange: Exchange) -> None:
        await exchange.reply_in_chunks(200, filter(None, pieces), content_type=kind)

    return Behaviour("streamed", play)


def told(*chunks: Json, usage: Json | None = USAGE) -> Behaviour:
    last = [] if usage is None else [{"id": "c1", "choices": [], "usage": usage}]
    return streamed(encoded(*chunks), encoded(*last), DONE)


async def ask(model: OpenAIServer, asked: Request) -> Sequence[Completion]:
    try:
        return await model.generate(asked)
    finally:
        await model.close()


def answers(script: Script, asked: Request = ASKED, **options: Any) -> Sequence[Completion]:
    with FaultServer(script) as server:
        model = OpenAIServer("m", base_url=server.url, **{"stream": True, **options})
        return asyncio.run(ask(model, asked))


ANSWER = [chunk(role="assistant", content=""), chunk(content="4"), chunk(content="2")]
END = chunk(finish="stop")


def test_a_stream_is_put_together() -> None:
    (answer,) = answers(told(*ANSWER, END))
    assert answer == Completion("42", "stop", None, 5, 7, 5, "c1")


def test_the_request_asks_for_a_stream_and_its_usage() -> None:
    with FaultServer(told(*ANSWER, END)) as server:
        asyncio.run(ask(OpenAIServer("m", base_url=server.url, stream=True), ASKED))
    (request,) = server.requests
    assert request.body["stream"] is True
    assert request.body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart(name: str) -> None:
    (answer,) = answers(told(chunk(**{name: "forty "}), chunk(**{name: "two"}), *ANSWER, END))  # type: ignore[arg-type]
    assert (answer.text, answer.reasoning) == ("42", "forty two")


def test_content_in_parts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "forty two"}]}
    (answer,) = answers(told(chunk(content=[thinking]), chunk(content="42"), END))
    assert (answer.text, answer.reasoning) == ("42", "forty two")


def test_several_choices_in_any_order() -> None:
    pieces = [chunk(1, content="b"), chunk(0, content="a"), chunk(1, "length"), chunk(0, "stop")]
    asked = ASKED._replace(seeds=(1, 2))
    first, second = answers(told(*pieces), asked)
    assert [(one.text, one.finish) for one in (first, second)] == [("a", "stop"), ("b", "length")]
    assert (first.completion_tokens or 0) + (second.completion_tokens or 0) == 7


def test_text_completions() -> None:
    pieces = [{"choices": [{"index": 0, "text": text, "finish_reason": None}]} for text in "42"]
    end = {"choices": [{"index": 0, "text": "", "finish_reason": "length"}]}
    (answer,) = answers(told(*pieces, end), chat=False)
    assert (answer.text, answer.finish) == ("42", "length")


def test_calls_of_tools_are_put_together() -> None:
    function = CALL["function"]
    pieces = [
        chunk(tool_calls=[{"index": 0, "id": "c1", "function": {**function, "arguments": ""}}]),  # type: ignore[dict-item]
        chunk(tool_calls=[{"index": 0, "function": {"arguments": '{"a": '}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": "2}"}}]),
    ]
    (answer,) = answers(told(*pieces, chunk(finish="tool_calls")))
    assert answer.finish == "tool_call"
    assert answer.transcript is not None
    assert answer.transcript[-1]["tool_calls"][0]["function"] == function


@pytest.mark.parametrize(
    "behaviour",
    [
        streamed(b": keep-alive\n\n" * 3, encoded(*ANSWER, END), DONE),
        streamed(*[bytes([byte]) for byte in encoded(*ANSWER, END) + DONE]),
        streamed(encoded(*ANSWER, END)),  # no [DONE], but a reason
        streamed(encoded(*ANSWER, END) + DONE, kind="text/plain"),
        streamed(encoded(*ANSWER, END) + DONE, kind=None),
        streamed(encoded(*ANSWER, END), DONE, encoded(chunk(content="more"))),
        streamed(encoded(*ANSWER, END).replace(b"\n", b"\r\n") + DONE),
        faults.ok,  # a server that does not stream
    ],
)
def test_other_ways_to_stream(behaviour: Behaviour) -> None:
    (answer,) = answers(behaviour)
    assert answer.finish == "stop"
    assert "42" in str(answer.text)


def test_a_stream_that_was_not_asked_for() -> None:
    (answer,) = answers(told(*ANSWER, END), stream=False)
    assert answer.text == "42"


def test_a_stream_left_open_after_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "_DRAIN", 0.01)

    async def play(exchange: Exchange) -> None:
        await exchange.head(200, transfer_encoding="chunked", content_type="text/event-stream")
        data = encoded(*ANSWER, END) + DONE
        await exchange.write(b"%x\r\n%b\r\n" % (len(data), data))
        await asyncio.Event().wait()

    (answer,) = answers(Behaviour("open", play))
    assert answer.text == "42"


def test_the_usage_of_groq() -> None:
    last = {"choices": [], "x_groq": {"id": "g", "usage": USAGE}}
    (answer,) = answers(told(*ANSWER, END, last, usage=None))
    assert answer.completion_tokens == 7


@pytest.mark.parametrize(
    ("pieces", "kind"),
    [
        ([encoded(*ANSWER)], InvalidReply),  # cut
        ([DONE], InvalidReply),
        ([], InvalidReply),
        ([encoded(*ANSWER), DONE], Unfinished),
        ([encoded(*ANSWER), b"data: {\n\n"], InvalidReply),
        ([encoded(*ANSWER, error("Slow.", 429))], RateLimited),
        ([encoded(*ANSWER, error("Busy", 503))], Unavailable),
        ([encoded(error("Filtered.", "content_filter"))], Filtered),
        ([b"event: error\n" + encoded({"error": {"message": "No."}})], InvalidReply),
        ([encoded(*ANSWER, {"object": "error", "message": "x", "code": 503})], Unavailable),
        ([encoded(*ANSWER, chunk(finish="error"))], InvalidReply),
    ],
)
def test_what_goes_wrong_in_a_stream(pieces: list[bytes], kind: type[ProviderFault]) -> None:
    with pytest.raises(ProviderFault) as caught:
        answers(streamed(*pieces))
    assert type(caught.value) is kind


def test_a_connection_lost_in_a_stream() -> None:
    async def play(exchange: Exchange) -> None:
        await exchange.head(200, transfer_encoding="chunked", content_type="text/event-stream")
        data = encoded(*ANSWER)
        await exchange.write(b"%x\r\n%b\r\n" % (len(data), data))
        exchange.close()

    with pytest.raises(Unavailable):
        answers(Behaviour("lost", play))


def test_a_stream_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "_LARGEST", 10_000)
    with pytest.raises(InvalidReply, match="longer than"):
        answers(told(*[chunk(content="x" * 100)] * 200))


# --- servers that ask for another manner ------------------------------------------------------


def talk(script: Script, times: int = 1, **options: Any) -> tuple[FaultServer, OpenAIServer]:
    async def ask_all(model: OpenAIServer) -> None:
        for _ in range(times):
            await model.generate(ASKED)
        await model.close()

    with FaultServer(script) as server:
        model = OpenAIServer("m", base_url=server.url, **options)
        asyncio.run(ask_all(model))
        return server, model


def test_a_server_that_only_streams_is_asked_so() -> None:
    def script(request: Received) -> Behaviour:
        only = Case("Alibaba", "stream", ONLY, Rejected, 400)
        return told(*ANSWER, END) if request.body.get("stream") else only.play()

    server, model = talk(script, 3)
    assert ["stream" in request.body for request in server.requests] == [False, True, True, True]
    assert any("--stream" in note for note in model.notes)


def test_a_server_without_stream_options() -> None:
    body = {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "x"}]}

    def script(request: Received) -> Behaviour:
        wrong = Case("Mistral", "options", body, UnsupportedSetting, 422)
        return wrong.play() if "stream_options" in request.body else told(*ANSWER, END)

    server, _ = talk(script, 2, stream=True)
    assert len(server.requests) == 3
    assert "stream_options" not in server.requests[-1].body


def test_a_server_that_does_not_stream_says_so() -> None:
    wrong = error("Unsupported value: 'stream' is not supported.", "unsupported_value",
                  param="stream")  # fmt: skip
    with pytest.raises(UnsupportedSetting, match="Leave --stream out"):
        answers(Case("OpenAI", "no stream", wrong, UnsupportedSetting, 400).play())


# --- headers ----------------------------------------------------------------------------------

SECRET = "tok-3f9a8b7c6d5e4f3a2b1c"


@pytest.fixture
def echoing() -> Iterator[FaultServer]:
    async def play(exchange: Exchange) -> None:
        said = exchange.request.headers.get("x-gate", "nothing")
        await exchange.reply(200, faults.completion(exchange.request, [f"You sent {said}"]))

    with FaultServer(Behaviour("echo", play)) as server:
        yield server


def test_headers_are_sent_and_their_values_taken_out(echoing: FaultServer) -> None:
    headers = {"X-Gate": f"Token {SECRET}", "X-Team": "evals"}
    model = OpenAIServer("m", base_url=echoing.url, headers=headers)
    (answer,) = asyncio.run(ask(model, ASKED))
    assert echoing.requests[0].headers["x-gate"] == f"Token {SECRET}"
    assert echoing.requests[0].headers["x-team"] == "evals"
    assert answer.text == "You sent [redacted]"
    assert model.config == {"headers": ["x-gate", "x-team"]}


def test_a_streamed_key_is_taken_out_although_it_comes_in_pieces() -> None:
    pieces = [chunk(content=SECRET[start : start + 3]) for start in range(0, len(SECRET), 3)]
    (answer,) = answers(told(*pieces, END), headers={"X-Gate": SECRET})
    assert answer.text == "[redacted]"


def test_an_error_is_shown_without_the_header() -> None:
    case = Case("gate", "no", error(f"{SECRET} is unknown"), Rejected, 400)
    with pytest.raises(Rejected) as caught:
        answers(case.play(), headers={"X-Gate": f"Bearer {SECRET}"})
    assert SECRET not in caught.value.detail


def test_a_header_replaces_the_key(echoing: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    model = OpenAIServer("m", base_url=echoing.url, headers={"authorization": "Basic abc"})
    asyncio.run(ask(model, ASKED))
    assert echoing.requests[0].headers["authorization"] == "Basic abc"


def test_a_header_is_enough_for_openai() -> None:
    OpenAIServer("m", headers={"Authorization": "Bearer x"})

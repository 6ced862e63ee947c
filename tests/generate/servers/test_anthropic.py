"""Anthropic's Messages API, imitated, through the HTTP client."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.generate.provider import (
    Completion,
    InvalidReply,
    Message,
    ProviderFault,
    RateLimited,
    Request,
    Sampling,
    Unavailable,
    UnsupportedSetting,
)
from passband.generate.servers.anthropic import AnthropicServer
from support.servers.fault_server import FaultServer, Script
from support.servers.native_servers import (
    ANTHROPIC,
    ANTHROPIC_STREAM,
    ANTHROPIC_TOOL,
    CACHED,
    ENDED,
    STARTED,
    TEXT,
    block,
    event,
    events,
    message,
)
from support.servers.wire_servers import Case

KEY = "sk-ant-test-0123456789"
BY_NAME = {str(case) + str(case.body): case for case in ANTHROPIC}
SAMPLING = Sampling(0.7, 0.9, 64, ("Q:",), {"top_k": 20})


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer(lambda request: BY_NAME[request.prompt].play()) as server:
        yield server


def ask(url: str, request: Request, **options: Any) -> Sequence[Completion]:
    async def asked() -> Sequence[Completion]:
        model = AnthropicServer("m", base_url=url, **options)
        try:
            return await model.generate(request)
        finally:
            await model.close()

    return asyncio.run(asked())


def request_of(*turns: tuple[str, str], sampling: Sampling = SAMPLING) -> Request:
    return Request(tuple(Message(role, text) for role, text in turns), sampling, (5,))  # type: ignore[arg-type]


ASKED = request_of(("user", "2+2?"))


def reply(script: Script, request: Request = ASKED, **options: Any) -> Completion:
    with FaultServer(script) as server:
        (completion,) = ask(server.url, request, **options)
        return completion


@pytest.mark.parametrize("case", [c for c in ANTHROPIC if isinstance(c.outcome, str)], ids=str)
def test_an_answer(server: FaultServer, case: Case) -> None:
    (answer,) = ask(server.url, request_of(("user", str(case) + str(case.body))))
    assert (answer.finish, answer.text, answer.reasoning) == (
        case.outcome, case.text, case.reasoning,
    )  # fmt: skip
    assert (answer.finish_reason, answer.completion_tokens) == (case.reason, case.tokens)
    assert answer.seed is None
    if answer.finish == "tool_call":
        assert answer.transcript is not None
        assert answer.transcript[-1]["tool_calls"][0]["function"]["name"] == "add"


@pytest.mark.parametrize("case", [c for c in ANTHROPIC if not isinstance(c.outcome, str)], ids=str)
def test_an_error(server: FaultServer, case: Case) -> None:
    with pytest.raises(ProviderFault) as caught:
        ask(server.url, request_of(("user", str(case) + str(case.body))))
    fault = caught.value
    assert type(fault) is case.outcome
    if isinstance(fault, RateLimited):
        assert fault.retry_after == case.seconds
    if isinstance(fault, UnsupportedSetting):
        assert fault.setting == case.setting
        assert "--gen temperature=" in fault.detail


def test_the_request() -> None:
    turns = (("system", "Be brief."), ("user", "1+1?"), ("assistant", "2"), ("user", "2+2?"))
    case = Case("Anthropic", "ok", message("end_turn", TEXT), "stop")
    with FaultServer(case.play()) as server:
        ask(server.url, request_of(*turns))
    (sent,) = server.requests
    assert sent.path == "/v1/messages"
    assert sent.headers["x-api-key"] == KEY
    assert sent.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in sent.headers
    assert sent.body == {
        "model": "m",
        "max_tokens": 64,
        "system": "Be brief.",
        "messages": [{"role": role, "content": text} for role, text in turns[1:]],
        "temperature": 0.7,
        "top_p": 0.9,
        "stop_sequences": ["Q:"],
        "top_k": 20,
    }


def test_tokens_read_from_a_cache_are_part_of_the_prompt() -> None:
    case = Case("Anthropic", "cache", message("end_turn", TEXT, usage=CACHED), "stop")
    answer = reply(case.play())
    assert (answer.prompt_tokens, answer.completion_tokens) == (125, 7)


def test_a_stream() -> None:
    with FaultServer(events(ANTHROPIC_STREAM, named=True)) as server:
        (answer,) = ask(server.url, ASKED, stream=True)
    assert server.requests[0].body["stream"] is True
    assert answer == Completion(
        "42", "stop", "two and two", 5, 7, None, "msg_1", finish_reason="end_turn"
    )


def test_a_long_answer_is_streamed() -> None:
    sampling = Sampling(max_tokens=64_000)
    with FaultServer(events(ANTHROPIC_STREAM)) as server:
        ask(server.url, request_of(("user", "2+2?"), sampling=sampling))
    assert server.requests[0].body["stream"] is True


def test_a_streamed_call_of_a_tool() -> None:
    answer = reply(events(ANTHROPIC_TOOL), stream=True)
    assert answer.transcript is not None
    function = answer.transcript[-1]["tool_calls"][0]["function"]
    assert function == {"name": "add", "arguments": '{"a": 2}'}


@pytest.mark.parametrize(
    ("pieces", "kind"),
    [
        ([STARTED, *block(0, TEXT)], InvalidReply),
        ([STARTED, event("error", error={"type": "rate_limit_error", "message": "x"})],
         RateLimited),
        ([STARTED, event("error", error={"type": "overloaded_error", "message": "x"})],
         Unavailable),
    ],
)  # fmt: skip
def test_a_stream_that_breaks(pieces: list[Any], kind: type[ProviderFault]) -> None:
    with pytest.raises(ProviderFault) as caught:
        reply(events(pieces), stream=True)
    assert type(caught.value) is kind


def test_a_stop_text_of_white_space_is_applied_to_the_answer() -> None:
    said = {"type": "text", "text": "4\n\nQ: 3+3?"}
    sampling = Sampling(max_tokens=64, stop=("\n\n", "Q:"))
    with FaultServer(events([STARTED, *block(0, said), *ENDED])) as server:
        (answer,) = ask(server.url, request_of(("user", "2+2?"), sampling=sampling))
    assert server.requests[0].body["stop_sequences"] == ["Q:"]
    assert (answer.text, answer.finish) == ("4", "stop")


def test_an_answer_cut_after_its_stop_text_is_complete() -> None:
    case = Case(
        "Anthropic", "cut", message("max_tokens", {"type": "text", "text": "4\n\n"}), "stop"
    )
    sampling = Sampling(max_tokens=64, stop=("\n\n",))
    answer = reply(case.play(), request_of(("user", "2+2?"), sampling=sampling))
    assert (answer.text, answer.finish) == ("4", "stop")


def test_a_limit_of_tokens_is_needed() -> None:
    with pytest.raises(UnsupportedSetting, match="--max-tokens"):
        ask("http://127.0.0.1:1/v1", request_of(("user", "x"), sampling=Sampling()))


def test_a_key_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(InvalidInput, match="ANTHROPIC_API_KEY is not set"):
        AnthropicServer("m")
    AnthropicServer("m", headers={"X-Api-Key": "other"})
    AnthropicServer("m", base_url="http://localhost:1")


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_addresses_with_and_without_the_version(path: str) -> None:
    assert AnthropicServer("m", base_url=f"http://h:1{path}").address == "http://h:1/v1"


def test_a_model_without_a_name() -> None:
    with pytest.raises(InvalidInput, match="anthropic:NAME"):
        AnthropicServer("")


def test_what_has_no_effect_is_said() -> None:
    model = AnthropicServer("m")
    assert "seed" in model.ignored(Sampling(), seeds=True)[0]
    assert not model.ignored(Sampling(), seeds=False)

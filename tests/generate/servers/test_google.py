"""Google's generateContent, imitated, through the HTTP client."""

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
)
from passband.generate.servers.google import GoogleServer
from support.servers.fault_server import FaultServer
from support.servers.native_servers import GOOGLE, GOOGLE_STREAM, PART, content, events, refusal
from support.servers.wire_servers import Case

KEY = "AIza-test-0123456789"
BY_NAME = {str(case) + str(case.body): case for case in GOOGLE}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.delenv("GOOGLE_GEMINI_BASE_URL", raising=False)


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer(lambda request: BY_NAME[request.prompt].play()) as server:
        yield server


def ask(server: FaultServer, request: Request, **options: Any) -> Sequence[Completion]:
    async def asked() -> Sequence[Completion]:
        url = f"http://127.0.0.1:{server.port}/v1beta"
        model = GoogleServer("m", base_url=url, **options)
        try:
            return await model.generate(request)
        finally:
            await model.close()

    return asyncio.run(asked())


def request_of(prompt: str, **fields: Any) -> Request:
    return Request((Message("user", prompt),), Sampling(**fields), (5,))


@pytest.mark.parametrize("case", [c for c in GOOGLE if isinstance(c.outcome, str)], ids=str)
def test_an_answer(server: FaultServer, case: Case) -> None:
    (answer,) = ask(server, request_of(str(case) + str(case.body)))
    assert (answer.finish, answer.text, answer.reasoning) == (
        case.outcome, case.text, case.reasoning,
    )  # fmt: skip
    assert (answer.finish_reason, answer.completion_tokens) == (case.reason, case.tokens)
    assert answer.seed == 5


@pytest.mark.parametrize("case", [c for c in GOOGLE if not isinstance(c.outcome, str)], ids=str)
def test_an_error(server: FaultServer, case: Case) -> None:
    with pytest.raises(ProviderFault) as caught:
        ask(server, request_of(str(case) + str(case.body)))
    assert type(caught.value) is case.outcome
    if isinstance(caught.value, RateLimited):
        assert caught.value.retry_after == case.seconds


def test_the_request() -> None:
    messages = (
        Message("system", "Be brief."), Message("user", "1+1?"), Message("assistant", "2"),
        Message("user", "2+2?"),
    )  # fmt: skip
    extra = {
        "topK": 20, "thinkingConfig": {"thinkingBudget": 0}, "safetySettings": [],
        "generationConfig": {"responseMimeType": "text/plain"},
    }  # fmt: skip
    sampling = Sampling(0.7, 0.9, 64, ("Q:",), extra)
    case = Case("Google", "ok", content("STOP", PART), "stop")
    with FaultServer(case.play()) as server:
        ask(server, Request(messages, sampling, (5, 6)))
    (sent,) = server.requests
    assert sent.path == "/v1beta/models/m:generateContent"
    assert sent.headers["x-goog-api-key"] == KEY
    assert sent.body == {
        "contents": [
            {"role": "user", "parts": [{"text": "1+1?"}]},
            {"role": "model", "parts": [{"text": "2"}]},
            {"role": "user", "parts": [{"text": "2+2?"}]},
        ],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "safetySettings": [],
        "generationConfig": {
            "temperature": 0.7, "topP": 0.9, "maxOutputTokens": 64, "stopSequences": ["Q:"],
            "candidateCount": 2, "seed": 5, "responseMimeType": "text/plain", "topK": 20,
            "thinkingConfig": {"thinkingBudget": 0},
        },
    }  # fmt: skip


def test_several_candidates() -> None:
    body = content("STOP", {"text": "b"})
    first = {**body["candidates"][0], "content": {"parts": [{"text": "a"}]}, "index": 0}
    body["candidates"] = [{**body["candidates"][0], "index": 1}, first]
    with FaultServer(Case("Google", "two", body, "stop").play()) as server:
        answers = ask(server, Request((Message("user", "x"),), Sampling(), (1, 2)))
    assert [answer.text for answer in answers] == ["a", "b"]
    assert sum(answer.completion_tokens or 0 for answer in answers) == 7


def test_a_stream() -> None:
    with FaultServer(events(GOOGLE_STREAM)) as server:
        (answer,) = ask(server, request_of("2+2?"), stream=True)
    assert server.requests[0].path == "/v1beta/models/m:streamGenerateContent?alt=sse"
    assert answer == Completion(
        "42", "stop", "two and two", 5, 7, 5, "r1", None, finish_reason="STOP", reasoning_tokens=3
    )


@pytest.mark.parametrize(
    ("pieces", "kind"),
    [
        (GOOGLE_STREAM[:2], InvalidReply),
        ([GOOGLE_STREAM[0], refusal(503, "UNAVAILABLE", "Busy")], Unavailable),
    ],
)
def test_a_stream_that_breaks(pieces: list[Any], kind: type[ProviderFault]) -> None:
    with FaultServer(events(pieces)) as server, pytest.raises(ProviderFault) as caught:
        ask(server, request_of("2+2?"), stream=True)
    assert type(caught.value) is kind


def test_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(InvalidInput, match="GEMINI_API_KEY or GOOGLE_API_KEY is not set"):
        GoogleServer("m")
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza")
    GoogleServer("m")
    monkeypatch.setenv("GOOGLE_API_KEY", "AI\nza")
    with pytest.raises(InvalidInput, match="GOOGLE_API_KEY holds a line break"):
        GoogleServer("m")


@pytest.mark.parametrize("name", ["m", "models/m"])
def test_the_name_of_the_model(name: str) -> None:
    with FaultServer(Case("Google", "ok", content("STOP", PART), "stop").play()) as server:
        model = GoogleServer(name, base_url=f"http://127.0.0.1:{server.port}/v1beta")

        async def asked() -> None:
            await model.generate(request_of("x"))
            await model.close()

        asyncio.run(asked())
    assert server.requests[0].path == "/v1beta/models/m:generateContent"

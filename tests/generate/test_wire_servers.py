"""Every reply of the imitated servers, through the HTTP client."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from passband.generate.provider import (
    Completion,
    Message,
    ProviderFault,
    RateLimited,
    Request,
    Sampling,
    Unavailable,
    Unfinished,
    UnsupportedSetting,
)
from passband.generate.servers.finish import verdict_of
from passband.generate.servers.openai import OpenAIServer
from support.servers.fault_server import FaultServer
from support.servers.wire_servers import ALL, BROKEN_OFF, DOWN, ENDINGS, SETTINGS, UNCLEAR, Case

BY_NAME = {str(case) + str(case.body): case for case in ALL}


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer(lambda request: BY_NAME[request.prompt].play()) as server:
        yield server


def ask(server: FaultServer, case: Case) -> Sequence[Completion]:
    async def asked() -> Sequence[Completion]:
        model = OpenAIServer("m", base_url=server.url)
        messages = (Message("user", str(case) + str(case.body)),)
        try:
            return await model.generate(Request(messages, Sampling(), (1,)))
        finally:
            await model.close()

    return asyncio.run(asked())


def check_answer(case: Case, answer: Completion) -> None:
    assert answer.text == case.text
    assert answer.reasoning == case.reasoning
    assert answer.finish_reason == case.reason
    assert answer.completion_tokens == case.tokens


@pytest.mark.parametrize("case", [c for c in ALL if isinstance(c.outcome, str)], ids=str)
def test_an_answer_is_what_the_server_says_it_is(server: FaultServer, case: Case) -> None:
    (answer,) = ask(server, case)
    assert answer.finish == case.outcome
    check_answer(case, answer)
    if answer.finish == "tool_call" and "tool call" in case.name:
        assert answer.transcript is not None
        assert [turn["role"] for turn in answer.transcript] == ["user", "assistant"]
        assert answer.transcript[-1]["tool_calls"][0]["function"]["name"] == "add"


@pytest.mark.parametrize("case", [c for c in ALL if not isinstance(c.outcome, str)], ids=str)
def test_an_error_is_the_fault_that_it_means(server: FaultServer, case: Case) -> None:
    with pytest.raises(ProviderFault) as caught:
        ask(server, case)
    fault = caught.value
    assert type(fault) is case.outcome
    assert fault.http == case.status or case.status == 200  # some put the true one inside
    if isinstance(fault, RateLimited):
        assert fault.retry_after == case.seconds
    if isinstance(fault, Unavailable):
        assert fault.everyone is case.everyone
    if isinstance(fault, UnsupportedSetting):
        assert fault.setting == case.setting
    if isinstance(fault, Unfinished):
        (answer,) = fault.completions
        assert answer.finish == "unknown"
        check_answer(case, answer)


def test_every_word_of_the_table_is_played() -> None:
    from passband.generate.servers import finish

    played = {case.name.lower() for case in (*ENDINGS, *BROKEN_OFF, *UNCLEAR)} | {""}
    assert set(finish._WORDS) - played == {"aborted", "tool_call"}  # spellings of others
    assert verdict_of(3) == "unknown"


def test_an_error_about_a_setting_says_what_to_do(server: FaultServer) -> None:
    details = {}
    for case in SETTINGS[:-1]:
        with pytest.raises(UnsupportedSetting) as caught:
            ask(server, case)
        details[case.setting] = caught.value.detail
    assert "--temperature" in details["temperature"]
    assert "--no-seed" in details["seed"]
    assert "--gen until=" in details["stop"]
    assert "--max-tokens" in details["max_tokens"]
    assert "Leave it out: --gen logprobs=." in details["logprobs"]


def test_a_redirect_is_explained_and_shows_no_secret(server: FaultServer) -> None:
    with pytest.raises(ProviderFault) as caught:
        ask(server, DOWN[-1])
    assert "redirects to https://other.example:8443/v2/chat/completions" in caught.value.detail
    assert "--base-url https://other.example:8443/v2," in caught.value.detail
    assert "secret" not in caught.value.detail


def test_a_router_says_what_its_provider_said(server: FaultServer) -> None:
    (case,) = (case for case in DOWN if case.server == "OpenRouter")
    with pytest.raises(Unavailable, match="Provider returned error: upstream"):
        ask(server, case)

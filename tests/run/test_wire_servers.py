"""What a run makes of the replies of the imitated servers."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from passband.generate.provider import Hopeless, Sampling, UnsupportedSetting
from passband.run.loop.attempts import NothingAnswered
from passband.run.settings import Patience
from passband.trials.reader import Trials
from support.runs.runs import NAME, Bench, sums
from support.servers import fault_server as faults
from support.servers.fault_server import (
    Behaviour,
    Exchange,
    FaultServer,
    Received,
    Script,
    behaviour,
    first_time,
)
from support.servers.wire_servers import (
    ALL,
    CALL,
    DOWN,
    LONG,
    MONEY,
    NO_MAX_TOKENS,
    NO_TEMPERATURE,
    POLICY,
    SEVERAL,
    UNCLEAR,
    Case,
    error,
    said,
)

pytestmark = pytest.mark.process

BY_NAME = {str(case): case for case in ALL}


def for_second(case: Case) -> Script:
    """A reply whenever the second problem is asked."""
    return lambda request: case.play() if "18 + 26" in request.prompt else faults.ok


def refusing(is_refused: Callable[[Received], bool], status: int, body: Any) -> Script:
    """An error for some requests, and an answer to all others."""
    case = Case("some", "refusal", body, Hopeless, status)
    return lambda request: case.play() if is_refused(request) else faults.ok


# --- why an answer ended ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("Together: eos", "ok", "eos"),
        ("Mistral: model_length", "truncated", "model_length"),
        ("vLLM: repetition", "truncated", "repetition"),
        ("Gemini: SAFETY", "refused", "SAFETY"),
        ("OpenAI: tool_calls", "tool_call", None),
        ("Anthropic: pause_turn", "unknown", "pause_turn"),
        ("a later server: compacted_and_continued", "unknown", "compacted_and_continued"),
    ],
)
def test_how_an_answer_ended_is_its_status(
    bench: Bench, name: str, status: str, reason: str | None
) -> None:
    server = bench.play(for_second(BY_NAME[name]), n=2)
    row = bench.row(1)
    assert (row.status, row.finish_reason, row.text) == (status, reason, "4")
    assert len(server.requests) == 6
    assert bool(row.scores) is (status == "ok")
    warnings = [text for text in bench.notes.warnings if "does not know" in text]
    assert len(warnings) == (status == "unknown")  # once, although there are two such trials
    assert all(f"{reason!r}" in text and "NOT SCORED" in text for text in warnings)


def test_a_refusal_is_kept_in_its_words(bench: Bench) -> None:
    bench.play(for_second(BY_NAME["OpenAI: refusal"]), n=1)
    row = bench.row(1)
    assert (row.status, row.text, row.scores) == ("refused", "I cannot.", [])


def test_a_tool_call_is_kept_and_not_asked_again(bench: Bench) -> None:
    server = bench.play(for_second(BY_NAME["OpenAI: tool call"]), n=1)
    row = bench.row(1)
    assert (row.status, row.scores, len(server.requests)) == ("tool_call", [], 3)
    assert row.transcript is not None
    assert row.transcript[-1]["tool_calls"] == [CALL]


@pytest.mark.parametrize("case", UNCLEAR, ids=str)
def test_no_reason_is_asked_for_once_more_and_then_unknown(bench: Bench, case: Case) -> None:
    server = bench.play(for_second(case), n=1)
    row = bench.row(1)
    assert (row.status, row.text, row.attempts, row.scores) == ("unknown", "4", 2, [])
    assert row.finish_reason == case.reason
    assert bench.outcomes == ["unfinished"] * 2
    assert len(server.requests) == 2 + 2
    assert len(bench.notes.warnings) == 1


def test_no_reason_once_costs_nothing(bench: Bench) -> None:
    bench.play(first_time(BY_NAME["Ollama: null"].play()), n=1)
    assert bench.statuses == {"ok": 3}


def test_a_server_that_never_gives_a_reason_stops_the_run(bench: Bench) -> None:
    with FaultServer(BY_NAME["a small server: no finish_reason"].play()) as server:
        with pytest.raises(NothingAnswered, match="does not say why the answer ended"):
            bench.run(server, sums(20))
        assert len(server.requests) == 3 * 2
    assert bench.statuses == {}


def test_one_unclear_choice_of_several_is_unknown_alone(bench: Bench) -> None:
    @behaviour
    async def half(exchange: Exchange) -> None:
        body = faults.completion(exchange.request, ["4", "5"])
        body["choices"][1]["finish_reason"] = None
        await exchange.reply(200, body)

    server = bench.play(half, n=2, batch=2)
    assert bench.statuses == {"ok": 3, "unknown": 3}
    assert len(server.requests) == 3 * 2


def test_choices_out_of_order_are_put_in_order(bench: Bench) -> None:
    @behaviour
    async def reversed_(exchange: Exchange) -> None:
        body = faults.completion(exchange.request, ["a", "b", "c"])
        body["choices"].reverse()
        await exchange.reply(200, body)

    bench.play(reversed_, n=3, batch=3)
    assert [row.text for row in bench.rows] == ["a", "b", "c"] * 3


def test_a_reply_may_come_byte_by_byte(bench: Bench) -> None:
    @behaviour
    async def bytewise(exchange: Exchange) -> None:
        data = json.dumps(said("stop", "It is 42")).encode()
        await exchange.reply_in_chunks(200, (data[at : at + 1] for at in range(len(data))))

    bench.play(bytewise, n=1)
    assert bench.statuses == {"ok": 3}


def test_a_connection_that_was_idle_too_long_costs_no_trial(bench: Bench) -> None:
    @behaviour
    async def brief(exchange: Exchange) -> None:
        await exchange.reply(200, said("stop", "It is 42"))
        exchange.close()

    server = bench.play(brief, n=4, concurrency=1)
    assert bench.statuses == {"ok": 12}
    assert server.connections >= 12


# --- what an error means ---------------------------------------------------------------------


@pytest.mark.parametrize("case", [c for c in MONEY if c.outcome is Hopeless], ids=str)
def test_no_money_stops_the_run(bench: Bench, case: Case) -> None:
    script = lambda request: faults.ok if request.number < 2 else case.play()  # noqa: E731
    with FaultServer(script) as server, pytest.raises(Hopeless):
        bench.run(server, n=1, concurrency=1, patience=Patience())
    assert len(server.requests) == 3
    assert bench.statuses == {"ok": 2}


@pytest.mark.parametrize("name", ["Gemini: a list of one", "OpenRouter: 402 in flight"])
def test_a_limit_that_passes_is_waited_for(bench: Bench, name: str) -> None:
    case = BY_NAME[name]
    text = case.data.decode().replace("25s", "0.01s")
    soon = Case("some", "soon", text.encode(), case.outcome, case.status, {"Retry-After": "0"})
    bench.play([soon.play()], n=1)
    assert bench.statuses == {"ok": 3}
    assert bench.outcomes == ["rate_limited"]


@pytest.mark.parametrize("case", POLICY, ids=str)
def test_moderation_costs_its_own_prompt_only(bench: Bench, case: Case) -> None:
    server = bench.play(for_second(case), n=2, batch=2)
    assert bench.statuses == {"ok": 4, "refused": 2}
    assert len(server.requests) == 3
    assert bench.outcomes == ["filtered"]


@pytest.mark.parametrize("case", [c for c in LONG if "context" in c.name], ids=str)
def test_a_prompt_that_is_too_long_costs_its_own_problem_only(bench: Bench, case: Case) -> None:
    server = bench.play(for_second(case), n=2, batch=2)
    assert bench.statuses == {"ok": 4, "invalid": 2}
    assert len(server.requests) == 3
    assert bench.outcomes == ["too_long"]
    (warning,) = bench.notes.warnings
    assert "'p1' does not fit into the model's context" in warning


def test_prompts_that_are_all_too_long_do_not_stop_the_run(bench: Bench) -> None:
    bench.play(LONG[0].play(), sums(8), n=1)
    assert bench.statuses == {"invalid": 8}
    assert len(bench.notes.warnings) == 1


@pytest.mark.parametrize("case", [c for c in DOWN if c.everyone][:8], ids=str)
def test_what_is_down_is_waited_for(bench: Bench, case: Case) -> None:
    bench.play([case.play()] * 8, n=1)  # more often than a trial has attempts
    assert bench.statuses == {"ok": 3}


@pytest.mark.parametrize("case", SEVERAL, ids=str)
def test_several_completions_that_are_refused_are_requested_one_by_one(
    bench: Bench, case: Case
) -> None:
    server = bench.play(
        lambda request: case.play() if request.n > 1 else faults.ok, n=4, batch=4,
        patience=Patience(),
    )  # fmt: skip
    assert [request.n for request in server.requests] == [4] + [1] * 12
    assert bench.statuses == {"ok": 12}
    assert {row.attempts for row in bench.rows} == {1}
    assert bench.outcomes == ["rejected"]


def test_an_error_of_the_server_for_several_is_tried_with_one(bench: Bench) -> None:
    server = bench.play(
        lambda request: faults.status(500) if request.n > 1 else faults.ok, n=4, batch=4
    )
    assert [request.n for request in server.requests] == [4] * 2 + [1] * 12
    assert bench.statuses == {"ok": 12}


def test_an_error_of_the_server_does_not_end_asking_for_several_that_it_gave(bench: Bench) -> None:
    script = lambda request: faults.status(500) if 1 <= request.number <= 3 else faults.ok  # noqa: E731
    server = bench.play(script, n=4, batch=4, concurrency=1)
    assert {request.n for request in server.requests} == {4}
    assert bench.statuses == {"ok": 12}


# --- settings --------------------------------------------------------------------------------


def without_max_tokens(request: Received) -> Behaviour:
    """A reasoning model of OpenAI, which takes max_completion_tokens alone."""
    body = error(NO_MAX_TOKENS, "unsupported_parameter", param="max_tokens")
    refused = Case("OpenAI", "max_tokens", body, UnsupportedSetting, 400)
    return refused.play() if "max_tokens" in request.body else faults.ok


def test_a_limit_of_tokens_is_sent_under_the_name_that_the_model_takes(bench: Bench) -> None:
    task = sums(sampling=Sampling(temperature=1.0, max_tokens=50))
    server = bench.play(without_max_tokens, task, n=2)
    assert len(server.requests) == 7
    assert [request.body.get("max_completion_tokens") for request in server.requests[1:]] == [
        50
    ] * 6
    assert bench.statuses == {"ok": 6}
    assert bench.attempts == []
    assert [text for text in bench.notes.notes if "max_completion_tokens" in text] == [
        "the model takes no max_tokens; the limit of tokens is sent as max_completion_tokens "
        "instead"
    ]
    with Trials(bench.directory) as trials:
        assert trials.run(NAME).config["subject"] == {"length_name": "max_completion_tokens"}
    bench.play(without_max_tokens, task, n=3)  # no other settings
    bench.play(faults.ok, sums(sampling=Sampling(
        temperature=1.0, max_tokens=50, length_name="max_completion_tokens"
    )), n=4)  # fmt: skip
    assert bench.statuses == {"ok": 12}
    with Trials(bench.directory) as trials:
        assert trials.run(NAME).config["subject"] == {"length_name": "max_completion_tokens"}


def test_a_temperature_that_the_model_does_not_take_stops_the_run(bench: Bench) -> None:
    body = error(NO_TEMPERATURE, "unsupported_value", param="temperature")
    script = refusing(lambda request: "temperature" in request.body, 400, body)
    with FaultServer(script) as server:
        with pytest.raises(UnsupportedSetting, match=r"'temperature'.*Give a --temperature"):
            bench.run(server, n=4, batch=4)
        assert len(server.requests) == 1
        assert bench.statuses == {}
        bench.run(server, sums(sampling=Sampling()), n=1)
    assert bench.statuses == {"ok": 3}


def test_a_seed_that_the_server_does_not_take_stops_the_run(bench: Bench) -> None:
    body = {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra"}]}
    script = refusing(lambda request: "seed" in request.body, 422, body)
    with FaultServer(script) as server:
        with pytest.raises(UnsupportedSetting, match="--no-seed"):
            bench.run(server)
        bench.run(server, send_seeds=False, seed=None)
    assert bench.statuses == {"ok": 6}

"""Models of passband that are asked by tasks of Inspect: what they carry, and what they cannot."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from typing import Any

import pytest
from inspect_ai.model import ChatMessageUser, ContentImage, GenerateConfig, ResponseSchema
from inspect_ai.util import json_schema

from passband.errors import InvalidInput
from passband.generate.inspect.model import resolve_model
from passband.generate.provider import Completion, Provider, Rejected, Request
from passband.generate.registry import Connection
from passband.run.loop.attempts import NothingAnswered
from support.runs.inspect_runs import rows, run, scores, statuses
from support.servers.fault_server import Exchange, FaultServer, behaviour, completion, ok, says

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@behaviour
async def calls_the_tool(exchange: Exchange) -> None:
    """Call the tool that is offered, then say what it returned."""
    request = exchange.request
    last = request.body["messages"][-1]
    if last["role"] == "tool":
        await exchange.reply(200, completion(request, [f"It is {last['content']}."]))
        return
    x, y = map(int, re.findall(r"\d+", request.prompt))
    body = completion(request, [None], "tool_calls")
    call = {"name": "add", "arguments": json.dumps({"x": x, "y": y})}
    body["choices"][0]["message"]["tool_calls"] = [
        {"id": f"call{request.number}", "type": "function", "function": call}
    ]
    await exchange.reply(200, body)


def test_tools_reach_an_openai_server_by_inspects_own_client() -> None:
    with FaultServer(calls_the_tool) as server:
        run("tool_use", model="openai:model", base_url=server.url)
    assert scores("tool_use") == [{"includes": 1.0}] * 8
    assert {request.body["model"] for request in server.requests} == {"model"}
    assert len({request.body["seed"] for request in server.requests}) == 16
    assert all("tools" in request.body for request in server.requests)


def test_a_model_that_takes_text_alone_is_not_sent_tools() -> None:
    with pytest.raises(NothingAnswered, match="takes text alone, and the task sends tools"):
        run("tool_use")


def test_several_addresses_carry_text_and_nothing_else() -> None:
    with FaultServer() as one, FaultServer() as two:
        urls = [one.url, two.url]
        with pytest.raises(NothingAnswered, match="tools, which goes to one address alone"):
            run("tool_use", model="openai:model", base_url=urls)
        assert not one.requests
        model = resolve_model("openai:model", Connection(urls)).model
        messages = [ChatMessageUser(content="What is 1 + 1?")]

        async def answer() -> str:
            output = await model.api.generate(messages, [], "auto", GenerateConfig())
            await model.api.aclose()
            return output.completion

        assert "The answer is" in asyncio.run(answer())


def test_inspects_own_client_takes_one_address() -> None:
    connection = Connection(["http://a/v1", "http://b/v1"])
    with pytest.raises(InvalidInput, match="takes one address; got 2"):
        resolve_model("mockllm/model", connection)


class Remembering(Provider):
    """A provider that remembers its requests."""

    batch, name = 1, "remembering"

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def generate(self, request: Request) -> list[Completion]:
        self.requests.append(request)
        return [Completion("ok", "length", "hm", 3, 4)]

    async def close(self) -> None:
        pass


def test_settings_and_answers_are_translated() -> None:
    provider = Remembering()
    api = resolve_model(provider, Connection()).model.api
    config = GenerateConfig(
        temperature=0.5, top_p=0.9, max_tokens=7, stop_seqs=["x"], seed=3, top_k=5,
        extra_body={"min_p": 0.1, "metadata": {}},
    )  # fmt: skip
    output = asyncio.run(api.generate([ChatMessageUser(content="Hello")], [], "auto", config))
    (request,) = provider.requests
    assert [(m.role, m.content) for m in request.messages] == [("user", "Hello")]
    sampling = request.sampling
    assert (sampling.temperature, sampling.top_p, sampling.max_tokens) == (0.5, 0.9, 7)
    assert (sampling.stop, request.seeds) == (("x",), (3,))
    assert sampling.extra == {"top_k": 5, "min_p": 0.1}
    assert (output.completion, output.stop_reason) == ("ok", "max_tokens")
    assert output.message.content[0].reasoning == "hm"
    assert (output.usage.input_tokens, output.usage.output_tokens) == (3, 4)


@pytest.mark.parametrize(
    ("message", "config", "what"),
    [
        (ChatMessageUser(content=[ContentImage(image="data:x")]), GenerateConfig(), "type image"),
        (
            ChatMessageUser(content="x"),
            GenerateConfig(response_schema=ResponseSchema(name="n", json_schema=json_schema(int))),
            "the setting response_schema",
        ),
        (ChatMessageUser(content="x"), GenerateConfig(num_choices=4), "the setting num_choices"),
    ],
)
def test_nothing_is_dropped(message: ChatMessageUser, config: GenerateConfig, what: str) -> None:
    api = resolve_model(Remembering(), Connection()).model.api
    with pytest.raises(Rejected, match=what):
        asyncio.run(api.generate([message], [], "auto", config))


def test_reasoning_of_a_server_is_kept_apart() -> None:
    with FaultServer(says("<think>Let me see.</think>\nIt is 30.")) as server:
        run("plain", model="openai:model", base_url=server.url, n=1, limit=1)
    (row,) = rows("plain")
    assert (row.reasoning, (row.text or "").strip()) == ("Let me see.", "It is 30.")


def test_truncated_answers_are_scored_by_the_task_and_have_their_status() -> None:
    with FaultServer(says("It is 30", finish="length")) as server:
        run("plain", model="openai:model", base_url=server.url, n=1, limit=2)
    assert statuses("plain") == {"truncated": 2}
    assert scores("plain") == [{"includes": 1.0}, {"includes": 0.0}]


def test_sampling_of_the_run_comes_before_the_tasks() -> None:
    def sent(**options: Any) -> dict[str, Any]:
        with FaultServer(ok) as server:
            run("plain", model="openai:model", base_url=server.url, n=1, limit=1, **options)
        (request,) = server.requests
        return {name: request.body.get(name) for name in ("temperature", "top_p", "max_tokens")}

    assert sent() == {"temperature": None, "top_p": None, "max_tokens": 64}
    shutil.rmtree("run")
    assert sent(temperature=0.3, top_p=0.8, max_tokens=9) == {
        "temperature": 0.3,
        "top_p": 0.8,
        "max_tokens": 9,
    }

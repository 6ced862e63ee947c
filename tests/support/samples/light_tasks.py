"""Small tasks of Inspect that only generate, and a server whose answers are a function of requests.

The server hashes everything that it is sent, so that a client that sends other messages or other
parameters gets other answers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    get_model,
)
from inspect_ai.scorer import Score, accuracy, answer, choice, includes, match, pattern, scorer
from inspect_ai.solver import (
    assistant_message,
    chain_of_thought,
    generate,
    multiple_choice,
    prompt_template,
    system_message,
    user_message,
)

from support.servers.fault_server import Behaviour, Received, says

SENT = ("messages", "temperature", "top_p", "max_tokens", "stop", "seed", "frequency_penalty")


def reply_to(request: Received) -> Behaviour:
    """Answer with what a hash of the request says; an answer in five is cut off."""
    body = {name: request.body.get(name) for name in SENT}
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
    number, letter = digest[0] % 4, "ABCD"[digest[1] % 4]
    is_thinking = digest[2] % 3 == 0 and "Do not think" not in str(body["messages"])
    thought = "<think>Let me see.</think>\n" if is_thinking else ""
    text = f"{thought}Way {digest[3:7].hex()}.\nThe answer is {number}.\nANSWER: {letter}\n{number}"
    return says(text, finish="length" if digest[8] % 5 == 0 else "stop")


def numbers(count: int = 5) -> list[Sample]:
    """Return problems whose answer is a digit from 0 to 3."""
    return [
        Sample(
            f"What is {i} modulo 4?",
            target=str(i % 4),
            id=f"p{i}",
            metadata={"topic": f"topic {i}", "seen": []},
        )
        for i in range(count)
    ]


def letters(count: int = 5) -> MemoryDataset:
    """Return problems with four choices, their order shuffled."""
    choices = ["zero", "one", "two", "three"]
    data = MemoryDataset(
        [
            Sample(f"{i} modulo 4?", choices=choices, target="ABCD"[i % 4], id=i)
            for i in range(count)
        ]
    )
    data.shuffle_choices(seed=7)
    return data


@task
def plain() -> Task:
    return Task(numbers(), solver=generate(), scorer=match(numeric=True))


@task
def prompted() -> Task:
    return Task(
        numbers(),
        solver=[
            system_message("You know {topic} well."),
            prompt_template("Problem: {prompt}\nAnswer with a {kind}.", kind="digit"),
            generate(temperature=0.6),
        ],
        scorer=[match(), includes(), match(numeric=True)],
        config=GenerateConfig(temperature=0.9, top_p=0.5, frequency_penalty=0.25),
    )


@task
def chosen() -> Task:
    return Task(letters(), solver=multiple_choice(), scorer=choice())


@task
def thought_through() -> Task:
    return Task(
        numbers(),
        solver=[chain_of_thought(), generate(stop_seqs=["\n\n"])],
        scorer=[answer("letter"), pattern(r"The answer is (\d)")],
        config=GenerateConfig(system_message="Be brief.", max_connections=3),
    )


@task
def twice() -> Task:
    """Asks again, in the conversation that a sample begins."""
    turns = [
        ChatMessageSystem(content="You count."),
        ChatMessageUser(content="What is 5 modulo 4?"),
        ChatMessageAssistant(content="1"),
        ChatMessageUser(content="What is 7 modulo 4?"),
    ]
    return Task(
        [Sample(turns, target="3", id=f"p{i}") for i in range(3)],
        solver=[
            generate(),
            assistant_message("I am {mood}."),
            user_message("Are you {mood}?"),
            generate(max_tokens=50),
        ],
        setup=prompt_template("{prompt} Do not think.", mood="sure"),
        scorer=match(numeric=True),
    )


@scorer(metrics=[accuracy()])
def of_two_parts() -> Callable[..., Any]:
    async def score(state: Any, target: Any) -> Score:
        state.metadata["seen"].append(state.epoch)  # a state that is shared would collect them
        text = state.output.completion
        parts = {"number": text.endswith(target.text), "epochs": len(state.metadata["seen"])}
        return Score(value=parts, answer=text[-1:], explanation=f"epoch {state.epoch}")

    return score


@scorer(metrics=[accuracy()])
def of_few() -> Callable[..., Any]:
    async def score(state: Any, target: Any) -> Score | None:
        return Score(value="P") if state.epoch % 2 else None

    return score


@task
def scored_by_itself() -> Task:
    return Task(numbers(), solver=generate(), scorer=[of_two_parts(), of_few()])


@scorer(metrics=[accuracy()])
def with_a_judge() -> Callable[..., Any]:
    """Asks a judge only where the answer is not a plain one."""

    async def score(state: Any, target: Any) -> Score:
        text = state.output.completion
        if text.endswith(("0", "1")):
            return Score(value=text.endswith(target.text))
        verdict = await get_model().generate(f"Is {text} right?")
        return Score(value=verdict.completion.endswith("3"))

    return score


@task
def judged_now_and_then() -> Task:
    return Task(numbers(), solver=generate(), scorer=with_a_judge())


ALL = (plain, prompted, chosen, thought_through, scored_by_itself)

"""What keeps a task of Inspect from the light engine."""

from __future__ import annotations

from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, ContentImage, GenerateConfig
from inspect_ai.scorer import match, model_graded_qa
from inspect_ai.solver import chain, generate, prompt_template, self_critique, solver, use_tools
from inspect_ai.tool import think

from passband.generate.inspect.only_generates import reasons_against, steps_of


def task(**options: Any) -> Task:
    defaults: dict[str, Any] = {"dataset": [Sample("2+2", target="4", id="p0")], "scorer": match()}
    return Task(**(defaults | options))


@solver
def prepared() -> Any:
    return chain(prompt_template("{prompt}?"), generate())


@solver(name="generate")
def other_generate() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        return state

    return solve


async def clean_up(state: Any) -> None:
    pass


def test_a_plain_task_has_none() -> None:
    assert reasons_against(task()) == []
    assert reasons_against(task(scorer=None)) == []


def test_chains_are_looked_into() -> None:
    nested = task(setup=prompt_template("{prompt}!"), solver=[prepared(), prepared()])
    assert reasons_against(nested) == []
    assert len(steps_of(nested)) == 5


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"sandbox": "local"}, "it has a sandbox"),
        ({"cleanup": clean_up}, "it cleans up after samples"),
        ({"model": "mockllm/model"}, "it names its model"),
        ({"model_roles": {"judge": "mockllm/model"}}, "it has model roles"),
        ({"message_limit": 5}, "it limits messages"),
        ({"time_limit": 5}, "it limits time"),
        ({"score_on_error": True}, "it scores samples that fail"),
        ({"config": GenerateConfig(logprobs=True)}, "it sets logprobs"),
        ({"config": GenerateConfig(timeout=5)}, "it sets timeout"),
        ({"config": GenerateConfig(num_choices=3)}, "it sets num_choices"),
        ({"solver": generate(cache=True)}, "it sets cache"),
        ({"solver": generate(reasoning_tokens=5)}, "it sets reasoning_tokens"),
        ({"solver": [generate(), self_critique()]}, "the solver self_critique may do anything"),
        ({"solver": [use_tools(think()), generate()]}, "the solver use_tools may do anything"),
        ({"solver": [other_generate(), generate()]}, "the solver generate may do anything"),
        ({"solver": prompt_template("{prompt}")}, "no solver generates"),
        ({"scorer": model_graded_qa()}, "the scorer model_graded_qa asks a model"),
        ({"dataset": [Sample("x", sandbox="local")]}, "a sample has a sandbox"),
        ({"dataset": [Sample("x", files={"a": "b"})]}, "a sample has files"),
        ({"dataset": [Sample("x", setup="ls")]}, "a sample has a setup script"),
        (
            {"dataset": [Sample([ChatMessageUser(content=[ContentImage(image="x.png")])])]},
            "a sample has media, tool calls or parts",
        ),
    ],
)
def test_reasons(options: dict[str, Any], reason: str) -> None:
    assert reasons_against(task(**options)) == [reason]


def test_settings_without_effect_here_are_no_reason() -> None:
    config = GenerateConfig(max_connections=5, max_retries=3, seed=7, num_choices=1, cache=False)
    assert reasons_against(task(config=config)) == []


def test_every_setting_is_either_carried_or_a_reason() -> None:
    """A setting that a later version of Inspect adds must not be dropped."""
    from passband.generate.inspect.only_generates import _CARRIED, _WITHOUT_EFFECT, unsupported

    assert set(GenerateConfig.model_fields) >= (_CARRIED | _WITHOUT_EFFECT)
    assert unsupported({"a_new_setting": 5}) == ["it sets a_new_setting"]

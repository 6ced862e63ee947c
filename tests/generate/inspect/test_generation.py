"""Requests of Inspect's settings and messages, and outputs of completions."""

from __future__ import annotations

import pytest
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser, ContentText

from passband.generate.inspect.generation import (
    finish_of,
    messages_of,
    output_of,
    reasoning_of,
    sampling_of,
)
from passband.generate.inspect.guard import HandedBack
from passband.generate.provider import Completion, Message, Sampling


def test_settings_are_carried() -> None:
    settings = {
        "temperature": 0.0,
        "max_tokens": None,
        "stop_seqs": ["###"],
        "logit_bias": {5: -100},
        "extra_body": {"min_p": 0.1, "metadata": {"a": "b"}},
        "system_message": "Be brief.",
        "max_connections": 3,
    }
    sampling = sampling_of(Sampling(temperature=1.0, max_tokens=5, extra={"min_p": 0.5}), settings)
    assert sampling == Sampling(
        temperature=0.0, max_tokens=5, stop=("###",), extra={"logit_bias": {5: -100}, "min_p": 0.1}
    )


def test_what_cannot_be_carried_is_handed_back() -> None:
    with pytest.raises(HandedBack, match="it sets top_logprobs"):
        sampling_of(Sampling(), {"top_logprobs": 5})


def test_messages() -> None:
    conversation = [ChatMessageUser(content="Hi"), ChatMessageAssistant(content="Ho")]
    assert messages_of(conversation, "Be brief.") == (
        Message("system", "Be brief."),
        Message("user", "Hi"),
        Message("assistant", "Ho"),
    )


@pytest.mark.parametrize(
    "message",
    [ChatMessageUser(content=[ContentText(text="Hi")]), ChatMessageTool(content="4")],
)
def test_other_messages_are_handed_back(message: ChatMessageUser | ChatMessageTool) -> None:
    with pytest.raises(HandedBack):
        messages_of([message], None)


@pytest.mark.parametrize(
    ("text", "apart", "answer", "reasoning"),
    [
        ("4", None, "4", None),
        ("4", "2+2", "4", "2+2"),
        ("<think>2+2</think>\n4", None, "4", "2+2"),
        ("<think>2+2</think>", None, "<think>2+2</think>", "2+2"),
        ("<think>\n\n</think>\n\n4", None, "4", None),
        ("<think>2+2", None, "<think>2+2", None),
        (None, None, "", None),
    ],
)
def test_reasoning_is_apart(
    text: str | None, apart: str | None, answer: str, reasoning: str | None
) -> None:
    output = output_of(Completion(text, reasoning=apart), "m")
    assert (output.completion, reasoning_of(output)) == (answer, reasoning)


@pytest.mark.parametrize("finish", ["stop", "length", "content_filter"])
def test_the_finish_survives(finish) -> None:
    assert finish_of(output_of(Completion("4", finish=finish), "m")) == finish


def test_usage_that_is_unknown_stays_so() -> None:
    assert output_of(Completion("4"), "m").usage is None
    usage = output_of(Completion("4", prompt_tokens=3, completion_tokens=2), "m").usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (3, 2, 5)

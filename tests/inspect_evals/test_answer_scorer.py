"""The formats of answers that are found in completions of Inspect tasks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import NOANSWER, Target
from inspect_ai.solver import TaskState

from passband.errors import UnknownName
from passband.inspect_evals.answer_scorer import extracted_answer


def score(text: str, target: str = "42", **options: Any) -> Any:
    state = TaskState(ModelName("a/b"), 1, 1, "?", [], output=ModelOutput.from_content("m", text))
    return asyncio.run(extracted_answer(**options)(state, Target(target)))


@pytest.mark.parametrize(
    "text",
    [
        r"So it is \boxed{42}.",
        "ANSWER: 42",
        "The answer is 42",
        "Therefore, the answer is 42",
        "First 41, then 42 apples.",
        "<think>The answer is 7.</think>The answer is 42.",
    ],
)
def test_formats(text: str) -> None:
    found = score(text)
    assert (found.value, found.answer) == (1.0, "42")
    assert score(text, "43").value == 0.0


def test_no_answer_is_wrong() -> None:
    assert score("I do not know.").value == NOANSWER


def test_how_answers_are_compared() -> None:
    assert score("The answer is 42.0").value == 0.0
    assert score("The answer is 42.0", compare="numeric").value == 1.0
    assert score("It is 42.", rules=["boxed"]).value == NOANSWER


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'boxed'"):
        score("42", rules=["boxd"])

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
    ("text", "answer"),
    [
        (r"So it is \boxed{42}.", "42"),
        (r"First \boxed{41}, then \boxed{42}.", "42"),
        (r"\boxed{42 \text{ apples}}", "42"),
        (r"\fbox{42}", "42"),
        ("ANSWER: 42", "42"),
        ("ANSWER: 41\nNo. ANSWER: 42", "42"),
        ("Answer: **42**", "42"),
        ("**Final Answer:** 42", "42"),
        ("#### 42", "42"),
        ("The answer is 42", "42"),
        ("The answer is: 42.", "42"),
        ("the final answer is $42$.", "42"),
        ("Therefore, the answer is 42", "42"),
        ("Therefore, the answer is 42. I checked it twice, in 2 ways.", "42"),
        ("The answer is 41. Or rather, the answer is 42.", "42"),
        ("The answer is 42 apples.", "42"),
        ("ANSWER: 1234 dollars", "1234"),
        ("ANSWER: $1,234", "1234"),
        ("The answer is 42 because 6*7=42.", "42"),
        ("So it is 1,234.", "1234"),
        ("First 41, then 42 apples.", "42"),
        ("<think>The answer is 7.</think>The answer is 42.", "42"),
        ("<think>It is 42.", None),
        ("I do not know.", None),
    ],
)
def test_formats(text: str, answer: str | None) -> None:
    found = score(text, answer or "42")
    assert (found.value, found.answer) == ((1.0, answer) if answer else (NOANSWER, None))
    assert score(text, "43").value == (0.0 if answer else NOANSWER)


def test_no_answer_is_wrong() -> None:
    assert score("I do not know.").value == NOANSWER


def test_how_answers_are_compared() -> None:
    assert score("The answer is 42.0").value == 0.0
    assert score("The answer is 42.0", compare="numeric").value == 1.0
    assert score("It is 42.", rules=["boxed"]).value == NOANSWER


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'boxed'"):
        score("42", rules=["boxd"])

"""Tasks of Inspect whose problems the fault server answers, some rightly and some not."""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

from passband.inspect_evals.answer_scorer import extracted_answer


def sums(count: int) -> list[Sample]:
    return [
        Sample(f"What is {17 + i} + {25 + i}?", target=str(42 + 2 * i), id=f"p{i}")
        for i in range(count)
    ]


@task
def simple_math_task() -> Task:
    print("a task may print")  # which must not reach the output of the command
    return Task(sums(4), solver=generate(), scorer=extracted_answer())


@task
def aime2024() -> Task:
    return Task(sums(6), solver=generate(), scorer=extracted_answer())


@task
def unscored() -> Task:
    return Task(sums(2), solver=generate())


@task
def other_scorer() -> Task:
    return Task(sums(2), solver=generate(), scorer=[includes(), extracted_answer()])


async def adds(messages: list[dict[str, str]], settings: dict[str, Any]) -> str:
    """Answer as a policy under training may: with the right sum."""
    numbers = [
        int(word.strip("?")) for word in messages[-1]["content"].split() if word[0].isdigit()
    ]
    return f"The answer is {sum(numbers)}."


@task
def refused() -> Task:
    samples = [Sample(f"Only here: {i}?", target="1", id=f"p{i}") for i in range(2)]
    return Task(samples, solver=generate(), scorer=extracted_answer())

"""Small tasks of Inspect: tools, turns, sandboxes, judges, errors; and models to ask them of."""

from __future__ import annotations

import re
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
    modelapi,
)
from inspect_ai.scorer import Score, accuracy, choice, includes, match, model_graded_qa, scorer
from inspect_ai.solver import Generate, TaskState, generate, multiple_choice, solver, use_tools
from inspect_ai.tool import Tool, tool
from inspect_ai.util import sandbox

SUM = re.compile(r"(\d+) \+ (\d+)")


def sums(count: int = 4, **more: Any) -> list[Sample]:
    return [
        Sample(f"What is {10 + i} + {20 + i}?", target=str(30 + 2 * i), id=f"p{i}", **more)
        for i in range(count)
    ]


@task
def plain(count: int = 4, temperature: float | None = None) -> Task:
    config = GenerateConfig(temperature=temperature, max_tokens=64)
    return Task(sums(count), solver=generate(), scorer=includes(), config=config)


@task
def unnamed(first: str = "What is 1 + 2?") -> Task:
    samples = [Sample(first, target="3"), Sample("What is 2 + 2?", target="4")]
    return Task(samples, scorer=includes())


@solver
def ask_twice() -> Any:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        state.messages.append(ChatMessageUser(content="Are you sure?"))
        return await generate(state)

    return solve


@task
def two_turns() -> Task:
    return Task(sums(), solver=ask_twice(), scorer=includes())


@solver
def ask_the_model(model: Model) -> Any:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = await model.generate(state.messages)
        return state

    return solve


@task
def own_model() -> Task:
    """Its code asks for the model when the task is made, not when it runs."""
    return Task(sums(2), solver=ask_the_model(get_model()), scorer=includes())


@tool
def add() -> Tool:
    async def execute(x: int, y: int) -> str:
        """Add two numbers.

        Args:
            x: First number.
            y: Second number.
        """
        return str(x + y)

    return execute


@task
def tool_use() -> Task:
    return Task(sums(), solver=[use_tools(add()), generate()], scorer=includes())


@solver
def write_a_file() -> Any:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        await sandbox().write_file("answer.txt", (await generate(state)).output.completion)
        state.output.completion = (await sandbox().exec(["cat", "answer.txt"])).stdout
        return state

    return solve


@task
def in_a_sandbox() -> Task:
    return Task(sums(2), solver=write_a_file(), scorer=includes(), sandbox="local")


@task
def without_a_sandbox() -> Task:
    return Task(sums(1), scorer=includes(), sandbox=("no_such_sandbox", "x"))


@scorer(metrics={"right": [accuracy()], "length": [accuracy()]})
def aspects() -> Any:
    async def score(state: TaskState, target: Any) -> Score:
        text = state.output.completion
        return Score(value={"right": float(target.text in text), "length": len(text)}, answer=text)

    return score


@scorer(metrics=[accuracy()])
def undecided() -> Any:
    async def score(state: TaskState, target: Any) -> Score:
        return Score(value=float("nan"), explanation="no opinion")

    return score


@task
def several_scores() -> Task:
    return Task(sums(2), scorer=[match(location="any"), aspects(), undecided()])


@solver
def fail_or_go_on() -> Any:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id == "p0" and state.epoch == 2:
            raise ValueError("no such file")
        while state.sample_id == "p1":
            state = await generate(state)
            state.messages.append(ChatMessageUser(content="Go on."))
        return await generate(state)

    return solve


@task
def faulty() -> Task:
    return Task(sums(3), solver=fail_or_go_on(), scorer=includes(), message_limit=6)


@solver
def always_fail() -> Any:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        raise ValueError("no such file")

    return solve


@task
def hopeless(count: int = 40) -> Task:
    return Task(sums(count), solver=always_fail(), scorer=includes())


@task
def graded() -> Task:
    return Task(sums(2), scorer=model_graded_qa(model=judge()))


@task
def choices(shuffled: bool = False) -> Task:
    data = MemoryDataset(
        [
            Sample(f"{i} modulo 2?", choices=["zero", "one"], target="AB"[i % 2], id=i)
            for i in range(6)
        ]
    )
    if shuffled:
        data.shuffle_choices()
    return Task(data, solver=multiple_choice(), scorer=choice())


@task
def same_ids() -> Task:
    return Task([Sample("a", id=1), Sample("b", id="1")], scorer=includes())


# --- models ----------------------------------------------------------------------------------


def said(model: str, text: str, **more: Any) -> ModelOutput:
    output = ModelOutput.from_content(model, text, **more)
    output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
    return output


def judge() -> Model:
    """Return a judge that finds every answer correct, and notes the seeds it was sent."""

    def answers(input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        JUDGED.append(config.seed)
        return said("judge", "GRADE: C")

    return get_model("mockllm/judge", custom_outputs=answers)


JUDGED: list[int | None] = []


@modelapi(name="adder")
class Adder(ModelAPI):
    """A model that calls the tool it is offered, and then repeats what the tool returned."""

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        self.seeds = [*getattr(self, "seeds", []), config.seed]
        if input[-1].role == "tool":
            return said("adder", f"It is {input[-1].text}.")
        x, y = map(int, SUM.findall(input[-1].text)[0])
        output = ModelOutput.for_tool_call("adder", "add", {"x": x, "y": y})
        output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
        return output


def answer_sums(prompt: str, seed: int | None = None) -> str:
    """Add the numbers of a prompt; say the seed, so that every call shows its own."""
    if not SUM.search(prompt):
        return "ANSWER: A"
    total = sum(map(int, SUM.findall(prompt)[-1]))
    return f"It is {total} (seed {seed})."

"""An inference function as the subject of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from passband.generate import (
    Completion,
    JsonMapping,
    Problem,
    Sampling,
    Seeds,
    Subject,
    function_spec,
)
from passband.scorebook.inference import InferenceCalls


class InferenceSubject(Subject):
    """Asks the function in its own event loop, from the loop of the run."""

    batch = 1
    one_seed = True

    def __init__(
        self,
        calls: InferenceCalls,
        name: str,
        input_of: Callable[[Problem], Any],
        *,
        text_of: Callable[[Problem, str], str] = lambda problem, output: output,
        config: JsonMapping | None = None,
        is_costly: bool = False,
    ) -> None:
        self._calls, self._input_of, self._text_of = calls, input_of, text_of
        self.name = name
        self.spec = {
            "hyperparameters": calls.hyperparameters,
            "function": function_spec(calls.inference.function),
        }
        self.config = dict(config or {})
        self.is_costly = is_costly  # whether an answer is on disk before the next is asked for

    async def answer(
        self, problem: Problem, sampling: Sampling, seeds: Seeds, trials: Sequence[int]
    ) -> Sequence[Completion]:
        """Ask for one output."""
        asking = self._calls.text_of(self._input_of(problem))
        loop = self._calls.inference.loop
        output = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asking, loop))
        return [Completion(self._text_of(problem, output))]


def prompt_of(problem: Problem) -> str:
    """Return the input of a task's problem: its prompt."""
    return "\n\n".join(message.content for message in problem.messages)

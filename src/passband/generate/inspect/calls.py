"""The calls of a model by a trial: which trial it is, with which seed, and how they end.

A step before the task's own solvers notes the trial in the sample's context, where every call of
the model by a solver sees it. Scorers run in another context: judges get no seeds. Each call has
a seed of its own, because a task that asks twice must not get the same answer twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, ModelAPI
    from inspect_ai.solver import Solver, TaskState
    from inspect_ai.tool import ToolChoice, ToolInfo


def call_seed(seed: int | None, call: int) -> int | None:
    """Return the seed of a trial's call; the first has the trial's own.

    >>> call_seed(7, 0), call_seed(7, 1), call_seed(None, 1)
    (7, 1607246014, None)
    """
    if seed is None or call == 0:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed}\0{call}".encode()).digest()[:4], "big") >> 1


@dataclass
class TrialCalls:
    """One trial under way: its seed, its calls of the model, and how the last one failed."""

    seed: int | None
    calls: int = 0  # that were answered
    fault: Exception | None = None  # of the last call, unless it was answered
    heard: asyncio.Event | None = None  # to set once the model has answered
    _next: int = 0
    _again: list[int] = field(default_factory=list)  # calls that failed and may be repeated

    def begin(self) -> int:
        """Return the number of a call; one that is repeated keeps its own, and so its seed."""
        if self._again:
            return heapq.heappop(self._again)
        self._next += 1
        return self._next - 1

    def answered(self) -> None:
        """Note that a call was answered."""
        self.calls += 1
        self.fault = None
        if self.heard is not None:
            self.heard.set()

    def failed(self, call: int, fault: Exception) -> None:
        """Note that a call failed."""
        self.fault = fault
        heapq.heappush(self._again, call)


_trial: ContextVar[TrialCalls | None] = ContextVar("passband_trial", default=None)


def noting_solver(trials: Mapping[tuple[str, int], TrialCalls], solver: Solver = None) -> Any:
    """Return a solver that notes the trial of its sample, and then does what another does."""
    from inspect_ai.solver import solver as registered

    @registered(name="passband_trial")  # type: ignore[untyped-decorator]
    def passband_trial() -> Any:
        async def solve(state: TaskState, generate: Any) -> Any:
            _trial.set(trials.get((str(state.sample_id), state.epoch)))
            return state if solver is None else await solver(state, generate)

        return solve

    return passband_trial()


@contextmanager
def watched(api: ModelAPI) -> Iterator[None]:
    """Seed the calls of a model by solvers and note how they end, for as long as this lasts."""
    inner = api.generate
    own = vars(api).get("generate")  # where it is not the class's

    async def generate(
        input: Any, tools: ToolInfo, tool_choice: ToolChoice, config: GenerateConfig
    ) -> Any:
        trial = _trial.get()
        if trial is None:
            return await inner(input, tools, tool_choice, config)
        call = trial.begin()
        if trial.seed is not None:
            config = config.model_copy(update={"seed": call_seed(trial.seed, call)})
        try:
            result = await inner(input, tools, tool_choice, config)
        except Exception as error:
            trial.failed(call, error)
            raise
        output = result[0] if isinstance(result, tuple) else result
        if isinstance(output, Exception):
            trial.failed(call, output)
        else:
            trial.answered()
        return result

    api.generate = generate
    try:
        yield
    finally:
        if own is None:
            del api.generate
        else:
            api.generate = own

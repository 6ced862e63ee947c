"""The light engine: a task's own solvers and scorers, called here, over passband's own client.

A task that only generates needs nothing of Inspect but its code: a state for each sample, the
solvers with a `generate` that asks the provider, and the scorers. Texts and scores are those of
Inspect's own engine, at a tenth of its computing. What a scorer of the task's own does shows only
when it runs: if it wants a model or a sandbox, or fails, its trial and all that follow are handed
to Inspect's engine, and nothing of it is recorded before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from passband.errors import describe
from passband.generate.inspect.conversation import Conversation, Requests
from passband.generate.inspect.guard import HandedBack, KeptAnswers, TaskGuard
from passband.generate.inspect.only_generates import is_simple, steps_of
from passband.generate.inspect.source import InspectTask
from passband.generate.problem import Problem
from passband.generate.provider import (
    Completion,
    JsonMapping,
    JsonObject,
    ProviderFault,
    Sampling,
    TaskError,
)
from passband.generate.subject import ProviderSubject, Seeds, Subject
from passband.score import Score, inspect_scores

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample
    from inspect_ai.solver import TaskState

logger = logging.getLogger(__name__)


class LightSubject(Subject):
    """A model behind the solvers and scorers of a task that only generates."""

    batch = 1  # a trial is a conversation of its own
    is_costly = True  # no more trials than are in flight may be lost by a kill

    def __init__(
        self,
        source: InspectTask,
        asked: ProviderSubject,
        inspect_engine: Callable[[KeptAnswers], Subject],
    ) -> None:
        from inspect_ai.scorer._scorer import unique_scorer_name

        task = source.task
        self.name, self.address, self.spec = asked.name, asked.address, asked.spec
        self._asked, self._source = asked, source
        settings = task.config.model_dump(exclude_none=True)
        self._requests = Requests(asked.provider, asked.name, settings)
        self._steps = steps_of(task)
        self._scorers: JsonObject = {}
        for scorer in task.scorer or ():
            self._scorers[unique_scorer_name(scorer, list(self._scorers))] = scorer
        self._is_guarded = not all(map(is_simple, self._scorers.values()))
        self._inspect_engine = inspect_engine
        self._inspect: Subject | None = None  # once the task is handed back
        self._reason = ""
        self._replay = KeptAnswers()  # of what was drawn for trials that are handed back

    @property
    def config(self) -> JsonMapping:
        """The engine that answers, and why it is not the light one if it was."""
        common = {"inspect_ai": self._source.version, "client": "passband"}
        if self._inspect is None:
            return {"engine": "light", **common}
        return {"engine": "inspect", "reasons": [self._reason], **common}

    async def answer(
        self, problem: Problem, sampling: Sampling, seeds: Seeds, trials: Sequence[int]
    ) -> Sequence[Completion]:
        """Run the sample once for each trial."""
        if self._inspect is None:
            try:
                return [
                    await self._run(problem, sampling, seed, trial)
                    for seed, trial in zip(seeds, trials, strict=True)
                ]
            except HandedBack as error:
                self._hand_back(error.reason)
        assert self._inspect is not None
        return await self._inspect.answer(problem, sampling, seeds, trials)

    async def reset(self) -> None:
        """Drop connections."""
        await self._asked.reset()

    async def close(self) -> None:
        """Close the provider, and Inspect's engine if it was started."""
        await self._asked.close()
        if self._inspect is not None:
            await self._inspect.close()

    def _hand_back(self, reason: str) -> None:
        if self._inspect is None:
            self._reason = reason
            self._inspect = self._inspect_engine(self._replay)
            logger.warning("Inspect's own engine runs the task from here: %s.", reason)

    async def _run(
        self, problem: Problem, sampling: Sampling, seed: int | None, trial: int
    ) -> Completion:
        """Solve and score a sample."""
        sample = self._source.samples[problem.key]
        conversation = Conversation(self._requests, sampling, seed)
        try:
            state = await self._solved(self._state(sample, trial), conversation)
            scores = await self._scored(state, sample, conversation)
            return conversation.completion(state, scores)
        except HandedBack:
            conversation.keep_in(self._replay)
            raise

    def _state(self, sample: Sample, trial: int) -> Any:
        """Return the state that a sample begins with; nothing in it is shared between trials."""
        from inspect_ai._eval.task.util import sample_messages
        from inspect_ai.model import ModelName
        from inspect_ai.scorer import Target
        from inspect_ai.solver import TaskState

        return TaskState(
            model=ModelName(f"passband/{self.name}"),
            sample_id=sample.id,
            epoch=trial + 1,
            input=deepcopy(sample.input),
            messages=sample_messages(sample),
            target=Target(sample.target),
            choices=sample.choices,
            metadata=deepcopy(sample.metadata) if sample.metadata else {},
        )

    async def _solved(self, state: TaskState, conversation: Conversation) -> Any:
        try:
            for step in self._steps:
                state = await step(state, conversation.generate)
                if state.completed:
                    break
        except (HandedBack, ProviderFault):
            raise
        except Exception as error:
            raise TaskError(f"a solver raised {describe(error)}") from error
        state.completed = True
        return state

    async def _scored(
        self, state: TaskState, sample: Sample, conversation: Conversation
    ) -> dict[str, Score]:
        """Return the scores of a state by every scorer of the task."""
        from inspect_ai.scorer import Target

        state.scores = {}
        scores: dict[str, Score] = {}
        try:
            usage = conversation.usage() if self._is_guarded else {}
            with TaskGuard().in_place(state, usage) if self._is_guarded else nullcontext():
                for name, scorer in self._scorers.items():
                    score = await scorer(state, Target(sample.target))
                    if score is not None:
                        state.scores[name] = score
                        scores |= inspect_scores(
                            name,
                            score.value,
                            answer=score.answer,
                            explanation=score.explanation,
                            reason=getattr(score, "reason", None),
                        )
        except HandedBack:
            raise
        except Exception as error:
            if self._is_guarded:  # for want of something that Inspect's engine has, perhaps
                raise HandedBack(f"a scorer raised {describe(error)}") from error
            raise TaskError(f"a scorer raised {describe(error)}") from error
        return scores

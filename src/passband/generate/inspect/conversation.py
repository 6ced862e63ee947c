"""One trial's requests: a `generate` for solvers that asks a provider and counts what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from passband.generate.inspect.calls import call_seed
from passband.generate.inspect.generation import (
    finish_of,
    messages_of,
    output_of,
    reasoning_of,
    sampling_of,
)
from passband.generate.inspect.guard import HandedBack, KeptAnswers
from passband.generate.provider import (
    Completion,
    InvalidReply,
    JsonMapping,
    JsonObject,
    Message,
    Provider,
    Request,
    Sampling,
)
from passband.score import Score

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage
    from inspect_ai.solver import TaskState

_PROMPTS = 10_000  # that are kept, so that the trials of a problem share one


class Requests:
    """Makes the requests of a task: the same parameters and prompts are the same objects."""

    def __init__(self, provider: Provider, model: str, settings: JsonMapping) -> None:
        self.provider, self.model = provider, model
        self._task = sampling_of(Sampling(), settings)
        self._system = settings.get("system_message")
        self._prompts: dict[tuple[Message, ...], tuple[Message, ...]] = {}
        self._samplings: dict[tuple[int, str], tuple[Sampling, Sampling]] = {}

    def make(
        self,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        settings: JsonMapping,
        seed: int | None,
    ) -> Request:
        """Return a request; a solver's settings beat the run's, and those the task's."""
        prompt = self._prompt(messages, settings.get("system_message") or self._system)
        return Request(prompt, self._sampling(sampling, settings), (seed,))

    def _prompt(
        self, conversation: Sequence[ChatMessage], system: str | None
    ) -> tuple[Message, ...]:
        messages = messages_of(conversation, system)
        if len(self._prompts) > _PROMPTS:
            self._prompts.clear()
        return self._prompts.setdefault(messages, messages)

    def _sampling(self, sampling: Sampling, settings: JsonMapping) -> Sampling:
        place = id(sampling), repr(sorted(settings.items())) if settings else ""
        kept = self._samplings.get(place)
        if kept is None or kept[0] is not sampling:
            kept = sampling, sampling_of(_over(self._task, sampling), settings)
            self._samplings[place] = kept
        return kept[1]


class Conversation:
    """The requests of one trial, and the answer that they come to."""

    def __init__(self, requests: Requests, sampling: Sampling, seed: int | None) -> None:
        self._requests, self._sampling, self._seed = requests, sampling, seed
        self._asked: list[Request] = []  # that were answered
        self._completions: list[Completion] = []
        self._usages: list[Any] = []  # tokens of each, as a `ModelUsage`

    async def generate(self, state: TaskState, tool_calls: str = "loop", **settings: Any) -> Any:
        """Add the model's next message to a state; what solvers are given as `generate`."""
        if state.tools:
            raise HandedBack("a solver offers tools")
        seed = call_seed(self._seed, len(self._completions))
        request = self._requests.make(state.messages, self._sampling, settings, seed)
        completions = await self._requests.provider.generate(request)
        if not completions:
            raise InvalidReply("the model returned no completion")
        self._asked.append(request)
        self._completions.append(completions[0])
        state.output = output_of(completions[0], self._requests.model)
        state.messages.append(state.output.message)
        if state.output.usage is not None:
            self._usages.append(state.output.usage)
        return state

    def completion(self, state: TaskState, scores: Mapping[str, Score]) -> Completion:
        """Return the answer that a state has come to; several requests leave a transcript."""
        first, is_long = self._completions[0], len(self._completions) > 1
        return Completion(
            text=state.output.completion,
            finish=finish_of(state.output),
            reasoning=reasoning_of(state.output),
            prompt_tokens=self._total("prompt_tokens"),
            completion_tokens=self._total("completion_tokens"),
            seed=first.seed,
            request_id=first.request_id,
            transcript=[_record(message) for message in state.messages] if is_long else None,
            cost=self._total("cost"),
            reasoning_tokens=self._total("reasoning_tokens"),
            cached_tokens=self._total("cached_tokens"),
            scores=scores or None,
        )

    def usage(self) -> JsonObject:
        """Return the tokens of the model so far, by its name, as Inspect keeps them."""
        return (
            {self._requests.model: sum(self._usages[1:], self._usages[0])} if self._usages else {}
        )

    def keep_in(self, replay: KeptAnswers) -> None:
        """Keep the answers drawn so far for another engine to go on with."""
        for request, completion in zip(self._asked, self._completions, strict=True):
            replay.keep(request, completion)

    def _total(self, name: str) -> Any:
        values = [getattr(completion, name) for completion in self._completions]
        return None if None in values else sum(values)


def _over(task: Sampling, run: Sampling) -> Sampling:
    """Return the task's parameters, replaced by the run's where it sets them."""
    named = {
        n: v for n in ("temperature", "top_p", "max_tokens") if (v := getattr(run, n)) is not None
    }
    return replace(task, **named, stop=run.stop or task.stop, extra={**task.extra, **run.extra})


def _record(message: ChatMessage) -> JsonObject:
    """Return a message as it is kept in a transcript."""
    record: JsonObject = message.model_dump(mode="json", exclude_none=True, exclude={"id"})
    return record

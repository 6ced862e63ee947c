"""Turn the argument of an evaluator into a model that tasks can be asked of.

None or a name stands for the configured model; a function of messages, a sampling client of tinker
and a model of Inspect stand for themselves. The run has an event loop of its own, in another
thread; what these use, such as a connection or a lock, belongs to the caller's loop, and they are
called there.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import os
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from passband.errors import InvalidInput, WrongType, describe
from passband.generate import (
    Completion,
    Crashed,
    JsonObject,
    Provider,
    Request,
    is_model_of_inspect,
    providers,
)

if TYPE_CHECKING:
    from passband.inspect_evals.inspect_evaluators import InspectEvaluatorBuilder


#: Messages and sampling parameters in, text out; may be async.
Answer: TypeAlias = "Callable[[list[dict[str, str]], JsonObject], str | Awaitable[str]]"
Target: TypeAlias = "str | Answer | Any | None"
T = TypeVar("T")


def model_of(config: InspectEvaluatorBuilder, target: Target) -> Any:
    """Return the model of a target."""
    if target is None or isinstance(target, str):
        return _named(config, target)
    if hasattr(target, "sample_async"):
        return _in_the_callers_loop(_tinker_model(config, target))
    if is_model_of_inspect(target):
        return _in_the_callers_loop(target)
    if callable(target):
        return CallerProvider(target, config.model_name)
    raise WrongType(
        "an evaluator takes a model's name, a sampling client of tinker, a model of Inspect or a "
        f"function of messages; got {target!r:.80}."
    )


def _named(config: InspectEvaluatorBuilder, name: str | None) -> Any:
    """Return the name by which passband or Inspect knows a model, or a model of Inspect."""
    name = name or config.model_name
    if not name:
        raise InvalidInput("model_name is missing; give the name of a model.")
    if config.model_args:
        return _inspect_model(config, name)
    is_qualified = name.partition(":")[0] in providers or name.startswith("openai-api/")
    if config.base_url or is_qualified:
        return name if is_qualified else f"openai:{name}"
    if not os.environ.get("OPENAI_BASE_URL") and not _is_known_to_inspect(name):
        raise InvalidInput(
            f"model_name={name} is no model that passband or Inspect knows by name. Give "
            f"base_url=URL of the server that has it, or model_path=tinker://... ."
        )
    return name


def _is_known_to_inspect(name: str) -> bool:
    from passband.generate import is_known_to_inspect, require_inspect

    require_inspect()
    return is_known_to_inspect(name)


def _inspect_model(config: InspectEvaluatorBuilder, name: str) -> Any:
    from passband.generate import message_of, require_inspect
    from passband.tasks import read_task_args

    require_inspect()
    from inspect_ai.model import get_model

    arguments = read_task_args(f"{key}={value}" for key, value in (config.model_args or {}).items())
    try:
        return get_model(name, base_url=config.base_url, memoize=False, **arguments)
    except Exception as error:  # a missing key, a missing package, a wrong argument
        raise InvalidInput(f"model_name={name}: {message_of(error)}") from error


class CallerProvider(Provider):
    """A function of messages, called in the event loop that the evaluator was called in."""

    def __init__(self, answer: Answer, name: str | None = None) -> None:
        self._answer = answer
        self._loop = asyncio.get_running_loop()
        self.name = name or str(getattr(answer, "__qualname__", type(answer).__name__))

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Call the function once."""
        messages = [{"role": one.role, "content": one.content} for one in request.messages]
        settings = {**request.sampling.spec, "seed": request.seeds[0]}
        try:
            text = await _called_in(self._loop, self._call(messages, settings))
        except Exception as error:
            raise Crashed(f"the function raised {describe(error)}") from error
        if not isinstance(text, str):
            raise Crashed(f"the function returned {type(text).__name__}, not text")
        return [Completion(text, seed=request.seeds[0])]

    async def _call(self, messages: list[dict[str, str]], settings: JsonObject) -> object:
        answer = self._answer(messages, settings)
        return await answer if inspect.isawaitable(answer) else answer


async def _called_in(loop: asyncio.AbstractEventLoop, call: Coroutine[Any, Any, T]) -> T:
    """Await a call in another event loop; context variables go with it."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call, loop))


def _in_the_callers_loop(model: Any) -> Any:
    """Return a copy of a model of Inspect whose requests are made in the running event loop."""
    loop = asyncio.get_running_loop()
    twin, api = copy.copy(model), copy.copy(model.api)
    inner = model.api.generate

    async def generate(input: Any, tools: Any, tool_choice: Any, config: Any) -> Any:
        return await _called_in(loop, inner(input, tools, tool_choice, config))

    api.generate = generate
    twin.api = api
    return twin


def _tinker_model(config: InspectEvaluatorBuilder, client: Any) -> Any:
    """Return a model of Inspect that renders prompts and samples with a client of tinker."""
    for name in ("model_name", "renderer_name"):
        if getattr(config, name) is None:
            raise InvalidInput(f"{name} is missing; a sampling client of tinker needs it.")
    try:
        from inspect_ai.model import GenerateConfig, Model
        from tinker_cookbook.eval.inspect_utils import InspectAPIFromTinkerSampling
    except ImportError as error:
        raise InvalidInput(
            f"a sampling client of tinker needs tinker-cookbook and inspect-ai: {error}."
        ) from None
    try:
        api = InspectAPIFromTinkerSampling(
            renderer_name=config.renderer_name,
            model_name=config.model_name,
            sampling_client=client,
            **({"include_reasoning": True} if config.include_reasoning else {}),
        )
    except Exception as error:  # an unknown renderer, a tokenizer that cannot be loaded
        raise InvalidInput(
            f"renderer_name={config.renderer_name}, model_name={config.model_name}: "
            f"{describe(error, 300)}"
        ) from error
    return Model(api=api, config=GenerateConfig())

"""A provider that calls a Python function: `python:module:function`, plain or async."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from passband.errors import InvalidInput, nearest
from passband.generate.calls import Calls, DeadlinePassed
from passband.generate.provider import (
    Completion,
    Crashed,
    Hopeless,
    InvalidReply,
    Request,
    TimedOut,
)
from passband.generate.secrets import learn_secrets, redacted, redacted_values
from passband.generate.source_digests import function_spec

__all__ = ["Function", "function_named"]


class Function:
    """A model that is a function of the prompt.

    The function takes the prompt as its first argument and, of the following, those that it has
    parameters for: `messages` (a list of dicts), `temperature`, `top_p`, `max_tokens`, `stop`,
    `seed`. It returns the answer: a string, or a `Completion`.
    """

    batch = 1

    def __init__(
        self, function: Callable[..., Any], *, timeout: float = 600.0, threads: int = 64
    ) -> None:
        self._function = function
        self._wanted = _parameters(function)
        self._calls = Calls(function, timeout=timeout, threads=threads)
        learn_secrets()  # that it may send, and give back

    @cached_property
    def spec(self) -> dict[str, Any]:
        """Digests of the function's source, which a resumed run has to have too."""
        return {"function": function_spec(self._function)}

    async def generate(self, request: Request) -> Sequence[Completion]:
        """Call the function once."""
        prompt = "\n\n".join(message.content for message in request.messages)
        arguments = self._arguments(request)
        try:
            answer = await self._calls.call(prompt, **arguments)
        except DeadlinePassed as error:
            raise TimedOut(str(error)) from None
        except (Hopeless, asyncio.CancelledError):
            raise
        except Exception as error:
            raise Crashed(redacted(f"{type(error).__name__}: {error}")) from error
        return [_completion(answer, request.seeds[0])]

    async def close(self) -> None:
        self._calls.close()

    def _arguments(self, request: Request) -> dict[str, Any]:
        sampling = request.sampling
        offered = {
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "stop": list(sampling.stop),
            "seed": request.seeds[0],
            **sampling.extra,
        }
        if self._wanted is None:
            return offered
        return {name: value for name, value in offered.items() if name in self._wanted}


def function_named(name: str) -> Callable[..., Any]:
    """Return the function named `module:function`; the working folder is searched first."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise InvalidInput(f"--model must be python:module:function; got 'python:{name}'.")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise InvalidInput(f"python:{name}: {error}.") from error
    function = getattr(module, attribute, None)
    if not callable(function):
        names = [n for n in dir(module) if not n.startswith("_") and callable(getattr(module, n))]
        hint = nearest(attribute, names)
        raise InvalidInput(f"{module_name} has no function named {attribute!r}.{hint}")
    return function  # type: ignore[no-any-return]


def _parameters(function: Callable[..., Any]) -> set[str] | None:
    """Return the names of the parameters after the prompt; None means any name."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return set()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return {p.name for p in parameters[1:] if p.kind is not p.VAR_POSITIONAL}


def _completion(answer: Any, seed: int | None) -> Completion:
    if isinstance(answer, Completion):
        texts = {name: getattr(answer, name) for name in ("text", "reasoning", "transcript")}
        clean = redacted_values(texts)
        return answer if clean == texts else answer._replace(**clean)
    if isinstance(answer, str):
        return Completion(redacted_values(answer), seed=seed)
    kind = "nothing" if answer is None else type(answer).__name__
    raise InvalidReply(f"the function returned {kind}, not text")

"""Calling the function that is evaluated: in the caller's event loop, bounded, with a deadline.

A coroutine function is awaited in the event loop that `evaluate_async` was called in, so that the
connections and locks that it uses belong there. A plain function is called in a thread, by default
one call at a time. Inputs that wait at the same time share a call.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from typing import Any, TypeAlias

from passband.errors import InvalidInput, ScoreBookError, WrongType, describe
from passband.generate import (
    Calls,
    Crashed,
    DeadlinePassed,
    Hopeless,
    InvalidReply,
    JsonMapping,
    TimedOut,
    is_async,
    learn_secrets,
    redacted,
    redacted_values,
)

InferenceFunction: TypeAlias = "Callable[..., Sequence[Any] | Awaitable[Sequence[Any]]]"
_ASYNC_CALLS = 16  # at the same time, of a coroutine function


class WrongOutputs(ScoreBookError):
    """The function does not return one output for each input."""


class Inference:
    """The function, and the limits of calling it."""

    def __init__(
        self,
        function: InferenceFunction,
        *,
        concurrency: int | None = None,
        timeout: float = 600.0,
        batch_size: int = 16,
    ) -> None:
        if not callable(function):
            raise WrongType(f"inference must be a function of inputs; got {function!r:.60}.")
        for name, value in (("concurrency", concurrency), ("batch_size", batch_size)):
            if value is not None and (type(value) is not int or value < 1):
                raise InvalidInput(f"{name} must be a whole number, 1 or more; got {value!r}.")
        if not timeout > 0:
            raise InvalidInput(f"timeout must be above 0 seconds; got {timeout!r}.")
        self.function, self.timeout, self.batch_size = function, timeout, batch_size
        self.loop = asyncio.get_running_loop()
        self.limit = concurrency or (_ASYNC_CALLS if is_async(function) else 1)  # calls at a time
        self.slots = asyncio.Semaphore(self.limit)
        self._calls = Calls(function, timeout=timeout, threads=self.limit)
        learn_secrets()  # that it may send, and give back

    @property
    def name(self) -> str:
        """The name that trials are recorded under."""
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))

    async def call(self, inputs: list[Any], hyperparameters: JsonMapping) -> list[Any]:
        """Call the function once, and return one output for each input."""
        return _checked(await self._calls.call(inputs, **hyperparameters), len(inputs))

    def close(self) -> None:
        """End the threads that are idle."""
        self._calls.close()


class InferenceCalls:
    """The calls of one run: the function with one set of hyperparameters."""

    def __init__(self, inference: Inference, hyperparameters: JsonMapping) -> None:
        self.inference, self.hyperparameters = inference, dict(hyperparameters)
        self._waiting: deque[tuple[Any, asyncio.Future[Any]]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    async def text_of(self, one: Any) -> str:
        """Return the output of an input as text; a failure is a `ProviderFault`."""
        future = self.inference.loop.create_future()
        self._waiting.append((one, future))
        task = asyncio.ensure_future(self._call())  # what waits by then shares the call
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return str(redacted_values(_text(await future)))
        except DeadlinePassed as error:
            raise TimedOut(str(error)) from None
        except WrongOutputs as error:
            raise Hopeless(str(error)) from None
        except (Hopeless, InvalidReply, asyncio.CancelledError):
            raise
        except Exception as error:
            raise Crashed(redacted(f"inference raised {describe(error)}")) from error

    async def _call(self) -> None:
        async with self.inference.slots:
            most = min(self.inference.batch_size, len(self._waiting))
            taken = [self._waiting.popleft() for _ in range(most)]
            await self._answer([pair for pair in taken if not pair[1].done()])

    async def _answer(self, taken: Sequence[tuple[Any, asyncio.Future[Any]]]) -> None:
        if not taken:
            return
        try:
            inputs = [one for one, _ in taken]
            outputs = await self.inference.call(inputs, self.hyperparameters)
        except Exception as error:
            await self._failed(taken, error)
            return
        for (_, future), output in zip(taken, outputs, strict=True):
            if not future.done():
                future.set_result(output)

    async def _failed(
        self, taken: Sequence[tuple[Any, asyncio.Future[Any]]], error: Exception
    ) -> None:
        """Pass an error on; of several inputs, find out which of them it is of."""
        if len(taken) > 1 and not isinstance(error, (WrongOutputs, DeadlinePassed, Hopeless)):
            for pair in taken:
                await self._answer([pair])
            return
        if isinstance(error, StopIteration):  # which no future can hold
            error = RuntimeError(describe(error))
        for _, future in taken:
            if not future.done():
                future.set_exception(error)


def _checked(outputs: Any, count: int) -> list[Any]:
    rule = "inference must return a list with one output for each input"
    if isinstance(outputs, (str, bytes, Mapping, Set)) or not hasattr(outputs, "__iter__"):
        kind = "nothing" if outputs is None else f"a value of type {type(outputs).__name__}"
        raise WrongOutputs(f"{rule}; it returned {kind}.")
    listed = list(outputs)
    if len(listed) != count:
        raise WrongOutputs(f"{rule}; it returned {len(listed)} for {count}.")
    return listed


def _text(output: Any) -> str:
    """Return an output as text; numbers and truth values are written out."""
    if isinstance(output, str):
        return output
    if isinstance(output, (bool, int, float)) or hasattr(output, "dtype"):
        return str(output)
    kind = "nothing" if output is None else f"a {type(output).__name__}"
    raise InvalidReply(f"inference returned {kind} for an input, not text")

"""A provider that calls a Python function: `python:module:function`, plain or async.

A plain function is called in a daemon thread, so that it does not block the event loop. A coroutine
is awaited in the event loop: one that is late is cancelled, and left behind if it does not end. One
that blocks the loop cannot be stopped; the time that it takes is added to the deadlines of the
others, and a warning says so.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import queue
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from passband.errors import InvalidInput, nearest, warn
from passband.generate.fingerprint.digest import function_spec
from passband.generate.provider import (
    Completion,
    Crashed,
    Hopeless,
    InvalidReply,
    JsonMapping,
    JsonObject,
    Provider,
    Request,
    TimedOut,
)
from passband.generate.secrets import learn_secrets, redacted, redacted_values

_EVERY = 0.25  # seconds
_ALLOWED = 1.0  # seconds that are not counted
_LOUD = 5.0  # seconds from which it is said; less may be a busy machine


class Heartbeat:
    """A task that wakes up regularly, and measures by how much it is late."""

    def __init__(self) -> None:
        self.held = 0.0  # seconds in total
        self._task: asyncio.Task[None] | None = None
        self._has_warned = False

    def start(self) -> None:
        """Begin in the running event loop, if it has not begun."""
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._beat())

    def stop(self) -> None:
        """Stop; it may begin again."""
        if self._task is not None and not self._task.get_loop().is_closed():
            self._task.cancel()
        self._task = None

    async def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(_EVERY)
            self.note(loop.time() - before - _EVERY)

    def note(self, seconds: float) -> None:
        """Count a time in which nothing else could happen."""
        if seconds <= _ALLOWED:
            return
        self.held += seconds
        if seconds > _LOUD and not self._has_warned:
            self._has_warned = True
            warn(
                f"the event loop stood still for {seconds:.0f} s: the model's function is async "
                "but blocks, and every other answer waits for it. Make it a plain function (def), "
                "which is called in threads, or await what blocks."
            )


MOST_HUNG = 1000  # calls that never return, each of which keeps a thread


class DeadlinePassed(Exception):
    """A call has taken too long; unlike a TimeoutError, no function raises it of its own."""


@dataclass(eq=False)
class _Call:
    """A call that waits for a thread, or is being made."""

    function: Callable[[], Any]
    taken: asyncio.Future[None]  # by a thread
    result: asyncio.Future[Any]
    is_hung: bool = False  # whether nothing waits for it any more


class Threads:
    """Daemon threads that call functions, at most `most` at a time.

    The program waits for the threads of `concurrent.futures` when it ends, even after a second
    Ctrl-C, and a function that never returns would hold it for ever. Nothing can stop a thread: one
    whose call is late is replaced, so that it costs no other call, up to `most_hung` of them.
    """

    def __init__(self, most: int, most_hung: int = MOST_HUNG) -> None:
        self._most, self._most_hung = most, most_hung
        self._idle = 0
        self._started = 0  # threads, those left out that hang
        self._hung = 0
        self._has_warned = False
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()

    async def run(self, function: Callable[[], Any], timeout: float | None = None) -> Any:
        """Return the result of a call; its time begins when a thread takes it."""
        if self._hung >= self._most_hung:
            raise self._too_many()
        loop = asyncio.get_running_loop()
        call = _Call(function, loop.create_future(), loop.create_future())
        self._calls.put(call)
        if self._idle:
            self._idle -= 1
        else:
            self._start()
        try:
            await call.taken
            done, _ = await asyncio.wait({call.result}, timeout=timeout)
        except BaseException:
            call.result.cancel()
            raise
        if done:
            return call.result.result()
        self._give_up(call)
        raise DeadlinePassed(f"no answer within {timeout:g} s")

    def close(self) -> None:
        """End each thread once it is idle."""
        for _ in range(self._started):
            self._calls.put(None)

    def _start(self) -> None:
        if self._started >= self._most:
            return
        try:
            threading.Thread(target=self._work, daemon=True).start()
        except RuntimeError:  # the system allows no more
            if self._started == 0:
                self._fail_waiting()
        else:
            self._started += 1

    def _give_up(self, call: _Call) -> None:
        """Leave a thread to its call, and start another in its place."""
        call.is_hung = True
        self._hung += 1
        self._started -= 1
        if self._hung >= self._most_hung:
            self._fail_waiting()
        elif not self._calls.empty():
            self._start()
        if not self._has_warned:
            self._has_warned = True
            warn(
                "a call of the model's function is late, and cannot be stopped; other calls go on "
                f"in a new thread. After {self._most_hung} such calls the run stops."
            )

    def _fail_waiting(self) -> None:
        """Fail the calls that no thread will take."""
        with suppress(queue.Empty):
            while (call := self._calls.get_nowait()) is not None:
                if not call.taken.done():
                    call.taken.set_exception(self._too_many())

    def _too_many(self) -> Hopeless:
        return Hopeless(
            f"{self._hung} calls of the model's function have not returned, and each keeps a "
            f"thread. Give the function a timeout of its own, or a longer --timeout."
        )

    # -- in a thread -----------------------------------------------------------------------

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            loop = call.result.get_loop()
            result, error = None, None
            try:
                loop.call_soon_threadsafe(_resolve, call.taken)
                if not call.result.cancelled():
                    result = call.function()
            except Exception as raised:
                error = raised
            except BaseException as raised:  # sys.exit() of the function is not ours
                error = RuntimeError(f"{type(raised).__name__}: {raised}")
            with suppress(RuntimeError):  # the loop is closed: nothing waits any more
                loop.call_soon_threadsafe(self._done, call, result, error)
            if call.is_hung:  # it was, and another thread has its place
                return

    def _done(self, call: _Call, result: Any, error: Exception | None) -> None:
        """Resolve the future, in the thread of the event loop."""
        if call.is_hung:
            self._hung -= 1
            return
        self._idle += 1
        if call.result.cancelled():
            return
        if error is None:
            call.result.set_result(result)
        elif isinstance(error, StopIteration):  # which no future can hold
            call.result.set_exception(RuntimeError(f"StopIteration: {error}"))
        else:
            call.result.set_exception(error)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


_GRACE = 1.0  # seconds that a cancelled coroutine has to end


class Calls:
    """Calls one function."""

    def __init__(self, function: Callable[..., Any], *, timeout: float, threads: int) -> None:
        self._function = function
        self._is_async = is_async(function)
        self._timeout = timeout
        self._threads = Threads(threads)
        self._heartbeat = Heartbeat()

    async def call(self, *arguments: Any, **named: Any) -> Any:
        """Return what the function returns; raise `DeadlinePassed` if that takes too long."""
        if self._is_async:
            return await self._awaited(self._function(*arguments, **named))
        made = await self._threads.run(lambda: self._function(*arguments, **named), self._timeout)
        return await self._awaited(made) if inspect.isawaitable(made) else made

    def close(self) -> None:
        """End the threads that are idle."""
        self._threads.close()
        self._heartbeat.stop()

    async def _awaited(self, made: Awaitable[Any]) -> Any:
        task = asyncio.ensure_future(made)
        self._heartbeat.start()
        try:
            if await self._is_in_time(task):
                return task.result()
            raise DeadlinePassed(f"no answer within {self._timeout:g} s")
        finally:
            if not task.done():
                await _end(task)

    async def _is_in_time(self, task: asyncio.Future[Any]) -> bool:
        left = self._timeout
        while left > 0:
            held = self._heartbeat.held
            done, _ = await asyncio.wait({task}, timeout=left)
            if done:
                return True
            left = self._heartbeat.held - held  # nothing could be answered in that time
        return False


def is_async(function: object) -> bool:
    """Return whether a function, or an object that is called, is async."""
    call = getattr(function, "__call__", None)  # noqa: B004  an object may be async to call
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


async def _end(task: asyncio.Future[Any]) -> None:
    """Cancel a task; forget it if it goes on, else the event loop would wait for it at its end."""
    task.cancel()
    try:
        await asyncio.wait({task}, timeout=_GRACE)
    finally:
        if task.done():
            with suppress(BaseException):
                task.exception()
        else:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            asyncio.tasks._unregister_task(task)  # type: ignore[arg-type]


class Function(Provider):
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
    def spec(self) -> JsonMapping:
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

    def _arguments(self, request: Request) -> JsonObject:
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

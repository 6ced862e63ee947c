"""Run the tests of a trial and write the verdict; nothing of the program is in this process.

The function under test is a proxy that sends its arguments to the program and waits for the answer.
"""

from __future__ import annotations

import _thread
import builtins
import functools
import socket
import types
from typing import Any

from . import plain, wire
from .program import describe, load

_SHOWN = 160  # characters of a call, of a result, of a line
_ENDS_OF_LOOPS = (StopIteration, StopAsyncIteration)


class ProgramGone(BaseException):
    """The program's side has ended; no test can catch this by accident."""


class ProgramError(Exception):
    """An exception that the program raised and that is not a built-in one."""


class Invalid(Exception):
    """The prompt or the test is invalid; the message says why."""


class Remote:
    """The function under test, in another process."""

    def __init__(self, calls: socket.socket, name: str) -> None:
        self._calls = calls
        self.__name__ = name
        self._lock = _thread.allocate_lock()  # a test may call from several threads
        self._last: Any = None  # the arguments of the last call, and how it ended
        self.was_called = False

    def __call__(self, *arguments: object, **keywords: object) -> Any:
        self.was_called = True
        args = [plain.encode(argument, True) for argument in arguments]
        kwargs = {name: plain.encode(value, True) for name, value in keywords.items()}
        self._last = (args, "did not return", "")
        with self._lock:
            answer = self._asked({"args": args, "kwargs": kwargs})
        values = [*arguments, *keywords.values()]
        for position, changed in answer.get("changed", ()):
            _change(values[position], plain.decode(changed))
        if "raised" in answer:
            self._last = (args, "raised", str(answer["detail"])[:_SHOWN])
            raise _error(answer)
        result = values[answer["same"]] if "same" in answer else plain.decode(answer["result"])
        self._last = (args, "returned", result)
        return result

    @property
    def last(self) -> str | None:
        """The last call and how it ended, for people."""
        if self._last is None:
            return None
        args, verb, result = self._last
        shown = ", ".join(_short(plain.decode(argument)) for argument in args)
        ended = _short(result) if verb == "returned" else result
        return f"{self.__name__}({shown}) {verb} {ended}".rstrip()

    def _asked(self, message: wire.Message) -> wire.Message:
        try:
            wire.send(self._calls, message)
            answer = wire.receive(self._calls)
        except (OSError, wire.BadFrame) as error:
            raise ProgramGone(str(error)) from None
        if not isinstance(answer, dict):
            raise ProgramGone("it ended" if answer is None else "its answer is no answer")
        return answer


def _short(value: object) -> str:
    try:
        text = repr(value)
    except Exception:
        text = "?"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _change(argument: Any, changed: Any) -> None:
    """Make the changes that the program made in its copy of an argument."""
    if type(argument) is not type(changed):
        return
    if isinstance(argument, (list, bytearray)):
        argument[:] = changed
    elif isinstance(argument, (dict, set)):
        argument.clear()
        argument.update(changed)


def _error(answer: wire.Message) -> Exception:
    """Return an exception like the program's, of the nearest class that a text makes one of."""
    kind, text = getattr(builtins, str(answer["raised"]), None), str(answer["text"])
    if isinstance(kind, type) and issubclass(kind, _ENDS_OF_LOOPS):
        return _ended_loop(kind)
    if isinstance(kind, type) and issubclass(kind, Exception):
        for base in kind.__mro__[: kind.__mro__.index(Exception)]:
            try:
                return base(text)  # type: ignore[no-any-return]
            except TypeError:  # UnicodeDecodeError and the like want more arguments
                pass
    return ProgramError(text)


def _ended_loop(kind: type[BaseException]) -> RuntimeError:
    """Return the error for an exception that would end a `map` or `zip` of the tests in silence.

    Python makes the same of it where it leaves a generator (PEP 479).
    """
    return RuntimeError(f"the program raised {kind.__name__}")


def _guarded(function: Any) -> Any:
    """Return a function of this interpreter that cannot end a loop of the tests either."""
    if type(function) is not types.FunctionType:
        return function

    @functools.wraps(function)
    def call(*arguments: object, **keywords: object) -> Any:
        try:
            return function(*arguments, **keywords)
        except _ENDS_OF_LOOPS as error:
            raise _ended_loop(type(error)) from error

    return call


def judge(results: socket.socket, calls: socket.socket) -> None:
    """Read a job, run its tests against the program at the other end, write the verdict."""
    wire.send(results, {"ready": True})
    job = wire.receive(results)
    if job is None:
        return
    function = Remote(calls, job["entry_point"])
    try:
        verdict = _boot(calls, job) or verdict_on(job, function)
    except (ProgramGone, OSError, wire.BadFrame) as gone:
        verdict = {"status": "crashed", "detail": function.last, "reason": str(gone)}
    except Invalid as invalid:
        verdict = {"invalid": str(invalid)}
    except plain.NotPlain as value:
        verdict = {"needs_same": str(value)}
    except RecursionError:
        verdict = {"status": "failed", "detail": "the result is nested too deeply"}
    calls.close()
    wire.send(results, verdict)


def _boot(calls: socket.socket, job: wire.Message) -> wire.Message | None:
    """Have the program loaded; return the verdict if it cannot be."""
    ready = wire.receive(calls)
    if not ready:
        return {"sandbox": "the program's side did not start"}
    wire.send(calls, {"program": job["program"], "entry_point": job["entry_point"]})
    answer = wire.receive(calls)
    if answer is None:
        raise ProgramGone("it ended while it was loaded")
    boot = answer.get("boot") if isinstance(answer, dict) else None
    if boot == "ok":
        return None
    status = "did_not_compile" if boot == "did_not_compile" else "failed"
    return {"status": status, "detail": str(answer.get("detail", "")) if boot else None}


def verdict_on(job: wire.Message, function: Any) -> wire.Message:
    names = _prepared(job)
    names[job["entry_point"]] = names["candidate"] = function
    return _run(job, names, function)


def _prepared(job: wire.Message) -> wire.Message:
    """Run the prompt; return the names that the test sees."""
    try:
        return load(compile(job["prompt"], "<prompt>", "exec"), "tests")
    except Exception as error:
        raise Invalid(f"the prompt does not run: {describe(error)}") from None


def _run(job: wire.Message, names: wire.Message, function: Any) -> wire.Message:
    try:
        code = compile(job["test"], "<test>", "exec")
    except Exception as error:
        raise Invalid(f"the test does not compile: {describe(error)}") from None
    earlier = names.get("check")
    try:
        exec(code, names)
        check = names.get("check")
        if check is not None and check is not earlier:
            check(function)
    except (ProgramGone, plain.NotPlain):
        raise
    except BaseException as error:
        failure = _failure(job["test"], error, function)
        if not _was_called(function):
            raise Invalid(f"the test fails before it calls the program: {failure}") from None
        return {"status": "failed", "detail": failure}
    if not _was_called(function):
        raise Invalid("the test never calls the program, so that every program would pass")
    return {"status": "passed"}


def _was_called(function: Any) -> bool:
    """Return whether the program had a say; in one interpreter nobody counts its calls."""
    return function.was_called if type(function) is Remote else True


def _failure(test: str, error: BaseException, function: Any) -> str:
    """Return the line of the test that failed, the error, and the last call."""
    message = describe(error, "<test>")
    number = _line(error)
    lines = test.split("\n")
    if number is not None and number <= len(lines):
        message = f"{message.split(': ', 1)[0]}: {lines[number - 1].strip()[:_SHOWN]}"
        if not isinstance(error, AssertionError) or str(error):
            message += f" ({describe(error)[:_SHOWN]})"
    last = getattr(function, "last", None)
    return f"{message}; {last}" if last else message


def _line(error: BaseException) -> int | None:
    number, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == "<test>":
            number = step.tb_lineno
        step = step.tb_next
    return number


def judge_in_one(results: socket.socket) -> None:
    """Run program and tests in this one interpreter; the program can forge this verdict."""
    wire.send(results, {"ready": True})
    job = wire.receive(results)
    if job is None:
        return
    try:
        verdict = _in_one(job)
    except Invalid as invalid:
        verdict = {"invalid": str(invalid)}
    wire.send(results, verdict)


def _in_one(job: wire.Message) -> wire.Message:
    try:
        code: types.CodeType = compile(job["program"], "<program>", "exec")
    except BaseException as error:
        return {"status": "did_not_compile", "detail": describe(error)}
    try:
        names = load(code, "program")
    except BaseException as error:
        return {"status": "failed", "detail": describe(error, "<program>")}
    if job["entry_point"] not in names:
        detail = f"the program defines no {job['entry_point']}"
        return {"status": "failed", "detail": detail}
    function = _guarded(names[job["entry_point"]])
    names[job["entry_point"]] = names["candidate"] = function
    return _run(job, names, function)

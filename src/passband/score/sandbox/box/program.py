"""Run the program of a trial and answer calls of its function; no test is in this process.

Every value that it sends could have been returned by the program: the verdict is made elsewhere,
from plain data.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import socket
import sys
import types
from typing import Any

from . import plain, wire

_MUTABLE = (list, dict, set, bytearray)  # of which a test can tell the same one from an equal one


def serve(calls: socket.socket) -> None:
    """Load a program and answer calls of its function until the tests close the socket."""
    wire.send(calls, {"ready": True})
    job = wire.receive(calls)
    if job is None:
        return
    try:
        function = function_of(job["program"], job["entry_point"])
    except _Refused as refused:
        wire.send(calls, refused.args[0])
        return
    wire.send(calls, {"boot": "ok"})
    while True:
        call = wire.receive(calls)
        if call is None:
            return
        _answer(calls, called(function, call))


class _Refused(Exception):
    """The program cannot be called; the argument is the message to the tests."""


def function_of(program: str, entry_point: str) -> Any:
    """Return the function under test."""
    try:
        code = compile(program, "<program>", "exec")
    except BaseException as error:
        raise _Refused({"boot": "did_not_compile", "detail": describe(error)}) from None
    try:
        names = load(code, "program")
    except BaseException as error:
        raise _Refused({"boot": "failed", "detail": describe(error, "<program>")}) from None
    if entry_point not in names:
        detail = f"the program defines no {entry_point}"
        raise _Refused({"boot": "failed", "detail": detail})
    return names[entry_point]


def load(code: types.CodeType, name: str) -> wire.Message:
    """Run code as a module of its own; return its names."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(code, module.__dict__)
    return module.__dict__


def called(function: Any, call: wire.Message) -> wire.Message:
    """Call the function; return its result, and the arguments that it changed."""
    arguments = [plain.decode(value) for value in call["args"]]
    keywords = {name: plain.decode(value) for name, value in call["kwargs"].items()}
    values = [*arguments, *keywords.values()]
    try:
        answer = _returned(function(*arguments, **keywords), values)
    except BaseException as error:
        answer = _raised(error)
    with contextlib.suppress(Exception):
        before = [*call["args"], *call["kwargs"].values()]
        after = [plain.encode(value) for value in values]
        changed = [[i, new] for i, new in enumerate(after) if new != before[i]]
        if changed:
            answer["changed"] = changed
    return answer


def _returned(result: object, values: list[object]) -> wire.Message:
    """Return a result, or the position of the argument that it is."""
    if isinstance(result, _MUTABLE):
        for position, value in enumerate(values):
            if value is result:
                return {"same": position}
    return {"result": plain.encode(result)}


def _raised(error: BaseException) -> wire.Message:
    """Return an exception as the name of the nearest built-in class, and its text."""
    for kind in type(error).__mro__:
        if getattr(builtins, kind.__name__, None) is kind:
            break
    detail = describe(error, "<program>")
    return {"raised": kind.__name__, "text": text_of(error), "detail": detail}


def _answer(calls: socket.socket, answer: wire.Message) -> None:
    try:
        wire.send(calls, answer)
    except (wire.BadFrame, ValueError, RecursionError) as error:
        wire.send(calls, _raised(ValueError(f"the result cannot be sent: {error}")))


def describe(error: BaseException, file: str | None = None) -> str:
    """Return the type and text of an error, and the line of a file that it comes from."""
    text = text_of(error)
    message = f"{type(error).__name__}: {text}" if text else type(error).__name__
    lines = _lines(error, file) if file else []
    return (f"line {lines[-1]}: {message}" if lines else message)[:1000]


def text_of(error: BaseException) -> str:
    """Return the text of an error; one of a program's own may fail to have any."""
    try:
        only = error.args[0] if len(error.args) == 1 else None
        return only if type(only) is str else str(error)
    except BaseException:
        return "?"


def _lines(error: BaseException, file: str) -> list[int]:
    lines, step = [], error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            lines.append(step.tb_lineno)
        step = step.tb_next
    return lines


def run_script(jobs: socket.socket) -> int:
    """Run a program as a script with its standard streams; return its exit status."""
    wire.send(jobs, {"ready": True})
    job = wire.receive(jobs)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8")
    sys.stdout = _writer(1, "strict")
    sys.stderr = _writer(2, "backslashreplace")
    sys.argv = ["program.py"]
    try:
        code = compile(job["program"], "program.py", "exec")
    except BaseException as error:
        wire.send(jobs, {"did_not_compile": describe(error)})
        return 1
    jobs.close()
    return _flushed(_exit_status(code))


def _writer(number: int, errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(number, "w", closefd=False)), "utf-8", errors
    )


def _exit_status(code: types.CodeType) -> int:
    """Run a script and its exit handlers; return the exit status that Python would."""
    import atexit
    import threading
    import traceback

    status = 0
    try:
        load(code, "__main__")
    except SystemExit as end:
        status = _status_of(end)
    except BaseException:
        traceback.print_exc()
        status = 1
    with contextlib.suppress(BaseException):
        getattr(threading, "_shutdown", lambda: None)()
        atexit._run_exitfuncs()
    return status


def _status_of(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)
    return 1


def _flushed(status: int) -> int:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            status = status or 120  # as Python does
    return status

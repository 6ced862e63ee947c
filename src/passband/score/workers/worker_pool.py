"""Call functions that may hang, in processes that can be killed.

Neither a regular expression nor a computer algebra system can be stopped inside its own process:
both spend minutes within one call. A pool keeps a few worker processes, hands each one call at a
time, and kills a worker whose call takes too long. Any thread may call. Needs a POSIX system.

>>> pool = WorkerPool(size=1)
>>> pool.call("findall", ["[0-9]+", "1 + 2 = 3"], seconds=60)
['1', '2', '3']
>>> pool.close()
"""

from __future__ import annotations

import atexit
import json
import selectors
import time
from typing import Any

from passband.errors import PassbandError
from passband.score.workers.main import FUNCTIONS, Reply
from passband.system import PooledProcess, ProcessPool, available_cpus, launch

START_SECONDS = 120.0  # to start a worker and import what it needs, on a busy machine
CALLS_PER_WORKER = 2000  # then it is replaced, because caches of sympy only grow


class WorkerTimeout(PassbandError):
    """A call exceeded its time limit."""


class WorkerFailed(PassbandError):
    """A call raised an error, or its worker died; the message says which."""


class WorkerBroken(WorkerFailed):
    """Workers cannot do this call at all: a package or a function that it needs is missing."""


class _Died(Exception):
    """The worker ended in the middle of a call."""


class _Worker(PooledProcess):
    """One process that answers requests to the functions of a module, a line of JSON each."""

    def __init__(self, module: str) -> None:
        self._calls = 0
        self._unread = b""
        self._process = launch("passband.score.workers.main", [module])
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._readable = selectors.DefaultSelector()
        self._readable.register(self._output, selectors.EVENT_READ)

    @property
    def is_worn_out(self) -> bool:
        """Whether it has had so many calls that sympy's caches have grown."""
        return self._calls >= CALLS_PER_WORKER

    def ask(self, request: bytes, seconds: float) -> Reply:
        """Send a request and return the reply; raises if the worker has to be replaced."""
        self._calls += 1
        try:
            while request:  # a pipe takes a long request in pieces
                request = request[self._input.write(request) :]
        except OSError:
            raise _Died(self._how_it_ended()) from None
        try:
            self._line(START_SECONDS)  # says that the imports are done, and the clock may start
        except WorkerTimeout:
            raise WorkerFailed(f"no worker process within {START_SECONDS:g} s") from None
        reply: Reply = json.loads(self._line(seconds))
        return reply

    def _line(self, seconds: float) -> bytes:
        """Return the next line, or raise if there is none in time."""
        deadline = time.monotonic() + seconds
        pieces = [self._unread]  # of megabytes, perhaps: joined once
        while b"\n" not in pieces[-1]:
            if not self._readable.select(max(0.0, deadline - time.monotonic())):
                raise WorkerTimeout(f"took longer than {seconds:g} s")
            piece = self._output.read(1 << 20)
            if not piece:
                raise _Died(self._how_it_ended())
            pieces.append(piece)
        line, _, self._unread = b"".join(pieces).partition(b"\n")
        return line

    def _how_it_ended(self) -> str:
        return f"the worker process ended with {self._process.wait()}"

    def kill(self) -> None:
        self._readable.close()
        self._process.kill()
        self._process.wait()
        self._input.close()
        self._output.close()


class WorkerPool(ProcessPool[str, _Worker]):
    """Worker processes that serve the functions of one module each."""

    def _usual_size(self) -> int:
        return min(4, available_cpus())

    def _start(self, kind: str) -> _Worker:
        return _Worker(kind)

    def call(self, function: str, arguments: list[object], *, seconds: float) -> Any:
        """Call a function of `passband.score.workers.main` and return its result.

        The seconds count from when a worker starts on the call. A worker that dies, other than by
        the time limit, is replaced once: it may have been ended from outside.
        """
        if function not in FUNCTIONS:
            raise WorkerFailed(f"KeyError: workers have no function {function!r}")
        module = FUNCTIONS[function][0]
        request = json.dumps([function, arguments, seconds]).encode() + b"\n"
        with self._slot():
            try:
                return self._once(module, request, seconds)
            except _Died:
                pass
            try:
                return self._once(module, request, seconds)
            except _Died as died:
                raise WorkerFailed(str(died)) from None

    def _once(self, module: str, request: bytes, seconds: float) -> Any:
        with self._lent(module) as worker:
            reply = worker.ask(request, seconds)
        # Raised outside of the loan: a worker that reports an error is in order.
        if "broken" in reply:
            raise WorkerBroken(reply["broken"])
        if "error" in reply:
            raise WorkerFailed(reply["error"])
        return reply["result"]


pool = WorkerPool()
atexit.register(pool.close)

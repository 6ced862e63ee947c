"""The process of a shard: a job comes in, then orders; events go out.

It reads a pickled job from its standard input and runs it as `passband run --shard` would. Whatever
else writes to standard output goes to standard error, so that events stay whole.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from passband.errors import ExitCode, PassbandError, describe
from passband.run.progress import RunProgress
from passband.run.request import RunRequest
from passband.run.session import Controls, RunResult
from passband.run.shards.folder import once_free
from passband.run.shards.job import ShardJob
from passband.run.shards.wire import (
    Ended,
    Event,
    Failed,
    Grant,
    Order,
    ShardNote,
    ShardWarning,
    Tick,
    decode_order,
    encode,
)

HEAD = struct.Struct("<Q")  # length of the job


class ShardEvents:
    """A watcher that sends what it is given to the process that leads the run."""

    shows_estimates = False
    shows_guesses = False  # the leading process has shown them

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._lock = out, threading.Lock()
        self._controls: Controls | None = None
        self._orders: list[Order | None] = []

    def tick(self, progress: RunProgress) -> None:
        """Send how far the shard is."""
        if self._controls is None:
            self.send(Tick(progress))
        else:
            budget = self._controls.runner.budget
            self.send(Tick(progress, budget.total, budget.wanted, budget.trial))

    def note(self, text: str) -> None:
        """Send a note."""
        self.send(ShardNote(text))

    def warn(self, text: str) -> None:
        """Send a warning."""
        self.send(ShardWarning(text))

    def send(self, event: Event) -> None:
        """Send an event; without anyone to read it, the run goes on until it is stopped."""
        with self._lock, suppress(OSError, ValueError):
            self._out.write(encode(event))
            self._out.flush()

    def started(self, controls: Callable[[], None]) -> None:
        """Take the controls of the run, and follow the orders that came before it began."""
        assert isinstance(controls, Controls)
        with self._lock:
            self._controls = controls
            waiting, self._orders = self._orders, []
        for order in waiting:
            _follow(order, controls)

    def order(self, order: Order | None) -> None:
        """Follow an order; None means that nobody leads the run any longer."""
        with self._lock:
            if self._controls is None:
                self._orders.append(order)
                return
        _follow(order, self._controls)


def _follow(order: Order | None, controls: Controls) -> None:
    if isinstance(order, Grant):
        controls.grant(
            order.max_cost, order.concurrency, may_grow=order.may_grow, known=order.trial
        )
    else:
        controls(None if order is None else order.seconds)


def main() -> None:
    """Run the job that comes in on standard input."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    events = ShardEvents(out)
    source = sys.stdin.buffer
    job = read_job(source)
    threading.Thread(target=_take_orders, args=(source, events), daemon=True).start()
    events.send(run_job(job, events))
    out.close()
    os._exit(0)  # the thread that reads would hold up an ordinary end


def written_job(job: ShardJob) -> bytes:
    """Return a job as it goes to the standard input of a process."""
    data = pickle.dumps(job)
    return HEAD.pack(len(data)) + data


def read_job(source: BinaryIO) -> ShardJob:
    """Read the job that `written_job` wrote."""
    (length,) = HEAD.unpack(source.read(HEAD.size))
    job: ShardJob = pickle.loads(source.read(length))
    return job


def run_job(job: ShardJob, events: ShardEvents) -> Event:
    """Ask for the shard, and return how that ended."""
    try:
        return Ended(_run(job.request(), events).ending)
    except (PassbandError, OSError) as error:
        lines = error.lines() if isinstance(error, PassbandError) else [str(error)]
        code = error.exit_code if isinstance(error, PassbandError) else ExitCode.FAILED
        return Failed("\n".join(lines), int(code))
    except Exception as error:
        return Failed(describe(error))


def _run(request: RunRequest, events: ShardEvents) -> RunResult:
    """Run; the directory may still be in use by a process that was lost."""
    return once_free(lambda: request.run(events, on_start=events.started))


def _take_orders(source: BinaryIO, events: ShardEvents) -> None:
    for line in source:
        events.order(decode_order(line))
    events.order(None)


if __name__ == "__main__":
    main()

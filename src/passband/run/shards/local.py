"""Shards in processes of this machine."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from passband.run.shards.job import ShardJob
from passband.run.shards.wire import Ended, Event, Failed, Lost, Order, decode_event, encode
from passband.run.shards.worker import written_job

LOG = "shard.log"  # what the process of a shard writes to standard error
_TAIL = 500  # characters of it that an error shows


class LocalProcesses:
    """Starts a process for each shard, which share the cores."""

    def __init__(self, cpus: int = 1) -> None:
        self._cpus = cpus  # for the scorers of one shard
        self._news = threading.Event()
        self._started: list[ShardProcess] = []

    def start(self, job: ShardJob) -> ShardProcess:
        """Start a process for a shard."""
        process = ShardProcess(job, self._cpus, self._news.set)
        self._started.append(process)
        return process

    def wait(self, seconds: float) -> None:
        """Return when a process has reported something, or after so many seconds."""
        self._news.wait(seconds)
        self._news.clear()

    def close(self) -> None:
        """End every process."""
        for process in self._started:
            process.kill()


class ShardProcess:
    """A process that runs a job: orders go to its input, events come from its output.

    `on_news` is called, in another thread, whenever there is an event.
    """

    def __init__(self, job: ShardJob, cpus: int, on_news: Callable[[], None]) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._on_news = on_news
        self._log = Path(job.directory) / LOG
        self._log.parent.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "PASSBAND_CPUS": str(cpus)}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "passband.run.shards.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                start_new_session=True,  # Ctrl-C is for the leading process, which passes it on
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._write(written_job(job))

    def events(self) -> Sequence[Event]:
        """Return what it has reported since the last call."""
        events = []
        with suppress(queue.Empty):
            while True:
                events.append(self._events.get_nowait())
        return events

    def send(self, order: Order) -> None:
        """Send it an order."""
        self._write(encode(order))

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # it is gone, which its events say
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def _read(self) -> None:
        """Pass events on, and say so if the process ends without having said how."""
        assert self._process.stdout is not None
        last: Event | None = None
        with self._process.stdout as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break  # cut off by a kill
                last = decode_event(line)
                self._put(last)
        code = self._process.wait()
        if not isinstance(last, (Ended, Failed)):
            self._put(Lost(self._reason(code)))

    def _put(self, event: Event) -> None:
        self._events.put(event)
        self._on_news()

    def _reason(self, code: int) -> str:
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        with suppress(OSError):
            tail = self._log.read_text(errors="replace")[-_TAIL:].strip()
            if tail:
                return f"its process ended with {how}: {' '.join(tail.split())}"
        return f"its process ended with {how}"

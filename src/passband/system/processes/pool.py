"""Keep a few child processes, started when they are needed, each with one call at a time."""

from __future__ import annotations

import functools
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

_beginning = threading.Lock()  # of any pool


def _renew_lock() -> None:
    global _beginning
    _beginning = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)  # a thread of the parent may have held it


class PooledProcess(ABC):
    """A child process of a pool."""

    @property
    def is_worn_out(self) -> bool:
        """Whether another process has to take its place before the next call."""
        return False

    @abstractmethod
    def kill(self) -> None:
        """End the process."""


Kind = TypeVar("Kind")  # processes of one kind are interchangeable
Process = TypeVar("Process", bound=PooledProcess)


class ProcessPool(ABC, Generic[Kind, Process]):
    """At most `size` processes, of several kinds; any thread may call.

    A process whose call raises is ended, whatever the reason: what it writes next might belong to
    the call that failed.
    """

    def __init__(self, size: int | None = None) -> None:
        self._given = size
        self._owner: int | None = None  # the process that has begun; None until the first call
        self._idle: list[tuple[Kind, Process]] = []
        self.started = 0  # processes so far

    @functools.cached_property
    def size(self) -> int:
        """The number of processes: as given, or by the processors when it is first needed.

        That is later than the import that makes a pool: a process may have to be given its share
        of the machine first.
        """
        return self._given or self._usual_size()

    @abstractmethod
    def _usual_size(self) -> int:
        """Return the size of a pool that is given none."""

    @abstractmethod
    def _start(self, kind: Kind) -> Process:
        """Start a process of a kind."""

    def _begin(self) -> None:
        """Begin without processes, once in every process: after a fork they are the parent's."""
        with _beginning:
            if self._owner != os.getpid():
                self._slots = threading.BoundedSemaphore(self.size)
                self._alone, self._lock = threading.Lock(), threading.Lock()
                self._idle, self.started = [], 0
                self._owner = os.getpid()

    @contextmanager
    def _slot(self, count: int = 1) -> Iterator[None]:
        """Hold one slot, or all `size` of them so that nothing runs beside the call."""
        if self._owner != os.getpid():
            self._begin()
        held = 0
        try:
            if count == 1:
                self._slots.acquire()
                held = 1
            else:
                with self._alone:  # two that wait for all slots would wait for each other
                    while held < count:
                        self._slots.acquire()
                        held += 1
            yield
        finally:
            if held:
                self._slots.release(held)

    @contextmanager
    def _lent(self, kind: Kind) -> Iterator[Process]:
        """Lend a process of a kind to the holder of a slot, and keep it for the next call."""
        process = self._take(kind)
        try:
            yield process
        except BaseException:
            process.kill()
            raise
        if process.is_worn_out:
            process.kill()
            return
        with self._lock:
            self._idle.append((kind, process))

    def _take(self, kind: Kind) -> Process:
        """Return an idle process of a kind, or a new one in the place of an idle one."""
        with self._lock:
            for index in reversed(range(len(self._idle))):  # the last one used is the warmest
                if self._idle[index][0] == kind:
                    return self._idle.pop(index)[1]
            replaced = self._idle.pop(0)[1] if len(self._idle) >= self.size else None
            self.started += 1
        if replaced is not None:
            replaced.kill()
        return self._start(kind)

    def close(self) -> None:
        """End the idle processes; a later call starts new ones."""
        if self._owner != os.getpid():
            return
        with self._lock:
            idle, self._idle = self._idle, []
        for _, process in idle:
            process.kill()

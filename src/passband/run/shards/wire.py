"""Encode a shard's events and orders as lines of JSON.

Up:   tick (how far it is), note, warn, and one end: how it ended, or the error that ended it.
Down: a grant (a new lease), or stop. The end of the input means that nobody waits for the shard any
longer; it stops then as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from passband.errors import ExitCode, InvalidInput, PassbandError
from passband.run.progress import RunProgress, TaskProgress, Waiting


@dataclass(frozen=True)
class Tick:
    """How far a shard is, what it has spent, and what a new lease has to add."""

    progress: RunProgress
    spent: float = 0.0
    wanted: float = 0.0  # more than is left of its lease, for which it waits; 0 if it does not
    trial: float = 0.0  # what one more trial may cost; 0 if that is not known


@dataclass(frozen=True)
class ShardNote:
    """A note to the user."""

    text: str


@dataclass(frozen=True)
class ShardWarning:
    """A warning to the user."""

    text: str


@dataclass(frozen=True)
class Ended:
    """The shard came to an end, as `RunResult.ending` says."""

    ending: str


@dataclass(frozen=True)
class Failed:
    """The shard ended with an error."""

    text: str
    exit_code: int = int(ExitCode.FAILED)

    def error(self, shard: str) -> PassbandError:
        """Return the error to raise where the run is led."""
        code = ExitCode(self.exit_code)
        if code is ExitCode.USAGE:
            return InvalidInput(self.text)
        error = PassbandError(f"shard {shard}: {self.text}")
        error.exit_code = code
        return error


@dataclass(frozen=True)
class Lost:
    """The process of a shard is gone without a word; `reason` is all that is known."""

    reason: str


@dataclass(frozen=True)
class Grant:
    """A new lease: a limit of cost, and how many requests may be in flight."""

    max_cost: float | None
    concurrency: int
    may_grow: bool
    trial: float = 0.0  # what one more trial may cost, as far as any shard knows


@dataclass(frozen=True)
class StopOrder:
    """The order to stop in good order."""

    seconds: float | None = field(default=None)  # to wait for requests in flight


Event = Tick | ShardNote | ShardWarning | Ended | Failed | Lost
Order = Grant | StopOrder
_EVENTS = {kind.__name__: kind for kind in (ShardNote, ShardWarning, Ended, Failed, Lost)}
_ORDERS = {kind.__name__: kind for kind in (Grant, StopOrder)}


def encode(message: Event | Order) -> bytes:
    """Return a message as a line.

    >>> encode(Grant(1.5, 8, True))
    b'["Grant", {"max_cost": 1.5, "concurrency": 8, "may_grow": true, "trial": 0.0}]\\n'
    """
    values = asdict(message)
    if isinstance(message, Tick):
        for task in values["progress"]["tasks"]:
            del task["estimate"]  # of a part; nobody shows it
    return json.dumps([type(message).__name__, values]).encode() + b"\n"


def decode_event(line: bytes) -> Event:
    """Return the event that a line holds.

    >>> decode_event(encode(Ended("finished")))
    Ended(ending='finished')
    """
    name, values = json.loads(line)
    if name == "Tick":
        progress = _progress(values["progress"])
        return Tick(progress, values["spent"], values["wanted"], values["trial"])
    event: Event = _EVENTS[name](**values)
    return event


def decode_order(line: bytes) -> Order:
    """Return the order that a line holds."""
    name, values = json.loads(line)
    order: Order = _ORDERS[name](**values)
    return order


def _progress(values: Mapping[str, Any]) -> RunProgress:
    tasks = [
        TaskProgress(**{**task, "tokens": tuple(task["tokens"]), "estimate": None})
        for task in values["tasks"]
    ]
    waiting = None if values["waiting"] is None else Waiting(**values["waiting"])
    return RunProgress(**{**values, "tasks": tasks, "waiting": waiting})

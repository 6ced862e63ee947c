"""One seed from beginning to end: stopped sessions, one that is not, and what must hold."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import aiohttp

from passband.errors import PassbandError
from passband.generate.registry import Connection
from passband.generate.servers import client
from passband.generate.subject import ProviderSubject
from passband.run import session as session_module
from passband.run.loop import loop as loop_module
from passband.run.progress import RunProgress
from passband.run.schedule.schedule import every_problem
from passband.run.schedule.width import until_schedule
from passband.run.session import run_session
from passband.run.settings import Settings, WidthGoal
from passband.run.task_run import Price
from simulation.clock import Clock
from simulation.disk import Disk
from simulation.event_loop import Killed, SimulatedLoop
from simulation.fronts import make_front
from simulation.invariants import Checker
from simulation.ledger import Ledger, watched_store
from simulation.questions import SEED, make_adaptive_task, make_task
from simulation.scenario import Scenario, Session, draw
from simulation.server import Server
from simulation.wire import Wire

_MEMORY = Path("/dev/shm")  # a folder in memory, where there is one: nothing is cut off for real
_TICK = 60.0  # seconds between two looks at the progress, of which there would be a million
_LOOKS = 4  # at the oldest request, within its time, for the same reason
PRICE = Price(10_000.0, 10_000.0)


@dataclass(frozen=True)
class Report:
    """What a seed led to."""

    seed: int
    faults: Counter[str]
    stops: Counter[str]
    endings: Counter[str]
    sessions: int
    requests: int
    trials: int
    seconds: float  # of simulated time


@dataclass
class Quiet:
    """A watcher that sees to it that progress goes on."""

    done: int = 0
    warnings: list[str] = field(default_factory=list)

    def tick(self, progress: RunProgress) -> None:
        done = sum(task.done for task in progress.tasks)
        assert done >= self.done, "a trial was counted and then not"
        self.done = done

    def note(self, text: str) -> None:
        pass

    def warn(self, text: str) -> None:
        self.warnings.append(text)


class CostlySubject(ProviderSubject):
    """A model whose trials cost much, so that each is on disk before the next is asked for."""

    is_costly = True


class Simulation:
    """A run under a scenario: one directory after the other, as processes are killed."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario, self._folder = scenario, folder
        self.clock, self.ledger = Clock(), Ledger()
        self.server = Server(f"server {scenario.seed}", self.clock, self.ledger)
        self.server.habit = scenario.habit
        self.server.has_too_long = scenario.has_too_long
        self.server.latency, self.server.timeout = scenario.latency, scenario.timeout
        self._rng = random.Random(f"world {scenario.seed}")
        self._wire = Wire(self.server, self.clock)
        self._directories = 1
        self._loop: SimulatedLoop | None = None
        self.directory = folder / "run1"
        self.stops: Counter[str] = Counter()
        self.endings: Counter[str] = Counter()
        self.complaints: list[str] = []

    def play(self, session: Session) -> str:
        """Run one session, and return how it ended: an ending, an error's name, or "killed"."""
        self.ledger.session += 1
        self.ledger.is_dead = False
        self.ledger.in_session.clear()
        self.server.begin(session.weather)
        self._session = session
        disk = self.disk = Disk(self.directory, self.kill, message=session.message, way=session.way)
        if session.stop == "statement":
            disk.at = int(session.at)
        if session.stop == "room":
            disk.full_at = int(session.at)
        before = threading.active_count()
        with ExitStack() as stack:
            stack.enter_context(disk.in_place())
            for name, value in (
                ("Store", watched_store(self.ledger)),
                ("complete", self._complete),
            ):
                stack.enter_context(patch.object(session_module, name, value))
            stack.enter_context(patch("aiohttp.TCPConnector", _connector))
            stack.enter_context(patch.object(loop_module, "_TICK", _TICK))
            stack.enter_context(patch.object(client, "_LOOKS", _LOOKS))
            ending = self._run(session)
        if disk.has_failed:
            self.ledger.play("disk")
        assert threading.active_count() == before, "a thread is left"
        self.stops[session.stop] += 1
        self.endings[ending] += 1
        return ending

    def _run(self, session: Session) -> str:
        scenario = self.scenario
        front = self._front = make_front(
            scenario.front, self.server, self.ledger, scenario.batch, scenario.timeout
        )
        subject = (CostlySubject if scenario.is_costly else ProviderSubject)(front)
        watcher = Quiet()
        until = None if scenario.half_width is None else WidthGoal(scenario.half_width)
        settings = Settings(
            n=session.n, limit=session.limit, concurrency=scenario.concurrency, seed=SEED,
            retry_failed=session.retry_failed, max_cost=session.max_cost, until=until,
            patience=scenario.patience,
        )  # fmt: skip
        try:
            finished = run_session(
                self.tasks(session),
                subject,
                self.directory,
                settings=settings,
                connection=Connection(batch=scenario.batch),
                watcher=watcher,
                price=PRICE,
                schedule=every_problem if until is None else until_schedule(watcher),
            )
        except Killed:
            self.directory = self._next_directory
            return "killed"
        except PassbandError as error:
            self.last_error = error
            return type(error).__name__
        return finished.ending

    def tasks(self, session: Session) -> list[Any]:
        if self.scenario.is_adaptive:
            return [make_adaptive_task(list(session.problems), session.n)]
        slow = self.scenario.has_slow_scorer
        return [make_task(name, list(session.problems), slow=slow) for name in self.scenario.tasks]

    def _complete(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run the session's coroutine in simulated time, in place of `event_loop.complete`."""
        loop = SimulatedLoop(self.clock, self._step, partial(self._rng.expovariate, 200.0))
        loop.create_unix_connection = lambda factory, path: self._wire.connect(factory)  # type: ignore[assignment, method-assign]
        loop.set_exception_handler(self._complain)
        self._loop, self._steps = loop, 0
        self._schedule(loop)
        result, left = loop.complete(coroutine, self._front.close)
        self.ledger.left_tasks += left
        return result

    def _schedule(self, loop: SimulatedLoop) -> None:
        """Schedule signals and jumps of the clock."""
        session = self._session
        number = signal.SIGTERM if session.stop == "sigterm" else signal.SIGINT
        if session.stop in ("ctrl-c", "ctrl-c twice", "sigterm"):
            loop.call_later(session.at, self._signal, loop, number)
        if session.stop == "ctrl-c twice":
            loop.call_later(session.at * 1.5, self._signal, loop, number)
        if session.jump is not None:
            loop.call_later(session.jump[0], self._jump, session.jump[1])

    def _signal(self, loop: SimulatedLoop, number: int) -> None:
        if loop.deliver(number):
            self.ledger.play(signal.Signals(number).name)

    def _jump(self, seconds: float) -> None:
        self.clock.jumped += seconds
        self.ledger.play("machine asleep" if seconds > 0 else "clock set back")

    def _step(self) -> None:
        self._steps += 1
        if self._session.stop == "kill" and self._steps == self._session.at:
            self.kill()

    def kill(self) -> None:
        """End the process here: what it does from now on happens to nobody."""
        self._directories += 1
        self._next_directory = self._folder / f"run{self._directories}"
        self.disk.left_by_a_kill(self._next_directory, self._rng.choice((0.0, 1.0, 0.5)))
        self.ledger.play("kill -9")
        self.ledger.is_dead = True
        if self._loop is not None:  # else it had not come so far
            self._loop.is_dead = True
        raise Killed

    def _complain(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        assert isinstance(loop, SimulatedLoop)
        if not loop.is_dead:
            self.complaints.append(f"{context.get('message')}: {context.get('exception')!r}")


def simulate(seed: int, say: Callable[[str], None] = lambda line: None) -> Report:
    """Play the scenario of a seed; raise `AssertionError` if anything breaks that must hold."""
    return simulate_scenario(draw(seed), say)


def simulate_scenario(scenario: Scenario, say: Callable[[str], None] = lambda line: None) -> Report:
    """Play the sessions of a scenario, then one in which nothing fails, and check all along."""
    place = _MEMORY if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="passband-", dir=place) as folder:
        simulation = Simulation(scenario, Path(folder))
        with simulation.clock.in_place(f"pauses {scenario.seed}"):
            checker = Checker(simulation)
            for session in scenario.sessions:
                say(f"{session}")
                ending = simulation.play(session)
                say(f"  {ending}: {dict(simulation.ledger.in_session)}")
                checker.after(session, ending)
            checker.finish()
    return Report(
        scenario.seed, simulation.ledger.faults, simulation.stops, simulation.endings,
        simulation.ledger.session, len(simulation.ledger.asked), len(simulation.ledger.stored),
        simulation.clock.now,
    )  # fmt: skip


def _connector(**options: Any) -> aiohttp.BaseConnector:
    return aiohttp.UnixConnector("simulated", limit=0)

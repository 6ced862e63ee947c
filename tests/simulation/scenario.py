"""What a seed stands for: tasks, settings, and sessions that each end in their own way."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Literal

from passband.run.settings import Patience
from simulation.disk import WAYS, Way
from simulation.questions import ADAPTIVE, Front
from simulation.server import TRANSIENT, Habit, Outage, Weather

Stop = Literal[
    "none", "kill", "statement", "room", "ctrl-c", "ctrl-c twice", "sigterm", "401", "outage"
]
STOPS: tuple[Stop, ...] = (
    "none", "kill", "kill", "statement", "statement", "room", "ctrl-c", "ctrl-c twice",
    "sigterm", "401", "outage",
)  # fmt: skip


@dataclass(frozen=True)
class Session:
    """One process: what it asks for, the weather, and how it is stopped."""

    problems: tuple[str, ...]
    n: int
    weather: Weather = field(default_factory=Weather)
    stop: Stop = "none"
    at: float = 0.0  # step, statement, look or second of the stop
    way: Way = "before"
    message: str = "disk I/O error"
    limit: int | None = None
    jump: tuple[float, float] | None = None  # at which second the wall clock jumps, how far
    max_cost: float | None = None
    retry_failed: bool = False


@dataclass(frozen=True)
class Scenario:
    """A whole run: everything that a seed decides beforehand."""

    seed: int
    front: Front
    tasks: tuple[str, ...]
    concurrency: int
    batch: int
    habit: Habit
    latency: float
    timeout: float
    patience: Patience
    has_too_long: bool
    has_slow_scorer: bool
    is_costly: bool
    half_width: float | None  # of --until
    is_adaptive: bool  # whether the problems are the items of a bank, and chosen by answers
    sessions: tuple[Session, ...]
    is_compared: bool = False  # whether its export is compared with that of an undisturbed run

    @property
    def is_plain(self) -> bool:
        """Whether every problem is asked n times, whatever is answered."""
        return self.half_width is None and not self.is_adaptive

    @property
    def final(self) -> Session:
        """The session in which nothing fails, and which asks for everything."""
        last = self.sessions[-1]
        return Session(problems=last.problems, n=last.n)


def draw(seed: int) -> Scenario:
    """Return the scenario of a seed."""
    rng = random.Random(f"scenario {seed}")
    half_width = rng.choice((0.05, 0.15)) if rng.random() < 0.08 else None
    batch = rng.choice((1, 1, 2, 4, 8))
    problems, n = rng.randint(3, 8), rng.randint(1, 5)
    if half_width is not None:
        problems, n = rng.randint(3, 6), rng.randint(4, 10)
    is_adaptive = half_width is None and rng.random() < 0.05
    patience = Patience(
        outage=rng.choice((30.0, 600.0)),
        failures=rng.choice((3, 20)),
        drain=rng.choice((0.0, 0.5, 10.0)),
        longest_pause=rng.choice((1.0, 30.0)),
    )
    scenario = Scenario(
        seed=seed,
        front=rng.choice(("provider", "provider", "wire")),
        tasks=("sums",) if rng.random() < 0.75 else ("sums", "more"),
        concurrency=rng.choice((1, 2, 4, 8, 16)),
        batch=batch,
        habit=rng.choice(("takes n", "takes n", "ignores n", "refuses n")),
        latency=rng.choice((0.001, 0.1, 3.0)),
        timeout=rng.choice((5.0, 60.0)),
        patience=patience,
        has_too_long=rng.random() < 0.2,
        has_slow_scorer=rng.random() < 0.25,
        is_costly=rng.random() < 0.2,
        half_width=half_width,
        is_adaptive=is_adaptive,
        sessions=(),
        is_compared=rng.random() < 0.3,
    )
    if is_adaptive:
        n, scenario = rng.randint(1, 2), replace(scenario, tasks=(ADAPTIVE,), has_slow_scorer=False)
    keys = tuple(f"p{number:02}" for number in range(problems))
    return replace(scenario, sessions=_sessions(rng, scenario, keys, n))


def _sessions(
    rng: random.Random, scenario: Scenario, keys: tuple[str, ...], n: int
) -> tuple[Session, ...]:
    """Return up to five disturbed sessions; data and -n may grow from one to the next."""
    rate = rng.choice((0.0, 0.03, 0.1, 0.3, 0.6))
    kinds = tuple(rng.sample(TRANSIENT, rng.randint(1, len(TRANSIENT))))
    sessions = []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        if sessions and scenario.is_plain and rng.random() < 0.3:
            keys, n = _grown(rng, keys, n)
        session = Session(keys, n, Weather(rate, kinds, _short_outages(rng)))
        sessions.append(_stopped(rng, scenario, session))
    return tuple(sessions)


def _grown(rng: random.Random, keys: tuple[str, ...], n: int) -> tuple[tuple[str, ...], int]:
    """Return more problems, the same in another order, or more trials."""
    change = rng.choice(("problems", "order", "n"))
    if change == "n":
        return keys, n + rng.randint(1, 3)
    more = [f"p{len(keys) + place:02}" for place in range(rng.randint(1, 3))]
    grown = [*keys, *(more if change == "problems" else [])]
    if change == "order" or rng.random() < 0.5:
        rng.shuffle(grown)
    return tuple(grown), n


def _short_outages(rng: random.Random) -> tuple[Outage, ...]:
    if rng.random() < 0.7:
        return ()
    kind = rng.choice(("refused", "502", "500", "limit 3", "limit", "mixed", "mixed"))
    return (Outage(_moment(rng), rng.choice((0.5, 5.0, 25.0, 300.0)), kind),)


def _stopped(rng: random.Random, scenario: Scenario, session: Session) -> Session:
    """Return the session with the way in which it ends, and what else is odd about it."""
    stop = rng.choice(STOPS)
    at = _moment(rng)
    if stop == "kill":
        at = float(int(10 ** rng.uniform(0.3, 3.3)))
    elif stop == "statement":
        at = float(rng.randint(1, 60) if rng.random() < 0.3 else rng.randint(1, 400))
    elif stop == "room":
        at = float(rng.randint(1, 20))
    elif stop in ("401", "outage"):
        session = replace(session, weather=_fatal(rng, stop, session.weather))
    is_plain = scenario.is_plain
    if rng.random() < 0.15:
        jump = (_moment(rng), rng.choice((3600.0, 90_000.0, -500.0, -90_000.0)))
        session = replace(session, jump=jump)
    # The first few of shuffled data are other problems, which a resumed run may refuse.
    is_in_order = list(session.problems) == sorted(session.problems)
    if is_plain and is_in_order and rng.random() < 0.15:
        session = replace(session, limit=rng.randint(1, len(session.problems)))
    if is_plain and rng.random() < 0.1:
        session = replace(session, retry_failed=True)
    # With a budget every worker looks fifty times a second whether there is room: too many steps.
    is_short = all(outage.seconds < 100 for outage in session.weather.outages)
    if rng.random() < 0.1:
        session = replace(session, max_cost=rng.choice((0.5, 3.0, 12.0)) if is_short else None)
    message = rng.choice(("disk I/O error", "database or disk is full"))
    return replace(session, stop=stop, at=at, way=rng.choice(WAYS), message=message)


def _fatal(rng: random.Random, stop: Stop, weather: Weather) -> Weather:
    if stop == "401":
        return replace(weather, fatal_at=rng.randint(1, 40))
    kind = rng.choice(("refused", "502", "500", "hang", "mixed"))
    return replace(weather, outages=(Outage(_moment(rng), 5_000_000.0, kind),))


def _moment(rng: random.Random) -> float:
    """Return a time within a run, most of which are short."""
    return float(10 ** rng.uniform(-3, 1.7))

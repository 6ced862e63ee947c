"""Every statement that the store runs fails once: what was acknowledged stays, whole.

A run is entered, filled, scored and forgotten in part, while the k-th statement fails, for each k
there is. SQLite's own tests do this at every write; here it is every statement, before it has an
effect and after it, the latter being a disk that fails after it has written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from passband.errors import PassbandError
from passband.trials.file.schema import STORE_FILE
from passband.trials.reader import Trials
from passband.trials.rows import AttemptRow, CallRow, ScoreRow, Status, TrialRow
from passband.trials.store import Store
from support.samples.stores import begin, call, forget, problem, read_back

pytestmark = pytest.mark.slow

BATCHES = 4
JUDGED = (0,)  # batches
CLOSING = 2  # statements that empty the log at the end, and may fail


@dataclass
class Fault:
    """Which statement fails, and how; counts them all the same."""

    at: int = 0  # from 1 on; 0 is never
    late: bool = False
    seen: int = 0
    statements: list[str] = field(default_factory=list)

    def around(self, statement: str, act: Callable[[], Any]) -> Any:
        if statement == "ROLLBACK":
            return act()
        self.seen += 1
        self.statements.append(statement.split()[0])
        if self.seen == self.at and not self.late:
            raise sqlite3.OperationalError("disk I/O error")
        done = act()
        if self.seen == self.at:
            done.fetchall()  # else the statement goes on, and holds its lock
            raise sqlite3.OperationalError("disk I/O error")
        return done


def failing_connection(fault: Fault) -> type[sqlite3.Connection]:
    class Failing(sqlite3.Connection):
        def execute(self, statement: str, *arguments: Any) -> Any:
            return fault.around(statement, lambda: super(Failing, self).execute(
                statement, *arguments))  # fmt: skip

        def executemany(self, statement: str, *arguments: Any) -> Any:
            return fault.around(statement, lambda: super(Failing, self).executemany(
                statement, *arguments))  # fmt: skip

        def executescript(self, script: str) -> Any:
            return fault.around(script, lambda: super(Failing, self).executescript(script))

    return Failing


@dataclass
class Acknowledged:
    """What the store said was done."""

    batches: list[int] = field(default_factory=list)
    scored: list[int] = field(default_factory=list)
    judged: list[int] = field(default_factory=list)
    attempts: int = 0
    forgotten: bool = False
    problems: int = 0


def batch(number: int, scorer: int) -> list[TrialRow]:
    """Three trials that belong together; those of the last batch are given up."""
    status: Status = "gave_up" if number == BATCHES - 1 else "ok"
    return [
        TrialRow(at, number, status, f"text {at} {number}", scores=[ScoreRow(scorer, 1.0)])
        for at in range(3)
    ]


def judging(scorer: int, number: int) -> list[CallRow]:
    """The calls of a batch: of its three trials, one each."""
    return [call(scorer, at, number) for at in range(3)]


def work(store: Store, done: Acknowledged) -> None:
    """Do everything that a store can, and note what it has acknowledged."""
    run, (quick, slow) = begin(store, scorers=[("quick", "1"), ("slow", "1")])
    done.problems = 3
    for number in range(BATCHES):
        store.append(run, batch(number, quick))
        done.batches.append(number)
        store.add_scores([(at, number, ScoreRow(slow, 0.5)) for at in range(3)])
        done.scored.append(number)
        if number in JUDGED:
            store.add_calls(judging(slow, number))
            done.judged.append(number)
    store.add_attempts(run, [AttemptRow(0, 9, n, 1, "late", None, "") for n in (1, 2)])
    done.attempts = 2
    store.add_problems(run, [problem(at) for at in range(5)])
    done.problems = 5
    forget(store, run, ("gave_up",))
    done.forgotten = True


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fault]:
    """Make connections for writing fail as the fault says; those for reading do not."""
    fault, connect = Fault(), sqlite3.connect

    def connecting(*arguments: Any, **options: Any) -> sqlite3.Connection:
        if "mode=ro" in str(arguments[0]):
            return connect(*arguments, **options)
        return connect(*arguments, **options, factory=failing_connection(fault))

    monkeypatch.setattr(sqlite3, "connect", connecting)
    yield fault
    fault.at = 0


def disturbed(directory: Path, fault: Fault) -> Acknowledged:
    done = Acknowledged()
    with suppress(PassbandError), closing(Store(directory, low_water=0)) as store:
        work(store, done)
    return done


def check(directory: Path, done: Acknowledged) -> None:
    """Everything acknowledged is there, and every batch is there as a whole or not at all."""
    with Trials(directory) as trials:
        runs = trials.runs()
        if not done.batches and not runs:
            return
        (run,) = runs
        rows = list(trials.trials(run))
        counted = [sum(row.trial == number for row in rows) for number in range(BATCHES)]
        kept = set(done.batches) - ({BATCHES - 1} if done.forgotten else set())
        unsure = {BATCHES - 1} if len(done.batches) == BATCHES else set()
        assert set(counted) <= {0, 3}
        assert all(counted[number] == 3 for number in kept - unsure)
        if done.forgotten:
            assert counted[-1] == 0
        for row in rows:
            number = row.trial
            assert row.text == f"text {row.problem} {number}"
            assert row.scores[0].value == 1.0
            if number in done.scored:
                assert row.scores[1].value == 0.5
        for number in range(BATCHES):
            assert len({len(row.scores) for row in rows if row.trial == number}) <= 1
        calls = list(trials.calls(run.scorers[1].number)) if done.judged else []
        assert trials.call_totals(2).calls >= len(calls)
        for number in done.judged:
            assert [row for row in calls if row.trial == number] == judging(2, number)
        assert len(list(trials.problems(run.number))) >= done.problems
        assert sum(trials.attempts(run.number).values()) >= done.attempts
    with closing(sqlite3.connect(directory / STORE_FILE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        loose = "SELECT count(*) FROM body WHERE id NOT IN (SELECT body FROM trial)"
        assert connection.execute(loose).fetchone() == (0,)


def test_every_statement_may_fail(tmp_path: Path, fault: Fault) -> None:
    whole = disturbed(tmp_path / "whole", fault)
    total = fault.seen
    assert whole.forgotten
    check(tmp_path / "whole", whole)
    expected = read_back(tmp_path / "whole")[1]
    assert total > 40
    assert fault.statements.count("COMMIT") >= 12
    for late in (False, True):
        for at in range(1 + late, total + 1, 2):  # every one, half of them late
            directory = tmp_path / f"{late}{at}"
            fault.at, fault.late, fault.seen = at, late, 0
            done = disturbed(directory, fault)
            assert done.forgotten == (at > total - CLOSING), f"statement {at} did not fail"
            fault.at = 0
            if (directory / STORE_FILE).exists() and fault.seen > 6:
                check(directory, done)
            resumed(directory, expected)


def resumed(directory: Path, expected: list[TrialRow]) -> None:
    """Do what is missing, as the next process would, and come to the same end."""
    with closing(Store(directory, low_water=0)) as store:
        run, (quick, slow) = begin(store, scorers=[("quick", "1"), ("slow", "1")])
        with Trials(directory) as trials:
            recorded = trials.recorded(run)
        for number in range(BATCHES - 1):
            if not recorded.get(0, 0) >> number & 1:
                store.append(run, batch(number, quick))
            store.add_scores([(at, number, ScoreRow(slow, 0.5)) for at in range(3)])
        for number in JUDGED:  # a reply that is there is not asked for again
            missing = [row for row in judging(slow, number) if not store.replies([row.key])]
            assert len(missing) in (0, 3)
            store.add_calls(missing)
        forget(store, run, ("gave_up",))
    assert read_back(directory)[1] == expected
    with Trials(directory) as trials:
        assert [row.trial for row in trials.calls(2)] == [*JUDGED] * 3
        assert trials.call_totals(2).cost == 0.25 * 3 * len(JUDGED)

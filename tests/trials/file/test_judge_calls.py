"""Calls to judges: recorded once, found by trial and by content, added up, and checked."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.trials.file.judge_calls import CallTotals
from passband.trials.file.schema import STORE_FILE, CorruptStore
from passband.trials.reader import Trials
from passband.trials.repair.audit import audit_store
from passband.trials.rows import CALL_STATUSES, CallRow, TrialRow
from support.fuzz.properties import one_in
from support.samples.stores import TASK, any_calls, begin, call, filled, problem, writing

THREE = [("one", "1"), ("two", "1"), ("three", "1")]


def place(row: CallRow) -> tuple[int, ...]:
    return row.scorer, row.problem, row.trial, row.call, row.attempt


@one_in(4)
@given(rows=st.lists(any_calls, max_size=12, unique_by=place), cut=st.integers(0, 12))
def test_calls_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[CallRow], cut: int
) -> None:
    directory = tmp_path_factory.mktemp("calls")
    with writing(directory) as store:
        begin(store, scorers=THREE)
        store.add_calls(rows[:cut])
        store.add_calls(rows[cut:])
        for row in rows:
            assert row in store.calls(row.scorer, row.problem, row.trial)
    assert audit_store(directory).damage == []
    expected: dict[int, list[CallRow]] = defaultdict(list)
    for row in sorted(rows, key=place):
        expected[row.scorer].append(row)
    with Trials(directory) as trials:
        for scorer in (1, 2, 3):
            mine = expected[scorer]
            assert list(trials.calls(scorer)) == mine
            totals = trials.call_totals(scorer)
            assert totals.calls == len(mine)
            assert totals.failed == sum(row.status == "failed" for row in mine)
            assert totals.cached == sum(row.is_cached for row in mine)
            assert totals.prompt_tokens == sum(row.prompt_tokens or 0 for row in mine)
            assert totals.completion_tokens == sum(row.completion_tokens or 0 for row in mine)
            assert totals.cost == pytest.approx(sum(row.cost or 0.0 for row in mine))
        found = trials.replies(row.key for row in rows)
        paid = [row for row in rows if row.status != "failed" and not row.is_cached]
        assert sorted(map(place, (row for each in found.values() for row in each))) == sorted(
            map(place, paid)
        )
        assert all(row.key == key for key, each in found.items() for row in each)


def test_a_reply_is_found_by_what_was_asked(tmp_path: Path) -> None:
    """By another trial, another scorer and another run of the directory; the first one first."""
    with writing(tmp_path) as store:
        begin(store, scorers=THREE)
        begin(store, model="other")
        store.add_calls([call(1, 0, 0, key=b"same", attempt=2, reply="later")])
        store.add_calls([call(4, 2, 1, key=b"same", reply="first")])
        store.add_calls([call(2, 1, 0, key=b"same", status="failed", reply=None, value=None)])
        store.add_calls([call(3, 1, 0, key=b"same", reply="copied", is_cached=True)])
        assert [row.reply for row in store.replies([b"same"])[b"same"]] == ["first", "later"]
        assert store.replies([b"other", b""]) == {}
        assert store.replies([]) == {}


def test_a_thousand_keys_are_looked_up_by_the_index(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        begin(store)
        rows = [call(1, 0, n, key=n.to_bytes(8, "big")) for n in range(1200)]
        store.add_calls(rows)
        found = store.replies(row.key for row in rows)
        assert [only for (only,) in found.values()] == rows
        query = "SELECT 1 FROM call WHERE key IN (?,?) AND NOT cached AND status<>4"
        (step,) = store._all(f"EXPLAIN QUERY PLAN {query}", b"1", b"2")
    assert "USING INDEX sqlite_autoindex_call_2 (key=?)" in step[3]


def test_a_call_is_recorded_once(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        begin(store)
        store.add_calls([call(1, 0, 0), call(1, 0, 0, 1)])
        with pytest.raises(InvalidInput, match="scorer 1 for problem 1 is recorded already"):
            store.add_calls([call(1, 1, 0), call(1, 0, 0, 1, reply="another")])
        assert store.calls(1, 1, 0) == []
        store.add_calls([call(1, 0, 0, 1, attempt=2)])
    with Trials(tmp_path) as trials:
        assert trials.call_totals(1).calls == 3
    assert audit_store(tmp_path).is_intact


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (call(9, 0, 0), "no scorer has the number 9"),
        (call(1, 0, 0, value=float("nan")), "a verdict must be a finite number"),
        (call(1, 0, 0, cost=float("inf")), "a cost must be a finite number"),
        (call(1, 0, 0, key="text"), "a call needs a key"),
        (call(1, 0, 0, key=b""), "a call needs a key"),
        (call(1, 0, 0, at_ms=None), "a call cannot be recorded"),
        (call(1, 0, 0, prompt_tokens=2.5), "cannot record 2.5"),
        (call(1, 0, 0, http=2**70), "a call cannot be recorded"),
        (call(1, 7, 0), "the run of scorer 1 has no problem 7"),
    ],
)
def test_what_cannot_be_recorded_is_refused(tmp_path: Path, bad: CallRow, message: str) -> None:
    with writing(tmp_path) as store:
        begin(store)
        with pytest.raises(InvalidInput, match=message):
            store.add_calls([call(1, 2, 0), bad])
    with Trials(tmp_path) as trials:
        assert list(trials.calls(1)) == []


def test_calls_of_one_transaction_are_added_up(tmp_path: Path) -> None:
    """Also where it fails: then what was read before is read again."""
    with writing(tmp_path) as store:
        begin(store)
        with store.transaction():
            store.add_calls([call(1, 0, 0)])
            store.add_calls([call(1, 0, 1)])
        with pytest.raises(InvalidInput):
            store.add_calls([call(1, 0, 2), call(1, 0, 2)])
        store.add_calls([call(1, 0, 3)])
    with Trials(tmp_path) as trials:
        totals = trials.call_totals(1)
        assert (totals.calls, totals.prompt_tokens, totals.cost) == (3, 150, 0.75)


def test_sums_say_what_is_not_priced() -> None:
    totals = CallTotals()
    for row in (
        call(1, 0, 0),
        call(1, 0, 1, cost=None),
        call(1, 0, 2, cost=None, prompt_tokens=None, completion_tokens=None, is_cached=True),
        call(1, 0, 3, cost=None, prompt_tokens=None, completion_tokens=None, status="failed"),
        call(1, 0, 4, status="no_verdict", prompt_tokens=2**62, cost=0.5),
        call(1, 0, 5, status="no_verdict", prompt_tokens=2**62, cost=0.5),
    ):
        totals.add(row)
    assert (totals.calls, totals.failed, totals.cached, totals.unpriced) == (6, 1, 1, 1)
    assert (totals.prompt_tokens, totals.cost) == (2**63 + 100, 1.25)
    assert CallTotals.of(totals.text()) == totals
    assert CallTotals.of(totals.plus(totals).text()).cost == 2.5
    assert CallTotals.of("[]") == CallTotals()


def test_calls_are_forgotten_with_their_problem_and_their_run(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        begin(store, [problem(0), problem(1)])
        store.add_calls([call(1, 0, 0), call(1, 1, 0), call(1, 1, 0, 1)])
        store.add_problems(1, [problem(0), problem(1, target="43")])
        assert store.calls(1, 1, 0) == []
        assert store.calls(1, 0, 0) == [call(1, 0, 0)]
    assert audit_store(tmp_path).damage == []
    with writing(tmp_path) as store:  # other settings, and nothing was asked
        store.begin(TASK, "tiny", spec={"seed": "t"}, config={})
        assert store._all("SELECT * FROM call") == []
    assert audit_store(tmp_path).damage == []


def test_a_trial_that_is_asked_again_keeps_its_calls(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "errored", "half")])
        store.add_calls([call(1, 0, 0)])
        store.append(run, [TrialRow(0, 0, "ok", "whole")], again=True)
        assert store.calls(1, 0, 0) == [call(1, 0, 0)]
    assert audit_store(tmp_path).damage == []


DYING = """
import sys
from pathlib import Path
from support.samples.stores import begin, call, writing
with writing(Path(sys.argv[1])) as store:
    begin(store)
    for number in range(100_000):
        store.add_calls([call(1, 0, number), call(1, 1, number, attempt=2)])
        print(number, flush=True)
"""


@pytest.mark.process
def test_a_paid_reply_survives_a_kill(tmp_path: Path) -> None:
    """What was acknowledged is found by its content, so that it is not asked for again."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", DYING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        while int(process.stdout.readline()) < 20:
            pass
        process.kill()
        acknowledged = [*range(21), *map(int, process.stdout.read().split())]
    rows = [row for n in acknowledged for row in (call(1, 0, n), call(1, 1, n, attempt=2))]
    with writing(tmp_path) as store:
        found = store.replies(row.key for row in rows)
        assert [found[row.key] for row in rows] == [[row] for row in rows]
    assert audit_store(tmp_path).damage == []


DAMAGE = {
    "value": "UPDATE call SET value=0 WHERE problem=1",
    "reply": "UPDATE call SET reply=x'00' WHERE problem=1",
    "status": "UPDATE call SET status=1 WHERE problem=1",
    "key": "UPDATE call SET key=x'00' WHERE problem=1",
    "cost": "UPDATE call SET cost=9 WHERE problem=1",
    "cached": "UPDATE call SET cached=1 WHERE problem=1",
    "lost value": "UPDATE call SET at_ms=NULL WHERE problem=1",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_call_is_named(tmp_path: Path, what: str) -> None:
    directory = judged(tmp_path / "run")
    changed(directory, DAMAGE[what])
    expected = "a row of call is not what was written: trial 0 of problem 'p1' of sums"
    with Trials(directory) as trials, pytest.raises(CorruptStore, match=expected):
        list(trials.calls(1))
    assert audit_store(directory).damage == [expected]


@pytest.mark.parametrize(
    ("statement", "damage"),
    [
        ("DELETE FROM call WHERE problem=1", "2 rows of call of scorer 1 where 3 were written"),
        ("DELETE FROM spare WHERE name='call_tally'", "the sums of ok calls by scorer 1 are wrong"),
        ("UPDATE spare SET row='[]' WHERE name='call_tally'", "row 'call_tally' of spare is not"),
        ("DELETE FROM counter WHERE name='call'", "3 rows of call of scorer 1 where 0 were"),
    ],
)
def test_a_lost_row_is_missed(tmp_path: Path, statement: str, damage: str) -> None:
    directory = judged(tmp_path / "run")
    changed(directory, statement)
    assert any(damage in line for line in audit_store(directory).damage)
    with Trials(directory) as trials, pytest.raises(CorruptStore):
        _ = list(trials.calls(1)), trials.call_totals(1)
    if "FROM call" not in statement:
        with writing(directory) as store, pytest.raises(CorruptStore):
            store.add_calls([call(1, 2, 1)])


def test_a_call_of_an_unknown_status_or_codec_is_damage(tmp_path: Path) -> None:
    """Written by nobody: its checksum is right, and what it says cannot be."""
    from passband.trials.file.packing import INTO, MARKS, packed
    from passband.trials.file.packing import call as packed_call

    for column, value, message in ((7, len(CALL_STATUSES), "no call has the status 5"),
                                   (18, 7, "a judge's reply cannot be read")):  # fmt: skip
        directory = judged(tmp_path / str(column))
        values = list(packed_call(call(1, 2, 1))[:-1])
        values[column] = value
        with closing(sqlite3.connect(directory / STORE_FILE, isolation_level=None)) as connection:
            row = packed("call", tuple(values))
            connection.execute(f"INSERT {INTO['call']} {MARKS['call']}", row)
        with Trials(directory) as trials, pytest.raises(CorruptStore, match=message):
            list(trials.calls(1))
        assert any(message in line for line in audit_store(directory).damage)


def test_a_store_without_judges_has_no_calls(tmp_path: Path) -> None:
    with Trials(filled(tmp_path, [[1, 0]])) as trials:
        assert list(trials.calls(1)) == []
        assert trials.call_totals(1) == CallTotals()
        assert trials.calls_of_trial(1, 0, 0) == []


def judged(directory: Path) -> Path:
    """A store in which each of three trials was judged once."""
    filled(directory, [[1, 0]] * 3)
    with writing(directory) as store:
        store.add_calls([call(1, at, 0, reply="so " * (1 + 400 * at)) for at in range(3)])
    return directory


def changed(directory: Path, statement: str) -> None:
    with closing(sqlite3.connect(directory / STORE_FILE, isolation_level=None)) as connection:
        assert connection.execute(statement).rowcount > 0

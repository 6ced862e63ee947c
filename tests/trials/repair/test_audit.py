"""An audit reads everything, names what is damaged, and finds nothing else."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.trials.file.schema import STORE_FILE
from passband.trials.repair.audit import _Auditor, audit_store
from passband.trials.rows import AttemptRow, ScorerEntry, ScoreRow, TrialRow
from support.samples.stores import begin, call, filled, problem, writing

HERE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small store in which every table has rows, some of them replaced."""
    directory = tmp_path_factory.mktemp("whole") / "run"
    with writing(directory) as store:
        source = store.add_source("csv", "a.csv", "00" * 32)
        run, (one, two) = begin(
            store, [problem(at) for at in range(4)], [("one", "1"), ("two", "1")]
        )
        for at in range(4):
            rows = [
                TrialRow(
                    at, trial, "ok", "word " * at * 99, prompt_tokens=2**62, cost=0.1 * trial,
                    attempts=1 + trial, source=source,
                    scores=[ScoreRow(one, float(trial % 2)), ScoreRow(two, trial / 7, answer="x")],
                )
                for trial in range(5)
            ]  # fmt: skip
            store.append(run, [*rows, TrialRow(at, 5, "gave_up")])
        store.append(run, [TrialRow(0, 5, "ok", "late")], again=True)
        store.set_scorers(run, [ScorerEntry("one", "2")])
        store.add_attempts(run, [AttemptRow(0, 9, n, 1, "late", 500, "slow") for n in (1, 2)])
        store.begin_session(8)
        store.add_calls([call(one, 2, 3, n, reply="so " * 999 * n) for n in range(3)])
        store.add_calls([call(one, 2, 3, 3, status="failed", prompt_tokens=2**62)])
    return directory


def damaged(original: Path, new: Path, *statements: str) -> list[str]:
    shutil.copytree(original, new)
    with closing(sqlite3.connect(new / STORE_FILE, isolation_level=None)) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0
    before = (new / STORE_FILE).read_bytes()
    found = audit_store(new)
    assert not found.is_intact
    assert (new / STORE_FILE).read_bytes() == before
    return found.damage


def test_what_is_whole_is_read_whole(original: Path) -> None:
    found = audit_store(original)
    assert found.damage == []
    assert found.is_intact
    assert found.rows == {
        "run": 1, "session": 1, "source": 1, "scorer": 3, "problem": 4, "attempt": 2, "trial": 24,
        "body": 21, "score": 40, "trial_tally": 7, "score_tally": 8, "counter": 11, "spare": 5,
        "call": 4,
    }  # fmt: skip


def test_while_it_is_written(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        for trial in range(5):
            store.append(run, [TrialRow(0, trial, "ok", "x")])
            found = audit_store(tmp_path)
            assert (found.damage, found.rows["trial"]) == ([], trial + 1)


PLACE = "trial 3 of problem 'p2' of sums"
CASES = {
    "trial": ("UPDATE trial SET status=1 WHERE problem=2 AND trial=3",
              [f"a row of trial is not what was written: {PLACE}"]),
    "body": ("UPDATE body SET text=x'00' WHERE problem=2 AND trial=3",
             [f"a completion is not what was written: {PLACE}"]),
    "lost body": ("DELETE FROM body WHERE problem=2 AND trial=3",
                  [f"a completion is lost: {PLACE}"]),
    "score": ("UPDATE score SET value=0.5 WHERE scorer=2 AND problem=2 AND trial=3",
              [f"a row of score is not what was written: {PLACE}"]),
    "lost trial": ("DELETE FROM trial WHERE problem=2 AND trial=3",
                   [f"a completion has no trial: {PLACE}",
                    f"a row of score has no trial: {PLACE}",
                    "23 rows of trial of run 1 where 24 were written"]),
    "lost score": ("DELETE FROM score WHERE scorer=2 AND problem=2 AND trial=3",
                   ["19 rows of score of scorer 2 where 20 were written"]),
    "problem": ("UPDATE problem SET record='{}' WHERE problem=2",
                ["a row of problem is not what was written: problem 'p2' of sums"]),
    "run": ("UPDATE run SET task='other'", ["row 1 of run is not what was written"]),
    "scorer": ("UPDATE scorer SET position=7 WHERE scorer=2",
               ["row 2 of scorer is not what was written"]),
    "tally": ("UPDATE trial_tally SET trials=9 WHERE problem=2 AND status=0",
              ["a row of trial_tally is not what was written: problem 'p2' of sums"]),
    "score tally": ("DELETE FROM score_tally WHERE scorer=2 AND problem=2",
                    ["a tally of scores by scorer 2 is wrong: problem 2"]),
    "lost tally": ("DELETE FROM trial_tally WHERE problem=2 AND status=0",
                   ["a tally of trials with status 0 is wrong: problem 'p2' of sums"]),
    "counter": ("UPDATE counter SET value=0 WHERE name='attempt'",
                ["row 'attempt' of counter is not what was written"]),
    "session": ("UPDATE session SET concurrency=9", ["row 1 of session is not what was written"]),
    "source": ("DELETE FROM source", ["0 rows of source where 1 were written"]),
    "attempt": ("DELETE FROM attempt WHERE attempt=2",
                ["1 rows of attempt of run 1 where 2 were written"]),
    "call": ("UPDATE call SET cost=9 WHERE call=2",
             [f"a row of call is not what was written: {PLACE}"]),
    "reply": ("UPDATE call SET reply=x'00' WHERE call=2",
              [f"a row of call is not what was written: {PLACE}"]),
    "lost call": ("DELETE FROM call WHERE call=2",
                  ["3 rows of call of scorer 1 where 4 were written",
                   "the sums of ok calls by scorer 1 are wrong"]),
    "call without a problem": ("DELETE FROM problem WHERE problem=2",
                               ["a row of call has no problem: trial 3 of problem 2 of sums"]),
    "sums of calls": ("DELETE FROM spare WHERE name='call_tally'",
                      ["the sums of ok calls by scorer 1 are wrong",
                       "the sums of failed calls by scorer 1 are wrong"]),
    "spare": ("DELETE FROM spare WHERE name='run'",
              ["the second copies of rows of run are not those of run"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_damaged_is_named(original: Path, tmp_path: Path, case: str) -> None:
    statement, expected = CASES[case]
    found = damaged(original, tmp_path / "bad", statement)
    assert set(expected) <= set(found)


def test_every_damaged_row_is_named(original: Path, tmp_path: Path) -> None:
    found = damaged(original, tmp_path / "bad", "UPDATE body SET text=x'01' WHERE problem=1")
    assert len(found) == 5
    assert len(set(found)) == 5


def test_a_page_that_cannot_be_read_leaves_the_others(original: Path, tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0] * 50] * 20)
    with closing(sqlite3.connect(directory / STORE_FILE)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name='score'"
        start = 4096 * (connection.execute(query).fetchone()[0] - 1)
    data = bytearray((directory / STORE_FILE).read_bytes())
    data[start : start + 4096] = b"\xaa" * 4096
    (directory / STORE_FILE).write_bytes(data)
    found = audit_store(directory)
    assert found.rows["trial"] == found.rows["body"] == 2000
    assert any("the table score cannot be read to its end" in line for line in found.damage)


def test_what_is_no_store_at_all(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not a run directory"):
        audit_store(tmp_path)
    (tmp_path / STORE_FILE).write_bytes(b"not a database" * 500)
    assert audit_store(tmp_path).damage == ["file is not a database"]


def test_values_of_another_type_are_damage(original: Path, tmp_path: Path) -> None:
    """A flipped bit can make any value of a number."""
    for number, value in enumerate(("x'00'", "'a'", "1.5")):
        bad = tmp_path / str(number)
        shutil.copytree(original, bad)
        with closing(sqlite3.connect(bad / STORE_FILE, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema=ON")
            connection.execute(
                "UPDATE sqlite_master SET sql=replace(replace(sql, 'STRICT,', ''), ' NOT NULL', '')"
                " WHERE name IN ('trial', 'attempt')"
            )
        with closing(sqlite3.connect(bad / STORE_FILE, isolation_level=None)) as connection:
            connection.execute(f"UPDATE trial SET status={value} WHERE problem=2 AND trial=3")
            connection.execute(f"UPDATE attempt SET run={value} WHERE attempt=2")
            auditor = _Auditor(connection, bad / STORE_FILE, damage := [])
            auditor.audit()
        assert f"a row of trial is not what was written: {PLACE}" in damage
        assert any("rows of attempt of run 1 where 2" in line for line in damage)


@pytest.mark.parametrize("filler", [b"\0", b"\xff"])
def test_any_page_may_be_lost(original: Path, tmp_path: Path, filler: bytes) -> None:
    whole = (original / STORE_FILE).read_bytes()
    run = tmp_path / "run"
    run.mkdir()
    for start in range(4096, len(whole), 4096):
        (run / STORE_FILE).write_bytes(whole[:start] + filler * 4096 + whole[start + 4096 :])
        assert not audit_store(run).is_intact, start

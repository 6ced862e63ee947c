"""Real files of versions 2 and 3: read as they are, widened when written, killed on the way."""

from __future__ import annotations

import io
import json
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dying import migrating
from passband.trials.audit import audit
from passband.trials.backup import backup
from passband.trials.call_totals import CallTotals
from passband.trials.export import export
from passband.trials.merge import merge
from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from passband.trials.salvage import salvage
from passband.trials.schema import FILE, VERSION, CorruptStore
from passband.trials.store import Store
from stores import MODEL, TASK, begin, call, writing

HERE = Path(__file__).parent / "version_2"
THIRD = Path(__file__).parent / "version_3"
CALLS = {"call", "sqlite_autoindex_call_1", "sqlite_autoindex_call_2"}
EXPORT = [json.loads(line) for line in (HERE / "export.jsonl").read_text().splitlines()]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of a run directory of version 2."""
    directory = tmp_path / "old"
    directory.mkdir()
    shutil.copy(HERE / FILE, directory)
    return directory


def exported(directory: Path) -> list[dict[str, object]]:
    """The export with the columns that it had at the time of version 2."""
    file = io.BytesIO()
    with Trials(directory) as trials:
        export(trials, trials.runs(), "jsonl", file, timing=True)
        rates = [session.trials for session in trials.sessions()]
    assert rates == [32, 8]
    rows = [json.loads(line) for line in file.getvalue().splitlines()]
    assert {row.pop("finish_reason") for row in rows} == {None}
    assert all("cost" in row for row in rows)
    return [{name: value for name, value in row.items() if name != "cost"} for row in rows]


def tables(directory: Path) -> tuple[int, dict[str, int]]:
    """The version of a file, and the page at which each table begins."""
    with closing(sqlite3.connect(directory / FILE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        pages = dict(connection.execute("SELECT name, rootpage FROM sqlite_master").fetchall())
        return int(connection.execute("PRAGMA user_version").fetchone()[0]), pages


def test_it_is_read_as_it_is(old: Path) -> None:
    before = (old / FILE).read_bytes()
    assert exported(old) == EXPORT
    with Trials(old) as trials:
        assert trials.rate() == 10.0
    assert (old / FILE).read_bytes() == before


def test_reading_it_uses_the_keys_of_its_tables(old: Path) -> None:
    with Trials(old) as trials:
        query = "SELECT t.trial FROM trial AS t WHERE t.run=1 ORDER BY t.problem, t.trial"
        (step,) = trials._rows.each(f"EXPLAIN QUERY PLAN {query}")
    assert "USING PRIMARY KEY (run=?)" in step[3]


def test_it_is_widened_in_place(old: Path) -> None:
    _, before = tables(old)
    Store(old, low_water=0).close()
    version, after = tables(old)
    assert version == VERSION
    assert after.items() >= before.items()
    assert after.keys() - before.keys() == {"spare", *CALLS}
    assert exported(old) == EXPORT
    with writing(old) as store:
        store.append(1, [TrialRow(0, 9, "unknown", "so", finish_reason="weird \ud800")])
        store.begin_session(4)
    with Trials(old) as trials:
        rows = [row for row in trials.trials(trials.run("sums", "small")) if row.trial == 9]
        assert [(row.status, row.finish_reason) for row in rows] == [("unknown", "weird \ud800")]
        assert [session.ended is None for session in trials.sessions()] == [False, False, True]
        assert trials.rate() == 10.0


def test_a_widened_file_is_laid_out_as_a_new_one(old: Path, tmp_path: Path) -> None:
    """Salvaging replaces a damaged first page by that of a new store."""
    Store(old, low_water=0).close()
    for directory in (old, HERE):
        bad = tmp_path / f"bad {directory.name}"
        bad.mkdir()
        (bad / FILE).write_bytes(b"\xaa" * 4096 + (directory / FILE).read_bytes()[4096:])
        salvage(bad, tmp_path / f"new {directory.name}")
        assert exported(tmp_path / f"new {directory.name}") == EXPORT


def test_it_is_salvaged_and_merged(old: Path, tmp_path: Path) -> None:
    salvage(old, tmp_path / "saved")
    merge([old, tmp_path / "saved"], tmp_path / "merged")
    assert exported(tmp_path / "saved") == exported(tmp_path / "merged") == EXPORT
    assert tables(old)[0] == 2


def test_a_failed_migration_leaves_the_file_as_it_was(old: Path) -> None:
    with closing(sqlite3.connect(old / FILE)) as connection, connection:
        connection.execute("UPDATE session SET trials=33 WHERE session=1")
    before = (old / FILE).read_bytes()
    with pytest.raises(CorruptStore, match="row 1 of session is not what was written"):
        Store(old, low_water=0)
    assert (old / FILE).read_bytes() == before


@pytest.mark.parametrize("word", ["", "x", "half \ud800"])
def test_how_an_answer_ended_is_kept_and_checked(tmp_path: Path, word: str) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "unknown", "so", finish_reason=word)])
    with Trials(tmp_path) as trials:
        (row,) = trials.trials(trials.run(TASK, MODEL))
    assert row.finish_reason == word
    for other in ("NULL", "'y'"):
        with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
            connection.execute(f"UPDATE trial SET finish_reason={other}")
        with Trials(tmp_path) as trials, pytest.raises(CorruptStore, match="a row of trial"):
            list(trials.trials(trials.run(TASK, MODEL)))


# -- version 3 -------------------------------------------------------------------------------


@pytest.fixture
def third(tmp_path: Path) -> Path:
    """A copy of a run directory of version 3."""
    shutil.copytree(THIRD, tmp_path / "third")
    return tmp_path / "third"


def whole_export(directory: Path) -> bytes:
    """The export with the columns that it had at the time of version 3, in their order."""
    file = io.BytesIO()
    with Trials(directory) as trials:
        export(trials, trials.runs(), "jsonl", file, timing=True)
        assert [session.trials for session in trials.sessions()] == [48]
    rows = [json.loads(line) for line in file.getvalue().splitlines()]
    costs = [row.pop("cost") for row in rows]
    assert any(cost is not None for cost in costs)
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def test_version_3_is_read_as_it_is(third: Path) -> None:
    before = (third / FILE).read_bytes()
    assert whole_export(third) == (THIRD / "export.jsonl").read_bytes()
    with Trials(third) as trials:
        assert list(trials.calls(1)) == trials.calls_of_trial(1, 0, 0) == []
        assert trials.replies([b"key"]) == {}
        assert trials.call_totals(1) == CallTotals()
    assert audit(third).damage == []
    assert backup(third, third.parent / "copy").is_intact
    assert tables(third.parent / "copy")[0] == 3
    assert (third / FILE).read_bytes() == before


def test_version_3_gets_a_table_and_no_trial_is_written_again(third: Path) -> None:
    _, before = tables(third)
    data = (third / FILE).read_bytes()
    Store(third, low_water=0).close()
    version, after = tables(third)
    assert (version, after.keys() - before.keys()) == (VERSION, CALLS)
    assert after.items() >= before.items()
    pages = range(4096, len(data), 4096)
    now = (third / FILE).read_bytes()
    counters = 4096 * (before["counter"] - 1)  # where the new table begins is noted there
    changed = {at for at in pages if now[at : at + 4096] != data[at : at + 4096]}
    assert changed <= {counters}
    assert len(now) == len(data) + 3 * 4096
    assert whole_export(third) == (THIRD / "export.jsonl").read_bytes()
    assert audit(third).damage == []
    with writing(third) as store:
        store.add_calls([call(1, 0, 0)])
    with Trials(third) as trials:
        assert list(trials.calls(1)) == [call(1, 0, 0)]


@pytest.mark.parametrize("fixture", ["old", "third"])
def test_calls_of_a_widened_file_survive_its_first_page(
    fixture: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The new table begins elsewhere than in a new store, and the counters say where."""
    directory = request.getfixturevalue(fixture)
    calls = [call(1, at, trial, reply="so " * 99) for at in range(3) for trial in range(40)]
    with writing(directory) as store:
        store.add_calls(calls)
    for vacuumed in (False, True):
        if vacuumed:
            with closing(sqlite3.connect(directory / FILE)) as connection:
                connection.execute("VACUUM")
        bad, new = tmp_path / f"bad {vacuumed}", tmp_path / f"new {vacuumed}"
        bad.mkdir()
        (bad / FILE).write_bytes(b"\xaa" * 4096 + (directory / FILE).read_bytes()[4096:])
        salvage(bad, new)
        with Trials(new) as trials:
            assert list(trials.calls(1)) == calls
        assert audit(new).damage == []


def test_version_3_is_salvaged_and_merged(third: Path, tmp_path: Path) -> None:
    expected = (THIRD / "export.jsonl").read_bytes()
    found = salvage(third, tmp_path / "saved")
    assert found.rows["call"] == 0
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / FILE).write_bytes(b"\xaa" * 4096 + (third / FILE).read_bytes()[4096:])
    salvage(bad, tmp_path / "found")
    merge([third, tmp_path / "saved", tmp_path / "found"], tmp_path / "merged")
    for name in ("saved", "found", "merged"):
        assert whole_export(tmp_path / name) == expected
    assert tables(third)[0] == 3


@pytest.mark.process
def test_a_killed_widening_leaves_one_version_or_the_other(third: Path, tmp_path: Path) -> None:
    shutil.copytree(third, tmp_path / "whole")
    done = migrating(tmp_path / "whole", 0)
    assert done.returncode == 0, done.stderr
    total, versions = int(done.stdout), set()
    for at in sorted({*range(1, total, total // 8), total - 1}):
        directory = tmp_path / str(at)
        shutil.copytree(third, directory)
        assert migrating(directory, at).returncode == -signal.SIGKILL
        versions.add(tables(directory)[0])
        assert whole_export(directory) == (THIRD / "export.jsonl").read_bytes()
        Store(directory, low_water=0).close()  # the next one goes on
        assert tables(directory)[0] == VERSION
        assert audit(directory).damage == []
    assert versions == {3, VERSION}

"""A real file of version 1: migrated in place or read as it is, and killed on the way."""

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
from passband.errors import InvalidInput, PassbandError
from passband.trials import migrations
from passband.trials.export import export
from passband.trials.reader import Trials
from passband.trials.rows import ScorerEntry, ScoreRow, TrialRow
from passband.trials.salvage import salvage
from passband.trials.schema import APPLICATION, FILE, VERSION, VERSION_1, CorruptStore
from passband.trials.store import Store
from stores import writing

HERE = Path(__file__).parent / "version_1"
EXPORT = (HERE / "export.jsonl").read_bytes()
MODEL = "python:scripted:Script"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of a run directory of version 1."""
    directory = tmp_path / "old"
    directory.mkdir()
    shutil.copy(HERE / FILE, directory)
    return directory


def exported(directory: Path) -> bytes:
    """The export with the columns that it had at the time of version 1."""
    file = io.BytesIO()
    with Trials(directory) as trials:
        export(trials, trials.runs(), "jsonl", file)
    return b"".join(as_before(line) for line in file.getvalue().splitlines())


def as_before(line: bytes) -> bytes:
    row = json.loads(line)
    columns = json.loads(EXPORT.splitlines()[0])
    assert row.keys() - columns == {"cluster", "score_status:f1", "finish_reason"}
    kept = {name: value for name, value in row.items() if name in columns}
    text = json.dumps(kept, ensure_ascii="\\ud8" in line.decode(), separators=(",", ":"))
    return text.encode() + b"\n"


def version_of(directory: Path) -> int:
    with closing(sqlite3.connect(directory / FILE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_it_is_read_as_it_is(old: Path) -> None:
    before = (old / FILE).read_bytes()
    assert exported(old) == EXPORT
    with Trials(old) as trials:
        (run,) = trials.runs()
        assert (run.name, run.task, run.model) == ("script", "animals", MODEL)
        assert (run.address, run.source) == (None, None)
        assert run.scorer("f1").spec == {
            "name": "f1", "function": "f1", "options": {}, "steps": [],
        }  # fmt: skip
        assert trials.statuses(run.number) == {
            "ok": 10, "truncated": 1, "refused": 1, "gave_up": 4,
        }  # fmt: skip
        assert trials.recorded(run.number) == dict.fromkeys(range(4), 0b1111)
        assert trials.rate() == pytest.approx(16 / 2.506993565000016)
        assert len(trials.attempt_rows(run.number)) == 12
    assert (old / FILE).read_bytes() == before
    assert version_of(old) == 1


def test_it_is_migrated_when_it_is_written(old: Path) -> None:
    with Trials(old) as trials:
        (run,) = trials.runs()
        counts = trials.statuses(1), trials.outcomes(run).status_counts, trials.attempt_rows(1)
        problems = list(trials.problems(1))
    with writing(old) as store:
        assert store.name("animals", MODEL) == "script"
        number = store.begin("animals", MODEL, spec=run.spec, config=run.config)
        assert number == run.number
    assert version_of(old) == VERSION
    assert exported(old) == EXPORT
    with Trials(old) as trials:
        assert trials.runs() == [run]
        assert list(trials.problems(1)) == problems
        assert counts == (
            trials.statuses(1), trials.outcomes(run).status_counts, trials.attempt_rows(1),
        )  # fmt: skip
    with writing(old) as store:  # and goes on
        scorers = [ScorerEntry(s.name, s.identity) for s in run.scorers]
        numbers = store.set_scorers(number, scorers)
        assert numbers == [scorer.number for scorer in run.scorers]
        scores = [ScoreRow(numbers[0], 1.0)]
        store.append(number, [TrialRow(0, 4, "ok", "4", scores=scores)])
    assert exported(old).startswith(b"\n".join(EXPORT.split(b"\n")[:4]))
    assert exported(old).count(b"\n") == EXPORT.count(b"\n") + 1


def test_a_migrated_file_is_laid_out_as_a_new_one(old: Path, tmp_path: Path) -> None:
    """Salvaging replaces a damaged first page by that of a new store."""
    Store(old, low_water=0).close()
    data = bytearray((old / FILE).read_bytes())
    data[:4096] = b"\xaa" * 4096
    (old / FILE).write_bytes(data)
    salvage(old, tmp_path / "new")
    assert exported(tmp_path / "new") == EXPORT


def test_a_damaged_file_of_version_1_is_salvaged(old: Path, tmp_path: Path) -> None:
    salvage(old, tmp_path / "whole")
    assert exported(tmp_path / "whole") == EXPORT
    data = bytearray((old / FILE).read_bytes())
    data[:4096] = b"\xaa" * 4096
    (old / FILE).write_bytes(data)
    for open_it in (Trials, Store):
        with pytest.raises(CorruptStore, match="passband salvage"):
            open_it(old)
    salvage(old, tmp_path / "new")
    assert exported(tmp_path / "new") == EXPORT


def test_a_run_without_a_seed_is_named_after_its_directory(tmp_path: Path) -> None:
    directory = tmp_path / "somewhere"
    directory.mkdir()
    with closing(sqlite3.connect(directory / FILE, isolation_level=None)) as connection:
        connection.executescript(
            f"{VERSION_1} PRAGMA application_id={APPLICATION}; PRAGMA user_version=1;"
            "INSERT INTO run VALUES (1, 't', 'm', '{\"seed\":null}', 'now', '{}');"
        )
    with Trials(directory) as trials:
        assert trials.run().name == "somewhere"
    salvage(directory, tmp_path / "saved")
    with Trials(tmp_path / "saved") as trials:
        assert trials.run().name == "somewhere"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE trial SET status=9 WHERE problem=0",
        "UPDATE score SET status=-1",
        "UPDATE run SET spec='{'",
        "UPDATE run SET config='[]'",
        "UPDATE problem SET record='nothing'",
        "UPDATE body SET codec=7 WHERE id=1",
        "DELETE FROM body WHERE id=1",
        "UPDATE score SET trial=99 WHERE problem=0 AND trial=0",
    ],
)
def test_what_cannot_be_right_is_damage(old: Path, statement: str) -> None:
    with closing(sqlite3.connect(old / FILE, isolation_level=None)) as connection:
        connection.execute(statement)
    before = (old / FILE).read_bytes()
    for open_it in (Trials, Store):
        with pytest.raises(CorruptStore):
            open_it(old)
    assert version_of(old) == 1
    assert (old / FILE).read_bytes() == before


def test_a_later_version_is_refused(old: Path) -> None:
    with closing(sqlite3.connect(old / FILE)) as connection:
        connection.execute(f"PRAGMA user_version={VERSION + 1}")
    for open_it in (Trials, Store):
        with pytest.raises(InvalidInput, match=r"newer passband \(layout 5; this one knows 4\)"):
            open_it(old)


def test_without_room_nothing_is_migrated(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def usage(path: Path) -> shutil._ntuple_diskusage:
        return shutil._ntuple_diskusage(100, 99, 1)

    monkeypatch.setattr(migrations.shutil, "disk_usage", usage)
    with pytest.raises(PassbandError, match="migrating it needs 0 MB of room"):
        Store(old, low_water=0)
    assert version_of(old) == 1


def test_a_killed_migration_leaves_one_version_or_the_other(old: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    shutil.copytree(old, whole)
    done = migrating(whole, 0)
    assert done.returncode == 0, done.stderr
    total = int(done.stdout)
    assert total > 100
    versions = set()
    for at in [*range(1, total, total // 10), total - 1]:
        directory = tmp_path / str(at)
        shutil.copytree(old, directory)
        assert migrating(directory, at).returncode == -signal.SIGKILL
        versions.add(version_of(directory))
        assert exported(directory) == EXPORT
        Store(directory, low_water=0).close()  # the next one goes on
        assert version_of(directory) == VERSION
        assert exported(directory) == EXPORT
    assert versions == {1, VERSION}

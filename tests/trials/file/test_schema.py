"""How the file is opened: what is refused, and that nothing is changed by looking."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from passband.errors import InvalidInput, PassbandError
from passband.trials.file import connection as connection_module
from passband.trials.file.schema import (
    APPLICATION,
    STORE_FILE,
    VERSION,
    CorruptStore,
    EmptyStore,
    is_run_directory,
)
from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from passband.trials.store import Store
from support.samples.stores import begin, filled, problem, read_back, writing

PAGE = 4096


def contents(directory: Path) -> dict[str, bytes]:
    """The file and its log; the lock, the shared memory and an empty log may come and go."""
    found = {path.name: path.read_bytes() for path in directory.glob(f"{STORE_FILE}*")}
    return {name: data for name, data in found.items() if data and not name.endswith("-shm")}


def changed(directory: Path, statement: str) -> None:
    with closing(sqlite3.connect(directory / STORE_FILE)) as connection:
        connection.execute(statement)


def overwrite(path: Path, page: int, data: bytes = b"\xaa" * PAGE) -> None:
    with path.open("r+b") as file:
        file.seek(page * PAGE)
        file.write(data)


OPENINGS: list[Callable[[Path], object]] = [lambda path: Store(path, low_water=0), Trials]
both = pytest.mark.parametrize("opened", OPENINGS, ids=["write", "read"])


@both
def test_somebody_elses_file_is_refused_and_left_alone(tmp_path: Path, opened) -> None:
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        connection.execute("CREATE TABLE run(x)")
    before = contents(tmp_path)
    with pytest.raises(InvalidInput, match=r"an SQLite file, but not one of passband's\."):
        opened(tmp_path)
    assert contents(tmp_path) == before


@both
def test_a_newer_version_is_refused(tmp_path: Path, opened) -> None:
    filled(tmp_path, [[1, 0]])
    changed(tmp_path, f"PRAGMA user_version={VERSION + 1}")
    before = contents(tmp_path)
    with pytest.raises(InvalidInput, match=rf"newer passband \(layout {VERSION + 1}; this one"):
        opened(tmp_path)
    assert contents(tmp_path) == before


@both
@pytest.mark.parametrize("text", [b"not a database" * 500, b"SQLite format 3\0" + b"\xff" * 9000])
def test_what_is_no_database_is_damaged(tmp_path: Path, opened, text: bytes) -> None:
    (tmp_path / STORE_FILE).write_bytes(text)
    with pytest.raises(CorruptStore, match=r"damaged .* Nothing was changed\. passband salvage"):
        opened(tmp_path)
    assert contents(tmp_path) == {STORE_FILE: text}


@both
def test_a_damaged_page_is_found_and_left_alone(tmp_path: Path, opened) -> None:
    directory = filled(tmp_path / "run", [[1, 0] * 50] * 20)
    path = directory / STORE_FILE
    for page in range(1, path.stat().st_size // PAGE, 7):
        bad = tmp_path / f"bad{page}"
        shutil.copytree(directory, bad)
        overwrite(bad / STORE_FILE, page)
        before = contents(bad)
        with pytest.raises(CorruptStore, match="is damaged"):
            opened(bad)
        assert contents(bad) == before


DYING = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from passband.trials.rows import TrialRow
from passband.trials.store import Store
from support.samples.stores import begin
store = Store(Path(sys.argv[1]), low_water=0)
run, _ = begin(store)
for trial in range(1000, 1060):
    store.append(run, [TrialRow(at, trial, "ok", "text " * 300) for at in range(3)])
os.kill(os.getpid(), 9)
"""


def crashed(directory: Path) -> Path:
    """Let a writer be killed, so that 180 trials are in the log alone."""
    tests = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", DYING, str(directory), str(tests)])
    assert done.returncode == -signal.SIGKILL
    assert (directory / f"{STORE_FILE}-wal").stat().st_size > 0
    return directory


@pytest.mark.slow
@both
def test_a_damaged_store_with_a_log_stays_as_it_is(tmp_path: Path, opened) -> None:
    """Opening for writing would bring the log into the file, damaged as it is."""
    directory = crashed(filled(tmp_path / "run", [[1, 0] * 50] * 20))
    found = 0
    for page in range(1, (directory / STORE_FILE).stat().st_size // PAGE, 5):
        bad = tmp_path / f"bad{page}"
        shutil.copytree(directory, bad)
        overwrite(bad / STORE_FILE, page)
        before = contents(bad)
        try:
            opened(bad).close()  # where the log has the page as well, all is well
        except CorruptStore:
            found += 1
            assert contents(bad) == before
    assert found > 2


def test_what_a_killed_writer_left_is_all_there(tmp_path: Path) -> None:
    directory = crashed(tmp_path / "run")
    _, rows = read_back(directory)
    assert len(rows) == 180
    with writing(directory) as store:
        store.append(1, [TrialRow(0, 0, "ok", "more")])
    assert len(read_back(directory)[1]) == 181


def test_a_file_without_tables_holds_no_trials(tmp_path: Path) -> None:
    (tmp_path / STORE_FILE).touch()
    with pytest.raises(EmptyStore, match="holds no trials yet"):
        Trials(tmp_path)
    filled(tmp_path, [[1]])
    assert len(read_back(tmp_path)[1]) == 1


@both
@pytest.mark.parametrize("size", [0, None], ids=["nothing", "no tables"])
def test_a_store_cut_off_to_nothing_is_not_a_new_one(
    tmp_path: Path, opened, size: int | None
) -> None:
    """Else everything would be asked again without a word."""
    filled(tmp_path, [[1, 0]])
    (tmp_path / STORE_FILE).write_bytes(b"")
    if size is None:
        with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
    with pytest.raises(CorruptStore, match=r"it is empty, although trials .* delete the file"):
        opened(tmp_path)
    (tmp_path / STORE_FILE).unlink()
    filled(tmp_path, [[1]])
    assert len(read_back(tmp_path)[1]) == 1


@pytest.mark.parametrize(
    ("lock", "is_new"),
    [("", True), ('{"pid": 1, "host": "h", "made": false}', True),
     ('{"pid": 1, "host": "h"}', False), ("{", False), ("[]", False)],
)  # fmt: skip
def test_an_empty_file_is_new_only_where_nothing_was_made(
    tmp_path: Path, lock: str, is_new: bool
) -> None:
    """A process may have been killed before it made its tables."""
    (tmp_path / STORE_FILE).touch()
    (tmp_path / "lock").write_text(lock)
    if is_new:
        filled(tmp_path, [[1]])
        return
    for _ in range(2):
        with pytest.raises(CorruptStore, match="it is empty"):
            Store(tmp_path, low_water=0)


def test_a_copy_of_the_file_alone_is_a_store(tmp_path: Path) -> None:
    """What is in the log alone is missing from it, and what there is agrees."""
    with writing(tmp_path / "run") as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        (tmp_path / "copy").mkdir()
        shutil.copy(tmp_path / "run" / STORE_FILE, tmp_path / "copy")
        shutil.copy(tmp_path / "run" / "lock", tmp_path / "copy")
    with Trials(tmp_path / "copy") as trials:
        assert trials.runs() == []


def test_a_folder_is_not_a_run_directory(tmp_path: Path) -> None:
    assert not is_run_directory(tmp_path)
    with pytest.raises(InvalidInput, match=r"is not a run directory: it has no trials\.sqlite"):
        Trials(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_damage_is_not_called_so(tmp_path: Path) -> None:
    directory = filled(tmp_path, [[1]])
    with writing(directory) as store:
        store._connection.execute("PRAGMA busy_timeout=1")
        with closing(sqlite3.connect(directory / STORE_FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(PassbandError, match=r"trials\.sqlite: database is locked") as found:
                store.append(1, [TrialRow(0, 1, "ok", "x")])
    assert not isinstance(found.value, CorruptStore)


def test_a_file_system_without_a_log_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(PassbandError, match="network drive"),
    ):
        connection_module._prepare(connection, Path("run") / STORE_FILE)


def test_an_old_sqlite_is_told_apart_from_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path, [[1]])
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    for opened in OPENINGS:
        with pytest.raises(PassbandError, match=r"needs SQLite 3\.37 or newer") as caught:
            opened(tmp_path)
        assert not isinstance(caught.value, CorruptStore)


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    filled(tmp_path, [[1]])
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        found = [
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version", "journal_mode")
        ]
    assert found == [APPLICATION, VERSION, "wal"]


def test_every_commit_is_synchronous(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        assert store._connection.execute("PRAGMA synchronous").fetchone()[0] == 2


# -- folders that cannot be written ----------------------------------------------------------

READING = """
import sys
from pathlib import Path
from passband.errors import PassbandError
from passband.trials.reader import Trials
try:
    with Trials(Path(sys.argv[1])) as trials:
        print(sum(1 for run in trials.runs() for _ in trials.trials(run)))
except PassbandError as error:
    print(error)
"""


def read_without_rights(directory: Path) -> str:
    """Read a folder that may not be written to, as somebody who is bound by that."""
    command = [sys.executable, "-c", READING, str(directory)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and setpriv is not there to change that")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    directory.chmod(0o555)
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    finally:
        directory.chmod(0o755)


def test_a_read_only_folder_can_be_read(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0, 1]])
    assert read_without_rights(directory) == "3"
    assert len(read_back(directory)[1]) == 3  # which leaves an empty log and shared memory
    assert read_without_rights(directory) == "3"


def test_a_read_only_folder_with_a_log_is_not_read_by_halves(tmp_path: Path) -> None:
    directory = crashed(tmp_path / "run")
    (directory / f"{STORE_FILE}-shm").unlink()
    found = read_without_rights(directory)
    assert "its last trials are still in trials.sqlite-wal" in found
    assert "Copy the folder" in found
    shutil.copytree(directory, tmp_path / "copy")
    assert len(read_back(tmp_path / "copy")[1]) == 180


# -- reading while somebody writes ------------------------------------------------------------


def test_reading_sees_one_moment(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "a")])
        with Trials(tmp_path) as trials:
            found = trials.runs()[0]
            store.add_problems(run, [problem(at) for at in range(5)])
            store.append(run, [TrialRow(at, 1, "ok", "b") for at in range(5)])
            assert trials.recorded(run) == {0: 0b1}
            assert [row.text for row in trials.trials(found)] == ["a"]
            assert trials.outcomes(found).n_unscored == 1
        with Trials(tmp_path) as trials:
            assert trials.outcomes(trials.runs()[0]).n_unscored == 6


def test_a_reader_does_not_hold_up_the_writer(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "a")])
        with Trials(tmp_path) as trials:
            rows = trials.trials(trials.runs()[0])
            next(rows)
            for trial in range(1, 50):
                store.append(run, [TrialRow(0, trial, "ok", "b" * 5_000)])
            assert list(rows) == []
    assert len(read_back(tmp_path)[1]) == 50


@both
def test_a_table_whose_name_is_not_text_is_damage(tmp_path: Path, opened) -> None:
    """SQLite puts the name into its message, which Python then cannot decode."""
    directory = filled(tmp_path, [[1]])
    data = bytearray((directory / STORE_FILE).read_bytes())
    start = data.index(b"CREATE TABLE session")
    data[start + 25] ^= 0x80
    (directory / STORE_FILE).write_bytes(data)
    with pytest.raises(CorruptStore, match="passband salvage"):
        opened(directory)

"""A bit that flips on the disk: the same data, or an error, and never other data."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from passband.errors import InvalidInput, PassbandError
from passband.trials.file.checksums import is_intact
from passband.trials.file.schema import STORE_FILE, TABLES, CorruptStore
from passband.trials.reader import Trials
from passband.trials.repair.salvage import salvage_store
from passband.trials.rows import AttemptRow, ScorerEntry, ScoreRow, Status, TrialRow
from passband.trials.settings import SettingsChanged
from passband.trials.store import Store
from support.fuzz.flips import FAILURES, everything, flip, is_part_of, originals, rows_of
from support.samples.stores import TASK, begin, call, problem, writing

FLIPS = 100


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small store in which every table has rows."""
    directory = tmp_path_factory.mktemp("whole") / "run"
    rng = random.Random(1)
    with writing(directory) as store:
        source = store.add_source("csv", "a.csv", "00" * 32)
        for model in ("small", "large"):
            run, (one, two) = begin(
                store, [problem(at) for at in range(6)], [("one", "1"), ("two", "1")], model=model
            )
            store.set_scorers(run, [ScorerEntry("one", "1", {"name": "one"})])
            statuses = ["ok"] * 8 + ["truncated", "refused", "gave_up"]
            for at in range(6):
                for trial in range(8):
                    status: Status = rng.choice(statuses)  # type: ignore[arg-type]
                    scores = [
                        ScoreRow(one, float(rng.random() < 0.5), answer="42", rule="boxed"),
                        ScoreRow(two, rng.random(), detail="so"),
                    ]
                    row = TrialRow(
                        at, trial, status, "word " * rng.randrange(100), None, 5, 7, 100, 1 + at,
                        77, f"id-{trial}", scores if status == "ok" else [],
                        [{"role": "user"}] if trial == 3 else None, 0.25, "variance", source,
                    )  # fmt: skip
                    store.append(run, [row])
            store.add_attempts(run, [AttemptRow(0, 9, n, 1, "late", 500, "slow") for n in (1, 2)])
            store.add_calls([call(one, at, n, n % 2) for at in (2, 3) for n in range(9)])
        store.end_session(store.begin_session(8, "http://x"), 2.5, 96)
    return directory


def flipped(original: Path, new: Path, bit: int) -> Path:
    new.mkdir(exist_ok=True)
    data = bytearray((original / STORE_FILE).read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    for path in new.iterdir():
        path.unlink()
    (new / STORE_FILE).write_bytes(data)
    return new


def test_a_flipped_bit_never_gives_other_data(original: Path, tmp_path: Path) -> None:
    expected = everything(original)
    rng = random.Random(7)
    size = (original / STORE_FILE).stat().st_size
    noticed = 0
    for _ in range(FLIPS):
        bit = rng.randrange(8 * size)
        bad = flipped(original, tmp_path / "bad", bit)
        try:
            assert everything(bad) == expected, f"bit {bit} has changed what is read"
        except (CorruptStore, InvalidInput):
            noticed += 1
    assert noticed > FLIPS // 4  # the rest is room that no row uses


def test_a_flipped_bit_is_not_resumed_upon(original: Path, tmp_path: Path) -> None:
    """A writer raises what a reader raises, or goes on with what was there."""
    rng = random.Random(8)
    size = (original / STORE_FILE).stat().st_size
    for _ in range(60):
        bad = flipped(original, tmp_path / "bad", rng.randrange(8 * size))
        try:
            with closing(Store(bad, low_water=0)) as store:
                run, (one,) = begin(
                    store, [problem(at) for at in range(6)], [("one", "1")], model="small"
                )
                assert (run, one) == (1, 1)
                store.append(run, [TrialRow(2, 20, "ok", "x", scores=[ScoreRow(one, 1.0)])])
        except (CorruptStore, InvalidInput):
            continue
        try:
            with Trials(bad) as trials:
                assert trials.recorded(1)[2] >> 20 & 1
        except (CorruptStore, InvalidInput):
            continue


def test_salvage_gives_back_only_what_was_written(original: Path, tmp_path: Path) -> None:
    expected = rows_of(original)
    rng = random.Random(9)
    size = (original / STORE_FILE).stat().st_size
    for number in range(40):
        bad = flipped(original, tmp_path / f"bad{number}", rng.randrange(8 * size))
        try:
            salvage_store(bad, tmp_path / f"new{number}")
        except PassbandError:  # nothing can be read
            continue
        for place, row in rows_of(tmp_path / f"new{number}").items():
            assert is_part_of(row, expected[place])


CHANGES = {
    "trial": "UPDATE trial SET status=1 WHERE problem=2 AND trial=3",
    "body": "UPDATE body SET text=x'00' WHERE problem=2 AND trial=3",
    "score": "UPDATE score SET value=0.125 WHERE problem=2 AND scorer=1",
    "problem": "UPDATE problem SET key='p9' WHERE problem=2",
    "trial_tally": "UPDATE trial_tally SET trials=trials+1 WHERE problem=2",
    "score_tally": "UPDATE score_tally SET total=total+1 WHERE problem=2",
    "run": "UPDATE run SET task='other'",
    "scorer": "UPDATE scorer SET position=1-position",
    "counter": "UPDATE counter SET value=value+1",
    "session": "UPDATE session SET seconds=1",
    "attempt": "UPDATE attempt SET detail='x'",
    "source": "UPDATE source SET file='b.csv'",
    "call": "UPDATE call SET value=0.5 WHERE problem=2",
}
READ = [table for table in TABLES if table != "spare"]


@pytest.mark.parametrize("table", READ)
def test_every_table_is_checked(original: Path, tmp_path: Path, table: str) -> None:
    bad = copied(original, tmp_path / "bad", CHANGES[table])
    with pytest.raises(CorruptStore, match=r"is damaged .* passband salvage") as caught:
        everything(bad)
    if table in ("trial", "body", "score", "call"):
        assert "of problem 'p2' of sums" in str(caught.value)


@pytest.mark.parametrize("table", READ)
def test_a_lost_row_is_missed(original: Path, tmp_path: Path, table: str) -> None:
    bad = copied(original, tmp_path / "bad", DELETIONS[table])
    with pytest.raises(CorruptStore, match="is damaged"):
        everything(bad)


DELETIONS = {
    "trial": "DELETE FROM trial WHERE run=1 AND problem=2 AND trial=3",
    "body": "DELETE FROM body WHERE id=5",
    "score": "DELETE FROM score WHERE (scorer, problem, trial)=(SELECT scorer, problem, trial "
    "FROM score LIMIT 1)",
    "problem": "DELETE FROM problem WHERE run=1 AND problem=5",
    "trial_tally": "DELETE FROM trial_tally WHERE run=1 AND problem=2",
    "score_tally": "DELETE FROM score_tally WHERE scorer=1 AND problem=2",
    "run": "DELETE FROM run WHERE run=2",
    "scorer": "DELETE FROM scorer WHERE scorer=2",
    "counter": "DELETE FROM counter WHERE name='trial' AND number=1",
    "session": "DELETE FROM session",
    "attempt": "DELETE FROM attempt WHERE attempt=2",
    "source": "DELETE FROM source",
    "call": "DELETE FROM call WHERE problem=2 AND trial=3",
}


def copied(original: Path, new: Path, statement: str) -> Path:
    new.mkdir()
    (new / STORE_FILE).write_bytes((original / STORE_FILE).read_bytes())
    with closing(sqlite3.connect(new / STORE_FILE, isolation_level=None)) as connection:
        assert connection.execute(statement).rowcount > 0
    return new


def test_a_completion_belongs_to_one_trial(original: Path, tmp_path: Path) -> None:
    """Two rows whose completions change places are both as they were written."""
    bad = copied(original, tmp_path / "bad", "UPDATE trial SET body=body WHERE run=1 AND problem=0")
    with closing(sqlite3.connect(bad / STORE_FILE, isolation_level=None)) as connection:
        (row,) = connection.execute(
            "SELECT * FROM body WHERE run=1 AND problem=0 LIMIT 1"
        ).fetchall()
        assert is_intact("body", row)
        connection.execute("UPDATE body SET trial=7-trial WHERE id=?", (row[0],))
    with pytest.raises(CorruptStore, match="a completion is not what was written"):
        everything(bad)


WRITES: list[Callable[[Store], object]] = [
    lambda store: store.begin(TASK, "small", spec={"seed": "s"}, config={}),
    lambda store: store.add_problems(1, [problem(at) for at in range(6)]),
    lambda store: store.set_scorers(1, [ScorerEntry("one", "1")]),
    lambda store: store.append(1, [TrialRow(2, 30, "ok", "x", scores=[ScoreRow(1, 1.0)])]),
    lambda store: store.add_scores([(2, 0, ScoreRow(1, 1.0)), (2, 1, ScoreRow(1, 1.0))]),
    lambda store: store.add_calls([call(1, 2, 20)]),
]


@pytest.mark.parametrize(
    ("table", "write"),
    [("run", 0), ("problem", 1), ("scorer", 2), ("trial_tally", 3), ("score_tally", 3),
     ("counter", 3), ("scorer", 5), ("spare", 5)],
)  # fmt: skip
def test_nothing_is_built_on_what_is_damaged(
    original: Path, tmp_path: Path, table: str, write: int
) -> None:
    statement = CHANGES.get(table, "UPDATE spare SET row='[]'")
    bad = copied(original, tmp_path / "bad", statement)
    with closing(Store(bad, low_water=0)) as store, pytest.raises(CorruptStore):
        WRITES[write](store)


def test_settings_are_still_compared(original: Path, tmp_path: Path) -> None:
    good = copied(original, tmp_path / "good", "UPDATE run SET task=task")
    with closing(Store(good, low_water=0)) as store:
        with pytest.raises(SettingsChanged, match=r'seed: "s" then, "t" now'):
            store.begin(TASK, "small", spec={"seed": "t"}, config={})
        for write in WRITES:
            write(store)


def test_flips_of_every_kind_are_harmless_or_noticed(tmp_path: Path) -> None:
    """A hundred of those of `make flips`."""
    stores, rng = originals(tmp_path), random.Random(11)
    found = [each for _ in range(100) for each in flip(stores, rng, tmp_path)]
    assert [each for each in found if each[2] in FAILURES] == []
    assert {each[0] for each in found} == {"closed", "log", "lock"}
    assert {"identical", "named"} <= {each[2] for each in found}


def test_a_table_whose_name_is_not_text_is_salvaged(original: Path, tmp_path: Path) -> None:
    """SQLite puts the name into its message, which Python then cannot decode."""
    data = bytearray((original / STORE_FILE).read_bytes())
    start = data.index(b"CREATE TABLE attempt")
    data[start + 25] ^= 0x80
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / STORE_FILE).write_bytes(data)
    salvage_store(tmp_path / "bad", tmp_path / "new")
    assert rows_of(tmp_path / "new") == rows_of(original)

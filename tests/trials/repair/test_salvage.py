"""What is left of a file with holes in it, in a new run directory."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from passband.errors import InvalidInput, PassbandError
from passband.trials.file.lock import Busy
from passband.trials.file.schema import STORE_FILE, CorruptStore
from passband.trials.reader import Trials
from passband.trials.repair.salvage import salvage_store
from passband.trials.rows import AttemptRow, CallRow, ScoreRow, TrialRow
from support.fuzz.flips import is_part_of
from support.samples.stores import begin, call, problem, read_back, writing

pytestmark = pytest.mark.slow

PAGE = 4096
PROBLEMS, TRIALS = 150, 12


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of a few hundred pages, with completions of all lengths."""
    directory = tmp_path_factory.mktemp("whole") / "run"
    rng = random.Random(0)
    with writing(directory) as store:
        run, (one, two) = begin(
            store, [problem(at) for at in range(PROBLEMS)], [("one", "1"), ("two", "\ud800")]
        )
        for trial in range(TRIALS):
            store.append(
                run,
                [
                    TrialRow(
                        at, trial, "ok", f"{at} {trial} \ud800\0" * rng.randrange(1, 60),
                        rng.randbytes(rng.choice([3, 3, 3, 9000])).hex(), request_id="\udcff",
                        scores=[ScoreRow(one, 1.0, answer="\ud800"), ScoreRow(two, 0.5)],
                    )
                    for at in range(PROBLEMS)
                ],
            )  # fmt: skip
        store.add_attempts(run, [AttemptRow(0, n, 1, n, "late", 500, "\ud800") for n in range(50)])
        for at in range(PROBLEMS):
            store.add_calls([
                call(one, at, trial, n, reply=f"{at} \ud800\0" * rng.randrange(1, 200))
                for trial in range(2) for n in range(2)
            ])  # fmt: skip
    return directory


def calls_of(directory: Path) -> dict[tuple[int, int, int], CallRow]:
    with Trials(directory) as trials:
        calls = list(trials.calls(1))
        assert trials.call_totals(1).calls == len(calls)
    return {(row.problem, row.trial, row.call): row for row in calls}


def rows_of(directory: Path) -> dict[tuple[int, int], TrialRow]:
    return {(row.problem, row.trial): row for row in read_back(directory)[1]}


def damaged(original: Path, new: Path, pages: list[int], fill: bytes = b"\xaa") -> Path:
    new.mkdir()
    shutil.copy(original / STORE_FILE, new)
    with (new / STORE_FILE).open("r+b") as file:
        for page in pages:
            file.seek(page * PAGE)
            file.write(fill * (PAGE // len(fill)))
    return new


def test_nothing_is_lost_of_what_is_whole(original: Path, tmp_path: Path) -> None:
    found = salvage_store(original, tmp_path / "new")
    assert rows_of(tmp_path / "new") == rows_of(original)
    assert found.rows == {
        "run": 1, "session": 0, "source": 0, "scorer": 2, "problem": PROBLEMS,
        "trial": PROBLEMS * TRIALS, "body": PROBLEMS * TRIALS, "score": 2 * PROBLEMS * TRIALS,
        "attempt": 50, "call": 4 * PROBLEMS,
    }  # fmt: skip
    assert found.incomplete == {}
    assert calls_of(tmp_path / "new") == calls_of(original)
    with Trials(original) as old, Trials(tmp_path / "new") as new:
        assert old.runs() == new.runs()
        assert list(old.problems(1)) == list(new.problems(1))
        assert old.attempts(1) == new.attempts(1)


@pytest.mark.parametrize("seed", range(6))
def test_pages_in_the_middle_are_read_around(original: Path, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    size = (original / STORE_FILE).stat().st_size // PAGE
    pages = rng.sample(range(40, size), rng.choice([1, 2, 5]))
    fill = rng.choice([b"\0", b"\xaa", rng.randbytes(PAGE)])
    bad = damaged(original, tmp_path / "bad", pages, fill)
    before = (bad / STORE_FILE).read_bytes()
    found = salvage_store(bad, tmp_path / "new")
    assert (bad / STORE_FILE).read_bytes() == before
    assert os.listdir(bad) == [STORE_FILE]
    with pytest.raises(CorruptStore, match=f"passband salvage {bad} NEW"):
        read_back(bad)
    whole, rescued = rows_of(original), rows_of(tmp_path / "new")
    assert found.rows["trial"] == len(rescued)
    assert len(rescued) > 0.4 * len(whole)
    judged, kept_calls = calls_of(original), calls_of(tmp_path / "new")
    assert found.rows["call"] == len(kept_calls) > 0.4 * len(judged)
    assert kept_calls.items() <= judged.items()
    for place, row in rescued.items():
        expected = whole[place]
        kept = [score for score in expected.scores if score in row.scores]
        assert row.scores == kept
        row.scores = expected.scores
        assert row == expected
    with writing(tmp_path / "new") as store:  # goes on where the old one was lost
        run, _ = begin(store, [problem(at) for at in range(PROBLEMS)], [("one", "1")])
        missing = [TrialRow(*place, "ok", "again") for place in whole.keys() - rescued.keys()]
        store.append(run, missing)
    assert rows_of(tmp_path / "new").keys() == whole.keys()


def test_one_page_of_completions_costs_only_its_own_trials(original: Path, tmp_path: Path) -> None:
    size = (original / STORE_FILE).stat().st_size // PAGE
    lost = []
    for page in range(60, size - 1, size // 12):
        bad = damaged(original, tmp_path / f"bad{page}", [page])
        found = salvage_store(bad, tmp_path / f"new{page}")
        lost.append(PROBLEMS * TRIALS - found.rows["trial"])
    assert sorted(lost)[len(lost) // 2] <= 150
    assert min(lost) <= 20


def test_a_damaged_beginning_is_replaced(original: Path, tmp_path: Path) -> None:
    """The first page holds the tables, and those are alike in every store."""
    salvage_store(damaged(original, tmp_path / "bad", [0]), tmp_path / "new")
    assert rows_of(tmp_path / "new") == rows_of(original)
    assert calls_of(tmp_path / "new") == calls_of(original)


def test_a_file_that_is_cut_off(original: Path, tmp_path: Path) -> None:
    bad = damaged(original, tmp_path / "bad", [])
    os.truncate(bad / STORE_FILE, (original / STORE_FILE).stat().st_size // 2)
    found = salvage_store(bad, tmp_path / "new")
    assert 0 < found.rows["trial"] < PROBLEMS * TRIALS
    assert set(rows_of(tmp_path / "new")) < set(rows_of(original))


@pytest.mark.parametrize("text", [b"", b"nothing of ours" * 2000])
def test_where_nothing_is_left_nothing_is_made(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / STORE_FILE).write_bytes(text)
    with pytest.raises(PassbandError, match="nothing can be read"):
        salvage_store(tmp_path / "bad", tmp_path / "new")
    assert os.listdir(tmp_path) == ["bad"]


def test_what_the_disk_does_not_give_back_is_left_out(
    original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pread, size = os.pread, (original / STORE_FILE).stat().st_size
    bad = size // 2 // PAGE * PAGE

    def failing(descriptor: int, length: int, start: int) -> bytes:
        if start == bad and os.fstat(descriptor).st_size == size:
            raise OSError(5, "Input/output error")
        return pread(descriptor, length, start)

    monkeypatch.setattr(os, "pread", failing)
    found = salvage_store(original, tmp_path / "new")
    assert 0.8 * PROBLEMS * TRIALS < found.rows["trial"] < PROBLEMS * TRIALS


def test_the_log_of_a_killed_writer_is_part_of_it(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        (tmp_path / "copy").mkdir()
        for name in (STORE_FILE, f"{STORE_FILE}-wal"):
            shutil.copy(tmp_path / "run" / name, tmp_path / "copy")
    before = {path.name: path.read_bytes() for path in (tmp_path / "copy").iterdir()}
    assert before[f"{STORE_FILE}-wal"]
    assert salvage_store(tmp_path / "copy", tmp_path / "new").rows["trial"] == 1
    assert {path.name: path.read_bytes() for path in (tmp_path / "copy").iterdir()} == before


def test_what_is_refused(original: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not a run directory"):
        salvage_store(tmp_path, tmp_path / "new")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    for there in (tmp_path / "full", tmp_path / "full" / "x", original):
        with pytest.raises(InvalidInput, match="exists already"):
            salvage_store(original, there)
    with writing(tmp_path / "busy"), pytest.raises(Busy, match="in use by process"):
        salvage_store(tmp_path / "busy", tmp_path / "new")
    (tmp_path / "empty").mkdir()
    assert salvage_store(original, tmp_path / "empty").rows["run"] == 1
    assert salvage_store(original, tmp_path / "a" / "b" / "c").rows["run"] == 1


def trial_pages(directory: Path) -> list[int]:
    """The pages that hold trials, by what a reader of that table alone would find there."""
    data = (directory / STORE_FILE).read_bytes()
    with closing(sqlite3.connect(f"file:{directory / STORE_FILE}?mode=ro", uri=True)) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name='trial'"
        ).fetchone()
    start = (root - 1) * PAGE
    cells = int.from_bytes(data[start + 3 : start + 5], "big")
    pointers = [
        int.from_bytes(data[start + 12 + 2 * cell : start + 14 + 2 * cell], "big")
        for cell in range(cells)
    ]
    return [int.from_bytes(data[start + at : start + at + 4], "big") - 1 for at in pointers]


def test_completions_outlive_their_trials(original: Path, tmp_path: Path) -> None:
    """A completion knows its place and its status; what it does not know is unknown."""
    pages = trial_pages(original)
    assert len(pages) > 5
    bad = damaged(original, tmp_path / "bad", pages)
    found = salvage_store(bad, tmp_path / "new")
    whole, rescued = rows_of(original), rows_of(tmp_path / "new")
    assert found.restored > 0.9 * len(whole)
    assert len(rescued) == found.rows["trial"] == len(whole)
    for place, row in rescued.items():
        expected = whole[place]
        assert (row.text, row.reasoning) == (expected.text, expected.reasoning)
        assert row.status == expected.status
        assert row.scores == expected.scores
        assert row.attempts in (0, expected.attempts)
        if row.attempts == 0:
            assert (row.request_id, row.seed) == (None, None)
    with Trials(tmp_path / "new") as trials:
        assert trials.statuses(1) == {"ok": len(whole)}


def test_a_run_whose_name_is_no_text_is_taken_from_its_second_copy(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        for model in ("small", "large"):
            run, _ = begin(store, model=model)
            store.append(run, [TrialRow(0, 0, "ok", model)])
    with closing(sqlite3.connect(tmp_path / "run" / STORE_FILE)) as connection, connection:
        connection.execute("UPDATE run SET name=CAST(x'f275' AS TEXT) WHERE model='small'")
    salvage_store(tmp_path / "run", tmp_path / "new")
    with Trials(tmp_path / "new") as trials:
        assert [run.name for run in trials.runs()] == ["run", "run"]
    with closing(sqlite3.connect(tmp_path / "run" / STORE_FILE)) as connection, connection:
        connection.execute("DELETE FROM spare WHERE number=1")
    salvage_store(tmp_path / "run", tmp_path / "one")
    record, rows = read_back(tmp_path / "one")
    assert (record.model, [row.text for row in rows]) == ("large", ["large"])


@pytest.mark.parametrize("part", [0.9, 0.7, 0.5, 0.3])
def test_what_is_cut_off_is_all_that_is_lost(tmp_path: Path, part: float) -> None:
    """Every row is what was written, or is absent; a lost score can be made again."""
    rng = random.Random(3)
    with writing(tmp_path / "run") as store:
        run, (one,) = begin(store, [problem(at) for at in range(20)])
        for at in range(20):
            rows = [
                TrialRow(at, trial, "ok", "".join(rng.choices("abcdefghij ", k=364)),
                         scores=[ScoreRow(one, float(trial % 2), answer="42")])
                for trial in range(16)
            ]  # fmt: skip
            store.append(run, rows)
    whole = rows_of(tmp_path / "run")
    data = (tmp_path / "run" / STORE_FILE).read_bytes()
    (tmp_path / "run" / STORE_FILE).write_bytes(data[: int(part * len(data))])
    salvage_store(tmp_path / "run", tmp_path / "new")
    rescued = rows_of(tmp_path / "new")
    assert len(rescued) >= (part - 0.3) * len(whole)
    assert all(is_part_of(row, whole[place]) for place, row in rescued.items())
    for page in rng.sample(range(1, len(data) // 4096), 4):
        zeroed = data[: page * 4096] + bytes(4096) + data[(page + 1) * 4096 :]
        (tmp_path / "run" / STORE_FILE).write_bytes(zeroed)
        salvage_store(tmp_path / "run", tmp_path / f"new{page}")
        rescued = rows_of(tmp_path / f"new{page}")
        assert all(is_part_of(row, whole[place]) for place, row in rescued.items())

"""Tallies against a count of the rows, whatever was written, replaced, undone or recounted."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passband.trials.file import tallies as module
from passband.trials.file.connection import connect
from passband.trials.file.schema import STORE_FILE
from passband.trials.reader import Trials
from passband.trials.repair.salvage import rebuild
from passband.trials.rows import SCORE_STATUSES, STATUSES, ScoreRow, TrialRow
from support.samples.stores import begin, filled, problem, trial_rows, writing

ANY = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
TALLIES = ("trial_tally", "score_tally", "counter")


def counted(directory: Path) -> None:
    """Compare every count with the rows."""
    with Trials(directory) as trials:
        for run in trials.runs():
            rows = list(trials.trials(run))
            statuses = Counter(row.status for row in rows)
            assert trials.statuses(run.number) == {s: statuses[s] for s in STATUSES if statuses[s]}
            assert trials.tokens(run.number) == (
                sum(row.prompt_tokens or 0 for row in rows),
                sum(row.completion_tokens or 0 for row in rows),
            )
            assert trials.retried(run.number) == sum(row.attempts > 1 for row in rows)
            assert trials.cost(run.number) == pytest.approx(sum(row.cost or 0 for row in rows))
            masks: dict[int, int] = {}
            for row in rows:
                masks[row.problem] = masks.get(row.problem, 0) | 1 << row.trial
            assert trials.recorded(run.number) == masks
            for scorer in run.scorers:
                scores = [s for row in rows for s in row.scores if s.scorer == scorer.number]
                assert trials.score_statuses(scorer.number) == Counter(s.status for s in scores)


def stored(directory: Path) -> dict[str, list[tuple]]:
    with closing(sqlite3.connect(directory / STORE_FILE)) as connection:
        return {
            table: [
                row
                for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4")
                if row[0] != "commit" and (table != "counter" or row[2])
            ]
            for table in TALLIES
        }


@ANY
@given(st.data())
def test_they_are_what_the_rows_give(tmp_path: Path, data: st.DataObject) -> None:
    directory = tmp_path / str(len(list(tmp_path.iterdir())))
    with writing(directory) as store:
        run, scorers = begin(store, scorers=[("one", "1"), ("two", "1")])
        places = [(at, trial) for at in range(2) for trial in range(3)]
        for place in places:
            store.append(run, [data.draw(trial_rows(*place, scorers[:1]))])
        store.add_scores(
            (*place, ScoreRow(scorers[1], *data.draw(st.tuples(
                st.none() | st.sampled_from([0.0, 1.0, 0.25]), st.sampled_from(SCORE_STATUSES)))))
            for place in places
        )  # fmt: skip
    counted(directory)
    before = stored(directory)
    with closing(connect(directory / STORE_FILE)) as connection:  # reads half characters, too
        rebuild(connection, directory / STORE_FILE)
    for table in TALLIES:  # but for the order of adding floating-point numbers
        assert [row[:4] for row in stored(directory)[table]] == [row[:4] for row in before[table]]
    counted(directory)


def test_a_replaced_trial_is_counted_once(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store)
        failed = TrialRow(0, 0, "gave_up", "x", None, 5, 6, attempts=3, cost=0.5,
                          scores=[ScoreRow(scorer, 0.5)])  # fmt: skip
        store.append(run, [failed, TrialRow(0, 1, "ok", "y", None, 1, 1)])
        better = TrialRow(0, 0, "ok", "z", None, 7, 8, scores=[ScoreRow(scorer, 1.0)])
        store.append(run, [better], again=True)
    with Trials(tmp_path) as trials:
        assert trials.statuses(run) == {"ok": 2}
        assert trials.tokens(run) == (8, 9)
        assert (trials.retried(run), trials.cost(run)) == (0, 0.0)
        assert trials.score_sums(scorer) == [(0, 1, 1.0)]
    counted(tmp_path)


def test_a_replaced_score_is_counted_once(tmp_path: Path) -> None:
    directory = filled(tmp_path, [[0.1, 0.2, 0.3]])
    with writing(directory) as store:
        store.add_scores([(0, 1, ScoreRow(1, 1.0)), (0, 2, ScoreRow(1, 0.0))])
        store.add_scores([(0, 0, ScoreRow(1, 0.5)), (0, 0, ScoreRow(1, 1.0))])
    with Trials(directory) as trials:
        assert trials.score_sums(1) == [(0, 3, 2.0)]
        assert trials.outcomes().successes.tolist() == [2]  # nothing odd is left
    counted(directory)


def test_what_is_undone_is_not_counted(tmp_path: Path) -> None:
    directory = filled(tmp_path, [[1, 0]])
    before = stored(directory)
    with writing(directory) as store:
        with suppress(RuntimeError), store.transaction():
            store.append(1, [TrialRow(0, 7, "ok", "x", scores=[ScoreRow(1, 1.0)])])
            raise RuntimeError
        with suppress(sqlite3.IntegrityError):
            store.append(1, [TrialRow(0, 8, "ok", "x"), TrialRow(0, 0, "ok", "x")])
        assert stored(directory) == before
        store.append(1, [TrialRow(0, 7, "ok", "x", scores=[ScoreRow(1, 1.0)])])
    with Trials(directory) as trials:
        assert trials.recorded(1) == {0: 0b10000011}
    counted(directory)


def test_few_are_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 3)
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store, [problem(at) for at in range(10)])
        for trial in range(3):
            for at in range(10):
                scores = [ScoreRow(scorer, float(at % 2))]
                store.append(run, [TrialRow(at, trial, "ok", "x", scores=scores)])
                assert len(store._tallies._trials) <= 3
    with Trials(tmp_path) as trials:
        assert trials.outcomes().successes.tolist() == [0, 3] * 5
    counted(tmp_path)


def test_sums_that_no_integer_of_sqlite_holds(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        most = 2**63 - 1
        for trial in range(3):
            store.append(run, [TrialRow(0, trial, "ok", "x", None, most, most)])
    with Trials(tmp_path) as trials:
        assert trials.tokens(run) == (3 * most, 3 * most)


def test_a_commit_can_be_told_from_outside(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        with Trials(tmp_path) as trials:
            first = trials.commits
            store.append(run, [TrialRow(0, 0, "ok", "x")])
            assert trials.commits == first
            assert trials.statuses(run) == {}
            trials.refresh()
            assert trials.commits == first + 1
            assert trials.statuses(run) == {"ok": 1}


def test_counts_read_no_trial_and_no_score(tmp_path: Path) -> None:
    directory = filled(tmp_path, [[1, 0, 1], [0, 0, 1]])
    with closing(sqlite3.connect(directory / STORE_FILE, isolation_level=None)) as connection:
        connection.execute("DELETE FROM trial")
        connection.execute("DELETE FROM score")
    with Trials(directory) as trials:
        run = trials.run()
        assert trials.statuses(1) == {"ok": 6}
        assert trials.outcomes(run).successes.tolist() == [2, 1]
        assert trials.recorded(1) == {0: 0b111, 1: 0b111}
        with pytest.raises(Exception, match="0 rows of trial were found where 6 were written"):
            list(trials.trials(run))

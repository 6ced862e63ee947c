"""Writing trials: what goes in comes out, what must not change cannot, and room is kept."""

import json
import math
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.trials.encoding import canonical_json
from passband.trials.file.schema import STORE_FILE
from passband.trials.file.writer import LOW_WATER, DiskNearlyFull
from passband.trials.merging.merge import merge_directories
from passband.trials.reader import Trials
from passband.trials.records import ProblemRecord, ScorerRecord
from passband.trials.rows import (
    FAILED,
    AttemptRow,
    ProblemRow,
    ScorerEntry,
    ScoreRow,
    TrialRow,
)
from passband.trials.settings import SettingsChanged
from passband.trials.store import Store
from support.samples.stores import (
    MODEL,
    TASK,
    any_text,
    begin,
    entries,
    filled,
    problem,
    read_back,
    trial_rows,
    whole,
    writing,
)


def fresh(folder: Path) -> Path:
    """A directory that no other example of this test has used."""
    return folder / str(len(list(folder.iterdir())))


# -- what goes in comes out ------------------------------------------------------------------


@given(st.data())
def test_every_field_of_a_trial_comes_back(tmp_path: Path, data: st.DataObject) -> None:
    directory = fresh(tmp_path)
    with writing(directory) as store:
        run, scorers = begin(store, scorers=[("main", "1"), ("other", "2")])
        places = [(at, trial) for at in range(2) for trial in range(2)]
        rows = [data.draw(trial_rows(*place, scorers)) for place in places]
        store.append(run, rows)
    assert read_back(directory)[1] == rows


@given(any_text, any_text, any_text, any_text, any_text, any_text, any_text)
def test_every_name_comes_back(
    tmp_path: Path, task: str, model: str, key: str, cluster: str, name: str, identity: str, word
) -> None:
    directory = fresh(tmp_path)
    spec, config = {"seed": word, "n": [1, None, {"x": 0.5}]}, {"path": word}
    record = {"messages": [["user", word]], "targets": [word], "choices": [word], "doc": {word: 1}}
    for _ in range(2):  # the second time everything is there, and the same
        with writing(directory) as store:
            run = store.begin(task, model, spec=spec, config=config, name=word, address=word)
            assert store.add_problems(
                run, [ProblemRow(5, key, canonical_json(record), cluster)]
            ) == [0]
            (scorer,) = store.set_scorers(run, [ScorerEntry(name, identity, {word: [1]})])
            assert store.spec(task, model) == spec
            assert store.name(task, model) == word
    with Trials(directory) as trials:
        (found,) = trials.runs()
        assert (found.task, found.model, found.spec, found.config) == (task, model, spec, config)
        assert (found.name, found.address, found.source) == (word, word, None)
        assert found.scorers == (ScorerRecord(scorer, name, identity, {word: [1]}),)
        assert list(trials.problems(run)) == [ProblemRecord(0, 5, key, cluster, record)]
        assert trials.run(task) == trials.run(task, model) == trials.run() == found


@given(any_text, any_text, st.none() | whole, whole)
def test_every_field_of_an_attempt_is_kept(
    tmp_path: Path, outcome: str, detail: str, http: int | None, at_ms: int
) -> None:
    directory = fresh(tmp_path)
    row = AttemptRow(0, 1, 2, at_ms, outcome, http, detail)
    with writing(directory) as store:
        run, _ = begin(store)
        store.add_attempts(run, [row])
        store.add_attempts(run, [row])  # said twice, kept once
        found = store.rows("attempt", "run=?", run)
    assert found == [(run, 0, 1, 2, at_ms, outcome, http, detail)]
    with Trials(directory) as trials:
        assert trials.attempts(run) == {(0, 1): 2}


def test_a_trial_that_is_recorded_has_no_open_attempts(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.add_attempts(run, [AttemptRow(0, 0, n, n, "timed_out", None, "late") for n in (1, 2)])
        store.add_attempts(run, [AttemptRow(1, 0, 1, 1, "timed_out", None, "late")])
        store.append(run, [TrialRow(0, 0, "ok", attempts=3)])
    with Trials(tmp_path) as trials:
        assert trials.attempts(run) == {(1, 0): 1}
        assert trials.retried(run) == 1


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 63, 64, 65, 150])
def test_any_number_of_rows_goes_in(tmp_path: Path, count: int) -> None:
    rows = [TrialRow(0, trial, "ok", f"text {trial}") for trial in range(count)]
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store)
        for row in rows:
            row.scores = [ScoreRow(scorer, 1.0)]
        store.append(run, rows)
    assert read_back(tmp_path)[1] == rows


def test_a_trial_is_recorded_once(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "first")])
        with pytest.raises(sqlite3.IntegrityError):
            store.append(run, [TrialRow(0, 1, "ok", "new"), TrialRow(0, 0, "ok", "second")])
        store.append(run, [TrialRow(0, 2, "ok", "third")])
    assert [row.text for row in read_back(tmp_path)[1]] == ["first", "third"]


def test_a_score_must_be_a_number(tmp_path: Path) -> None:
    """SQLite would keep NaN as nothing at all."""
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store)
        for value in (math.nan, math.inf, -math.inf):
            with pytest.raises(InvalidInput, match="a score must be a finite number"):
                store.append(run, [TrialRow(0, 0, "ok", scores=[ScoreRow(scorer, value)])])
            with pytest.raises(InvalidInput, match="a score must be a finite number"):
                store.add_scores([(0, 0, ScoreRow(scorer, value))])
    assert read_back(tmp_path)[1] == []


# -- scores ----------------------------------------------------------------------------------


def test_scores_take_the_place_of_earlier_ones(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "x", scores=[ScoreRow(scorer, 0.0)])])
        better = ScoreRow(scorer, 1.0, "ok", "a", "boxed", "said so")
        store.add_scores([(0, 0, better)])
    assert read_back(tmp_path)[1][0].scores == [better]


def test_scorers_change_and_change_back(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, first = begin(store, scorers=[("a", "1"), ("b", "1")])
        store.append(
            run, [TrialRow(0, 0, "ok", "x", scores=[ScoreRow(number, 1.0) for number in first])]
        )
        second = store.set_scorers(run, entries([("b", "2"), ("a", "1")]))
        assert second[1] == first[0]
        assert second[0] not in first
        store.add_scores([(0, 0, ScoreRow(second[0], 0.0))])
        with Trials(tmp_path) as trials:
            found = trials.run(TASK)
            assert [(s.number, s.name) for s in found.scorers] == [
                (second[0], "b"), (second[1], "a"),
            ]  # fmt: skip
            (row,) = trials.trials(found)
            assert [score.value for score in row.scores] == [0.0, 1.0]
        assert store.set_scorers(run, entries([("a", "1"), ("b", "1")])) == first
    found, (row,) = read_back(tmp_path)
    assert [scorer.number for scorer in found.scorers] == first
    assert row.scores == [ScoreRow(number, 1.0) for number in first]


def test_no_scorers_is_no_fault(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, numbers = begin(store, scorers=[])
        store.append(run, [TrialRow(0, 0, "ok", "x")])
    assert numbers == []
    found, _ = read_back(tmp_path)
    with pytest.raises(InvalidInput, match="no scorer has been used"):
        found.scorer()


# -- asking again ----------------------------------------------------------------------------


def test_a_failed_trial_is_replaced_and_no_other(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store)
        good = TrialRow(0, 0, "ok", "good", scores=[ScoreRow(scorer, 1.0)])
        store.append(run, [good, TrialRow(0, 1, "invalid", attempts=3), TrialRow(1, 0, "gave_up")])
        store.add_attempts(run, [AttemptRow(1, 0, 4, 1, "timed_out", None, "late")])
        with Trials(tmp_path) as trials:
            assert trials.recorded(run, without=FAILED) == {0: 0b1}
            assert trials.attempts(run) == {}
            assert trials.attempts(run, without=FAILED) == {(1, 0): 4}
        better = TrialRow(0, 1, "ok", "now", scores=[ScoreRow(scorer, 0.0)])
        store.append(run, [better], again=True)
        with pytest.raises(sqlite3.IntegrityError):
            store.append(run, [good], again=True)
    assert read_back(tmp_path)[1] == [good, better, TrialRow(1, 0, "gave_up")]


# -- what must stay the same -----------------------------------------------------------------


def test_other_settings_are_named(tmp_path: Path) -> None:
    spec = {"sampling": {"temperature": 0.5, "top_p": None, "stop": ["\n"]}, "seed": "a"}
    with writing(tmp_path) as store:
        number = store.begin(TASK, MODEL, spec=spec, config={"version": 1})
        store.append(number, [TrialRow(0, 0, "ok", "x")])
        assert store.begin(TASK, MODEL, spec=spec, config={"version": 2}) == number
        other = {"sampling": {"temperature": 1.0, "top_p": 0.9, "stop": ["\n"]}, "seed": "a"}
        with pytest.raises(SettingsChanged) as caught:
            store.begin(TASK, MODEL, spec=other, config={"version": 3})
        assert str(caught.value).splitlines()[1:-1] == [
            "  sampling.temperature: 0.5 then, 1.0 now",
            "  sampling.top_p: nothing then, 0.9 now",
        ]
        assert "--out" in str(caught.value)
        assert caught.value.exit_code == 2
        assert store.spec(TASK, MODEL) == spec
        assert store.spec("other", MODEL) is None
    with Trials(tmp_path) as trials:
        assert trials.run(TASK).config == {"version": 2}


def test_a_long_setting_is_cut(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run = store.begin(TASK, MODEL, spec={"seed": "a" * 500}, config={})
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        with pytest.raises(SettingsChanged) as caught:
            store.begin(TASK, MODEL, spec={"seed": "b" * 500}, config={})
    assert all(len(line) < 250 for line in str(caught.value).splitlines()[1:])


def test_several_models_share_a_directory(tmp_path: Path) -> None:
    filled(tmp_path, [[1, 0]], model="b")
    filled(tmp_path, [[0, 0]], model="a")
    filled(tmp_path, [[1, 1]], task="another", model="a")
    with Trials(tmp_path) as trials:
        runs = trials.runs()
        assert [(run.task, run.model) for run in runs] == [
            ("another", "a"), ("sums", "a"), ("sums", "b"),
        ]  # fmt: skip
        assert [trials.outcomes(run).successes.tolist() for run in runs] == [[2], [0], [1]]
        assert trials.run("sums", "b") == runs[2]
        assert trials.run("another") == trials.run(model="a", task="another") == runs[0]
        assert trials.run(model="b") == runs[2]
        with pytest.raises(InvalidInput, match=r"say which model\. It has a, b\."):
            trials.run("sums")
        with pytest.raises(InvalidInput, match=r"say which task\. It has another, sums\."):
            trials.run()
        with pytest.raises(InvalidInput, match=r"has no model named 'c'\. It has a, b\."):
            trials.run("sums", "c")
        with pytest.raises(InvalidInput, match=r"has no trials of 'another' by 'b'\."):
            trials.run("another", "b")


def test_models_of_one_process_do_not_drive_each_other_out(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        for model in ("a", "b"):
            begin(store, model=model)
    with Trials(tmp_path) as trials:
        assert [run.model for run in trials.runs()] == ["a", "b"]


def test_a_run_keeps_its_name(tmp_path: Path) -> None:
    with writing(tmp_path / "first") as store:
        run = store.begin(TASK, MODEL, spec={}, config={})
        store.append(run, [TrialRow(0, 0, "ok", "x")])
    (tmp_path / "first").rename(tmp_path / "second")
    with writing(tmp_path / "second") as store:
        assert store.name(TASK, MODEL) == store.name("another", "large") == "first"
        assert store.begin(TASK, MODEL, spec={}, config={}) == run
        store.begin("another", MODEL, spec={}, config={})
        with pytest.raises(SettingsChanged, match='name: "first" then, "other" now'):
            store.begin(TASK, MODEL, spec={}, config={}, name="other")
    with Trials(tmp_path / "second") as trials:
        assert [run.name for run in trials.runs()] == ["first", "first"]


def test_the_first_address_is_kept_and_every_session_has_its_own(tmp_path: Path) -> None:
    for trial, address in enumerate((None, "http://a", "http://b")):
        with writing(tmp_path) as store:
            run = store.begin(TASK, MODEL, spec={}, config={}, address=address, moved_server=True)
            store.append(run, [TrialRow(0, trial, "ok", "x")])
            store.end_session(store.begin_session(8, address), 1.0, 3)
    with Trials(tmp_path) as trials:
        assert trials.run(TASK).address == "http://a"
        assert [session.address for session in trials.sessions()] == [None, "http://a", "http://b"]
        assert trials.rate() == 3.0


def test_where_imported_trials_come_from(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        source = store.add_source("lm-eval", "samples \ud800.jsonl", "ab" * 32)
        run = store.begin(TASK, MODEL, spec={}, config={}, source=source)
        store.append(run, [TrialRow(0, 0, "ok", "x", source=source)])
        store.add_problems(run, [problem(0)])
    with Trials(tmp_path) as trials:
        (found,) = trials.sources()
        assert (found.number, found.reader, found.sha256) == (source, "lm-eval", "ab" * 32)
        assert trials.run().source == source
        assert [row.source for row in trials.trials(trials.run())] == [source]


def test_attempts_at_problems_that_are_gone_or_changed_go_with_them(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, _ = begin(store, [problem(at) for at in range(5)])
        attempts = [AttemptRow(at, 0, 1, 1, "unavailable", None, "down") for at in range(5)]
        store.add_attempts(run, attempts)
        rows = [problem(4), problem(1, target="43"), problem(7), problem(2)]
        numbers = store.add_problems(run, rows)
        assert (numbers[0], numbers[3]) == (4, 2)
        assert len(set(numbers)) == 4
        store.append(run, [TrialRow(number, 1, "ok", "x") for number in numbers])
    with Trials(tmp_path / "run") as trials:
        assert trials.attempts(run) == {(4, 0): 1, (2, 0): 1}
    merge_directories([tmp_path / "run"], tmp_path / "merged", low_water=0)
    with Trials(tmp_path / "merged") as trials:
        keys = {each.number: each.key for each in trials.problems(trials.run().number)}
        assert {keys[row.problem] for row in trials.attempt_rows(trials.run().number)} == {
            "p2",
            "p4",
        }


def test_settings_that_no_trial_came_of_may_be_corrected(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.add_attempts(run, [AttemptRow(0, 0, 1, 1, "hopeless", 401, "wrong key")])
    with writing(tmp_path) as store:
        for model, spec in (("large", {"seed": "s"}), ("large", {"seed": "t"})):
            run = store.begin(TASK, model, spec=spec, config={})
            store.add_problems(run, [problem(0, target="1"), problem(1)])
            store.add_problems(run, [problem(0, target="2")])
        store.append(run, [TrialRow(0, 0, "ok", "x")])
    with Trials(tmp_path) as trials:
        (found,) = trials.runs()
        assert (found.model, found.spec) == ("large", {"seed": "t"})
        assert [each.record["targets"] for each in trials.problems(found.number)] == [["2"]]
        assert trials.attempts(found.number) == {}


def test_canonical_is_the_same_text_for_the_same_value() -> None:
    assert canonical_json({"b": 1, "a": (1, 2)}) == canonical_json({"a": [1, 2], "b": 1})
    assert json.loads(canonical_json({"half": "\ud800"})) == {"half": "\ud800"}
    assert canonical_json("\ud800").isascii()


# -- several tasks, all or nothing -----------------------------------------------------------


def test_tasks_of_a_directory_do_not_mix(tmp_path: Path) -> None:
    filled(tmp_path, [[1, 0]], task="b")
    filled(tmp_path, [[0, 0, 0]], task="a")
    with Trials(tmp_path) as trials:
        assert [run.task for run in trials.runs()] == ["a", "b"]
        assert [len(list(trials.trials(run))) for run in trials.runs()] == [3, 2]
        assert [trials.outcomes(run).successes.tolist() for run in trials.runs()] == [[0], [1]]


def test_a_larger_transaction_holds_together(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        with suppress(SettingsChanged), store.transaction():
            run, _ = begin(store)
            store.append(run, [TrialRow(0, 0, "ok", "never")])
            store.begin(TASK, MODEL, spec={"seed": "another"}, config={})
        assert store.spec(TASK, MODEL) is None
        with store.transaction():
            run, _ = begin(store)
            store.append(run, [TrialRow(0, 0, "ok", "x")])
    assert len(read_back(tmp_path)[1]) == 1


def test_a_store_that_cannot_be_opened_is_not_locked(tmp_path: Path) -> None:
    (tmp_path / STORE_FILE).write_bytes(b"no database" * 1000)
    for _ in range(2):
        with pytest.raises(Exception, match="is damaged"):
            Store(tmp_path)
    (tmp_path / STORE_FILE).unlink()
    filled(tmp_path, [[1]])


# -- room ------------------------------------------------------------------------------------


def test_nothing_is_written_on_a_disk_that_is_nearly_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = 10 * LOW_WATER

    def usage(path: Path) -> SimpleNamespace:
        return SimpleNamespace(free=free)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    with closing(Store(tmp_path)) as store:
        run, (scorer,) = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        free = LOW_WATER - 1
        for write in (
            lambda: store.append(run, [TrialRow(0, 1, "ok", "x")]),
            lambda: store.add_scores([(0, 0, ScoreRow(scorer, 1.0))]),
            lambda: store.add_attempts(run, [AttemptRow(0, 1, 1, 1, "late", None, "")]),
        ):
            with pytest.raises(DiskNearlyFull, match=r"64 MB are free where .* make room") as found:
                write()
            assert found.value.exit_code == 6
        free = LOW_WATER
        store.append(run, [TrialRow(0, 2, "ok", "x")])
    free = 0
    with pytest.raises(DiskNearlyFull):
        Store(tmp_path)
    assert [row.trial for row in read_back(tmp_path)[1]] == [0, 2]


def test_a_disk_that_fills_up_all_the_same_loses_nothing(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        pages = store._one("PRAGMA page_count")
        store._connection.execute(f"PRAGMA max_page_count={pages + 2}")
        with pytest.raises(DiskNearlyFull, match="full") as caught:
            store.append(run, [TrialRow(0, n, "ok", str(n) * 200) for n in range(1, 200)])
        assert caught.value.exit_code == 6
        store._connection.execute(f"PRAGMA max_page_count={pages + 1000}")
        store.append(run, [TrialRow(0, 1, "ok", "y")])
    assert [row.text for row in read_back(tmp_path)[1]] == ["x", "y"]


def test_the_working_directory_may_change_while_a_store_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    store = Store(Path("run"), low_water=0)
    monkeypatch.chdir(tmp_path / "elsewhere")
    run = store.begin("t", "m", spec={}, config={})
    store.add_problems(run, [problem(0)])
    store.append(run, [TrialRow(0, 0, "ok", "yes")])
    store.close()
    with Trials(tmp_path / "run") as trials:
        assert [row.text for row in trials.trials(trials.run("t"))] == ["yes"]
    assert list((tmp_path / "elsewhere").iterdir()) == []

"""Imported logs: the same outcomes and summary as the log itself, nothing twice, all or nothing."""

from __future__ import annotations

import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import summarize
from passband.errors import InvalidInput
from passband.readers import Log, Remark, Source
from passband.readers.log_import import import_logs
from passband.readers.run_directory import StoredRun
from passband.stats.data.scale import Scale
from passband.trials.encoding import canonical_json
from passband.trials.merging.merge import merge_directories
from passband.trials.reader import Trials
from passband.trials.rows import STATUSES, AttemptRow, ProblemRow, ScoreRow, TrialRow
from passband.trials.settings import SettingsChanged
from support.fuzz.properties import one_in
from support.samples.stores import any_text, filled, read_back, trial_rows

SCORERS = ("exact", "graded")


def source(name: str = "a.eval") -> Source:
    return Source("inspect", name, name * 8)


def problem_row(place: int, target: str = "4") -> ProblemRow:
    record = {"messages": [["user", "2+2?"]], "targets": [target], "choices": [], "doc": {"n": 1}}
    return ProblemRow(place, f"p{place}", canonical_json(record))


def log_of(scores: list[list[float]], name: str = "a.eval", first: int = 0, **more: Any) -> Log:
    trials = [
        TrialRow(place, first + trial, "ok", f"{name} {value}", scores=[ScoreRow(0, value)])
        for place, row in enumerate(scores)
        for trial, value in enumerate(row)
    ]
    problems = [problem_row(place) for place in range(len(scores))]
    return Log("sums", "M", source(name), problems, trials, ("exact",), **more)


values = st.none() | st.sampled_from([0.0, 1.0]) | st.floats(-2, 2)


def scored(draw: st.DrawFn, place: tuple[int, int], scorers: int) -> TrialRow:
    """Any trial of a place, with scores that summaries can be made of."""
    row = draw(trial_rows(*place, list(range(scorers))))
    scores = [score._replace(value=draw(values)) for score in row.scores]
    return replace(row, scores=scores)


@st.composite
def logs(draw: st.DrawFn) -> Log:
    count = draw(st.integers(1, 4))
    scorers = SCORERS[: draw(st.integers(1, 2))]
    places = draw(st.sets(st.tuples(st.integers(0, count - 1), st.integers(0, 4)), min_size=1))
    trials = [scored(draw, place, len(scorers)) for place in sorted(places)]
    failed = [row for row in trials if row.status == "errored"]
    attempts = [AttemptRow(row.problem, row.trial, 1, 0, "errored", None, "boom") for row in failed]
    return Log(
        "sums",
        "M",
        source(),
        [problem_row(place) for place in range(count)],
        draw(st.permutations(trials)),
        scorers,
        planned=draw(st.none() | st.integers(1, 6)),
        attempts=attempts,
        remarks=(Remark("2 lines left out", important=True),),
        scales=draw(st.sampled_from([{}, {"graded": Scale(-9.0, 9.0, lower_is_better=True)}])),
    )


@given(logs())
@one_in(4)
def test_the_run_says_what_the_log_says(log: Log) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run, again = Path(folder) / "run", Path(folder) / "merged"
        import_logs([log], run)
        merge_directories([run], again)
        for directory in (run, again):
            with Trials(directory) as trials:
                stored = StoredRun(trials, trials.run())
                assert stored.scorers == log.scorers
                assert stored.remarks == log.remarks
                for scorer in log.scorers:
                    assert stored.outcomes(scorer) == log.outcomes(scorer)
                    assert stored.tally(scorer) == log.tally(scorer)
                    assert stored.outcomes(scorer).scale == log.scale(scorer)
                rows = list(trials.trials(stored.record))
                number = {each.number: at for at, each in enumerate(stored.record.scorers)}
        expected = sorted(log.trials, key=lambda row: (row.problem, row.trial))
        assert [unnumbered(row, number) for row in rows] == [unnumbered(row) for row in expected]
        here, there = summarize(log), summarize(run)
        assert here.groups == there.groups == summarize(again).groups
        said = [str(remark) for remark in there.remarks[1:]]
        assert [text for text in said if not text.startswith("cost: ")] == ["2 lines left out"]


def unnumbered(row: TrialRow, number: dict[int, int] | None = None) -> TrialRow:
    scores = [s._replace(scorer=number[s.scorer] if number else s.scorer) for s in row.scores]
    return replace(row, source=None, scores=scores)


@given(any_text, any_text)
@one_in(4)
def test_any_names_and_texts(task: str, text: str) -> None:
    log = replace(log_of([[1.0]]), task=task, trials=[TrialRow(0, 0, "ok", text)])
    with tempfile.TemporaryDirectory() as folder:
        import_logs([log], Path(folder) / "run")
        run, (row,) = read_back(Path(folder) / "run", task)
        assert (run.task, row.text) == (task, text)


def test_rows_know_their_file(tmp_path: Path) -> None:
    import_logs([log_of([[1, 0]])], tmp_path / "run")
    with Trials(tmp_path / "run") as trials:
        (record,) = trials.sources()
        run = trials.run()
        assert (record.reader, record.file, record.sha256) == ("inspect", "a.eval", "a.eval" * 8)
        assert {row.source for row in trials.trials(run)} == {record.number} == {run.source}


def test_the_same_file_again_adds_nothing_and_says_so(tmp_path: Path) -> None:
    log = log_of([[1, 0], [1, 1]])
    assert import_logs([log], tmp_path / "run").trials == 4
    moved = replace(log, source=replace(log.source, file="elsewhere.eval"))
    report = import_logs([moved], tmp_path / "run")
    assert (report.trials, report.logs, report.logs_there) == (0, 0, 1)
    assert str(report.remarks[0]) == "elsewhere.eval: its trials of sums by M are there already"
    assert len(read_back(tmp_path / "run")[1]) == 4


def test_further_trials_and_problems_are_added(tmp_path: Path) -> None:
    one, two = log_of([[1, 0]]), log_of([[1], [0], [1]], "b.eval", first=2)
    report = import_logs([one, two], tmp_path / "run")
    assert (report.logs, report.problems, report.trials) == (2, 3, 5)
    with Trials(tmp_path / "run") as trials:
        outcomes = trials.outcomes()
    assert outcomes.trials.tolist() == [3, 1, 1]
    assert list(outcomes.problems) == ["p0", "p1", "p2"]


def test_trials_that_two_logs_share_are_stored_once(tmp_path: Path) -> None:
    """A crashed log and the one of its retry."""
    crashed = log_of([[1, 0]])
    retried = replace(log_of([[1, 0, 1]]), source=source("retry.eval"))
    report = import_logs([crashed, retried], tmp_path / "run")
    assert (report.trials, report.trials_there) == (3, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": "5"}, "its completion differs"),
        ({"status": "limit"}, "its status differs"),
        ({"scores": [ScoreRow(0, 0.0)]}, "its score differs"),
        ({"scores": []}, "its score differs"),
    ],
)
def test_contradictory_trials_are_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    one = log_of([[1.0]])
    import_logs([one], tmp_path / "run")
    other = replace(
        one, source=source("b.eval"), trials=[replace(row, **change) for row in one.trials]
    )
    with pytest.raises(InvalidInput, match="trial 0 of problem 'p0' of sums") as caught:
        import_logs([other], tmp_path / "run")
    assert message in str(caught.value)
    assert "is in a.eval and in b.eval" in str(caught.value)
    assert len(read_back(tmp_path / "run")[1]) == 1


def test_trials_without_texts_are_not_taken_for_the_same(tmp_path: Path) -> None:
    """Two reports of one trial each, with the same scores: two trials, not one."""
    one = replace(log_of([[1.0]]), trials=[TrialRow(0, 0, "ok", scores=[ScoreRow(0, 1.0)])])
    two = replace(one, source=source("b.json"))
    with pytest.raises(InvalidInput, match=r"in a.eval and in b.json, without a text. .*--append"):
        import_logs([one, two], tmp_path / "run")
    assert not (tmp_path / "run").exists()
    import_logs([one, two], tmp_path / "run", append=True)
    assert [row.trial for row in read_back(tmp_path / "run")[1]] == [0, 1]


def test_appended_trials_follow_those_of_all_problems(tmp_path: Path) -> None:
    one, two = log_of([[1, 0], [1]], planned=2), log_of([[0], [0, 1]], "b.eval", planned=2)
    import_logs([one], tmp_path / "run")
    import_logs([two], tmp_path / "run", append=True)
    with Trials(tmp_path / "run") as trials:
        places = [(row.problem, row.trial) for row in trials.trials(trials.run())]
        assert places == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (1, 3)]
        assert trials.outcomes().unscored["missing"].tolist() == [1, 1]


def test_other_settings_and_other_problems_are_refused(tmp_path: Path) -> None:
    import_logs([log_of([[1.0]], settings={"temperature": 1.0})], tmp_path / "run")
    with pytest.raises(SettingsChanged, match=r"settings.temperature: 1.0 then, 0.5 now"):
        import_logs([log_of([[1.0]], "b", settings={"temperature": 0.5})], tmp_path / "run")
    other = log_of([[1.0]], "b.eval", first=1, settings={"temperature": 1.0})
    with pytest.raises(InvalidInput, match=r"b.eval: problem 'p0' of sums is another one in .*run"):
        import_logs([replace(other, problems=[problem_row(0, "5")])], tmp_path / "run")


def test_a_log_is_not_mixed_with_trials_that_were_asked_for(tmp_path: Path) -> None:
    run = filled(tmp_path / "run", [[1, 0]])
    log = replace(log_of([[1.0]]), model="tiny")
    with pytest.raises(SettingsChanged, match="passband run asked for; logs cannot be added"):
        import_logs([log], run)
    import_logs([log_of([[1.0]])], run)  # of another model
    with Trials(run) as trials:
        assert [each.model for each in trials.runs()] == ["M", "tiny"]


def test_an_import_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Any:
        yield log_of([[1.0] * 30])
        raise InvalidInput("b.eval: truncated.")

    with pytest.raises(InvalidInput, match="truncated"):
        import_logs(broken(), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    run = tmp_path / "run"
    import_logs([log_of([[1.0]])], run)
    with pytest.raises(InvalidInput, match="truncated"):
        import_logs(broken(), run)
    assert len(read_back(run)[1]) == 1
    with sqlite3.connect(run / "trials.sqlite") as connection:
        assert connection.execute("SELECT count(*) FROM source").fetchone() == (1,)


def test_a_number_that_no_table_can_hold(tmp_path: Path) -> None:
    log = log_of([[1.0]])
    rows = [replace(row, seed=2**70) for row in log.trials]
    with pytest.raises(InvalidInput, match=r"a.eval: a trial holds a number that is too large"):
        import_logs([replace(log, trials=rows)], tmp_path / "run")


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_kept(status: Any, tmp_path: Path) -> None:
    log = replace(log_of([[1.0]]), trials=[TrialRow(0, 0, status)])
    import_logs([log], tmp_path / "run")
    assert read_back(tmp_path / "run")[1][0].status == status


def test_a_log_of_the_same_trials_may_bring_another_scorer(tmp_path: Path) -> None:
    one = log_of([[1.0, 0.0]])
    judged = [replace(row, scores=[ScoreRow(0, 0.5)]) for row in one.trials]
    import_logs([one], tmp_path / "run")
    report = import_logs(
        [replace(one, source=source("b.eval"), trials=judged, scorers=("judge",))], tmp_path / "run"
    )
    assert (report.trials, report.trials_there, report.scores) == (0, 2, 2)
    run, rows = read_back(tmp_path / "run")
    assert [scorer.name for scorer in run.scorers] == ["exact", "judge"]
    assert [[score.value for score in row.scores] for row in rows] == [[1.0, 0.5], [0.0, 0.5]]

"""How far a run has come: complete, stopped, going on, or as a log has it."""

import json
from pathlib import Path

from passband.summary.findings.progress import RecordedProgress, progress_of
from passband.trials.reader import Trials
from passband.trials.rows import ProblemRow, TrialRow
from passband.trials.store import Store

PROBLEM = json.dumps({"messages": [], "targets": []})


def written(directory: Path, config: dict[str, int], count: int) -> Store:
    store = Store(directory, low_water=0)
    run = store.begin("sums", "tiny", spec={}, config=config)
    store.add_problems(run, [ProblemRow(at, f"p{at}", PROBLEM) for at in range(4)])
    store.append(run, [TrialRow(at % 4, at // 4, "gave_up") for at in range(count)])
    return store


def progress(directory: Path) -> RecordedProgress:
    with Trials(directory, trusted=True) as trials:
        return progress_of(trials, trials.run())


def test_a_run_is_complete_when_it_has_as_many_trials_as_were_asked_for(tmp_path: Path) -> None:
    written(tmp_path, {"n": 3}, 12).close()
    found = progress(tmp_path)
    assert (found.state, found.recorded, found.planned, found.failed) == ("complete", 12, 12, 12)
    assert found.each == (3, 3)


def test_a_run_that_ended_early_is_stopped(tmp_path: Path) -> None:
    written(tmp_path, {"n": 3}, 9).close()
    found = progress(tmp_path)
    assert (found.state, found.planned, found.each) == ("stopped", 12, (2, 3))


def test_a_store_that_does_not_say_how_many_were_wanted_is_recorded(tmp_path: Path) -> None:
    written(tmp_path, {}, 9).close()
    assert progress(tmp_path).state == "recorded"


def test_a_run_that_a_process_writes_to_is_running(tmp_path: Path) -> None:
    store = written(tmp_path, {"n": 3}, 9)
    assert progress(tmp_path).state == "stopped"  # a process that writes, but does not ask
    session = store.begin_session(8)
    assert progress(tmp_path).state == "running"
    store.end_session(session, 1.0, 9)
    assert progress(tmp_path).state == "stopped"
    store.close()

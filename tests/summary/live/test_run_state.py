"""How a run stands: by what its store, its sessions and its lock say."""

import os
import socket
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from passband.summary.live.judge_usage import JudgeUsage
from passband.summary.live.run_figures import RunNumbers, numbers_of
from passband.summary.live.run_state import Pace, RunState, is_going_on, session_rate, state_of
from passband.trials.reader import Trials
from passband.trials.records import SessionRecord
from passband.trials.rows import TrialRow
from passband.view.labels import cost
from support.runs.runs import Bench, sums
from support.samples.stores import begin, filled, judged, writing


def test_a_finished_run_is_complete_and_a_limited_one_is_stopped(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run")
    bench.play(task=sums(3), n=2)
    with Trials(bench.directory) as trials:
        run = trials.run()
        standing = state_of(trials, run, going_on=is_going_on(trials))
        assert (standing.state, standing.done, standing.planned) == ("complete", 6, 6)
        assert standing.left == 0
        assert state_of(trials, run, going_on=True).state == "running"
    with writing(tmp_path / "part") as store:
        number, _ = begin(store)
        store.append(number, [TrialRow(0, 0, "ok", "x"), TrialRow(1, 0, "refused", "no")])
        store.set_config(number, {"metrics": [], "n": 2})
    with Trials(tmp_path / "part") as trials:
        standing = state_of(trials, trials.run(), going_on=False)
    assert (standing.state, standing.planned, standing.left) == ("stopped", 6, 4)
    assert standing.failed == {"refused": 1}


def test_without_a_plan_equal_numbers_of_trials_are_complete(tmp_path: Path) -> None:
    for name, wins, state in (("a", [[1, 0], [0, 1]], "complete"), ("b", [[1], [0, 1]], "stopped")):
        filled(tmp_path / name, wins)
        with Trials(tmp_path / name) as trials:
            standing = state_of(trials, trials.run(), going_on=False)
        assert (standing.state, standing.planned) == (state, None)


def test_what_judges_took_is_kept_apart(tmp_path: Path) -> None:
    with Trials(judged(tmp_path)) as trials:
        standing = state_of(trials, trials.run(), going_on=False)
    assert standing.judges == (JudgeUsage("exact", 5, 1, 1, 0, 150, 27, 0.75),)
    assert (standing.tokens, standing.cost) == ((20, 28), None)
    assert cost(standing) == "unknown (no price given), and exact 0.75"


def session(**changes: object) -> SessionRecord:
    plain = SessionRecord("2026-01-01T00:00:00+00:00", None, None, None, 8, "0", None,
                          os.getpid(), socket.gethostname())  # fmt: skip
    return plain._replace(**changes)  # type: ignore[arg-type]


class Sessions:
    """Trials of which only sessions are known."""

    def __init__(self, directory: Path, *sessions: SessionRecord) -> None:
        self.directory, self._sessions = directory, list(sessions)

    def sessions(self) -> list[SessionRecord]:
        return self._sessions


def test_a_run_is_going_on_while_its_process_has_the_lock(tmp_path: Path) -> None:
    with writing(tmp_path / "run"):
        assert is_going_on(Sessions(tmp_path / "run", session()))  # type: ignore[arg-type]
        ended = Sessions(tmp_path / "run", session(ended="2026-01-01T00:00:09+00:00"))
        assert not is_going_on(ended)  # type: ignore[arg-type]
        gone = Sessions(tmp_path / "run", session(pid=2**22 + 1))
        assert not is_going_on(gone)  # type: ignore[arg-type]
        elsewhere = Sessions(tmp_path / "run", session(pid=2**22 + 1, host="another"))
        assert is_going_on(elsewhere)  # type: ignore[arg-type]
    assert not is_going_on(Sessions(tmp_path / "run", session()))  # type: ignore[arg-type]


def test_the_rate_is_that_of_the_session_where_it_can_be_told(tmp_path: Path) -> None:
    now = datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=10)
    earlier = session(ended="2025-12-31T00:00:00+00:00", trials=40)
    assert session_rate(Sessions(tmp_path, earlier, session()), 60, now) == 2.0  # type: ignore[arg-type]
    killed = Sessions(tmp_path, session(), session())
    assert session_rate(killed, 60, now) is None  # type: ignore[arg-type]


def test_a_pace_needs_time_and_forgets() -> None:
    pace = Pace()
    assert pace.rate is None
    pace.note(0.0, 0)
    pace.note(1.0, 100)
    assert pace.rate is None
    for second in range(30, 60):
        pace.note(float(second), 100 + second)
    assert pace.rate == 1.0


def test_time_left_follows_from_the_rate() -> None:
    standing = RunState("running", 100, 300, 10, {"ok": 100}, 0, (0, 0), None)
    assert RunNumbers(standing, rate=50.0).seconds_left == 4.0
    assert RunNumbers(standing).seconds_left is None


def test_many_graded_scores_are_estimated_from_their_sums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path, [[0.25, 0.75], [0.5, 0.0], [1.0, 0.5]])
    with Trials(tmp_path) as trials:
        run = trials.run()
        standing = state_of(trials, run, going_on=False)
        every = numbers_of(trials, run, standing, None)
        monkeypatch.setattr("passband.summary.live.run_figures._MANY", 1)
        few = numbers_of(trials, run, standing, None)
    assert few.headline is not None
    assert every.headline is not None
    assert few.headline.estimate is not None
    assert every.headline.estimate is not None
    assert few.headline.estimate.value == pytest.approx(every.headline.estimate.value)
    assert few.headline.estimate.low == pytest.approx(every.headline.estimate.low, abs=0.02)

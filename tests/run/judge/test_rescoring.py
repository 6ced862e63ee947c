"""`passband score --judge` on recorded trials, and a run that is killed while it is judged."""

from __future__ import annotations

import signal
from contextlib import closing
from pathlib import Path

import pytest

from passband.errors import ExitCode, InvalidInput
from passband.run.judge.choice import JudgeChoice
from passband.run.judge.rescoring import Judging
from passband.run.rescore.rescore import RunScorers, rescore_run, score_again
from passband.trials.reader import Trials
from passband.trials.records import RunRecord
from passband.trials.store import Store
from support.runs.commands import process, run
from support.runs.judges import (
    JUDGE,
    PASS,
    JudgedBench,
    both,
    calls_to_judge,
    numbered,
    write_judge,
)
from support.runs.runs import HURRIED, NAME, Notes
from support.servers.fault_server import FaultServer, Received, held, says


class Observer(Notes):
    """Remembers notes, warnings and how many trials were judged."""

    done = 0

    def judged(self, trials: int) -> None:
        self.done = trials


def second_attempts(server: FaultServer) -> list[Received]:
    """Requests that answer a reply without a verdict, which is on disk then."""
    return [request for request in calls_to_judge(server) if len(request.body["messages"]) == 3]


def judging(server: FaultServer, **options: object) -> Judging:
    choice = {"model": f"openai:{JUDGE}", "base_url": server.url, "canaries": 0, **options}
    return Judging(JudgeChoice(**choice), Observer(), patience=HURRIED)  # type: ignore[arg-type]


def test_recorded_answers_are_judged(bench: JudgedBench) -> None:
    with FaultServer(both(PASS)) as server:
        bench.run(server)
        asked = len(server.requests)
        how = judging(server, votes=2)
        assert rescore_run(bench.directory, scorers=["contains"], judging=how).added == 12
        assert bench.scorer.spec is not None
        assert bench.scorer.spec["function"] == "judge"
        assert len(server.requests) - asked == 12
        assert bench.values == [1.0] * 6
        assert (how.exit_code, how.observer.done) == (ExitCode.OK, 6)  # type: ignore[attr-defined]
        assert rescore_run(bench.directory, judging=judging(server, votes=2)).added == 0
        assert len(server.requests) - asked == 12


def test_a_run_goes_on_with_the_judge_of_score_and_the_other_way_round(bench: JudgedBench) -> None:
    with FaultServer(both(PASS)) as server:
        bench.run(server)
        rescore_run(bench.directory, judging=judging(server))
        bench.judge(server, n=3)
        assert bench.values == [1.0] * 9
        assert len(calls_to_judge(server)) == 9


def test_a_judge_that_is_lost_leaves_the_rest(bench: JudgedBench) -> None:
    with FaultServer(both(PASS)) as server:
        bench.run(server)
        server.play(both(numbered([PASS], says("x", finish="content_filter"))))
        how = judging(server, concurrency=1)
        rescore_run(bench.directory, judging=how)
    assert sorted(score.status for score in bench.scores) == ["no_verdict"] * 5 + ["ok"]
    assert {row.status for row in bench.calls} == {"ok", "refused"}


def test_without_a_judge_nothing_is_asked_and_verdicts_stay(bench: JudgedBench) -> None:
    with FaultServer(both(PASS)) as server:
        bench.judge(server)
        asked = len(server.requests)
        with pytest.raises(InvalidInput, match="no task named 'sums'"):
            rescore_run(bench.directory, scorers=["contains"], truncated="score")
        plan = RunScorers(run_of(bench), (), ())
        with closing(Store(bench.directory)) as store:
            assert score_again(store, plan, truncated="score") == 6  # by exact_match alone
        assert len(server.requests) == asked
    assert bench.values == [1.0] * 6


def test_a_wrong_rubric_leaves_the_judge_before_it(bench: JudgedBench) -> None:
    with FaultServer(both(PASS)) as server:
        bench.judge(server)
        with pytest.raises(InvalidInput, match=r"problem 'p0': the rubric has no variable"):
            rescore_run(
                bench.directory, judging=judging(server, rubric="{{ answer }} {{ nothing }}")
            )
    assert bench.values == [1.0] * 6


def run_of(bench: JudgedBench) -> RunRecord:
    with Trials(bench.directory) as trials:
        return trials.run(NAME)


def first_line(request: Received) -> str:
    """The prompt about an answer, whichever attempt at it this is."""
    return str(request.body["messages"][0]["content"])


@pytest.mark.process
def test_kill_9_loses_no_reply_that_was_paid_for(tmp_path: Path, task_file: Path) -> None:
    def twice(request: Received) -> object:  # the second attempt comes once the first is on disk
        return says("Hm.") if len(request.body["messages"]) == 1 else held(PASS)

    words = [
        "run", task_file, "--model", "openai:model", "--limit", 4, "--out", tmp_path / "run",
        "--judge", f"openai:{JUDGE}", "--canaries", 0, "--seed", "s", "--batch", 1,
    ]  # fmt: skip
    with FaultServer(both(twice)) as server:  # type: ignore[arg-type]
        words += ["--base-url", server.url, "--judge-base-url", server.url]
        with process(*words) as started:
            server.wait_until(
                lambda server: (
                    sum(len(r.body["messages"]) == 3 for r in calls_to_judge(server)) >= 4
                )
            )
            started.send_signal(signal.SIGKILL)
        paid = {first_line(request) for request in second_attempts(server)}
        before = len(server.requests)
        server.play(both(PASS))
        done = run(*words)
        assert done.code == 0, done.err
        again = [r for r in server.requests[before:] if len(r.body["messages"]) == 1]
    assert not paid & {first_line(request) for request in again}
    bench = JudgedBench(tmp_path / "run")
    assert bench.values == [1.0] * 8
    assert not [row for row in bench.calls if row.status == "failed"]


@pytest.mark.process
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, ExitCode.INTERRUPTED), (signal.SIGTERM, ExitCode.TERMINATED)],
)
def test_a_signal_ends_score_in_good_order(
    number: signal.Signals, code: ExitCode, tmp_path: Path, task_file: Path
) -> None:
    with FaultServer(both(PASS)) as server:
        bench = JudgedBench(tmp_path / "run")
        done = run("run", task_file, "--model", "openai:model", "--base-url", server.url, "--out",
                   bench.directory, "--limit", 3, "-q")  # fmt: skip
        assert done.code == 0, done.err
        server.play(both(held(PASS)))
        before = len(server.requests)
        words = ["score", bench.directory, "--judge", f"openai:{JUDGE}", "--judge-base-url",
                 server.url, "--judge-concurrency", 2, "--canaries", 0]  # fmt: skip
        with process(*words) as started:
            server.wait_for(before + 2)
            started.send_signal(number)
            server.wait_until(lambda server: True)
            server.release()
            _, err = started.communicate(timeout=60)
        assert started.returncode == code, err
        assert 1 <= len(bench.scores) <= 6
        server.play(both(PASS))
        assert run(*words).code == 0
    assert bench.values == [1.0] * 6


def test_functions_judge_too(
    tmp_path: Path, task_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write_judge(tmp_path, yes="Fine.\nVERDICT: PASS", never="Perhaps.", four="VERDICT: 4")
    (tmp_path / "graded.yaml").write_text("template: Rate {{ answer }}\nscale: 1-5\n")
    with FaultServer() as server:
        done = run("run", task_file, "--model", "openai:model", "--base-url", server.url, "--out",
                   "run", "--limit", 3, "-q", "--judge", "python:judges_here:yes")  # fmt: skip
    assert done.code == 0, done.err
    assert "passes 9 of 9 null answers" in done.err
    done = run("score", "run", "--judge", "python:judges_here:four", "--rubric", "graded.yaml")
    assert "0.75" in done.out
    done = run("score", "run", "--judge", "python:judges_here:never", "--canaries", 0)
    assert "no verdict" in done.out
    assert "6 of 6 answers have no verdict" in done.err

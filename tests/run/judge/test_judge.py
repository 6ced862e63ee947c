"""Judges that fail, cost too much, or stop in the middle: trials are safe and verdicts wait."""

from __future__ import annotations

from dataclasses import replace

import pytest

from passband.errors import ExitCode, InvalidInput
from passband.report.run import RunReport
from passband.report.words import money
from passband.run.budget import NoTokenCounts
from passband.run.judge.judge import JudgeFailed
from passband.run.task_run import Price
from support.runs.judges import PASS, JudgedBench, both, calls_to_judge, numbered
from support.runs.runs import HURRIED
from support.servers.fault_server import FaultServer, held, missing_usage, says, unauthorized_401

FREE = Price(0.0, 0.0)


def test_a_judge_that_fails_later_leaves_verdicts_for_the_next_run(bench: JudgedBench) -> None:
    judging = numbered([PASS, PASS], unauthorized_401)
    with FaultServer(both(judging)) as server:
        finished = bench.judge(server)
        assert bench.statuses == {"ok": 6}
        assert len(bench.scores) == 2
        assert finished.exit_code == ExitCode.FAILED
        assert any("is asked no more" in text for text in bench.notes.warnings)
        server.play(both(PASS))
        asked = len(server.requests)
        finished = bench.judge(server)
        assert finished.exit_code == ExitCode.OK
    assert len(server.requests) - asked == 4  # none of the model, none of the two that were paid
    assert bench.values == [1.0] * 6


def test_a_judge_that_never_replies_ends_the_run(bench: JudgedBench) -> None:
    with FaultServer(both(unauthorized_401)) as server:
        with pytest.raises(JudgeFailed, match=r"the judge openai:judge-model does not reply"):
            bench.judge(server, n=8, concurrency=1)
        assert bench.statuses == {"ok": 1}  # the model is asked alone until the judge replies
        server.play(both(PASS))
        bench.judge(server, n=2)
    assert set(bench.values) == {1.0}


def test_ctrl_c_waits_for_calls_in_flight(bench: JudgedBench) -> None:
    with FaultServer(both(held(PASS))) as server:

        def interrupt(runner: object) -> None:
            if len(calls_to_judge(server)) == 6 and not runner.endpoint.is_stopping:  # type: ignore[attr-defined]
                runner.interrupt()  # type: ignore[attr-defined]
                server.release()

        bench.notes.on_tick = interrupt
        finished = bench.judge(server, patience=replace(HURRIED, preflight=0.01))
        assert finished.exit_code == ExitCode.INTERRUPTED
        assert bench.values == [1.0] * 6


def test_the_budget_counts_calls(bench: JudgedBench, tmp_path: object) -> None:
    prices = bench.directory.with_name("prices.yaml")
    prices.write_text("judge-model: {prompt: 100, completion: 100}\n")
    with FaultServer(both(PASS)) as server:
        finished = bench.judge(server, n=8, price=FREE, prices=prices, max_cost=0.3, concurrency=2)
    spent = finished.judge_cost
    assert finished.cost == 0.0
    assert spent is not None
    assert 0 < spent <= 0.3
    tokens = sum((row.prompt_tokens or 0) + (row.completion_tokens or 0) for row in bench.calls)
    assert spent == pytest.approx(tokens * 100 / 1e6)
    assert finished.exit_code == ExitCode.FAILED
    assert len(bench.calls) < 24


def test_the_cost_of_judges_is_said_apart_and_recorded_with_their_calls(bench: JudgedBench) -> None:
    prices = bench.directory.with_name("prices.yaml")
    prices.write_text("judge-model: {prompt: 100, completion: 100}\n")
    with FaultServer(both(PASS)) as server:
        finished = bench.judge(server, price=Price(1.0, 1.0), prices=prices, canaries=1)
        again = bench.judge(server, price=Price(1.0, 1.0), prices=prices, canaries=1)
    tokens = [(row.prompt_tokens or 0) + (row.completion_tokens or 0) for row in bench.rows]
    assert finished.cost == pytest.approx(sum(tokens) / 1e6)
    for call in bench.calls:
        assert call.cost == pytest.approx(
            ((call.prompt_tokens or 0) + (call.completion_tokens or 0)) * 100 / 1e6
        )
    assert finished.judge_cost is not None
    assert finished.judge_cost > sum(call.cost or 0.0 for call in bench.calls)  # and canaries
    assert again.judge_cost == pytest.approx(finished.judge_cost)
    said = RunReport(finished, None)
    assert f" and {money(finished.judge_cost)} for judging" in said.headline()
    assert said.as_json()["cost"] == finished.cost
    assert said.as_json()["judge_cost"] == finished.judge_cost


def test_calls_with_a_cost_are_not_paid_again_for_those_without(bench: JudgedBench) -> None:
    prices = bench.directory.with_name("prices.yaml")
    prices.write_text("judge-model: {prompt: 100, completion: 100}\n")
    with FaultServer(both(PASS)) as server:
        unknown = bench.judge(server, n=1)
        finished = bench.judge(server, n=2, prices=prices)
        again = bench.judge(server, n=2, prices=prices)
    assert unknown.judge_cost is None
    assert unknown.judges[0].cost is None
    assert [call.cost is None for call in bench.calls].count(True) == 3
    tokens = sum((row.prompt_tokens or 0) + (row.completion_tokens or 0) for row in bench.calls)
    assert finished.judge_cost == pytest.approx(tokens * 100 / 1e6)
    assert again.judge_cost == pytest.approx(tokens * 100 / 1e6)


def test_a_limit_needs_the_price_of_the_judge(bench: JudgedBench) -> None:
    with FaultServer(both(PASS)) as server, pytest.raises(InvalidInput, match="price of the judge"):
        bench.judge(server, price=FREE, max_cost=1.0)
    assert not server.requests


def test_a_limit_needs_counted_tokens(bench: JudgedBench) -> None:
    prices = bench.directory.with_name("prices.yaml")
    prices.write_text("judge-model: {prompt: 100, completion: 100}\n")
    with FaultServer(both(missing_usage)) as server, pytest.raises(NoTokenCounts):
        bench.judge(server, price=FREE, prices=prices, max_cost=9.0, n=8)


def test_a_judge_that_moved_is_refused(bench: JudgedBench) -> None:
    with FaultServer(both(PASS)) as server:
        bench.judge(server)
    with FaultServer(both(PASS)) as other:
        with pytest.raises(InvalidInput, match="verdicts by openai:judge-model from"):
            bench.judge(other, moved_server=False)
        bench.judge(other, n=3, moved_server=True)
    assert bench.values == [1.0] * 9


def test_a_judge_that_passes_everything_is_found_out(bench: JudgedBench) -> None:
    with FaultServer(both(PASS)) as server:
        bench.judge(server, canaries=3)
        assert len(calls_to_judge(server)) == 6 + 9
        bench.judge(server, canaries=3)
        assert len(calls_to_judge(server)) == 6 + 9
    assert any("passes 9 of 9 null answers" in text for text in bench.notes.warnings)
    assert len(bench.calls) == 6  # canaries are recorded apart
    assert sum(bench.statuses.values()) == 6


def test_a_judge_that_passes_no_null_answer_gets_a_note(bench: JudgedBench) -> None:
    with FaultServer(both(says("VERDICT: FAIL"))) as server:
        bench.judge(server, canaries=2)
    assert any("passes 0 of 6 null answers" in text for text in bench.notes.notes)
    assert not any("null answers" in text for text in bench.notes.warnings)


def test_a_judge_of_the_same_family_gets_a_note(bench: JudgedBench) -> None:
    with FaultServer(PASS) as server:
        bench.judge(server, model="openai:model-large", n=1)
        bench.judge(server, model="openai:model", n=1)
    assert any("share a name" in text for text in bench.notes.notes)
    assert any("judges its own answers" in text for text in bench.notes.notes)

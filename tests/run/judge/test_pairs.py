"""Pairs with the answers of another run."""

from __future__ import annotations

import pytest

from passband.errors import InvalidInput
from passband.score.judge.bias import Flips, count_flips
from support.runs.judges import JudgedBench, both, calls_to_judge
from support.servers.fault_server import FaultServer, Received, says

PAIRS = {"form": "pairwise", "against": "run"}
FIRST = says("The first.\nVERDICT: A")


def prefers_longer(request: Received) -> object:
    prompt = request.prompt
    first, second = (
        prompt.partition(f"<<<ANSWER {seat} ")[2].partition("<<<END")[0] for seat in "AB"
    )
    return says(f"VERDICT: {'A' if len(first) > len(second) else 'B'}")


def test_answers_are_compared_with_those_of_another_run(bench: JudgedBench) -> None:
    other = JudgedBench(bench.directory.with_name("other"))
    with FaultServer(both(prefers_longer, says("42"))) as server:  # type: ignore[arg-type]
        other.run(server)
        server.play(both(prefers_longer, says("It is forty-two.")))  # type: ignore[arg-type]
        bench.judge(server, rubric=PAIRS, against=str(other.directory), n=1)
        assert bench.values == [1.0] * 3
        assert len(calls_to_judge(server)) == 6
        assert "0 of 3 pairs were judged the other way" in " ".join(bench.notes.notes)
        bench.judge(server, rubric=PAIRS, against=str(other.directory), n=3)
    assert [score.status for score in bench.scores].count("error") == 3  # it has two trials


def test_a_verdict_that_stays_with_the_seat_is_a_flip(bench: JudgedBench) -> None:
    with FaultServer(both(FIRST)) as server:
        bench.judge(server, rubric={"form": "pairwise"}, n=1)
    assert bench.values == [0.5] * 3
    assert count_flips(bench.calls) == Flips(3, 3)
    assert "3 of 3 pairs were judged the other way" in " ".join(bench.notes.notes)


def test_the_other_run_has_to_be_one(bench: JudgedBench) -> None:
    with FaultServer(both(FIRST)) as server, pytest.raises(InvalidInput, match="no run directory"):
        bench.judge(server, rubric=PAIRS, against="nowhere")

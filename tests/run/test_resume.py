"""Going on where a run stopped: the same trials as without a stop, and none of them twice."""

import random
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from passband.generate.provider import Hopeless, Sampling
from passband.run.schedule.blocks import trial_seed
from passband.trials.exports.export import export_trials
from passband.trials.reader import Trials
from passband.trials.settings import SettingsChanged
from support.runs.runs import NAME, Bench, sums
from support.servers import fault_server as faults
from support.servers.fault_server import FaultServer, Received


def exported(bench: Bench, to: Path, form: str = "jsonl") -> bytes:
    with Trials(bench.directory) as trials:
        export_trials(trials, trials.runs(), form, to)
    return to.read_bytes()


def stops_at(number: int) -> Any:
    """A script that lets a run end badly at some request."""

    def script(request: Received) -> faults.Behaviour:
        return faults.ok if request.number < number else faults.unauthorized_401

    return script


# --- stops -----------------------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("seed", range(4))
def test_stops_leave_no_trace(
    bench: Bench, another: Bench, tmp_path: Path, seed: int, batch: int
) -> None:
    chance, task = random.Random(seed), sums(8)
    for _ in range(4):
        with FaultServer(stops_at(chance.randrange(1, 6))) as server, suppress(Hopeless):
            bench.run(server, task, n=6, batch=batch, concurrency=chance.randrange(1, 9))
    bench.play(task=task, n=6, batch=batch)
    another.play(task=task, n=6, batch=batch)
    for form in ("jsonl", "csv", "parquet"):
        one = exported(bench, tmp_path / f"one.{form}", form)
        assert one == exported(another, tmp_path / f"other.{form}", form)
    assert len(bench.keys) == len(set(bench.keys)) == 48


def test_faults_leave_no_trace(bench: Bench, another: Bench, tmp_path: Path) -> None:
    bench.play(faults.first_time(faults.status(503)), sums(8), n=4)
    another.play(task=sums(8), n=4)
    one = exported(bench, tmp_path / "one.jsonl")
    assert one == exported(another, tmp_path / "other.jsonl")


def test_nothing_is_asked_twice(bench: Bench) -> None:
    assert len(bench.play(n=4).requests) == 12
    assert len(bench.play(n=4).requests) == 0


def test_attempts_of_earlier_processes_count(bench: Bench) -> None:
    bench.play(n=1, limit=2)
    fault = faults.status(500)

    def script(request: Received) -> faults.Behaviour:
        return fault if request.number < 2 else faults.unauthorized_401

    with FaultServer(script) as server, pytest.raises(Hopeless):
        bench.run(server, n=1)
    bench.play(n=1)
    assert bench.row(2).attempts == 4
    assert bench.outcomes == ["unavailable", "unavailable", "hopeless"]


# --- more ------------------------------------------------------------------------------------


def test_more_trials_only_add(bench: Bench) -> None:
    bench.play(n=2)
    before = dict(zip(bench.keys, bench.content, strict=True))
    server = bench.play(n=5)
    after = dict(zip(bench.keys, bench.content, strict=True))
    assert len(server.requests) == 9
    assert {key: after[key] for key in before} == before
    assert len(after) == 15


def test_more_problems_only_add(bench: Bench) -> None:
    bench.play(task=sums(5), limit=2)
    before = bench.content
    server = bench.play(task=sums(5), limit=4)
    assert len(server.requests) == 4
    assert bench.content[:4] == before


def test_fewer_of_either_ask_nothing_and_lose_nothing(bench: Bench) -> None:
    bench.play(task=sums(5), n=4)
    before = bench.content
    assert bench.notes.warnings == []
    server = bench.play(task=sums(5), n=2, limit=3)
    assert server.requests == []
    assert bench.content == before
    warning = bench.notes.warnings[-1]
    assert warning.startswith("sums: results include 2 problems with recorded trials beyond")


def test_every_problem_is_asked_before_any_is_asked_again(bench: Bench) -> None:
    server = bench.play(task=sums(5), n=3, concurrency=1)
    prompts = [request.prompt for request in server.requests]
    assert len(set(prompts[:5])) == len(set(prompts[5:10])) == 5


# --- other settings --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"temperature": 0.5}, "sampling.temperature: 1.0 then, 0.5 now"),
        ({"top_p": 0.5}, "sampling.top_p"),
        ({"max_tokens": 5}, "sampling.max_tokens"),
        ({"seed": "other"}, 'seed: "bench" then, "other" now'),
        ({"send_seeds": False}, "seed"),
        ({"task": sums(sampling=Sampling(1.0, stop=("\n",)))}, "sampling.stop"),
        ({"task": sums(prompts=["Other?"])}, "other problems"),
    ],
)
def test_other_settings_are_refused(bench: Bench, settings: dict[str, Any], named: str) -> None:
    bench.play(n=1)
    with FaultServer() as server, pytest.raises(SettingsChanged, match=named):
        bench.run(server, n=2, **settings)
    assert server.requests == []
    assert len(bench.rows) == 3


def test_settings_that_change_no_answer_may_change(bench: Bench) -> None:
    bench.play(n=2)
    bench.play(n=2, concurrency=1, timeout=5.0, truncated="score", batch=8)
    assert bench.statuses == {"ok": 6}


# --- again -----------------------------------------------------------------------------------


def test_what_failed_stays_failed_unless_asked_for(bench: Bench) -> None:
    table = {"17": faults.html_200, "18": faults.status(500), "19": faults.length,
             "20": faults.content_filter}  # fmt: skip

    def script(request: Received) -> faults.Behaviour:
        return table.get(request.prompt[8:10], faults.ok)

    bench.play(script, sums(6), n=2)
    expected = {"ok": 4, "truncated": 2, "refused": 2, "invalid": 2, "gave_up": 2}
    assert bench.statuses == expected
    assert bench.play(task=sums(6), n=2).requests == []
    assert bench.statuses == expected
    server = bench.play(task=sums(6), n=2, retry_failed=True)
    assert Counter(request.prompt[8:10] for request in server.requests) == {"17": 2, "18": 2}
    assert bench.statuses == {"ok": 8, "truncated": 2, "refused": 2}
    assert bench.row(0).attempts == 3 + 1
    assert bench.row(1).attempts == 5 + 1
    assert bench.outcomes.count("invalid_reply") == 6  # what happened then is still known


# --- seeds -----------------------------------------------------------------------------------


def seeds(server: FaultServer) -> list[Any]:
    return [request.body.get("seed") for request in server.requests]


def test_every_trial_has_a_seed_of_its_own(bench: Bench) -> None:
    server = bench.play(task=sums(20), n=20)
    assert len(set(seeds(server))) == 400
    assert all(0 <= seed < 2**31 for seed in seeds(server))
    for row in bench.rows:
        assert row.seed == trial_seed("bench", NAME, f"p{row.problem}", row.trial)


def test_a_retry_has_the_same_seed(bench: Bench) -> None:
    server = bench.play(faults.first_time(faults.status(500)))
    assert set(Counter(seeds(server)).values()) == {2}


def test_seeds_come_from_the_name_of_the_run_and_stay(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "first")
    bench.play(n=1, seed=None)
    assert bench.row(0).seed == trial_seed("first", NAME, "p0", 0)
    moved = Bench(bench.directory.rename(tmp_path / "second"))
    moved.play(n=2, seed=None)
    assert moved.row(0, 1).seed == trial_seed("first", NAME, "p0", 1)


def test_without_seeds_none_is_sent(bench: Bench) -> None:
    server = bench.play(send_seeds=False)
    assert all("seed" not in request.body for request in server.requests)
    assert {row.seed for row in bench.rows} == {None}
    assert len({row.text for row in bench.rows}) == 6


def test_a_request_for_several_has_one_seed(bench: Bench) -> None:
    server = bench.play(n=4, batch=4)
    assert len(set(seeds(server))) == 3
    assert len({row.text for row in bench.rows}) == 12
    assert bench.row(0, 3).seed == trial_seed("bench", NAME, "p0", 0)  # the one that was used


@pytest.mark.parametrize(
    "text", ["", "wrong", "The answer is 42.", "I cannot help with that.", None]
)
def test_whether_to_ask_again_never_depends_on_the_text(bench: Bench, text: str | None) -> None:
    server = bench.play(faults.says(text), n=2)
    assert len(server.requests) == 6
    assert {row.attempts for row in bench.rows} == {1}

"""Judges that are asked from the nodes of a cluster."""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.generate.provider import (
    Completion,
    Hopeless,
    Message,
    ProviderFault,
    RateLimited,
    Request,
    Sampling,
    Unfinished,
    UnsupportedSetting,
)
from passband.generate.registry import Connection
from passband.run.judge.remote import JudgeActor, NamedModel, remote_subject
from passband.trials.reader import Trials
from support.runs.commands import run
from support.runs.judges import FAIL, JUDGE, PASS, JudgedBench, answer_in, both, calls_to_judge
from support.runs.runs import sums
from support.servers import clusters  # noqa: F401 - before ray
from support.servers.fault_server import FaultServer, Received, after, unauthorized_401

MODEL = f"openai:{JUDGE}"
REQUEST = Request((Message("user", "VERDICT?"),), Sampling())


def verdict(asked: Received) -> Any:
    return PASS if len(answer_in(asked)) % 2 else FAIL


def exported(directory: Path) -> str:
    file = directory.with_suffix(".jsonl")
    done = run("export", directory, "-o", file)
    assert done.code == 0, done.err
    return file.read_text()


def judged(directory: Path, server: FaultServer, *options: object) -> None:
    done = run(
        "score", directory, "--judge", MODEL, "--judge-base-url", server.url, "--canaries", 0,
        "--scorer", "math", *options,
    )  # fmt: skip
    assert done.code == 0, done.err


# -- without a cluster -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        RateLimited("slow down", http=429, retry_after=2.5),
        Unfinished("cut", [Completion("half")], http=200),
        UnsupportedSetting("no seed", "seed", http=400),
    ],
)
def test_faults_can_be_sent(fault: ProviderFault) -> None:
    fault.elsewhere = True
    received = pickle.loads(pickle.dumps(fault))
    assert type(received) is type(fault)
    assert vars(received) == vars(fault)
    assert str(received) == str(fault)


def test_an_attempt_on_a_node_returns_its_fault_without_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = "sk-of-the-node-0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", key)

    async def attempt(url: str) -> Any:
        actor = JudgeActor(NamedModel(MODEL, Connection(url, batch=1)))
        spec = (await actor.facts()).spec
        found = [await actor.generate(REQUEST, spec), await actor.generate(REQUEST, {"x": 1})]
        await actor._provider().close()
        return found

    with FaultServer(unauthorized_401) as server:
        refused, other = asyncio.run(attempt(server.url))
    assert isinstance(refused, Hopeless)
    assert refused.http == 401
    assert key not in f"{refused} {pickle.dumps(refused)!r}"
    assert "another one" in str(other)


def test_a_model_that_a_node_cannot_make_is_named() -> None:
    actor = JudgeActor(NamedModel("nobody:x", Connection()))
    with pytest.raises(InvalidInput, match=r"^node \S+: --model nobody:x"):
        asyncio.run(actor.facts())
    assert isinstance(asyncio.run(actor.generate(REQUEST, {})), Hopeless)


@pytest.mark.parametrize(
    "connection",
    [Connection("http://me:pa55@h/v1"), Connection("http://h/v1", headers={"X-Key": "pa55"})],
)
def test_secrets_are_not_sent(connection: Connection) -> None:
    with pytest.raises(InvalidInput, match="environment of the nodes") as refused:
        remote_subject(MODEL, connection)
    assert "pa55" not in str(refused.value)


# -- on three nodes ----------------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
class TestOnACluster:
    @pytest.fixture
    def recorded(self, bench: JudgedBench, tmp_path: Path) -> Path:
        """A copy of a run that is to be judged; the other is judged by this process."""
        with FaultServer(both(verdict)) as server:
            bench.run(server, sums(12), n=4)
            shutil.copytree(bench.directory, tmp_path / "there")
            judged(bench.directory, server)
        return tmp_path / "there"

    def test_verdicts_are_those_of_one_process(
        self, cluster: Any, bench: JudgedBench, recorded: Path
    ) -> None:
        with FaultServer(both(verdict)) as server:
            judged(recorded, server, "--on", "ray", "--moved-server")
            asked = len(calls_to_judge(server))
            judged(recorded, server, "--on", "ray", "--moved-server")
            assert len(calls_to_judge(server)) == asked  # nothing is asked twice
            assert len({request.connection for request in calls_to_judge(server)}) > 1
        assert asked == sum(not row.is_cached for row in bench.calls)
        assert exported(recorded) == exported(bench.directory)
        assert run("check", recorded).code == 0
        assert _actors() == []

    def test_what_is_lost_with_a_process_is_asked_again(
        self, cluster: Any, bench: JudgedBench, recorded: Path
    ) -> None:
        killed: list[int] = []

        def kill_one(asked: Received) -> Any:
            if not killed:
                killed.extend(_actors()[:1])
                os.kill(killed[0], signal.SIGKILL)
            return after(0.05, verdict(asked))

        with FaultServer(both(kill_one)) as server:
            judged(recorded, server, "--on", "ray", "--moved-server", "--judge-concurrency", 6)
        assert killed
        assert exported(recorded) == exported(bench.directory)
        there = JudgedBench(recorded)
        failed = [row for row in there.calls if row.status == "failed"]
        assert 1 <= len(failed) <= 6  # the attempts that were in flight there
        assert {row.outcome for row in failed} == {"unavailable"}

    def test_a_judge_of_the_task_is_asked_only_where_it_is_named(
        self, cluster: Any, task_file: Path, tmp_path: Path
    ) -> None:
        own, judge = "metric: exact_match", f"metric: judge, model: {MODEL}"
        task_file.write_text(task_file.read_text().replace(f"[{{{own},", f"[{{{judge}}}, {{{own},"))
        out, canaries = tmp_path / "run", ("--canaries", 0)
        with FaultServer(both(verdict)) as server:
            urls = ("--base-url", server.url, "--judge-base-url", server.url)
            done = run("run", task_file, "--model", "openai:model", *urls, *canaries, "--out", out)
            assert done.code == 0, done.err
            asked = len(server.requests)
            assert run("score", out, "--scorer", "f1", "--on", "ray").code == 0
            assert len(server.requests) == asked
        with Trials(out) as trials:
            assert {one.name for one in trials.run("sums").scorers} >= {"judge", "f1"}

    def test_a_model_that_is_none_is_refused(self, cluster: Any, bench: JudgedBench) -> None:
        with FaultServer() as server:
            bench.run(server)
        done = run("score", bench.directory, "--judge", "python:no_such:judge", "--on", "ray")
        assert done.code == 2
        assert "no_such" in done.err
        assert "Traceback" not in done.err


def _actors() -> list[int]:
    """Return the processes of judges on this machine's nodes."""
    found = subprocess.run(["pgrep", "-f", "^ray::JudgeActor"], capture_output=True, text=True)
    return [int(pid) for pid in found.stdout.split()]

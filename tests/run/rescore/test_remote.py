"""Scores made on the nodes of a cluster: those of one process, whatever is lost meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from passband import plugins
from passband.score.registry import scorers
from passband.trials.reader import Trials
from support.runs.code_runs import CRASHES, RIGHT, WRONG, run_functions, write_functions
from support.runs.commands import Done, process, run
from support.sandboxes import sandboxes
from support.servers import clusters
from support.servers.fault_server import FaultServer, Received, held, ok

pytestmark = clusters.MARKS
Words = tuple[str, ...]
CHUNK = 50  # trials of a slow scorer that are scored together
SCORER = """
import json
import os
import urllib.request
from pathlib import Path

import passband

BODY = json.dumps({{"model": "m", "messages": [{{"role": "user", "content": "?"}}]}}).encode()
HEADERS = {{"Content-Type": "application/json"}}


@passband.register_scorer("watched", slow=True)
def watched(answer, target):
    request = urllib.request.Request({url!r} + "/chat/completions", BODY, HEADERS)
    for attempt in range(5):  # a busy machine may turn a connection away
        try:
            with urllib.request.urlopen(request) as reply:
                reply.read()
            break
        except OSError:
            if attempt == 4:
                raise
    last = Path(__file__).with_name("die")
    if last.exists():
        last.unlink()
        os._exit(1)
    return float(len(answer) % 2)
"""
TRIALS = 800


def exported(directory: Path) -> str:
    file = directory.with_suffix(".jsonl")
    done = run("export", directory, "-o", file)
    assert done.code == 0, done.err
    return file.read_text()


def scored(directory: Path, *options: object) -> Done:
    done = run("score", directory, *options)
    assert done.code == 0, done.err
    return done


@pytest.fixture
def copies(tmp_path: Path) -> tuple[Path, Path]:
    """Two copies of a run: one to be scored here, and one on the nodes."""
    here, there = tmp_path / "here", tmp_path / "there"
    done = run("run", "arithmetic", "--model", "tiny", "-n", 4, "--out", here, "-q")
    assert done.code == 0, done.err
    shutil.copytree(here, there)
    return here, there


@pytest.fixture
def watched(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[FaultServer], Words]]:
    """Write the module of a scorer that asks a server about each trial; return its options."""
    monkeypatch.setattr(plugins, "_imported", {})
    monkeypatch.syspath_prepend(str(cluster.modules))
    name = f"watched_{uuid.uuid4().hex}"

    def write(server: FaultServer) -> Words:
        (cluster.modules / f"{name}.py").write_text(SCORER.format(url=server.url))
        return ("--import", name, "--scorer", "watched")

    before = scorers.snapshot()
    yield write
    scorers.restore(before)


def test_mathematics_is_scored_as_here(cluster: Any, copies: tuple[Path, Path]) -> None:
    here, there = copies
    scored(here, "--scorer", "math", "--scorer", "numeric")
    scored(there, "--scorer", "math", "--scorer", "numeric", "--on", "ray")
    assert exported(there) == exported(here)
    assert "0 scores added" in scored(there, "--scorer", "math", "--on", "ray", "--workers", 1).err
    assert run("check", there).code == 0


def test_programs_are_scored_as_here(cluster: Any, tmp_path: Path) -> None:
    if (reason := sandboxes.reason_for_none()) is not None:
        pytest.skip(reason)
    task = write_functions(tmp_path)

    def answer(prompt: str) -> str:
        return (RIGHT, WRONG, CRASHES)[int(prompt[1]) % 3]

    plain = task.read_text().replace("code", "exact_match").replace("    timeout: 1\n", "")
    task.write_text(f"{plain}doc_to_target: x\n")
    run_functions(tmp_path, answer, n=2)
    here, there = tmp_path / "run", tmp_path / "there"
    write_functions(tmp_path)  # the task has the scorer of programs from now on
    shutil.copytree(here, there)
    scored(here, "--task", task)
    scored(there, "--task", task, "--on", "ray")
    assert exported(there) == exported(here)
    assert run("check", there).code == 0


def test_a_task_whose_scorer_is_code_is_refused(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"q": "1+1=", "a": "2"}) + "\n")
    (tmp_path / "own.py").write_text("def process(doc, results):\n    return {'acc': 1.0}\n")
    task = tmp_path / "own.yaml"
    task.write_text(
        "task: own\ndataset_path: rows.jsonl\ndoc_to_text: q\ndoc_to_target: a\n"
        "process_results: !function own.process\nmetric_list: [{metric: acc}]\n"
    )
    out = tmp_path / "run"
    words = ("--trust-task-code", "--out", out, "-q")
    assert run("run", task, "--model", "tiny", "-n", 1, *words).code == 0
    done = run("score", out, "--task", task, "--trust-task-code", "--on", "ray")
    assert done.code == 2
    assert "cannot build from a name; score without --on" in done.err


def test_a_node_is_lost(
    cluster: Any,
    copies: tuple[Path, Path],
    watched: Callable[[FaultServer], Words],
) -> None:
    here, there = copies
    node = cluster.add_node(**clusters.CPUS)

    def lose() -> None:
        cluster.remove_node(node, allow_graceful=False)
        server.release()

    def script(asked: Received) -> Any:
        if asked.number == TRIALS // 4:
            threading.Thread(target=lose).start()
        return held() if asked.number >= TRIALS // 4 else ok

    with FaultServer(script) as server:
        words = watched(server)
        scored(there, *words, "--on", "ray")
        asked = len(server.requests)
        scored(here, *words)
    assert exported(there) == exported(here)
    assert count_scores(there) == TRIALS
    assert TRIALS <= asked <= TRIALS + 2 * CHUNK + 8  # again: the chunks that were scored there
    assert run("check", there).code == 0


def test_the_leading_process_is_lost(
    cluster: Any,
    copies: tuple[Path, Path],
    watched: Callable[[FaultServer], Words],
) -> None:
    here, there = copies
    folders = os.pathsep.join([str(cluster.modules), os.environ.get("PYTHONPATH", "")])
    variables = {"RAY_ADDRESS": cluster.address, "PYTHONPATH": folders}

    def start(words: Words) -> subprocess.Popen[bytes]:
        return process("score", there, *words, "--on", "ray", "--json", **variables)

    with FaultServer(lambda asked: held() if asked.number > TRIALS // 2 else ok) as server:
        words = watched(server)
        with start(words) as leader:
            server.wait_for(TRIALS // 2 + 1)
            leader.kill()
        before = count_scores(there)
        server.release()
        (cluster.modules / "die").touch()  # and a process of the next is lost
        with start(words) as leader:
            out, err = leader.communicate(timeout=60)
        assert leader.returncode == 0, err.decode()
        assert json.loads(out)["added"] == TRIALS - before  # Ray says nothing on standard output
        said = [line for line in err.decode().splitlines() if not line.startswith("warning: ")]
        assert said == []
        assert not (cluster.modules / "die").exists()
        scored(here, *words)
    assert exported(there) == exported(here)
    assert count_scores(there) == TRIALS
    assert not subprocess.run(["pgrep", "-f", str(there)], capture_output=True).stdout


def count_scores(directory: Path) -> int:
    with Trials(directory) as trials:
        (task,) = trials.runs()
        number = next((one.number for one in task.scorers if one.name == "watched"), 0)
        return sum(trials.score_statuses(number).values())

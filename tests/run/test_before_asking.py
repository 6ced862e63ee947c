"""Going on with another server, another function, another `tiny`: refused, with the difference."""

import json
import sqlite3
import sys
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from passband.generate.tiny import provider as tiny
from passband.trials.reader import Trials
from support.runs.commands import Done, run
from support.runs.runs import Bench, sums
from support.servers import fault_server as faults
from support.servers.fault_server import FaultServer


def asked(task: Path, server: FaultServer, out: Path, *more: object) -> Done:
    words = ["--model", "openai:m", "--base-url", server.url, "--out", out, "--limit", 2]
    return run("run", task, *words, *more)


def addresses(out: Path) -> list[str]:
    with Trials(out) as trials:
        return [session.address or "" for session in trials.sessions()]


# --- servers ---------------------------------------------------------------------------------


def test_another_server_is_refused_until_it_is_said_to_have_moved(
    tmp_path: Path, task_file: Path
) -> None:
    out = tmp_path / "run"
    with FaultServer(faults.ok) as one, FaultServer(faults.ok) as two:
        assert asked(task_file, one, out, "-n", 1).code == 0
        refused = asked(task_file, two, out, "-n", 2)
        assert refused.code == 2
        assert len(two.requests) == 0
        assert f'address: "{one.url}" then, "{two.url}" now' in refused.err
        assert "add --moved-server" in refused.err
        assert asked(task_file, two, out, "-n", 2, "--dry-run").code == 2
        moved = asked(task_file, two, out, "-n", 2, "--moved-server")
        assert moved.code == 0
        assert len(two.requests) == 2
        assert f"2 trials are recorded from {one.url}" in moved.err
        assert asked(task_file, two, out, "-n", 3).code == 0  # said once, known from then on
        assert asked(task_file, one, out, "-n", 4).code == 0
        assert addresses(out) == [one.url, two.url, two.url, one.url]
        shown = run("stats", out)
        assert f"2 addresses of one model: {one.url}, {two.url}" in shown.out + shown.err


def test_a_server_that_nothing_was_asked_of_is_none_of_the_run(
    tmp_path: Path, task_file: Path
) -> None:
    out = tmp_path / "run"
    with FaultServer(faults.ok) as one, FaultServer(faults.ok) as two, FaultServer() as other:
        assert asked(task_file, one, out, "-n", 1).code == 0
        assert asked(task_file, two, out, "-n", 2, "--moved-server").code == 0
        idle = asked(task_file, other, out, "-n", 2, "--moved-server")
        assert idle.code == 0
        assert "nothing to ask" in idle.err
        assert f"2 trials are recorded from {one.url}, 2 from {two.url}, and" in idle.err
        with Trials(out) as trials:
            assert trials.run().addresses == [one.url, two.url]
        assert asked(task_file, other, out, "-n", 3).code == 2
        assert len(other.requests) == 0
        assert asked(task_file, other, out, "-n", 3, "--moved-server").code == 0
        with Trials(out) as trials:
            assert trials.run().addresses == [one.url, two.url, other.url]


def test_moving_hides_no_other_change(tmp_path: Path, task_file: Path) -> None:
    out = tmp_path / "run"
    with FaultServer(faults.ok) as one, FaultServer(faults.ok) as two:
        asked(task_file, one, out)
        both = asked(task_file, two, out, "--temperature", 0.5)
        assert both.code == 2
        assert "address: " in both.err
        assert "sampling.temperature" in both.err
        still = asked(task_file, two, out, "--temperature", 0.5, "--moved-server")
        assert still.code == 2
        assert "sampling.temperature: 1.0 then, 0.5 now" in still.err


def test_a_server_that_answered_nothing_may_be_replaced(tmp_path: Path, task_file: Path) -> None:
    out = tmp_path / "run"
    with FaultServer(faults.unauthorized_401) as one, FaultServer(faults.ok) as two:
        assert asked(task_file, one, out).code == 1
        assert asked(task_file, two, out).code == 0
    assert addresses(out)[-1:] == [two.url]


def test_servers_of_runs_that_are_merged(tmp_path: Path, task_file: Path) -> None:
    outs = [tmp_path / "one", tmp_path / "two"]
    with FaultServer(faults.ok) as one, FaultServer(faults.ok) as two:
        for server, out, n in ((one, outs[0], 1), (two, outs[1], 2)):
            assert asked(task_file, server, out, "-n", n, "--name", "same").code == 0
    refused = run("merge", *outs, "-o", tmp_path / "whole")
    assert refused.code == 2
    assert one.url in refused.err
    assert two.url in refused.err
    assert "--moved-server" in refused.err
    assert not (tmp_path / "whole").exists()
    assert run("merge", *outs, "-o", tmp_path / "whole", "--moved-server").code == 0
    with Trials(tmp_path / "whole") as trials:
        assert trials.run().addresses == [one.url, two.url]
    again = run("merge", *outs, "-o", tmp_path / "whole")
    assert again.code == 0
    assert again.out.count("0 trials, 0 problems") == 1


# --- code ------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task_file: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(function: str, *more: object) -> Done:
    for name in ("answering", "beside"):
        sys.modules.pop(name, None)
    try:
        words = ["--model", "python:answering:answer", "--out", "run", "--limit", 2]
        Path("answering.py").write_text(function)
        return run("run", "sums.yaml", *words, *more)
    finally:
        for name in ("answering", "beside"):
            sys.modules.pop(name, None)


FUNCTION = "import beside\ndef answer(prompt): return beside.TEXT\n"


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a second is too coarse for a test


def test_a_changed_function_is_refused_and_a_comment_is_not(here: Path, no_cache: None) -> None:
    Path("beside.py").write_text("TEXT = 'The answer is 42.'\n")
    assert called(FUNCTION, "-n", 1).code == 0
    assert called(f"# better now\n{FUNCTION}", "-n", 2).code == 0
    changed = called(FUNCTION.replace("beside.TEXT", "'44'"), "-n", 3)
    assert changed.code == 2
    assert "function.code.answering.py: " in changed.err
    Path("beside.py").write_text("TEXT = 'The answer is 44.'\n")
    helper = called(FUNCTION, "-n", 3)
    assert helper.code == 2
    assert "function.code.beside.py: " in helper.err
    assert "answering.py" not in helper.err


def test_runs_that_did_not_record_it_go_on_and_say_so(here: Path, no_cache: None) -> None:
    Path("beside.py").write_text("TEXT = '42'\n")
    assert called(FUNCTION, "-n", 1).code == 0
    forget(here / "run", "function")
    resumed = called(FUNCTION, "-n", 2)
    assert resumed.code == 0
    assert "what the source of the model's function was" in resumed.err
    with Trials(here / "run") as trials:
        assert list(trials.run().spec["uncompared"]) == ["function"]
    assert "was not compared" not in called(FUNCTION, "-n", 3).err
    assert called("def answer(prompt): return ''\n", "-n", 4).code == 2


def forget(directory: Path, name: str) -> None:
    """Remove a key from the spec, as if the version before had recorded it."""
    from passband.trials.encoding import canonical_json
    from passband.trials.store import Store

    store = Store(directory)
    (row,) = store.rows("run")
    spec = {key: value for key, value in json.loads(row[4]).items() if key != name}
    store.put("run", [(*row[:4], canonical_json(spec), *row[5:])])
    store.close()


def test_what_cannot_be_seen_is_said(bench: Bench) -> None:
    from passband.generate.registry import Connection
    from passband.run.settings import Settings
    from support.runs.runs import run_watched

    class Model:
        def __init__(self) -> None:
            self.text = "42"

        def __call__(self, prompt: str) -> str:
            return self.text

    def go(n: int) -> None:
        run_watched(
            bench.notes, [sums()], Model(), bench.directory, settings=Settings(n=n),
            connection=Connection(),
        )  # fmt: skip

    go(1)
    assert bench.notes.notes == []
    go(2)
    assert "a change of the state of the Model cannot be seen" in bench.notes.notes[0]


def test_another_tiny_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["run", "arithmetic", "--model", "tiny", "--limit", 2, "--out", "run"]
    assert run(*words, "-n", 1).code == 0
    monkeypatch.setattr(tiny, "SAMPLER", 2)
    refused = run(*words, "-n", 2)
    assert refused.code == 2
    assert "tiny.sampler: 1 then, 2 now" in refused.err
    monkeypatch.undo()
    monkeypatch.chdir(here)

    class Folder:
        def joinpath(self, name: str) -> Any:
            return here / name

    (here / "weights.npz").write_bytes(b"other weights")
    monkeypatch.setattr(resources, "files", lambda package: Folder())
    refused = run(*words, "-n", 2)
    assert refused.code == 2
    assert "tiny.weights: " in refused.err


TASK_CODE = "def asked(doc): return f\"What is {doc['a']} + {doc['b']}?\"\n"


def test_changed_code_of_a_trusted_task_is_refused(here: Path, no_cache: None) -> None:
    Path("helper.py").write_text("word = 'What is'\n")
    Path("utils.py").write_text(TASK_CODE)
    text = Path("sums.yaml").read_text()
    text = text.replace('"What is {{ a }} + {{ b }}?"', "!function utils.asked")
    Path("sums.yaml").write_text(text)
    words = ["run", "sums.yaml", "--model", "python:shlex:quote", "--limit", 1, "--out", "run"]
    assert run(*words, "-n", 1, "--trust-task-code").code == 0
    Path("utils.py").write_text(f"# a comment\n{Path('utils.py').read_text()}")
    assert run(*words, "-n", 2, "--trust-task-code").code == 0
    Path("utils.py").write_text(f"import helper\n{Path('utils.py').read_text()}")
    refused = run(*words, "-n", 3, "--trust-task-code")
    assert refused.code == 2
    assert "task_code.utils.py: " in refused.err
    assert "task_code.helper.py: nothing then" in refused.err


def test_code_that_only_scores_is_not_what_trials_depend_on(here: Path, no_cache: None) -> None:
    Path("scores.py").write_text("def right(references, predictions): return 1.0\n")
    text = Path("sums.yaml").read_text()
    Path("sums.yaml").write_text(
        text.replace("metric: exact_match", "metric: !function scores.right")
    )
    words = ["run", "sums.yaml", "--model", "python:shlex:quote", "--limit", 1, "--out", "run"]
    words.append("--trust-task-code")
    assert run(*words, "-n", 1).code == 0
    Path("scores.py").write_text("def right(references, predictions): return 0.0\n")
    assert run(*words, "-n", 2).code == 0


def test_a_store_of_an_earlier_layout_has_no_address_to_compare(
    tmp_path: Path, task_file: Path
) -> None:
    out = tmp_path / "run"
    with FaultServer(faults.ok) as one, FaultServer(faults.ok) as two:
        asked(task_file, one, out, "-n", 1)
        from passband.trials.store import Store

        store = Store(out)
        (row,) = store.rows("run")
        store.put("run", [(*row[:7], None, row[8])])
        store.close()
        resumed = asked(task_file, two, out, "-n", 2)
        assert resumed.code == 0
        assert "the address of the server" in resumed.err
        assert asked(task_file, one, out, "-n", 3).code == 2
    with closing(sqlite3.connect(out / "trials.sqlite")) as file:
        assert file.execute("SELECT address FROM run").fetchall() == [(two.url,)]


def test_a_shard_that_no_trial_belongs_to_says_so(tmp_path: Path) -> None:
    words = ("run", "arithmetic", "--model", "tiny", "-n", 2, "--limit", 2, "-q")
    done = run(*words, "--shard", "4/9", "--out", tmp_path / "4")
    assert done.code == 0
    assert "nothing to ask: no trial of the run belongs to shard 4/9" in done.err
    words = (*words, "--shard", "1/9", "--out", tmp_path / "1")  # type: ignore[assignment]
    assert run(*words).code == 0
    assert "nothing to ask: what belongs to shard 1/9 is recorded, 2 trials" in run(*words).err

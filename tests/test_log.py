"""The log: silent by default, what it says on -v and by PASSBAND_LOG, and what it never says."""

import json
import logging
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.log import INFO, close_log, event, is_logged, open_log, phase
from support.runs.commands import Done, finish, run
from support.sandboxes.canary import canary
from support.servers.fault_server import FaultServer, ok, rate_limit

PROMPT = "the-words-of-a-prompt"


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": key, "question": f"{PROMPT} {key}", "answer": "1"} for key in "ab"]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "t.jsonl"


def ask(task: Path, *options: str) -> Done:
    """Run a task on a server that limits the rate once; the key of the environment is sent."""
    with FaultServer([rate_limit("0.01"), *[ok] * 9]) as server:
        words = ("run", task, "--model", "openai:m", "--base-url", server.url, "-n", 2)
        return run(*words, *options)


def words_of(line: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in line.split() if "=" in pair)


def test_requests_waits_choices_and_writes_are_logged(task: Path) -> None:
    done = ask(task, "-vv")
    assert done.code == 0, done.err
    lines = [line for line in done.err.splitlines() if " pid=" in line]
    limited = next(line for line in lines if "outcome=rate_limited" in line)
    said = words_of(limited)
    assert (said["status"], said["model"], said["attempt"]) == ("429", "openai:m", "1")
    assert said["address"].startswith("http://127.0.0.1:")
    assert any("wait reason=rate_limited" in line for line in lines)
    for kind in ("http method=POST", "block task=", "write store=", "phase name=ask"):
        assert any(f" {kind}" in line for line in lines), kind
    answered = [line for line in lines if "outcome=answered" in line]
    trials = [
        tuple(words_of(line)[word] for word in ("problem", "trial", "n")) for line in answered
    ]
    assert sorted(trials) == [("0", "0", "2"), ("1", "0", "2")]


def test_neither_prompts_nor_keys_are_logged(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSBAND_LOG", str(tmp_path / "log.txt"))
    done = ask(task, "-vv", "--header", "X-Token=a-header-with-a-secret")
    text = (tmp_path / "log.txt").read_text() + done.err
    assert "outcome=answered" in text
    for secret in (PROMPT, canary(), "a-header-with-a-secret"):
        assert secret not in text


def test_once_for_what_matters_and_twice_for_all(task: Path) -> None:
    err = ask(task, "-v").err
    assert "outcome=rate_limited" in err
    assert "outcome=answered" not in err


def test_a_run_is_silent_by_default(task: Path) -> None:
    assert " pid=" not in ask(task).err
    assert not is_logged(INFO)


def test_the_reader_that_was_chosen(tmp_path: Path) -> None:
    table = tmp_path / "trials.csv"
    table.write_text("problem,trial,score\na,0,1\nb,0,0\n")
    assert f"reader file={table} reader=table" in run("-v", "stats", table).err
    assert not is_logged(INFO)


def test_a_log_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PASSBAND_LOG", str(tmp_path))
    done = run("ls")
    assert done.code == 2
    assert "PASSBAND_LOG=" in done.err


def test_a_line_is_one_line_without_keys(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    open_log(str(file), lambda text: text.replace("sk-1", "[redacted]"))
    try:
        event("odd", name='two\nlines "quoted" sk-1', nothing=None)
        with pytest.raises(InvalidInput), phase("failing"):
            raise InvalidInput("no")
        logging.getLogger("passband.inspect_evals").info("a text")  # quotes texts, so is not ours
    finally:
        close_log()
    odd, failing = file.read_text().splitlines()
    assert odd.endswith(r'odd name="two\nlines \"quoted\" [redacted]"')
    assert failing.endswith("error=InvalidInput")


@pytest.mark.process
def test_logging_is_not_imported_for_help() -> None:
    done = finish("--help", PYTHONPROFILEIMPORTTIME="1")
    assert done.code == 0
    assert "passband.cli.app" in done.err
    assert "passband.log" not in done.err

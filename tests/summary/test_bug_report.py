"""The bundle of a bug report: what is in it, and what must not be."""

import json
import zipfile
from pathlib import Path

import pytest

from passband.summary.bug_report import write_bug_report
from support.runs.commands import run
from support.sandboxes.canary import canary
from support.servers.fault_server import FaultServer, ok, rate_limit

PROMPT, TARGET = "the words of a prompt", "wordsofananswer"


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of a task whose file and data have texts; the key of the environment is sent."""
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"{PROMPT} {i}", "question": PROMPT, "answer": TARGET} for i in range(2)]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("PASSBAND_LOG", "log.txt")
    Path("log.txt").write_text(f"{PROMPT}: a line of another program\n")
    with FaultServer([rate_limit("0.01"), *[ok] * 9]) as server:
        words = ("run", "t.jsonl", "--model", "openai:m", "--base-url", server.url, "-n", 2)
        done = run(*words, "--system", PROMPT, "--header", "X-Token=a-header-with-a-secret")
    assert done.code == 0, done.err
    return tmp_path / "runs" / "openai-m"


def test_neither_texts_nor_keys_are_in_it(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSBAND_PASSWORD", "short")
    monkeypatch.setenv("OTHER_VARIABLE", "of-the-user")
    monkeypatch.setenv("PASSBAND_IMPORT", "")
    assert canary()
    write_bug_report(tmp_path / "bug.zip", directory, [])
    with zipfile.ZipFile(tmp_path / "bug.zip") as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    whole = "".join(texts.values())
    for hidden in (
        PROMPT, TARGET, canary(), canary()[3:], "a-header-with", "short", "of-the-user",
    ):  # fmt: skip
        assert hidden not in whole, hidden
    assert json.loads(texts["environment.json"])["PASSBAND_PASSWORD"] == "(set)"
    assert "outcome=rate_limited" in texts["log.txt"]


def test_what_is_in_it(directory: Path, tmp_path: Path) -> None:
    members = write_bug_report(tmp_path / "bug.zip", directory, [])
    assert members == [
        "versions.json", "environment.json", "sandboxes.json", "sessions.json", "runs.json",
        "log.txt",
    ]  # fmt: skip
    with zipfile.ZipFile(tmp_path / "bug.zip") as archive:
        (task,) = json.loads(archive.read("runs.json"))
        versions = json.loads(archive.read("versions.json"))
    assert task["statuses"] == {"ok": 4}
    assert task["failed_attempts"] == {"rate_limited 429": 1}
    assert (task["model"], task["config"]["n"]) == ("openai:m", 2)
    assert {"passband", "python", "platform", "packages"} <= versions.keys()
    (scorer,) = task["scorers"]
    assert all(each["severity"] in ("invalid", "weak", "remark") for each in scorer["findings"])
    assert scorer["findings"]


@pytest.mark.process
def test_the_command(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")  # no sandbox, which is no reason to write nothing
    done = run("doctor", directory, "--bundle", "bug.zip")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("wrote bug.zip: versions.json, ")
    with zipfile.ZipFile("bug.zip") as archive:
        assert not json.loads(archive.read("sandboxes.json"))[0]["holds"]
    refused = run("doctor", directory)
    assert refused.code == 2
    assert "--bundle" in refused.err

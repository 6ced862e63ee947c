"""`passband run` to its end: exit codes, messages, and what a terminal is spared."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from passband.trials.reader import Trials
from support.runs.commands import Done, run
from support.runs.runs import Bench
from support.servers import fault_server as faults
from support.servers.fault_server import Behaviour, FaultServer, Received, Script

pytestmark = pytest.mark.process


def asked(task: Path, bench: Bench, script: Script, *more: object) -> tuple[Done, FaultServer]:
    with FaultServer(script) as server:
        usual = {"--model": "openai:m", "--base-url": server.url, "--out": bench.directory}
        usual |= {"--batch": 1, "--limit": 3}
        words = [word for pair in usual.items() if pair[0] not in more for word in pair]
        done = run("run", task, *words, "--moved-server", *more)
    return done, server


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (faults.unauthorized_401, "HTTP 401: Incorrect API key provided"),
        (faults.forbidden_403, "HTTP 403: This key may not use this model."),
        (faults.model_404, "HTTP 404: The model `m` does not exist."),
        (faults.insufficient_quota, "HTTP 429: You exceeded your current quota"),
    ],
    ids=str,
)
def test_what_cannot_get_better(bench: Bench, task_file: Path, fault: Behaviour, told: str) -> None:
    done, server = asked(task_file, bench, fault)
    assert done.code == 1
    assert done.err.startswith("passband: ")
    assert told in done.err
    assert len(server.requests) == 1


def test_a_wrong_name_does_not_occupy_the_directory(bench: Bench, task_file: Path) -> None:
    asked(task_file, bench, faults.model_404, "--max-tokens", 5)
    done, _ = asked(task_file, bench, faults.ok, "--max-tokens", 50, "--model", "openai:other")
    assert done.code == 0, done.err
    assert bench.statuses == {"ok": 6}


def test_nobody_there(bench: Bench, task_file: Path) -> None:
    words = ["--base-url", "http://127.0.0.1:1/v1", "--out", bench.directory]
    done = run("run", task_file, "--model", "openai:m", *words)
    assert done.code == 1
    assert "the server cannot be reached" in done.err


def test_success(bench: Bench, task_file: Path) -> None:
    done, _ = asked(task_file, bench, faults.ok)
    assert done.code == 0
    assert "exact_match (mean)" in done.out
    assert "finished: 6/6 trials recorded (6 new)" in done.err
    assert "go on where it stopped" not in done.err


def test_json_is_json_from_first_to_last(bench: Bench, task_file: Path) -> None:
    done, _ = asked(task_file, bench, [faults.ok, faults.status(500)], "--json")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert done.err == ""
    assert events[-1]["event"] == "done"
    assert events[-1]["summary"]["groups"][0]["statuses"] == {"ok": 6}
    assert events[-1]["summary"]["groups"][0]["retried"] == 1


def test_trials_without_a_score_are_told(bench: Bench, task_file: Path) -> None:
    script = lambda r: faults.length if "18" in r.prompt else faults.ok  # noqa: E731
    done, _ = asked(task_file, bench, script)
    assert done.code == 0
    assert "2 of 6 trials have no score (2 truncated) and are left out" in done.err
    assert "--truncated score" in done.err
    scored, _ = asked(task_file, bench, script, "--truncated", "score")
    assert "have no score" not in scored.err


def test_a_hostile_server_does_not_reach_the_terminal(bench: Bench, task_file: Path) -> None:
    for number, (script, form) in enumerate(
        [
            (faults.hostile_text, []),
            (faults.hostile_text, ["--json"]),
            (faults.refusal("odd", 401, faults.error(faults.HOSTILE)), []),
            (faults.refusal("odd", 400, faults.error(faults.HOSTILE)), []),
            (faults.refusal("odd", 400, faults.error(faults.HOSTILE)), ["--json"]),
        ]
    ):
        there = Bench(bench.directory / str(number))
        done, _ = asked(task_file, there, script, *form)
        for sign in "\x00\x1b\x07\x9b\u202e\ud800":
            assert sign not in done.out + done.err


def test_identical_answers_are_a_note_on_the_table(bench: Bench, task_file: Path) -> None:
    done, _ = asked(task_file, bench, faults.same_answer, "-n", 4)
    assert "all answers are identical in 3 of 3 problems" in done.err


def test_an_outage(bench: Bench, task_file: Path) -> None:
    def script(request: Received) -> Behaviour:
        return faults.ok if request.number < 2 else faults.status(502)

    done, _ = asked(task_file, bench, script, "-n", 40, "--max-outage", 0)
    assert done.code == 1
    assert "What was recorded is safe; run the same command again to go on." in done.err
    assert bench.statuses == {"ok": 2}


# --- the directory ---------------------------------------------------------------------------


def test_other_settings_are_refused_and_named(bench: Bench, task_file: Path) -> None:
    asked(task_file, bench, faults.ok)
    before = bench.content
    for more, told in [
        (["--temperature", 0.5], "sampling.temperature: 1.0 then, 0.5 now"),
        (["--max-tokens", 7], "sampling.max_tokens: nothing then, 7 now"),
        (["--top-p", 0.5], "sampling.top_p: nothing then, 0.5 now"),
        (["--seed", "x"], 'seed: "run" then, "x" now'),
        (["--no-seed"], 'seed: "run" then, nothing now'),
    ]:
        done, server = asked(task_file, bench, faults.ok, *more)
        assert done.code == 2
        assert told in done.err
        assert server.requests == []
    assert bench.content == before


def test_another_model_has_trials_of_its_own(bench: Bench, task_file: Path) -> None:
    asked(task_file, bench, faults.ok)
    done, server = asked(task_file, bench, faults.ok, "--model", "openai:n")
    assert done.code == 0, done.err
    assert len(server.requests) == 6
    with Trials(bench.directory) as trials:
        assert [run.model for run in trials.runs()] == ["openai:m", "openai:n"]
        assert {sum(trials.statuses(run.number).values()) for run in trials.runs()} == {6}


def test_other_problems_are_refused_and_named(bench: Bench, task_file: Path) -> None:
    asked(task_file, bench, faults.ok)
    rows = task_file.with_name("rows.jsonl")
    rows.write_text(rows.read_text().replace('"a": 18', '"a": 81'))
    done, server = asked(task_file, bench, faults.ok)
    assert done.code == 2
    assert "'p1' has changed" in done.err
    assert server.requests == []


def test_a_damaged_file_is_left_alone(bench: Bench, task_file: Path) -> None:
    asked(task_file, bench, faults.ok)
    path = bench.directory / "trials.sqlite"
    data = bytearray(path.read_bytes())
    for where in range(4096, len(data), 512):
        data[where : where + 64] = b"\xa5" * 64
    path.write_bytes(data)
    done, server = asked(task_file, bench, faults.ok)
    assert done.code == 1
    assert "is damaged" in done.err
    assert "Traceback" not in done.err
    assert path.read_bytes() == data
    assert server.requests == []


@pytest.mark.parametrize("data", [b"", b"not a database at all" * 100])
def test_a_file_of_another_kind(bench: Bench, task_file: Path, data: bytes) -> None:
    bench.directory.mkdir()
    path = bench.directory / "trials.sqlite"
    path.write_bytes(data)
    done, _ = asked(task_file, bench, faults.ok)
    if not data:  # made, and then nothing was written
        assert done.code == 0
    else:
        assert done.code == 1
        assert path.read_bytes() == data


def test_a_file_of_a_newer_version_is_left_alone(bench: Bench, task_file: Path) -> None:
    asked(task_file, bench, faults.ok)
    path = bench.directory / "trials.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=99")
    data = path.read_bytes()
    done, server = asked(task_file, bench, faults.ok)
    assert done.code == 2
    assert "newer passband (layout 99; this one knows 4)" in done.err
    assert path.read_bytes() == data
    assert server.requests == []


def test_a_disk_that_is_nearly_full(
    bench: Bench, task_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(bench.directory.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10**6))
    done, server = asked(task_file, bench, faults.ok)
    assert done.code == 6
    assert "1 MB are free" in done.err
    assert "make room and run the same command again" in done.err
    assert server.requests == []


def test_a_folder_that_cannot_be_made(task_file: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done, _ = asked(task_file, Bench(tmp_path / "file" / "run"), faults.ok)
    assert done.code != 0
    assert done.err.startswith("passband: ")


# --- money -----------------------------------------------------------------------------------


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text("m: {prompt: 1000000, completion: 1000000}\n")  # one for each token
    return path


def test_a_limit_is_kept_and_raised(bench: Bench, task_file: Path, prices: Path) -> None:
    money = ["--prices", prices, "-n", 10, "--concurrency", 1]
    done, server = asked(task_file, bench, faults.ok, *money, "--max-cost", 200)
    assert done.code == 1
    assert "stopped at --max-cost" in done.err
    spent = sum((row.prompt_tokens or 0) + (row.completion_tokens or 0) for row in bench.rows)
    assert 100 < spent <= 200
    more, server = asked(task_file, bench, faults.ok, *money, "--max-cost", 10_000)
    assert more.code == 0
    assert bench.statuses == {"ok": 30}
    none, server = asked(task_file, bench, faults.ok, *money, "--max-cost", 200)
    assert none.code == 0  # nothing is left to ask
    assert server.requests == []


def test_a_limit_needs_a_price(
    bench: Bench, task_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSBAND_PRICES", str(bench.directory / "none.yaml"))
    done, server = asked(task_file, bench, faults.ok, "--max-cost", 1)
    assert done.code == 2
    assert "needs the price of the model" in done.err
    assert server.requests == []


def test_a_limit_needs_token_counts(bench: Bench, task_file: Path, prices: Path) -> None:
    money = ["--prices", prices, "--max-cost", 10, "--concurrency", 1, "-n", 30]
    done, server = asked(task_file, bench, faults.missing_usage, *money)
    assert done.code == 1
    assert "does not say how many tokens" in done.err
    assert len(server.requests) < 90


def test_what_was_filtered_has_no_tokens_and_that_is_fine(
    bench: Bench, task_file: Path, prices: Path
) -> None:
    money = ["--prices", prices, "--max-cost", 10**6, "--concurrency", 1]
    script = lambda r: faults.content_filter_400 if "17" in r.prompt else faults.after(0.1)  # noqa: E731
    done, _ = asked(task_file, bench, script, *money)
    assert done.code == 0, done.err
    assert bench.statuses == {"ok": 4, "refused": 2}


def test_another_address_is_named_first_even_if_quiet(bench: Bench, task_file: Path) -> None:
    asked(task_file, bench, faults.ok, "-q")
    done, server = asked(task_file, bench, faults.ok, "-n", 3, "-q")  # on another port
    assert done.code == 0, done.err
    first = done.err.splitlines()[0]
    assert first.startswith("warning: 6 trials are recorded from http://127.0.0.1:")
    assert f"this run asks {server.url}" in first
    with Trials(bench.directory) as trials:
        (run,) = trials.runs()
        addresses = [session.address for session in trials.sessions()]
    assert run.address == addresses[0] != addresses[1] == server.url


# --- waiting that has an end -----------------------------------------------------------------


def test_a_rate_limit_without_end_ends_like_an_outage(bench: Bench, task_file: Path) -> None:
    limit = [faults.ok, *[faults.rate_limit(None)] * 99]
    done, server = asked(task_file, bench, limit, "--max-outage", 0.1, "--concurrency", 1)
    assert done.code == 1
    assert "turned every request away for" in done.err
    assert "run the same command again to go on" in done.err
    assert len(server.requests) < 9
    assert len(bench.rows) == 1


def test_a_wait_beyond_the_outage_ends_at_once_and_says_until_when(
    bench: Bench, task_file: Path
) -> None:
    limit = [faults.ok, *[faults.rate_limit("86400")] * 99]
    done, server = asked(task_file, bench, limit, "--concurrency", 1)
    assert done.code == 1
    assert re.search(r"wait until \d{4}-\d\d-\d\d \d\d:\d\d \(86400 s\)", done.err)
    assert "longer than --max-outage (600 s)" in done.err
    assert len(server.requests) == 2

"""`passband show` from the outside."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from passband.trials.encoding import canonical_json
from passband.trials.file.schema import STORE_FILE
from passband.trials.rows import AttemptRow, ProblemRow, ScorerEntry, ScoreRow, TrialRow
from support.runs.commands import Done, run
from support.samples.stores import filled, judged, writing

Ask = Callable[..., Done]

STEPS = [{"function": "extract", "rules": ["boxed", "marker"]}]
SPEC = {"name": "exact_match", "function": "exact_match", "options": {}, "steps": STEPS}
EVIL = "\x1b[31mred\x1b]8;;http://x\x07 \u202ebidi NUL\0 half\ud800\r\nCR\r\u2028 \\boxed{41}"


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A run in which everything happens that can."""
    with writing(tmp_path / "odd") as store:
        number = store.begin("e\x1b[2J", "m\u202e", spec={"seed": "s"}, config={}, name="run")
        messages = [["system", "Be brief."], ["user", "What is 6*7?\x1b]0;x\x07"]]
        record = {"messages": messages, "targets": ["42", "forty-two"], "choices": ["a", "b"]}
        store.add_problems(number, [ProblemRow(0, "p\x1b0", canonical_json(record | {"doc": {}}))])
        entries = [ScorerEntry("exact_match", "1", SPEC), ScorerEntry("judge", "2", None)]
        main, judge = store.set_scorers(number, entries)
        error = ScoreRow(judge, None, "error", None, None, "KeyError: 'x'")
        unclosed = ScoreRow(main, 0.0, "no_answer", None, "boxed-unclosed")
        late = ScoreRow(main, None, "timeout", "x", None, "took 5 s")
        wrong = ScoreRow(main, 0.0, "ok", "41", "boxed")
        rows = [
            TrialRow(0, 0, "ok", EVIL, "thinking", scores=[wrong, error]),
            TrialRow(0, 1, "truncated", "cut", finish_reason="length"),
            TrialRow(0, 2, "ok", r"\boxed{4", scores=[unclosed]),
            TrialRow(0, 3, "gave_up", None, attempts=2),
            TrialRow(0, 4, "ok", "no idea", scores=[ScoreRow(main, 0.0, "no_answer")]),
            TrialRow(0, 5, "ok", "x", scores=[late]),
            TrialRow(0, 6, "ok", r"\boxed{42}", scores=[ScoreRow(main, 1.0, "ok", "42", "boxed")]),
        ]  # fmt: skip
        store.append(number, rows)
        store.add_attempts(
            number, [AttemptRow(0, 3, n, 1, "http", 500, "HTTP 500") for n in (1, 2)]
        )
    return tmp_path / "odd"


def numbers(done: Done) -> list[int]:
    assert done.code == 0, done.err
    return [json.loads(line)["trial"] for line in done.out.splitlines()]


def test_what_was_asked_answered_extracted_and_expected(ask: Ask) -> None:
    ask("-n", 4)
    done = run("show", "run", "--problem", "p2")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "sums by python:model_of_a_test:answer: 4 of 24 trials (1 of 6 problems)"
    assert lines[3:5] == ["asked     What is 2 + 4?", "expected  6"]
    right = next(
        number for number, line in enumerate(lines) if line.endswith("right: 6 by last_number")
    )
    assert lines[right + 1] == "answered  I think it is 6"
    assert lines[right + 2] == "                        ^"
    assert all(len(line) <= 80 for line in lines)


def test_filters(odd: Path) -> None:
    def found(*options: object) -> list[int]:
        return numbers(run("show", odd, "--json", *options))

    assert found() == [0, 1, 2, 3, 4, 5, 6]
    assert found("--wrong") == [0, 2, 4]
    assert found("--right") == [6]
    assert found("--no-answer") == found("--status", "no_answer") == [2, 4]
    assert found("--status", "truncated", "--status", "gave_up") == [1, 3]
    assert found("--status", "unscored", "--status", "scorer_timeout") == [5]
    assert found("--trial", 0, "--trial", 2, "--wrong") == [0, 2]
    assert found("--scorer", "judge", "--status", "scorer_error") == [0]
    assert found("--limit", 2) == [0, 1]
    assert found("--trial", 99) == []


def test_reasons(odd: Path) -> None:
    out = run("show", odd).out
    assert "trial 1   no score (truncated): it was cut off at the limit of tokens" in out
    assert "finish reason length" in out
    assert r"trial 2   no answer: the last \boxed{ is never closed" in out
    assert "trial 4   no answer: none found by boxed, marker" in out
    assert "trial 5   scorer timed out: x\nwhy       took 5 s" in out
    assert "judge: scorer error: KeyError: 'x'" in out
    assert out.count("HTTP 500") == 1  # the same failure twice is said once
    assert "or        forty-two" in out
    assert "choices   A) a" in out
    assert "system    Be brief." in out


def test_no_text_commands_the_terminal(odd: Path) -> None:
    for options in ([], ["--full"], ["--json"], ["--problem", "p\x1b0", "--diff", "0", "6"]):
        done = run("show", odd, *options)
        assert done.code == 0, done.err
        allowed = {"\n", "\u2500"}
        assert all(c in allowed or (c.isprintable() and ord(c) < 0x2400) for c in done.out)
        assert done.out.encode()  # no half of a character
    assert r"\x1b[31mred\x1b]8;;http://x\x07 \u202ebidi NUL\x00 half\ud800" in run("show", odd).out


def test_json_holds_all_of_it(odd: Path) -> None:
    first = json.loads(run("show", odd, "--json").out.splitlines()[0])
    assert first["completion"] == EVIL
    assert EVIL[slice(*first["span"])] == "41"
    assert first["messages"][1] == {"role": "user", "text": "What is 6*7?\x1b]0;x\x07"}
    assert (first["right"], first["answer"], first["rule"]) == (False, "41", "boxed")
    assert first["scores"]["judge"]["detail"] == "KeyError: 'x'"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--wrong", "--right"], "exclude each other"),
        (["--status", "truncatd"], "Did you mean 'truncated'?"),
        (["--problem", "p9"], "has no problem 'p9'"),
        (["--scorer", "exact_mtch"], "Did you mean 'exact_match'?"),
        (["--task", "nothing"], "has no task named 'nothing'"),
        (["--diff", 0, 0], "got 0 twice"),
        (["--diff", 0, 77], "trial 77 of this problem is not recorded"),
    ],
)
def test_refusals(odd: Path, options: list[object], message: str) -> None:
    done = run("show", odd, *options)
    assert done.code == 2
    assert message in done.err


def test_what_is_no_run(tmp_path: Path) -> None:
    done = run("show", tmp_path / "nothing")
    assert done.code == 2
    assert "nothing" in done.err


def test_a_folder_of_runs(tmp_path: Path) -> None:
    filled(tmp_path / "runs" / "a", [[1, 0]])
    assert "1 of 2 right" in run("show", tmp_path / "runs").out
    filled(tmp_path / "runs" / "b", [[1, 0]])
    done = run("show", tmp_path / "runs")
    assert done.code == 2
    assert "holds 2 runs; show one of" in done.err


def test_diff_needs_one_problem(tmp_path: Path) -> None:
    done = run("show", filled(tmp_path / "run", [[1, 0], [0, 0]]), "--diff", 0, 1)
    assert done.code == 2
    assert "say which with --problem" in done.err


def test_two_trials_as_one_text(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0], [0, 0]])
    out = run("show", directory, "--problem", "p0", "--diff", 0, 1).out
    assert "The answer is [-1-]{+0+}." in out
    assert "trial 0   right: 1 by last_number" in out


def test_a_damaged_trial_does_not_hide_the_others(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0, 1], [0, 0, 0]])
    with closing(sqlite3.connect(directory / STORE_FILE)) as connection, connection:
        connection.execute("UPDATE body SET text=x'2a' WHERE problem=0 AND trial=1")
    done = run("show", directory, "--limit", 4)
    assert done.code == 1
    assert "1 trial could not be read" in done.err
    assert "passband salvage" in done.err
    assert "trial 1   damaged: a completion is not what was written" in done.out
    assert done.out.count("answered") == 3
    lines = run("show", directory, "--json").out.splitlines()
    assert ["damaged" in json.loads(line) for line in lines] == [False, True, *[False] * 4]


def test_a_damaged_problem_does_not_hide_the_others(ask: Ask) -> None:
    ask("-n", 2)
    with closing(sqlite3.connect(Path("run") / STORE_FILE)) as connection, connection:
        connection.execute("UPDATE problem SET record=record || ' ' WHERE problem=0")
    done = run("show", "run")
    assert done.code == 1
    assert "damaged: a row of problem is not what was written" in done.out
    assert done.out.count("answered") == 10


def test_nothing_is_written(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0, 0, 0, 0], [0] * 5])
    before = (directory / STORE_FILE).read_bytes()
    for options in ([], ["--same-wrong"], ["--problem", "p0", "--diff", 0, 1], ["--json"]):
        assert run("show", directory, *options).code == 0
    assert run("export", directory, "--with", "prompt", "-o", tmp_path / "e.csv").code == 0
    assert run("stats", directory).code == 0
    assert (directory / STORE_FILE).read_bytes() == before


def test_long_texts_are_cut_unless_in_full(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        number = store.begin("t", "m", spec={"seed": "s"}, config={}, name="run")
        record = {"messages": [["user", "q"]], "targets": ["42"], "choices": [], "doc": {}}
        store.add_problems(number, [ProblemRow(0, "p", canonical_json(record))])
        (main,) = store.set_scorers(number, [ScorerEntry("exact_match", "1", SPEC)])
        text = "early\n" + "word " * 20_000 + r"so \boxed{41} it is. " + "tail " * 20_000 + "late"
        score = ScoreRow(main, 0.0, "ok", "41", "boxed")
        store.append(number, [TrialRow(0, 0, "ok", text, scores=[score])])
    out = run("show", tmp_path / "run").out
    assert len(out) < 5_000
    assert "early" in out
    assert "characters left out; --full shows them" in out
    assert out.rstrip().endswith("late")
    lines = out.splitlines()
    place = next(number for number, line in enumerate(lines) if "41} it" in line)
    line, carets = lines[place : place + 2]
    assert line[carets.index("^") : carets.rindex("^") + 1] == "41"
    assert len(run("show", tmp_path / "run", "--full").out) > 200_000


def test_exports_and_logs_are_shown_too(odd: Path, tmp_path: Path, ask: Ask) -> None:
    ask("-n", 2)
    assert run("export", "run", "--with", "prompt,detail", "-o", "e.jsonl").code == 0
    shown = run("show", "e.jsonl", "--problem", "p2", "--trial", 0).out
    assert "asked     What is 2 + 4?" in shown
    assert "answered  I think it is" in shown
    assert run("export", "run", "-o", "e.eval").code == 0
    assert "asked     What is 2 + 4?" in run("show", "e.eval", "--problem", "p2").out


def test_wrong_in_the_same_way(ask: Ask) -> None:
    ask("-n", 8)
    done = run("show", "run", "--same-wrong", "--json")
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert all(row["times"] == row["wrong"] for row in rows)  # always one too many
    assert all(int(row["answer"]) == int(row["targets"][0]) + 1 for row in rows)
    table = run("show", "run", "--same-wrong", "--limit", 2)
    assert len(table.out.splitlines()) == 4
    assert "agree in 100 % of pairs" in table.err


# -- terminals -----------------------------------------------------------------------------


def on_a_terminal(directory: Path, *options: str, **variables: str) -> str:
    """Return what the command writes to a terminal."""
    leader, follower = pty.openpty()
    words = [sys.executable, "-m", "passband", "show", str(directory), *options]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **variables}
    for name in ("NO_COLOR", "LESS"):
        if name not in variables:
            environment.pop(name, None)
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    shown = b""
    with suppress(OSError):  # the end of a terminal
        while part := os.read(leader, 1 << 16):
            shown += part
    os.close(leader)
    assert process.wait(60) == 0
    return shown.decode()


@pytest.mark.process
def test_colours_and_pagers(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0]])
    plain = on_a_terminal(directory, PAGER="", NO_COLOR="1")
    assert "\x1b" not in plain
    assert "\x1b[31mwrong\x1b[0m" in on_a_terminal(directory, PAGER="cat")
    # a pager that is not known to show colours gets none; one that ends early ends the command
    assert on_a_terminal(directory, PAGER="cat -") == plain
    assert on_a_terminal(directory, PAGER="head -n 1").count("\n") == 1
    assert on_a_terminal(directory, "--no-pager", PAGER="false", NO_COLOR="1") == plain


def test_the_votes_of_a_judge(tmp_path: Path) -> None:
    directory = judged(tmp_path / "run")
    done = run("show", directory, "--problem", "p0", "--no-pager")
    lines = [line.rstrip() for line in done.out.splitlines()]
    assert (done.code, done.err) == (0, "")
    assert "judged    vote 1: 1: VERDICT: PASS" in lines
    assert "          vote 1, swapped: 0.75: VERDICT: TIE" in lines
    assert "judged    vote 1: failed (timeout): no answer in 60 s" in lines
    assert "          vote 1: no verdict: I cannot say." in lines
    assert not any("It is right, 0." in line for line in lines)
    full = run("show", directory, "--problem", "p0", "--no-pager", "--full").out
    assert "reply     It is right, 0." in full
    done = run("show", directory, "--problem", "p1", "--no-pager")
    assert "judged    vote 1: 1: VERDICT: PASS (same request as another)" in done.out


def test_votes_as_json(tmp_path: Path) -> None:
    done = run("show", judged(tmp_path / "run"), "--json")
    first, second, third, fourth = map(json.loads, done.out.splitlines())
    assert [(one["vote"], one["swapped"], one["value"]) for one in first["calls"]] == [
        (0, False, 1.0), (0, True, 0.75),
    ]  # fmt: skip
    assert [one["status"] for one in second["calls"]] == ["failed", "no_verdict"]
    assert third["calls"][0]["reply"].endswith("VERDICT: PASS")
    assert (third["calls"][0]["cached"], third["calls"][0]["cost"]) == (True, None)
    assert "calls" not in fourth


def test_a_damaged_vote_is_damage_of_its_trial(tmp_path: Path) -> None:
    directory = judged(tmp_path / "run")
    with closing(sqlite3.connect(directory / STORE_FILE, isolation_level=None)) as connection:
        connection.execute("UPDATE call SET value=0 WHERE call=1")
    done = run("show", directory, "--no-pager")
    assert done.code == 1
    assert "1 trial could not be read" in done.err
    assert "a row of call is not what was written" in done.out

"""`passband export` from the outside."""

import csv
import io
import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from passband.trials.rows import ScoreRow, TrialRow
from support.runs.commands import apart, finish, process, run
from support.samples.stores import begin, filled, problem, writing

pytestmark = pytest.mark.process


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return filled(tmp_path / "run", [[1, 0, 1], [0, 0, 0]])


def test_the_name_of_the_file_says_what_it_is(directory: Path, tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.csv", "a.parquet", "a.JSONL", "a.json", "a"):
        done = run("export", directory, "-o", tmp_path / name)
        assert (done.code, done.out, done.err) == (0, "", "")
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert [json.loads(line)["score"] for line in lines] == [1, 0, 1, 0, 0, 0]
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    with (tmp_path / "a.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 6
    assert (tmp_path / "a.parquet").read_bytes()[:4] == b"PAR1"
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        done = run("stats", tmp_path / name, "-m", "pass@1", "--json")
        assert json.loads(done.out)["groups"][0]["lines"][0]["estimate"]["value"] == pytest.approx(
            1 / 3
        )


def test_format_goes_before_the_name(directory: Path, tmp_path: Path) -> None:
    assert run("export", directory, "--format", "csv", "-o", tmp_path / "a.jsonl").code == 0
    assert (tmp_path / "a.jsonl").read_text().startswith('"task","model"')


def test_an_ending_that_nobody_knows_is_refused(directory: Path, tmp_path: Path) -> None:
    for name in ("a.xlsx", "a.csv.gz"):
        done = run("export", directory, "-o", tmp_path / name)
        assert done.code == 2
        assert "pass --format jsonl, csv, parquet" in done.err
        assert not (tmp_path / name).exists()
    assert run("export", directory, "--format", "csv", "-o", tmp_path / "a.xyz").code == 0


def test_without_a_file_it_goes_to_standard_output(directory: Path) -> None:
    done = finish("export", directory)
    assert done.code == 0
    assert len(done.out.splitlines()) == 6
    assert len(list(csv.reader(io.StringIO(apart("export", directory, "--format=csv").out)))) == 7
    refused = apart("export", directory, "--format", "parquet")
    assert (refused.code, refused.out) == (2, "")
    assert "parquet is not text; give a file with -o." in refused.err


def test_only_some_tasks(tmp_path: Path) -> None:
    for task in ("c", "a", "b"):
        filled(tmp_path / "run", [[1]], task=task)
    path = tmp_path / "out.jsonl"
    assert run("export", tmp_path / "run", "-o", path).code == 0
    assert [json.loads(line)["task"] for line in path.read_text().splitlines()] == ["a", "b", "c"]
    chosen = ("--task", "c", "--task", "a", "--task", "c")
    assert run("export", tmp_path / "run", "-o", path, *chosen).code == 0
    assert [json.loads(line)["task"] for line in path.read_text().splitlines()] == ["a", "c"]
    done = run("export", tmp_path / "run", "-o", path, "--task", "x")
    assert done.code == 2
    assert "has no task named 'x'" in done.err
    assert "It has a, b, c." in done.err


def test_a_task_of_several_models(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1]])
    with writing(directory) as store:
        other = store.begin("sums", "other", spec={"seed": "s"}, config={"metrics": []})
        store.add_problems(other, [problem(0)])
        store.append(other, [TrialRow(0, 0, "ok", "4")])
    path = tmp_path / "out.jsonl"
    done = run("export", directory, "-o", path, "--task", "sums")
    assert (done.code, done.err) == (0, "")
    models = [json.loads(line)["model"] for line in path.read_text().splitlines()]
    assert models == ["other", "tiny"]


def test_timing_is_extra(directory: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    run("export", directory, "-o", path, "--timing")
    assert json.loads(path.read_text().splitlines()[0])["latency_ms"] == 100


def test_what_cannot_be_done_is_said_in_a_line(directory: Path, tmp_path: Path) -> None:
    for arguments, words in (
        ([tmp_path / "none"], "no such file"),
        ([directory, "-o", tmp_path / "no" / "folder.jsonl"], "folder.jsonl: there is no folder"),
        ([directory, "-o", tmp_path], "irectory"),
    ):
        done = run("export", *arguments)
        assert done.code in (1, 2)
        assert words in done.err
        assert done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_reader_that_leaves_early_is_no_accident(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0] * 500] * 20)
    with process("export", directory) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.readline()
        started.stdout.close()
        assert started.stderr.read() == b""
        assert started.wait(30) == 1


def test_hostile_text_is_data_in_a_file(tmp_path: Path) -> None:
    hostile = "\x1b]52;c;aGk=\x07=cmd|' /C calc'!A0\ud800\0"
    with writing(tmp_path / "run") as store:
        run_number, (scorer,) = begin(store, [problem(0)], task=hostile)
        scores = [ScoreRow(scorer, 1.0, answer=hostile)]
        store.append(run_number, [TrialRow(0, 0, "ok", hostile, scores=scores)])
    done = apart("export", tmp_path / "run")
    assert "\x1b" not in done.out
    assert json.loads(done.out)["completion"] == hostile
    for verb in (("stats",), ("export", "--task", "x")):
        told = apart(*verb[:1], tmp_path / "run", *verb[1:])
        assert "\x1b" not in told.out + told.err
        assert "\x07" not in told.out + told.err


def test_a_device_is_written_to_and_not_replaced(directory: Path) -> None:
    if not os.path.exists("/dev/null") or sys.platform == "win32":
        pytest.skip("there is no /dev/null")
    before = os.stat("/dev/null")
    assert run("export", directory, "-o", "/dev/null").code == 0
    assert os.stat("/dev/null").st_rdev == before.st_rdev


def test_a_terminal_is_shown_what_it_would_obey(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run_number, _ = begin(store)
        store.append(run_number, [TrialRow(0, 0, "ok", "\x1b]52;c;AAAA\x07 \u202e \x9b2J")])
    for form in ("csv", "jsonl"):
        command = f"{sys.executable} -m passband export {tmp_path / 'run'} --format {form}"
        leader, follower = pty.openpty()
        with subprocess.Popen(command.split(), stdout=follower, stderr=follower) as process:
            os.close(follower)
            shown = b""
            with suppress(OSError):  # the end of a terminal
                while part := os.read(leader, 4096):
                    shown += part
        os.close(leader)
        assert process.returncode == 0
        assert b"52;c;AAAA" in shown
        text = shown.decode()
        assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(text)


def test_prompts_and_details_on_request(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        number, (main, other) = begin(store, scorers=(("exact", "1"), ("judge", "2")))
        scores = [ScoreRow(main, 1.0), ScoreRow(other, None, "error", detail="KeyError: 'x'")]
        store.append(number, [TrialRow(2, 0, "ok", "42", scores=scores)])
    path = tmp_path / "a.jsonl"
    for wanted in (["prompt,target,detail"], ["prompt", "detail"]):
        options = [word for name in wanted for word in ("--with", name)]
        assert run("export", tmp_path / "run", *options, "-o", path).code == 0
        row = json.loads(path.read_text())
        assert list(row)[-3:] == ["prompt", "detail", "detail:judge"]
        assert row["prompt"] == "Question 2?"
        assert (row["detail"], row["detail:judge"]) == (None, "KeyError: 'x'")
    assert run("stats", path, "-m", "pass@1").code == 0


def test_further_columns_that_there_are_not(directory: Path, tmp_path: Path) -> None:
    done = run("export", directory, "--with", "promt", "-o", tmp_path / "a.csv")
    assert done.code == 2
    assert "Did you mean 'prompt'?" in done.err
    done = run("export", directory, "--with", "prompt", "-o", tmp_path / "a.eval")
    assert done.code == 2
    assert "--with adds columns to jsonl, csv, parquet" in done.err

"""`passband import`, and the verbs that take a log or ask for one to be imported."""

import json
from pathlib import Path

from passband.trials.reader import Trials
from support.runs.commands import run

ROWS = "problem,trial,model,score\n" + "".join(
    f"p{problem},{trial},M,{(problem + trial) % 3 == 0:d}\n"
    for problem in range(6)
    for trial in range(4)
)


def csv(folder: Path, text: str = ROWS, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_stats_of_the_run_are_those_of_the_log(tmp_path: Path) -> None:
    log, target = csv(tmp_path), tmp_path / "run"
    done = run("import", log, "-o", target)
    assert (done.code, done.out) == (
        0, f"{target}: 24 trials, 6 problems and 24 scores added; 0 trials were there already.\n",
    )  # fmt: skip
    assert run("stats", target, "-q").out == run("stats", log, "-q").out


def test_again_and_in_part(tmp_path: Path) -> None:
    log, target = csv(tmp_path), tmp_path / "run"
    run("import", log, "-o", target)
    done = run("import", log, "-o", target, "-q")
    assert (done.code, done.err) == (0, f"{log}: its trials of log by M are there already\n")
    (tmp_path / "later").mkdir()
    other = csv(tmp_path / "later", ROWS.replace(",0\n", ",1\n"))
    done = run("import", other, "-o", target)
    assert done.code == 2
    assert f"is in {log} and in {other}, without a text" in done.err
    added = json.loads(run("import", other, "-o", target, "--append", "--json").out)
    assert (added["trials"], added["problems"]) == (24, 0)


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    bad = csv(tmp_path, "problem,score\na,perhaps\n")
    assert run("import", bad, "-o", tmp_path / "run").code == 2
    assert not (tmp_path / "run").exists()
    assert "no such file" in run("import", tmp_path / "none.eval", "-o", tmp_path / "run").err
    assert (
        "no model named 'N'"
        in run("import", csv(tmp_path), "-o", tmp_path / "run", "--model", "N").err
    )


def test_what_needs_a_run_directory_says_how_to_make_one(tmp_path: Path) -> None:
    log = csv(tmp_path)
    for verb in (("score", log, "--scorer", "f1"), ("merge", log, "-o", tmp_path / "x")):
        done = run(*verb)
        assert done.code == 2
        assert f"passband import {log} -o runs/log" in done.err


def test_imported_texts_can_be_scored(tmp_path: Path) -> None:
    rows = [
        {"task": "arithmetic", "model": "M", "problem_id": f"p{n}", "trial": 0, "status": "ok",
         "score": 1.0, "score_status": "ok", "answer": None, "rule": None, "target": "4",
         "completion": text}
        for n, text in enumerate(["4", "5"])
    ]  # fmt: skip
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    target = tmp_path / "run"
    run("import", log, "-o", target)
    done = run("score", target)  # `arithmetic` is a task of passband, and not this one
    assert done.code == 2
    assert "was imported with its scores" in done.err
    done = run("score", target, "--scorer", "exact_match", "--json")
    assert (done.code, json.loads(done.out)["added"]) == (0, 2)
    with Trials(target) as trials:
        record = trials.run()
        counts = [trials.outcomes(record, scorer).successes for scorer in record.scorers]
    assert [count.tolist() for count in counts if count is not None] == [[1, 1], [1, 0]]
    done = run("run", "arithmetic", "--model", "M", "--out", target, "-n", "2")
    assert done.code == 2


def test_nothing_is_asked_in_addition_to_a_log(tmp_path: Path) -> None:
    rows = ROWS.replace("problem,trial,model", "problem,trial,task,model").replace(
        ",M,", ",arithmetic,tiny,"
    )
    target = tmp_path / "run"
    run("import", csv(tmp_path, rows), "-o", target)
    done = run("run", "arithmetic", "--model", "tiny", "--out", target, "-n", "2", "--limit", "3")
    assert done.code == 2
    assert "that were imported from logs" in done.err
    with Trials(target) as trials:
        assert trials.outcomes().n_trials == 24


def test_logs_are_exported(tmp_path: Path) -> None:
    done = run("export", csv(tmp_path), "-o", tmp_path / "out.csv")
    assert (done.code, done.out) == (0, "")
    text = (tmp_path / "out.csv").read_text()
    assert text.splitlines()[1].startswith('"log","M","p0",0,"ok",1.0')

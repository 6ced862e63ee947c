"""Several sources in one table: what sets their groups apart, and what is left out."""

import json
from pathlib import Path

import pytest

from passband import summarize
from passband.errors import InvalidInput
from passband.run.session import run_session
from passband.run.settings import Settings
from passband.summary.group import join_summaries
from support.runs.commands import Done, run
from support.runs.runs import Notes, sums


def answer(prompt: str, seed: int | None = None) -> str:
    return str(7 if (seed or 0) % 2 else 42)


def ask(directory: Path, *, task: str = "sums", name: str | None = None, n: int = 2) -> None:
    from dataclasses import replace

    from passband.generate.registry import Connection

    run_session(
        [replace(sums(4), name=task)],
        answer,
        directory,
        settings=Settings(n=n, name=name),
        connection=Connection(),
        watcher=Notes(),
    )


def rows(done: Done) -> list[list[str]]:
    assert done.code == 0, done.err
    return [line.split() for line in done.out.splitlines() if not line.startswith("-")]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for step in ("step1", "step2"):
        ask(tmp_path / "runs" / step, name=step)
        ask(tmp_path / "runs" / step, name=step, task="more")
    return tmp_path / "runs"


def test_tasks_by_models_by_metrics(runs: Path) -> None:
    head, *body = rows(run("stats", "runs", "-m", "avg", "-m", "pass@2"))
    assert head[:3] == ["task", "model", "metric"]
    assert [row[:3] for row in body] == [
        [task, model, metric]
        for task in ("more", "sums")
        for model in ("step1", "step2")
        for metric in ("avg", "pass@2")
    ]
    assert rows(run("stats", "runs/step1", "runs/step2", "-m", "avg", "-m", "pass@2"))[1:] == body


def test_the_numbers_are_those_of_each_source(runs: Path) -> None:
    whole = summarize(runs, ["pass@1"])
    for step in ("step1", "step2"):
        for group in summarize(runs / step, ["pass@1"]).groups:
            (same,) = [g for g in whole.groups if (g.task, g.model) == (group.task, group.model)]
            assert same.lines == group.lines
            assert same.by == {"task": group.task, "model": step}


def test_task_and_model_choose_where_a_source_has_them(runs: Path) -> None:
    ask(runs / "step3", name="step3", task="other")
    done = run("stats", "runs", "--task", "more", "-m", "avg")
    assert [row[0] for row in rows(done)] == ["model", "step1", "step2"]
    assert "step3 has no such task and is left out" in done.err
    assert [g.model for g in summarize("runs", ["avg"], model="step2", task="sums").groups] == [
        "step2"
    ]
    done = run("stats", "runs", "--task", "mroe")
    assert (done.code, done.out) == (2, "")
    assert "no task named 'mroe'. Did you mean 'more'?" in done.err


def test_copies_are_told_apart_and_never_pooled(runs: Path) -> None:
    assert run("backup", "runs/step1", "copy").code == 0
    head, *body = rows(run("stats", "runs/step1", "copy", "-m", "avg", "--task", "sums"))
    assert head[:2] == ["run", "metric"]
    assert [row[0] for row in body] == ["step1", "copy"]
    assert len({tuple(row[1:]) for row in body}) == 1
    same = rows(run("stats", "runs/step1", "runs", "-m", "avg"))
    assert [row[1] for row in same[1:]] == ["step1", "step2"] * 2  # one source, named twice


def test_directories_without_trials_are_named_and_left_out(runs: Path) -> None:
    (runs / "step9").mkdir()
    (runs / "step9" / "trials.sqlite").touch()
    done = run("stats", "runs", "-m", "avg", "--task", "sums")
    assert len(rows(done)) == 3
    assert "step9 holds no trials yet and is left out" in done.err
    with pytest.raises(InvalidInput, match="holds no trials yet"):
        summarize([runs / "step9", runs / "step9" / ".." / "step9"], ["avg"])


def test_files_go_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, score in (("old", 0), ("new", 1)):
        Path(f"{name}.csv").write_text(f"problem,score\na,{score}\nb,1\nb,0\n")
    head, *body = rows(run("stats", "old.csv", "new.csv", "-m", "avg"))
    assert head[:2] == ["model", "metric"]
    assert [row[:3] for row in body] == [["old", "avg", "0.25"], ["new", "avg", "0.75"]]


def test_means_over_tasks_have_their_model(runs: Path) -> None:
    whole = summarize(runs, ["avg"], weights="equal")
    assert [dict(one.by) for one in whole.combined] == [{"model": "step1"}, {"model": "step2"}]


def test_compare_takes_a_folder(runs: Path) -> None:
    done = run("compare", "runs", "-m", "avg", "--json")
    tasks = json.loads(done.out)["tasks"]
    assert [(task["task"], task["models"]) for task in tasks] == [
        ("more", ["step1", "step2"]),
        ("sums", ["step1", "step2"]),
    ]


def test_one_summary_stays_as_it_is() -> None:
    summary = summarize([[1, 0], [1, 1]], ["avg"])
    assert join_summaries({"a": summary}) is summary

"""Labels: the name of a checkpoint in place of its model, where it tells models apart."""

import json
from pathlib import Path

import pytest

from passband.trials.reader import Trials
from support.runs.commands import run

GUESS = "def guess(prompt, seed=None):\n    return '1'\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "labelled_model.py").write_text(GUESS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def ask(model: str, *options: object) -> None:
    done = run("run", "arithmetic", "--model", model, "--limit", 2, "-n", 1, "-q", *options)
    assert done.code == 0, done.err


def labels(directory: str) -> dict[str, str]:
    with Trials(directory) as trials:
        return {run.model: run.label for run in trials.runs()}


def test_a_name_is_the_label_and_stays() -> None:
    ask("tiny", "--name", "step100")
    assert labels("runs/step100") == {"tiny": "step100"}
    ask("tiny", "--out", "runs/step100", "-m", "pass@1")
    assert labels("runs/step100") == {"tiny": "step100"}
    ask("tiny")
    assert labels("runs/tiny") == {"tiny": "tiny"}


def test_an_export_has_the_label() -> None:
    ask("tiny", "--name", "step100")
    assert run("export", "runs/step100", "-o", "t.jsonl").code == 0
    rows = [json.loads(line) for line in Path("t.jsonl").read_text().splitlines()]
    assert {row["model"] for row in rows} == {"step100"}
    for name in ("step100", "tiny"):
        assert run("export", "runs/step100", "--model", name, "-o", f"{name}.jsonl").code == 0
        assert Path(f"{name}.jsonl").read_bytes() == Path("t.jsonl").read_bytes()


def test_a_name_that_models_share_tells_none_of_them_apart() -> None:
    ask("tiny", "--out", "shared", "--name", "exam")
    ask("python:labelled_model:guess", "--out", "shared", "--name", "exam")
    assert labels("shared") == {
        "python:labelled_model:guess": "python:labelled_model:guess",
        "tiny": "tiny",
    }


def test_another_name_is_refused_in_the_same_directory() -> None:
    ask("tiny", "--out", "one", "--name", "step100", "--seed", "5")
    done = run("run", "arithmetic", "--model", "tiny", "--out", "one", "--name", "step200",
               "--seed", "5", "--limit", 2, "-n", 1)  # fmt: skip
    assert done.code == 2
    assert 'name: "step100" then, "step200" now' in done.err

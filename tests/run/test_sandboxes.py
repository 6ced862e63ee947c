"""Programs are refused without a sandbox before anything is asked; what ran them is recorded."""

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.run.sandboxes import used_sandboxes
from passband.score.pipeline import make_scorer
from passband.score.sandbox.protocol import SandboxFailed
from passband.trials.reader import Trials
from support.runs.code_runs import RIGHT, WRONG, run_functions, write_functions
from support.runs.commands import run

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def without_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSBAND_SANDBOX", "none")


class Model:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, prompt: str) -> str:
        self.calls += 1
        return RIGHT


def config(folder: Path) -> dict[str, object]:
    with Trials(folder / "run") as trials:
        (only,) = trials.runs()
        return dict(only.config)


def test_nothing_is_asked_without_a_sandbox(tmp_path: Path) -> None:
    write_functions(tmp_path)
    model = Model()
    with pytest.raises(InvalidInput, match="code needs a sandbox, and none holds here"):
        run_functions(tmp_path, model, unsafe_code=False)
    assert model.calls == 0
    assert not (tmp_path / "run").exists()


def test_unsafe_code_is_recorded_and_said(tmp_path: Path) -> None:
    write_functions(tmp_path, problems=2)
    finished = run_functions(tmp_path, Model(), n=2)
    (sandbox,) = config(tmp_path)["sandboxes"]
    assert sandbox["backend"] == "none"  # type: ignore[has-type]
    assert sandbox["python"].lower().startswith("cpython 3.")  # type: ignore[has-type]
    summary = finished.summarize()
    assert summary is not None
    codes = [note.code for note in summary.groups[0].notes]
    assert "unsafe-code" in codes
    stats = run("stats", tmp_path / "run")
    assert "warning: programs ran without a sandbox (--unsafe-code" in stats.err
    assert stats.code == 0


def test_commands_refuse_and_accept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_functions(tmp_path, problems=2)
    (tmp_path / "coder.py").write_text(f"def wrong(prompt):\n    return {WRONG!r}\n")
    monkeypatch.syspath_prepend(tmp_path)
    command = ("run", path, "--model", "python:coder:wrong", "--out", tmp_path / "run", "-n", 2)
    refused = run(*command)
    assert (refused.code, "none holds here" in refused.err) == (2, True)
    assert run(*command, "--dry-run").code == 2
    assert run(*command, "--unsafe-code").code == 0
    again = ("score", tmp_path / "run", "--task", path)
    assert run(*again).code == 2
    assert run(*again, "--unsafe-code").code == 0
    shown = run("show", tmp_path / "run", "--wrong").out
    assert "failed (found by block)" in shown
    assert "assert candidate(1) == 2; f(1) returned 0" in " ".join(shown.split())


def test_another_sandbox_is_noted(tmp_path: Path) -> None:
    write_functions(tmp_path, problems=2)
    finished = run_functions(tmp_path, Model(), n=1)
    store_before = config(tmp_path)
    scorers = [make_scorer("code")]
    other = {"sandboxes": [{"backend": "bubblewrap", "python": "CPython 3.9.1"}]}
    both = used_sandboxes(scorers, {**store_before, **other})["sandboxes"]
    assert [one["backend"] for one in both] == ["bubblewrap", "none"]
    assert used_sandboxes(scorers, {"sandboxes": both})["sandboxes"] == both
    assert used_sandboxes([make_scorer("numeric")], {}) == {}
    assert finished.exit_code == 0


def test_bad_tests_are_refused_before_asking(tmp_path: Path) -> None:
    write_functions(tmp_path, test="def check(candidate:\n")
    model = Model()
    with pytest.raises(InvalidInput, match="problem 'p0' cannot be scored: its test is no Python"):
        run_functions(tmp_path, model)
    assert model.calls == 0


def test_a_sandbox_that_failed_owes_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_functions(tmp_path, problems=2)
    model = Model()

    def fails(*_: object, **__: object) -> None:
        raise SandboxFailed("it was taken away.")

    with monkeypatch.context() as broken:
        broken.setattr("passband.score.code.scorer.check_program", fails)
        run_functions(tmp_path, model, n=2)
    assert statuses(tmp_path) == {"error": 4}
    finished = run_functions(tmp_path, model, n=2)
    assert statuses(tmp_path) == {"ok": 4}
    assert model.calls == 4
    summary = finished.summarize()
    assert summary is not None
    assert summary.groups[0].lines[0].estimate is not None


def statuses(folder: Path) -> dict[str, int]:
    with Trials(folder / "run") as trials:
        (only,) = trials.runs()
        return {s: n for s, n in trials.score_statuses(only.scorers[0].number).items() if n}

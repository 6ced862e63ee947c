import json
from pathlib import Path

import pytest

from support.runs.code_runs import write_functions
from support.runs.commands import run

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def without_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSBAND_SANDBOX", "none")


def test_tests_are_read_and_solutions_not_run_without_a_sandbox(tmp_path: Path) -> None:
    done = run("validate", write_functions(tmp_path, canonical_solution="    return x"))
    assert done.code == 0
    assert "warning: reference solutions are not run: code needs a sandbox" in done.out


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"test": "assert ("}, "its test is no Python: line 1: '(' was never closed."),
        ({"test": "x = 1"}, "its test never calls f"),
        ({"entry_point": ""}, "the row has no tests"),
        ({"prompt": "import (\ndef f(x):\n"}, "its prompt is no Python"),
    ],
)
def test_tests_that_can_score_nothing(tmp_path: Path, changes: dict[str, str], said: str) -> None:
    done = run("validate", write_functions(tmp_path, problems=2, **changes))
    assert done.code == 2
    assert f"problem 'p0' cannot be scored: {said}" in done.out
    assert "problem 'p1' cannot be scored" in done.out


def test_a_solution_that_fails_its_own_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from passband.score.sandbox import policy

    path = write_functions(tmp_path, problems=2, canonical_solution="    return x + 1\n")
    rows = [json.loads(line) for line in (tmp_path / "functions.jsonl").read_text().splitlines()]
    rows[1]["canonical_solution"] = "    return x\n"
    (tmp_path / "functions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(policy, "is_unsafe_allowed", True)
    done = run("validate", path)
    assert done.code == 0
    assert "'p0'" not in done.out
    assert "the solution of problem 'p1' does not pass: failed: " in done.out

"""What stored verdicts say: outcomes, re-runs by stratum, timeouts that are late, sandboxes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from passband.score.code.flaky_sample import again_entry
from passband.summary.checks.programs import outcome_words, programs_of
from passband.trials.rows import ScoreRow

SCORER = SimpleNamespace(name="code", identity="i", number=1, spec={"function": "code"})


class Stored:
    """As much of a trials table as is read: verdicts by scorer."""

    def __init__(self, first: dict[Any, ScoreRow], second: dict[Any, ScoreRow] | None) -> None:
        self._scores = {1: first, 2: second or {}}
        name, identity, _ = again_entry("code", "i")
        hidden = SimpleNamespace(name=name, identity=identity, number=2)
        self._hidden = [] if second is None else [(7, None, hidden)]

    def scores(self, number: int) -> Any:
        return ((p, t, score) for (p, t), score in self._scores[number].items())

    def all_scorers(self) -> Any:
        return [(7, 0, SCORER), *self._hidden]


def row(value: float | None, detail: str | None = None, status: Any = "ok") -> ScoreRow:
    return ScoreRow(1, value, status, None, None, detail)


def measured(first: Any, second: Any = None, config: Any = None) -> Any:
    run = SimpleNamespace(number=7, config=config or {})
    return programs_of(Stored(first, second), run, SCORER)  # type: ignore[arg-type]


FIRST = {
    (0, 0): row(1.0),
    (0, 1): row(0.0, "failed: assert f(1)"),
    (0, 2): row(0.0, "timed out: 3 s"),
    (0, 3): row(0.0, "crashed: status 1"),
    (1, 0): row(1.0),
    (1, 1): row(1.0),
    (1, 2): row(0.0, None, "no_answer"),
    (1, 3): row(None, "SandboxFailed", "error"),
}


def test_outcomes_are_counted() -> None:
    programs = measured(FIRST)
    assert programs.outcomes == {"passed": 3, "failed": 1, "timed out": 1, "crashed": 1}
    assert (programs.missing, programs.reruns, programs.most_trials) == (1, None, 4)
    (note,) = programs.notes()
    assert str(note) == (
        "programs: 3 passed, 1 failed, 1 timed out, 1 crashed, 1 answer without a program"
    )


def test_what_the_sandbox_lacks_is_said() -> None:
    numpy = "line 1: ModuleNotFoundError: No module named 'numpy.linalg'"
    programs = measured(
        {
            (0, 0): row(0.0, f"failed: {numpy}"),
            (0, 1): row(0.0, f"failed: test 1 of 2: exit status 1: {numpy}"),
            (0, 2): row(0.0, "failed: line 2: assert f(1).top() == 1; f(1) returned <a Stack>"),
            (0, 3): row(None, f"InvalidInput: the test fails: {numpy}", "error"),
        }
    )
    _, modules, opaque = programs.notes()
    assert "2 programs failed because the sandbox's Python has no numpy;" in str(modules)
    assert "1 program failed on a result that is no plain data" in str(opaque)


def test_changes_have_the_weight_of_their_stratum() -> None:
    second = {
        (0, 0): row(0.0, "failed: x"),  # one of 2 re-runs of 3 that passed: 1.5
        (1, 0): row(1.0),
        (0, 1): row(1.0),  # the only re-run of 2 that failed: 2
        (0, 2): row(0.0, "timed out: passed after 5 s, beyond its time"),
    }
    programs = measured(FIRST, second)
    reruns = programs.reruns
    assert (reruns.verdicts, reruns.again, reruns.gained, reruns.lost) == (6, 4, 1, 1)
    assert {(f.step, f.weight, f.trials, f.successes) for f in reruns.flips} == {
        (-1, 1.5, 4, 1), (1, 2.0, 4, 1),
    }  # fmt: skip
    assert programs.late == (1, 1)
    codes = [note.code for note in programs.notes()]
    assert codes == ["program-outcomes", "many-flaky-verdicts", "late-timeouts"]


def test_sandboxes_are_named() -> None:
    one, other = {"backend": "bubblewrap", "python": "3.11"}, {"backend": "none", "python": "3.12"}
    codes = [note.code for note in measured(FIRST, config={"sandboxes": [one]}).notes()]
    assert codes == ["program-outcomes"]
    codes = [note.code for note in measured(FIRST, config={"sandboxes": [one, other]}).notes()]
    assert codes == ["program-outcomes", "unsafe-code", "several-sandboxes"]
    assert measured(FIRST, config={"sandboxes": "odd"}).sandboxes == ()


def test_other_scorers_have_no_programs(tmp_path: Path) -> None:
    other = SimpleNamespace(name="numeric", identity="i", number=1, spec={"function": "numeric"})
    run = SimpleNamespace(number=7, config={})
    assert programs_of(Stored(FIRST, None), run, other) is None  # type: ignore[arg-type]
    assert outcome_words(other, row(1.0)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(("score", "words"), [
    (row(1.0), "passed"), (row(0.0, "did not compile: x"), "did not compile"),
    (row(0.0, "odd"), "failed"), (row(None, "x", "error"), None),
])  # fmt: skip
def test_words_for_a_verdict(score: ScoreRow, words: str | None) -> None:
    assert outcome_words(SCORER, score) == words  # type: ignore[arg-type]

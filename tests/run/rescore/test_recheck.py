"""Verdicts given again: which, how they are stored, and what becomes of the interval."""

from collections.abc import Callable
from pathlib import Path

import pytest

from passband.run.rescore.rescore import rescore_run
from passband.score.code.flaky_sample import TrialRef, chosen_again, chosen_timeouts, hash_seed
from passband.summary.from_run import summarize_run
from passband.trials.merging.merge import merge_directories
from passband.trials.reader import Trials
from support.runs.code_runs import (
    BROKEN,
    CRASHES,
    HANGS,
    ORDER,
    RIGHT,
    WRONG,
    run_functions,
    write_functions,
)

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def without_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSBAND_SANDBOX", "none")


def saying(*answers: str) -> Callable[[str], str]:
    """Return a model that answers problem pN with the Nth of some answers."""

    def answer(prompt: str) -> str:
        return answers[int(prompt[1]) % len(answers)]

    return answer


def test_all_of_few_verdicts_are_given_again(tmp_path: Path) -> None:
    write_functions(tmp_path)
    run_functions(tmp_path, saying(RIGHT, WRONG, CRASHES, BROKEN))
    (group,) = summarize_run(tmp_path / "run").groups
    programs = group.programs
    assert programs is not None
    assert programs.outcomes == {"passed": 4, "failed": 4, "crashed": 4, "did not compile": 4}
    assert (programs.again, programs.gained, programs.lost, programs.low) == (16, 0, 0, 0.0)
    assert 0.1 < (programs.high or 0) < 0.2
    assert "steady-verdicts" in [note.code for note in group.notes]
    assert [scorer.name for scorer in group.scorers] == ["code"]


def test_verdicts_that_change_widen_the_interval(tmp_path: Path) -> None:
    write_functions(tmp_path, problems=8)
    run_functions(tmp_path, saying(RIGHT, WRONG, RIGHT, ORDER))
    (group,) = summarize_run(tmp_path / "run").groups
    assert group.programs is not None
    assert (group.programs.again, group.programs.gained, group.programs.lost) == (32, 8, 0)
    line = next(line for line in group.lines if line.reduction == "mean")
    assert line.estimate is not None
    assert line.estimate.value == 0.5  # of the first verdicts
    assert "flaky-interval" in [note.code for note in line.estimate.notes]
    assert "many-flaky-verdicts" in [note.code for note in group.notes]


def test_programs_that_time_out_get_twice_the_time(tmp_path: Path) -> None:
    write_functions(tmp_path, problems=2)
    run_functions(tmp_path, saying(RIGHT, HANGS), n=1)
    (group,) = summarize_run(tmp_path / "run").groups
    assert group.programs is not None
    assert group.programs.outcomes == {"passed": 1, "timed out": 1}
    assert (group.programs.again, group.programs.gained, group.programs.late) == (2, 0, 0)


def test_resuming_and_scoring_again_repeat_nothing(tmp_path: Path) -> None:
    write_functions(tmp_path)
    model = saying(RIGHT, ORDER)
    run_functions(tmp_path, model, n=2)
    before = again_rows(tmp_path / "run")
    assert len(before) == 8
    run_functions(tmp_path, model, n=2)
    rescored = rescore_run(tmp_path / "run", unsafe=True)
    assert rescored.added == 0
    assert again_rows(tmp_path / "run") == before
    run_functions(tmp_path, model, n=3)
    assert len(again_rows(tmp_path / "run")) == 12


def again_rows(directory: Path) -> list[tuple[int, int, float | None]]:
    with Trials(directory) as trials:
        hidden = [record for _, position, record in trials.all_scorers() if position is None]
        return [(p, t, s.value) for record in hidden for p, t, s in trials.scores(record.number)]


def test_second_verdicts_survive_a_merge(tmp_path: Path) -> None:
    write_functions(tmp_path)
    run_functions(tmp_path, saying(RIGHT, ORDER), n=2)
    merge_directories([tmp_path / "run"], tmp_path / "merged")
    assert len(again_rows(tmp_path / "merged")) == 8
    (group,) = summarize_run(tmp_path / "merged").groups
    assert group.programs is not None
    assert group.programs.gained == 4


def test_the_choice_depends_on_the_run_and_the_trial_alone() -> None:
    places = [TrialRef(f"p{at % 50}", at) for at in range(3000)]
    some = chosen_again(places, "run")
    assert chosen_again(places[::-1], "run") == some
    assert len(some) == 150
    assert chosen_again(places, "other") != some
    grown = [*places, *(TrialRef("q", at) for at in range(3000))]
    kept = set(some) & set(chosen_again(grown, "run"))
    assert len(kept) > 100
    assert len(chosen_timeouts(places, "run")) == 30
    assert {hash_seed(place, "run") for place in places} == {1, 2, 3}

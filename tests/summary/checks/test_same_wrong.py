"""Wrong in the same way: grouped as votes are, ranked by how surprising the agreement is."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from pathlib import Path

import pytest

from passband.score.pipeline import make_scorer
from passband.summary.checks.same_wrong import chance_of, rank_same_wrong, striking
from passband.trials.encoding import canonical_json
from passband.trials.reader import Trials
from passband.trials.rows import ProblemRow, ScorerEntry, ScoreRow, TrialRow
from support.samples.stores import writing


def made(directory: Path, answers: list[list[str | None]], scorer: str = "numeric") -> Path:
    """A run whose key is 1 everywhere; None is no answer."""
    with writing(directory) as store:
        number = store.begin("t", "m", spec={"seed": "s"}, config={}, name="run")
        record = canonical_json(
            {"messages": [["user", "?"]], "targets": ["1"], "choices": [], "doc": {}}
        )
        store.add_problems(number, [ProblemRow(i, f"p{i}", record) for i in range(len(answers))])
        one = make_scorer(scorer)
        (main,) = store.set_scorers(number, [ScorerEntry(scorer, one.identity, one.spec)])
        rows = []
        for problem, texts in enumerate(answers):
            for trial, text in enumerate(texts):
                score = ScoreRow(main, float(text == "1"), "ok", None if text == "9" else text)
                if text is None:
                    score = ScoreRow(main, 0.0, "no_answer")
                rows.append(TrialRow(problem, trial, "ok", text or "?", scores=[score]))
        store.append(number, rows)
    return directory


def test_chance_against_exact_arithmetic() -> None:
    for wrong in range(2, 12):
        for times in range(2, wrong + 1):
            q = Fraction(3, 10)
            exact = sum(
                comb(wrong - 1, x) * q**x * (1 - q) ** (wrong - 1 - x)
                for x in range(times - 1, wrong)
            )
            assert chance_of(times, wrong, 0.3) == pytest.approx(float(exact), rel=1e-12)


def test_worked_by_hand(tmp_path: Path) -> None:
    """p0: 7, 7, 7 of 4 trials; p1: 2 and 3, which differ; p2 is right; p3: one wrong."""
    directory = made(
        tmp_path / "run", [["7", "7", "7", "1"], ["2", "3", "1", None], ["1"] * 4, ["5", "1"]]
    )
    with Trials(directory) as trials:
        found = rank_same_wrong(trials, trials.run())
    (first,) = found.found
    assert (first.problem, first.answer, first.times, first.wrong) == ("p0", "7", 3, 3)
    assert (first.right, first.scored, first.targets) == (1, 4, ("1",))
    assert found.problems == 2
    assert found.rate == pytest.approx(0.5)  # pairs of p0 all agree, that of p1 does not
    # q of p0 is (1/2 + 0) / 2 = 1/4, and both others of 3 agree with one: 1/16
    assert first.chance == pytest.approx(1 / 16)


def test_answers_are_the_same_where_the_scorer_says_so(tmp_path: Path) -> None:
    directory = made(tmp_path / "run", [["1/2", "0.5", ".5", "3"]])
    with Trials(directory) as trials:
        by_number = rank_same_wrong(trials, trials.run())
        as_text = rank_same_wrong(trials, trials.run(), as_text=True)
    assert [(one.times, one.wrong) for one in by_number.found] == [(3, 4)]
    assert as_text.found == ()


def test_whole_completions_are_answers(tmp_path: Path) -> None:
    directory = made(tmp_path / "run", [["9", "9", "1"]])
    with Trials(directory) as trials:
        assert rank_same_wrong(trials, trials.run()).found[0].answer == "9"


def test_agreement_that_is_usual_is_no_surprise(tmp_path: Path) -> None:
    """Four alike among choices that are always alike rank below four alike among numbers."""
    choices = made(tmp_path / "a", [["4"] * 8 for _ in range(10)])
    numbers = made(tmp_path / "b", [["4"] * 8, *([str(n + 2) for n in range(8)] for _ in range(9))])
    chances = []
    for directory in (choices, numbers):
        with Trials(directory) as trials:
            run = trials.run()
            chances.append(rank_same_wrong(trials, run).found[0].chance)
            expected = [] if directory == choices else ["p0"]
            assert [one.problem for one in striking(trials, run, run.scorer())] == expected
    assert chances[0] > 0.5
    assert chances[1] < 1e-6


def test_a_run_without_wrong_answers(tmp_path: Path) -> None:
    with Trials(made(tmp_path / "run", [["1", "1"], [None, None]])) as trials:
        found = rank_same_wrong(trials, trials.run())
    assert found.found == ()
    assert found.rate is None

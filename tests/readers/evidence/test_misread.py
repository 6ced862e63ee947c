"""Results that look wrong: said, with an example and what other rules would find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from passband.readers.evidence.misread import misread_findings
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference
from passband.trials.encoding import canonical_json
from passband.trials.reader import Trials
from passband.trials.rows import ProblemRow, ScorerEntry, ScoreRow, TrialRow
from support.samples.stores import filled, writing

BOXED = [{"function": "extract", "rules": ["boxed"]}]


def asked(directory: Path, texts: list[str], steps: Sequence[Mapping[str, Any]]) -> Path:
    """A run of one trial per problem, whose key is 42, scored by exact_match."""
    scorer = make_scorer("exact_match", steps=steps)
    with writing(directory) as store:
        number = store.begin("t", "m", spec={"seed": "s"}, config={}, name="run")
        record = canonical_json({"messages": [], "targets": ["42"], "choices": [], "doc": {}})
        store.add_problems(number, [ProblemRow(i, f"p{i}", record) for i in range(len(texts))])
        entry = ScorerEntry("exact_match", scorer.identity, scorer.spec)
        (main,) = store.set_scorers(number, [entry])
        rows = []
        for place, text in enumerate(texts):
            score = scorer.score(text, Reference(("42",)))
            answer = None if score.answer == text else score.answer
            row = ScoreRow(main, score.value, score.status, answer, score.rule)
            rows.append(TrialRow(place, 0, "ok", text, scores=[row]))
        store.append(number, rows)
    return directory


def notes_on(directory: Path) -> list[str]:
    with Trials(directory) as trials:
        run = trials.run()
        return [finding.text for finding in misread_findings(trials, run, run.scorer())]


def test_boxes_that_no_filter_reads(tmp_path: Path) -> None:
    directory = asked(tmp_path / "run", [r"So \boxed{42} then."] * 10, [])
    first, second = notes_on(directory)
    assert first.startswith("nearly every score is 0 (mean 0 of 10 trials; 0 have no answer)")
    assert r'problem p0, trial 0 ends in "So \boxed{42} then.", compared as a whole' in first
    assert 'expected "42"' in first
    assert "right by other rules of extraction: boxed 10, last_number 10; use one" in second
    assert second.endswith(
        f"passband score {directory} --scorer exact_match --extract boxed --main"
    )


def test_most_trials_without_an_answer(tmp_path: Path) -> None:
    texts = [r"\boxed{42}"] * 4 + ["The answer is 42."] * 6
    first, second = notes_on(asked(tmp_path / "run", texts, BOXED))
    assert first.startswith("most trials have no answer (mean 0.4 of 10 trials; 6 have no answer)")
    assert "where no answer was found" in first
    assert "last_number 10" in second
    assert "boxed" not in second.partition("extraction:")[2].partition(";")[0]


def test_a_blank_before_the_answer(tmp_path: Path) -> None:
    _, second = notes_on(asked(tmp_path / "run", [" 42"] * 10, []))
    assert "whole 10" in second


def test_results_that_look_right_are_not_read(tmp_path: Path) -> None:
    assert notes_on(asked(tmp_path / "a", [r"\boxed{42}"] * 10, BOXED)) == []
    assert notes_on(asked(tmp_path / "b", ["no"] * 4, BOXED)) == []  # too few to say


def test_a_model_that_is_simply_wrong(tmp_path: Path) -> None:
    directory = asked(tmp_path / "run", [rf"\boxed{{{n}}}" for n in range(10)], BOXED)
    _, second = notes_on(directory)
    assert "0 have the target somewhere" in second
    assert "extraction: none (of marker, last_number" in second
    assert "use one" not in second


def test_scorers_of_other_tools_have_an_example_only(tmp_path: Path) -> None:
    (only,) = notes_on(filled(tmp_path / "run", [[0] * 5] * 4))
    assert only.startswith("nearly every score is 0")


def test_a_part_that_is_misread(tmp_path: Path) -> None:
    texts = ["The answer is 42."] * 4 + ["The answer is that 6 times 7 makes 42."] * 16
    marked: list[dict[str, object]] = [{"function": "extract", "rules": ["marker"]}]
    first, second = notes_on(asked(tmp_path / "run", texts, marked))
    assert first.startswith("of 16 answers scored wrong that were looked at, 16 hold the right one")
    assert "last_number 20" in second
    wrong = ["The answer is 42."] * 4 + [f"The answer is {n}." for n in range(50, 66)]
    assert notes_on(asked(tmp_path / "other", wrong, marked)) == []


def test_the_work_is_bounded(tmp_path: Path) -> None:
    directory = asked(tmp_path / "run", [f"it is 4{n}" for n in range(200, 500)], [])
    assert "of 40 trials looked at" in notes_on(directory)[1]

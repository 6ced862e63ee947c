"""Rubrics in files, and judges in task files."""

from __future__ import annotations

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.score.judge.rubric import read_rubric
from passband.score.judge.scorer import JudgeScorer
from passband.tasks.check import check_task
from passband.tasks.file.loader import load_task
from passband.tasks.file.rubric import read_rubric_file, with_rubric
from support.runs.scripted import write_task

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "rubrics"


def judge_of(path: Path) -> JudgeScorer:
    (scorer,) = load_task(path).scorers
    assert isinstance(scorer, JudgeScorer)
    return scorer


def test_examples_are_rubrics() -> None:
    rubrics = {path.stem: read_rubric(read_rubric_file(path)) for path in EXAMPLES.iterdir()}
    assert rubrics["clarity"].scale["4"] == 0.75
    assert (rubrics["better"].form, rubrics["better"].against) == ("pairwise", "run")


def test_a_text_file_is_a_template(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("Is {{ answer }} right?")
    assert read_rubric(read_rubric_file(tmp_path / "r.txt")).template == "Is {{ answer }} right?"


def test_a_task_names_its_judge(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("template: Is {{ answer }} right?\nscale: 0-2\n")
    metrics = "- metric: judge\n  model: openai:large\n  votes: 3\n  rubric: r.yaml"
    scorer = judge_of(write_task(tmp_path, metrics, {"a": "1"}))
    assert (scorer.options.model, scorer.options.votes) == ("openai:large", 3)
    assert scorer.options.rubric.words == ("0", "1", "2")


def test_a_rubric_stands_in_the_task(tmp_path: Path) -> None:
    metrics = """\
        - metric: judge
          rubric: {template: "Rate {{ answer }}", scale: [bad, good]}
        """
    scorer = judge_of(write_task(tmp_path, metrics, {"a": "1"}))
    assert scorer.options.rubric.words == ("bad", "good")
    assert scorer.options.model is None


def test_the_rubric_is_part_of_the_identity(tmp_path: Path) -> None:
    metrics = "- metric: judge\n  model: m\n  rubric: r.txt"
    path = write_task(tmp_path, metrics, {"a": "1"})
    identities = []
    for text in ("One {{ answer }}", "Two {{ answer }}"):
        (tmp_path / "r.txt").write_text(text)
        identities.append(judge_of(path).identity)
    assert identities[0] != identities[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("votes: 0", "votes of a judge is a whole number from 1 to 99; got 0"),
        ("rubric: gone.yaml", "there is no rubric"),
        ("rubric: ../r.txt", "beside it or below"),
        ("rubric: {template: Hm}", "exactly once; got it 0 times"),
        ("votez: 3", "has no option 'votez'. Did you mean 'votes'"),
    ],
)
def test_mistakes_are_diagnostics(tmp_path: Path, options: str, message: str) -> None:
    (tmp_path / "r.txt").write_text("{{ answer }}")
    path = write_task(tmp_path / "tasks", f"- metric: judge\n  {options}", {"a": "1"})
    messages = " ".join(line.message for line in check_task(path))
    assert message in messages


def test_a_file_that_is_no_rubric(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_bytes(b"\xff\xfe{{ answer }}")
    with pytest.raises(InvalidInput, match="not text in UTF-8"):
        read_rubric_file(tmp_path / "r.txt")
    (tmp_path / "r.yaml").write_text("a: [")
    with pytest.raises(InvalidInput, match=r"r\.yaml"):
        read_rubric_file(tmp_path / "r.yaml")
    assert with_rubric({"rubric": "A {{ answer }}"}, tmp_path) == {"rubric": "A {{ answer }}"}

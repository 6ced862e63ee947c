"""Tasks of banks."""

from dataclasses import replace
from pathlib import Path

import pytest

from passband.adaptive.bank import Bank, write_bank
from passband.adaptive.design import Design
from passband.adaptive.task import adaptive_tasks, task_of_bank
from passband.errors import InvalidInput, UnknownName
from support.samples.banks import bank

BANK = bank(6, splits=("validation", "test"))


def test_a_split_is_a_task_with_the_parameters_in_its_problems() -> None:
    part = BANK.of_split("test")
    task = task_of_bank(part, Design(trials=3))
    assert (task.name, task.repeats) == ("sums:adaptive:test", 3)
    problems = task.load(None)
    assert [problem.key for problem in problems] == ["i001", "i003", "i005"]
    assert [p.reference.doc["irt"]["b"] for p in problems] == part.parameters.b.tolist()
    assert problems[0].reference.doc["content"] == "easy"
    assert task.spec["hash"] == BANK.hash
    assert task.spec["split"] == "test"


def test_names_lead_to_tasks(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    write_bank(BANK, path)
    names = [task.name for task in adaptive_tasks(f"{path}:adaptive:*")]
    assert names == ["sums:adaptive:validation", "sums:adaptive:test"]
    (task,) = adaptive_tasks(f"{path}:adaptive")
    assert task.name == "sums:adaptive:validation"
    (task,) = adaptive_tasks(f"{path}:adaptive", order=("test",))
    assert task.name == "sums:adaptive:test"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sampling": {"temprature": 1.0}}, "no 'temprature'. Did you mean 'temperature'"),
        ({"scorer": {"name": "bleu"}}, "scores outside 0 to 1"),
        ({"scorer": {"x": 1}}, "its scorer cannot be made"),
        ({"scorer": {"name": "exactmatch"}}, "Did you mean 'exact_match'"),
    ],
)
def test_what_a_bank_asks_for_must_exist(changes: dict[str, object], message: str) -> None:
    wrong: Bank = replace(BANK.of_split("test"), **changes)  # type: ignore[arg-type]
    with pytest.raises((InvalidInput, UnknownName), match=message):
        task_of_bank(wrong)


def test_a_task_is_of_one_split_and_takes_no_limit() -> None:
    with pytest.raises(InvalidInput, match="of one split"):
        task_of_bank(BANK)
    with pytest.raises(InvalidInput, match="--max-items"):
        task_of_bank(BANK.of_split("test")).load(2)

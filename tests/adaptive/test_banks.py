"""Banks by name."""

from pathlib import Path

import pytest

from passband.adaptive.bank import write_bank
from passband.adaptive.task import find_bank, list_banks, required_bank
from passband.errors import InvalidInput, UnknownName
from passband.tasks.file.loader import load_task
from passband.tasks.find import find_task
from support.samples.banks import bank


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PASSBAND_BANKS", raising=False)


def test_banks_are_found_by_name_and_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bank(bank(3), Path("banks/here.jsonl"))
    write_bank(bank(3), Path("shelf/there.parquet"))
    monkeypatch.setenv("PASSBAND_BANKS", str(tmp_path / "shelf"))
    assert {"here", "there", "arithmetic"} <= {entry.name for entry in list_banks()}
    for name in ("here", "there", "shelf/there.parquet"):
        assert required_bank(name).hash == bank(3).hash


def test_an_unknown_name_has_the_nearest() -> None:
    assert find_bank("arithmetik") is None
    with pytest.raises(UnknownName, match=r"no bank named 'arithmetik'. Did you mean 'arithmetic'"):
        required_bank("arithmetik")


def test_two_banks_of_one_name_are_refused() -> None:
    write_bank(bank(3), Path("banks/one.jsonl"))
    write_bank(bank(3), Path("banks/one.parquet"))
    with pytest.raises(InvalidInput, match="in several files"):
        find_bank("one")


def test_the_built_in_bank_is_sound() -> None:
    built_in = required_bank("arithmetic")
    questions = [item.question for item in built_in.items]
    assert len(set(questions)) == len(questions)  # so no split shares one with another
    assert set(built_in.splits) == {"train", "validation", "test"}
    assert all(len(built_in.of_split(split).items) > 60 for split in built_in.splits)
    for item in built_in.items:
        assert item.targets == (str(eval(item.question.removesuffix("="))),)  # digits and + - *
    problems = load_task(find_task("arithmetic")).load(None)
    assert not {problem.messages[0].content for problem in problems} & set(questions)
    assert built_in.parameters.b.min() < -1.5
    assert built_in.parameters.b.max() > 2.0
    assert built_in.provenance["respondents"] == 48

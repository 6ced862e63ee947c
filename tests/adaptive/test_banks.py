"""Banks by name."""

from pathlib import Path

import pytest

from banks import bank
from passband.adaptive.bank import write_bank
from passband.adaptive.banks import find_bank, list_banks, required_bank
from passband.errors import InvalidInput, UnknownName


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

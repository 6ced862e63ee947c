"""Weights as they are typed, and as a file."""

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.summary.means import read_weights


def test_rules_names_and_files(tmp_path: Path) -> None:
    assert read_weights("equal") == "equal"
    assert read_weights("a=b=0.25,c=3/4".replace("3/4", ".75")) == {"a=b": 0.25, "c": 0.75}
    path = tmp_path / "Shares.CSV"
    path.write_text("\ufeffsubject,share\nalgebra, 0.5\n\n geometry,.5\n", encoding="utf-8")
    assert read_weights(str(path)) == {"algebra": 0.5, "geometry": 0.5}
    path.write_text("algebra,1\n")
    assert read_weights(str(path)) == {"algebra": 1.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("equl", r"got 'equl'\. Did you mean 'equal'\?"),
        ("a=x", "expected NAME=SHARE with a number; got a=x"),
        ("=0.5", "expected NAME=SHARE with a number; got =0.5"),
        ("a=.5,a=.5", "'a' has two weights"),
        (",=", "expected NAME=SHARE"),
        ("nowhere.csv", "cannot read nowhere.csv"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_weights(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b,c\n", "line 1 has 3 cells"), ("", "there are no weights"), ("a,1\nb,x\n", "got b=x")],
)
def test_files_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "w.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=message):
        read_weights(str(path))

"""`passband gate`: exit codes and what is printed."""

import json
from pathlib import Path

import pytest

from commands import run


def table(path: Path, wins: list[int], n: int = 8) -> Path:
    rows = [f"q{i},{int(t < c)}" for i, c in enumerate(wins) for t in range(n)]
    path.write_text("\n".join(["problem,score", *rows]) + "\n")
    return path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return table(tmp_path / "base.csv", [3, 0, 8, 5, 1, 7, 0, 2] * 10)


@pytest.mark.parametrize(
    ("wins", "code", "word"),
    [
        ([3, 0, 8, 5, 1, 7, 0, 3] * 10, 0, "PASS"),
        ([1, 0, 7, 3, 0, 5, 0, 1] * 10, 3, "REGRESSION"),
        ([3, 0, 7, 5, 1, 7, 0, 2] * 10, 4, "UNDECIDED"),
    ],
)
def test_exit_code_is_the_verdict(
    base: Path, tmp_path: Path, wins: list[int], code: int, word: str
) -> None:
    new = table(tmp_path / "new.csv", wins)
    options = ("-m", "pass@1", "--tolerance", "0.04")
    done = run("gate", base, new, *options)
    assert done.code == code, done.out + done.err
    assert done.out.startswith(word)
    assert "these very problems" in done.err
    whole = json.loads(run("gate", base, new, *options, "--json").out)
    assert (whole["passband"], whole["version"], whole["exit_code"]) == ("gate", 1, code)


def test_the_same_run_twice_is_refused(base: Path) -> None:
    done = run("gate", base, base)
    assert done.code == 2
    assert "BASE and NEW are the same" in done.err

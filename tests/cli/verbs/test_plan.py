"""`passband plan` names options, not arguments, in what it refuses."""

from pathlib import Path

import pytest

from passband import InvalidInput
from passband.cli.verbs.plan import with_option_names
from support.runs.commands import run
from support.samples.stores import filled


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "--half-width 0.05",
            "give a --pilot, or both --between and --within (only --within for --over trials)",
        ),
        ("--half-width 0.1 --difference 0.1", "give either --half-width or --difference, and not"),
        ("--difference 0.1", "give --between, the variance of the differences, or a --pilot"),
        ("--difference 0 --between 0.1", "--difference must be a number above 0"),
        ("--half-width -1 --between 0.1 --within 0.1", "--half-width must be a number above 0"),
        ("--difference 0.1 --between -1", "--between is a variance and must not be negative"),
        ("--difference 0.1 --between 0.1 --within -1", "--within is a variance"),
        ("--difference 0.1 --between 0", "--between, --within must not all be 0"),
        ("--difference 0.1 --between 0.1 --over trials", "--over does not apply to a difference"),
        ("--difference 0.1 --between 0.1 --problems 9", "--problems does not apply"),
        ("--half-width 0.1 --between 0.1 --within 0.1 --trials 4", "--trials does not apply"),
        ("--half-width 0.1 --between 0.1 --within 0.1 --power 0.9", "--power does not apply"),
        ("--difference 0.1 --between 0.1 --trials 0", "--trials must be at least 1"),
        ("--difference 0.1 --between 0.1 --level 2", "--level must be a number between 0 and 1"),
        ("--difference 0.1 --between 0.1 --power 2", "--power must be a number between 0 and 1"),
        ("", "give --half-width, --difference, or a --pilot to see what it detects"),
    ],
)
def test_refusals_name_options(arguments: str, message: str) -> None:
    done = run("plan", *arguments.split())
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "_" not in done.err


def test_a_run_directory_is_a_pilot(tmp_path: Path) -> None:
    pilot = filled(tmp_path / "run", [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]] * 4)
    done = run("plan", "--half-width", "0.1", "--pilot", pilot)
    assert done.code == 0
    assert "for an interval of ±0.1 at level 0.95" in done.out
    refused = run("plan", "--pilot", pilot, "--trials", "4")
    assert "--trials does not apply to a --pilot alone" in refused.err
    wrong = run("plan", "--pilot", pilot, "--correlation", "7")
    assert "--correlation must be between -1 and 1" in wrong.err
    assert run("plan", "--pilot", pilot, "--out", tmp_path / "p.json").code == 2
    assert "run directory" in run("plan", "--help").out


def test_a_pilot_is_of_one_model(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("model,problem,score\nM,a,1\nN,a,0\nM,b,1\nN,b,0\n")
    done = run("plan", "--half-width", "0.1", "--pilot", path)
    assert (done.code, done.out) == (2, "")
    assert "holds several groups, by model (M, N)" in done.err


def test_other_words_are_left_alone() -> None:
    message = "level must be a number between 0 and 1; got 2 problems"
    with pytest.raises(InvalidInput) as error, with_option_names():
        raise InvalidInput(message)
    assert str(error.value) == f"--{message}"

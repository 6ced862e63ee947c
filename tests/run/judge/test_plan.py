"""Judges in a dry run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.runs.commands import run


@pytest.fixture
def words(tmp_path: Path, task_file: Path) -> list[object]:
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "model: {prompt: 1, completion: 1}\nlarge: {prompt: 1000000, completion: 0}\n"
    )
    return [
        "run", task_file, "--model", "openai:model", "--max-tokens", 8, "--limit", 5, "-n", 2,
        "--out", tmp_path / "run", "--prices", prices, "--dry-run", "--judge", "openai:large",
    ]  # fmt: skip


def test_calls_are_counted_and_priced(words: list[object]) -> None:
    plan = json.loads(run(*words, "--votes", 3, "--json").out)
    (judge,) = plan["judges"]
    assert (judge["calls"], judge["canaries"]) == (30, 9)
    assert plan["cost"] > judge["prompt_tokens"] > 39 * 400
    text = run(*words, "--votes", 3).out
    assert "judge     openai:large (sums, judge): 30 calls and 9 canary calls, about" in text


def test_pairs_are_two_calls(words: list[object], tmp_path: Path) -> None:
    (tmp_path / "pair.yaml").write_text("form: pairwise\n")
    done = run(*words, "--rubric", tmp_path / "pair.yaml", "--canaries", 0, "--json")
    (judge,) = json.loads(done.out)["judges"]
    assert (judge["calls"], judge["canaries"]) == (20, 0)


def test_a_judge_without_a_price_makes_the_cost_unknown(
    words: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some.yaml").write_text("model: {prompt: 1, completion: 1}\n")
    monkeypatch.setenv("PASSBAND_PRICES", str(tmp_path / "some.yaml"))
    place = words.index("--prices")
    done = run(*words[:place], *words[place + 2 :])
    assert "at most 77824 out, of unknown price" in done.out
    assert "cost      unknown: no price file has the judge" in done.out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--votes", 0], "votes of a judge is a whole number from 1 to 99; got 0"),
        (["--rubric", "gone.yaml"], "there is no rubric gone.yaml"),
        (["--against", "gone"], "--against is for a pairwise rubric"),
        (["--canaries", -1], "--canaries must be 0 or more"),
    ],
)
def test_what_is_wrong_shows_before_anything_is_asked(
    words: list[object], more: list[object], message: str
) -> None:
    done = run(*words, *more)
    assert done.code == 2
    assert message in done.err

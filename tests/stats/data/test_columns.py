"""Columns that must not be pooled: split by where known, named where they look like conditions."""

from typing import Any

import pytest

from passband import InvalidInput, Outcomes, PassbandWarning
from passband.stats.data.columns import SPLIT_BY
from passband.stats.data.tables import Table

PROBLEMS = range(10)


def table(name: str, values: list[Any], trials: int = 4) -> dict[str, list[Any]]:
    """Every problem under every value of a column, a few trials each."""
    rows = [(p, v, (p + t) % 2) for p in PROBLEMS for v in values for t in range(trials)]
    return dict(zip(("problem", name, "score"), map(list, zip(*rows, strict=True)), strict=True))


def conditions(columns: dict[str, list[Any]], **roles: Any) -> list[str]:
    return [one.column for one in Table.of(columns).layout(**roles).conditions]


@pytest.mark.parametrize("name", SPLIT_BY)
def test_known_columns_split_and_are_refused_in_one_piece(name: str) -> None:
    columns = table(name, ["x", "y"])
    layout = Table.of(columns).layout()
    assert layout.by == (name,)
    assert [group.key for group in layout.groups()] == [("x",), ("y",)]
    message = rf"column {name} has several values \(x, y\), which must not be pooled.*passband.read"
    with pytest.raises(InvalidInput, match=message):
        Outcomes.from_table(columns)


@pytest.mark.parametrize(
    "values",
    [
        ["early", "late"],
        [0.2, 1.0],
        [100, 200],
        [True, False],
        [{"t": 1}, {"t": 2}],
        list("abcdef"),
    ],
)
def test_a_column_of_another_name_is_named(values: list[Any]) -> None:
    columns = table("phase", values)
    assert conditions(columns) == ["phase"]
    with pytest.warns(PassbandWarning, match="column phase has .* pooled as trials; --by phase"):
        assert Outcomes.from_table(columns).most_trials() == 4 * len(values)
    split = Table.of(columns).layout(by=["phase"])
    assert split.conditions == ()
    assert len(split.groups()) == len(values)


def test_nearly_every_problem_is_enough() -> None:
    columns = table("phase", ["early", "late"])
    for column in columns.values():
        del column[-4:]  # the last problem lacks the late phase
    (found,) = Table.of(columns).layout().conditions
    assert not found.is_complete
    assert "each with nearly every problem" in str(found)


@pytest.mark.parametrize(
    "columns",
    [
        table("rollout_idx", list(range(8)), 1),
        table("number", list(range(1, 9)), 1),
        table("request_seed", [511, 977, 12], 1),
        table("answer", ["A", "B"]),
        table("finish_reason", ["stop", "length"]),
        {"problem": list("aabb"), "subject": list("xxyy"), "score": [1, 0, 1, 0]},
        {"problem": list("aabb"), "phase": ["same"] * 4, "score": [1, 0, 1, 0]},
        {"problem": list("aaaa"), "phase": list("xyxy"), "score": [1, 0, 1, 0]},
        {"problem": list(range(100)) * 2, "text": list(map(str, range(200))), "score": [1] * 200},
    ],
)
def test_what_is_no_condition(columns: dict[str, list[Any]]) -> None:
    assert conditions(columns) == []
    Outcomes.from_table(columns)  # without a warning


def test_another_score_is_no_condition() -> None:
    ok = [(7 * p * p + 3 * t * t + p * t) % 11 % 2 for p in PROBLEMS for t in range(12)]
    columns = table("trial", list(range(12)), 1) | {"format_ok": ok}
    assert conditions(columns) == []


def test_a_condition_within_a_split() -> None:
    columns = table("phase", ["early", "late"])
    columns["model"] = ["M", "N"] * (len(columns["score"]) // 2)
    layout = Table.of(columns).layout()
    assert layout.by == ("model",)
    assert [one.column for one in layout.conditions] == ["phase"]


def test_chosen_columns_are_joined_by_what_would_be_pooled() -> None:
    columns = table("language", ["en", "de"])
    columns["model"] = ["M", "N"] * (len(columns["score"]) // 2)
    assert Table.of(columns).layout(by=["language"]).by == ("language", "model")
    columns["model"] = [{"en": "M", "de": "N"}[language] for language in columns["language"]]
    assert Table.of(columns).layout(by=["language"]).by == ("language",)


def test_repeated_trials_say_which_column_tells_them_apart() -> None:
    columns = table("phase", ["early", "late"], 1) | {"trial": [0] * 20}
    with pytest.raises(InvalidInput, match=r"Column phase tells them apart; in the shell, --by"):
        Outcomes.from_table(columns)

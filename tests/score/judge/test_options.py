"""Options of the judge scorer."""

from __future__ import annotations

from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.score.judge.options import JudgeOptions
from passband.score.pipeline import make_scorer


def test_options_survive_their_plain_values() -> None:
    options = JudgeOptions.of(
        {"model": "m", "votes": 3, "temperature": 0.5, "rubric": {"form": "pairwise"}}
    )
    assert JudgeOptions.of(options.as_json()) == options
    assert options.calls == 6


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"votes": 0}, "from 1 to 99; got 0"),
        ({"votes": True}, "whole number"),
        ({"votes": 1.5}, "whole number"),
        ({"vote": 3}, "Did you mean 'votes'"),
        ({"model": ""}, "model of a judge is a text"),
        ({"aggregate": "best"}, "mean or majority"),
        ({"temperature": -1}, "at least 0"),
        ({"top_p": 2}, "at least 0"),
        ({"max_tokens": 0}, "at least 1"),
        ({"longest": 5}, "at least 100"),
        ({"rubric": {"form": "pairwise", "against": "run"}}, "--against RUN"),
        ({"against": "run"}, "for a pairwise rubric"),
    ],
)
def test_wrong_options(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        JudgeOptions.of(values)


def test_every_option_is_part_of_the_identity() -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"model": "b"},
        {"votes": 2},
        {"aggregate": "majority"},
        {"temperature": 0},
        {"max_tokens": 10},
        {"longest": 1000},
        {"rubric": "{{ answer }}"},
    ]
    scorers = [make_scorer("judge", options={"model": "a", **change}) for change in changes]
    assert len({scorer.identity for scorer in scorers}) == len(changes)


def test_a_judge_is_rebuilt_from_its_spec() -> None:
    scorer = make_scorer("judge", options={"model": "a", "votes": 3, "rubric": "{{ answer }}"})
    spec = scorer.spec
    assert spec is not None
    assert (spec["function"], spec["model"], spec["votes"], spec["form"], spec["bounds"]) == (
        "judge", "a", 3, "pointwise", [0.0, 1.0],
    )  # fmt: skip
    again = make_scorer(spec["name"], spec["function"], spec["options"], spec["steps"])
    assert again.identity == scorer.identity

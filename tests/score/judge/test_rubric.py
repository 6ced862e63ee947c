"""Rubrics as users write them, right and wrong."""

from __future__ import annotations

from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.score.judge.rubric import read_rubric

PLAIN = "Is {{ answer }} right?"


def test_the_default_rubric_compares_with_what_is_right() -> None:
    rubric = read_rubric(None)
    assert rubric.variables == ("question", "targets", "answer")
    assert dict(rubric.scale) == {"PASS": 1.0, "FAIL": 0.0}


def test_a_rubric_survives_its_plain_values() -> None:
    for value in (
        None,
        PLAIN,
        {"form": "pairwise", "against": "run"},
        {"template": PLAIN, "scale": ["poor", "fair", "good"], "system": "Be strict."},
    ):
        rubric = read_rubric(value)
        assert read_rubric(rubric.as_json()) == rubric
        assert read_rubric(rubric.as_json()).digest == rubric.digest


@pytest.mark.parametrize(
    ("scale", "values"),
    [
        ("1-5", {"1": 0.0, "2": 0.25, "3": 0.5, "4": 0.75, "5": 1.0}),
        ("0 to 1", {"0": 0.0, "1": 1.0}),
        (["bad", "good"], {"bad": 0.0, "good": 1.0}),
        ({"no": 0, "partly": 0.4, "yes": 1}, {"no": 0.0, "partly": 0.4, "yes": 1.0}),
    ],
)
def test_scales(scale: Any, values: dict[str, float]) -> None:
    assert dict(read_rubric({"template": PLAIN, "scale": scale}).scale) == values


def test_another_word_or_value_is_another_rubric() -> None:
    digests = {
        read_rubric({"template": template, "scale": scale}).digest
        for template in (PLAIN, f"{PLAIN} ")
        for scale in ("1-5", "0-5", {"a": 0, "b": 1}, {"a": 0, "b": 0.9})
    }
    assert len(digests) == 8


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("Is it right?", "exactly once; got it 0 times"),
        ("{{ answer }} {{answer}}", "got it 2 times"),
        ("{{ answer }} {{ answer_a }}", "does not belong"),
        ("{{ answer }} {% if x %}", "nothing else in such brackets"),
        ("{{ answer | upper }}", "nothing else in such brackets"),
        (3, "a rubric is a text"),
        ({"template": PLAIN, "scales": "1-5"}, "Did you mean 'scale'"),
        ({"template": " "}, "template of a rubric is a text"),
        ({"template": PLAIN, "form": "listwise"}, "pointwise or pairwise"),
        ({"template": PLAIN, "form": "pairwise"}, "answer_a"),
        ({"form": "pairwise", "scale": "1-5"}, "no scale"),
        ({"template": PLAIN, "against": "run"}, "for pairwise"),
        ({"template": PLAIN, "scale": "5-1"}, "2 to 101 words; got 0"),
        ({"template": PLAIN, "scale": ["x"]}, "got 1"),
        ({"template": PLAIN, "scale": [False, True]}, "truth values"),
        ({"template": PLAIN, "scale": {"a": 0, "b": 2}}, "worth 0 to 1"),
        ({"template": PLAIN, "scale": {"a": 1, "b": 1}}, "all worth the same"),
        ({"template": PLAIN, "scale": ["ok", "OK"]}, "differ by more than case"),
        ({"template": PLAIN, "scale": ["a:b", "c"]}, "letters or a number"),
    ],
)
def test_wrong_rubrics(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message.replace("(", r"\(")):
        read_rubric(value)


def test_values_are_put_in_once() -> None:
    rubric = read_rubric("Q {{ question }} A {{ answer }}")
    filled = rubric.fill({"question": "{{ answer }} {x} %s {% raw %}", "answer": r"\1 {{ q }}"})
    assert filled == r"Q {{ answer }} {x} %s {% raw %} A \1 {{ q }}"

"""Filters: lm-eval's steps with lm-eval's results."""

from typing import Any

import pytest

from passband.errors import InvalidInput, UnknownName
from passband.score.extract.rules import Extracted
from passband.score.filtering import (
    CROSS_TRIAL_FILTERS,
    INVALID,
    filters,
    make_step,
    register_filter,
)
from passband.score.scorer import Reference

NOTHING = Reference(())


def run(text: str, reference: Reference = NOTHING, **spec: Any) -> Extracted:
    return make_step(spec).apply(text, reference)


@pytest.mark.parametrize(
    ("text", "options", "answer", "rule"),
    [
        ("#### 1,234", {}, "1,234", "regex"),
        ("nothing", {}, INVALID, "fallback"),
        ("nothing", {"fallback": "A"}, "A", "fallback"),
        ("1 2 3", {"regex_pattern": "[0-9]"}, "1", "regex"),
        ("1 2 3", {"regex_pattern": "[0-9]", "group_select": -1}, "3", "regex"),
        ("1 2 3", {"regex_pattern": "[0-9]", "group_select": 5}, INVALID, "fallback"),
        ("$5.50 and 7", {"regex_pattern": r"(-?[$0-9.,]{2,})|(-?[0-9]+)"}, "$5.50", "regex"),
        ("and 7", {"regex_pattern": r"(-?[$0-9.,]{2,})|(-?[0-9]+)"}, "7", "regex"),
        ("x", {"regex_pattern": "(a?)(b?)"}, INVALID, "fallback"),
        ("is  B  .", {"regex_pattern": r"is(.*)\."}, "B", "regex"),
    ],
)
def test_regex(text: str, options: dict[str, Any], answer: str, rule: str) -> None:
    assert run(text, function="regex", **options) == Extracted(answer, rule)


CITIES = Reference(("(B)",), ("London", "Paris", "Rome"))


@pytest.mark.parametrize(
    ("text", "options", "answer", "rule"),
    [
        ("I say (C).", {}, "(C)", "regex"),
        ("I say Paris.", {}, "(B)", "choice-text"),
        ("I say paris.", {}, INVALID, "fallback"),
        ("I say paris.", {"ignore_case": True}, "(B)", "choice-text"),
        ("P.a.r.i.s", {"ignore_punctuation": True}, "(B)", "choice-text"),
        ("Pa-ris", {"regexes_to_ignore": ["-"]}, "(B)", "choice-text"),
        ("Rome, no, London", {}, "(C)", "choice-text"),
        ("Rome, no, London", {"group_select": -1}, "(A)", "choice-text"),
        ("Answer:  B", {}, "(B)", "choice-letter"),
        ("Answer: D", {}, INVALID, "fallback"),
    ],
)
def test_multi_choice_regex(text: str, options: dict[str, Any], answer: str, rule: str) -> None:
    found = run(
        text, CITIES, function="multi_choice_regex", regex_pattern=r"(\([A-Z]\))", **options
    )
    assert found == Extracted(answer, rule)


def test_small_steps() -> None:
    assert run("\n  a ", function="remove_whitespace").answer == "a "
    assert run("aB", function="lowercase").answer == "ab"
    assert run("aB", function="uppercase").answer == "AB"
    assert run("A", function="map", mapping_dict={"A": 1}).answer == "1"
    assert run("B", function="map", mapping_dict={"A": 1}).answer is None
    assert run("B", function="map", mapping_dict={"A": 1}, default_value=0).answer == "0"


def test_own_steps() -> None:
    assert run("<think>a</think>b", function="strip_reasoning") == Extracted("b", None)
    assert run("<think>a", function="strip_reasoning") == Extracted(None, "reasoning-unclosed")
    assert run(r"\boxed{5}", function="extract") == Extracted("5", "boxed")
    found = run(r"5 or \boxed{6}", function="extract", rules=["last_number"])
    assert found == Extracted("6", "last_number")


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ({"function": "regx"}, "Did you mean 'regex'"),
        ({"function": "regex", "pattern": "a"}, "no option 'pattern'.*regex_pattern"),
        ({"function": "regex", "regex_pattern": "("}, "not a regular expression"),
        ({"function": "regex", "regex_pattern": ["a"]}, "must be a text"),
        ({"function": "regex", "group_select": "first"}, "must be a whole number"),
        ({"function": "multi_choice_regex", "regexes_to_ignore": ["("]}, "not a regular"),
        ({"function": "extract", "rules": ["boxd"]}, "Did you mean 'boxed'"),
        ({"function": "map", "mapping_dict": 3}, "must be a mapping"),
        ({"regex_pattern": "a"}, "needs a function"),
        ("take_first", "all trials"),
    ],
)
def test_wrong_filters_are_refused_at_the_door(spec: Any, match: str) -> None:
    with pytest.raises((InvalidInput, UnknownName), match=match):
        make_step(spec)


def test_filters_across_trials_are_named() -> None:
    assert CROSS_TRIAL_FILTERS == ("take_first", "take_first_k", "majority_vote")


def test_slow_patterns_make_a_slow_step() -> None:
    assert make_step({"function": "regex", "regex_pattern": "(a+)+"}).slow
    assert not make_step({"function": "regex"}).slow


def test_a_registered_filter_is_known_by_its_source() -> None:
    @register_filter("twice")
    def twice() -> Any:
        return lambda text, reference: text * 2

    try:
        step = make_step("twice")
        assert step.apply("a", NOTHING) == Extracted("aa", None)
        assert len(step.identity["source"]) == 16
    finally:
        filters.remove("twice")

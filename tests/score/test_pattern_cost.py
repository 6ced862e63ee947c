"""The bound on how long a pattern may take: worked by hand, and what it must not miss."""

import math
import re

import pytest

from passband.score import pattern_cost as costs
from passband.score.pattern_cost import PatternCost, _matched_letters
from passband.score.patterns import NeedsWorker, compile_pattern, quickly


def once(source: str, length: int) -> float:
    """Return the time from one place of a text."""
    cost = PatternCost.of(source)
    return cost._once(costs._Text(length, length)) - costs._STEP


def test_a_sequence_by_hand() -> None:
    step, retry, character = costs._STEP, costs._RETRY, costs._CHARACTER
    assert once("[ab]", 10) == step + 2 * costs._MEMBER
    # ".*" over 10 characters: 12 counts from 0 to 11, each of them a way; then "x", given up or not
    ways = 12
    assert once(".*x", 10) == step + ways * (character + retry) + ways * 2 * step
    # at the end it takes what it gets, and gives nothing back
    assert once(".*", 10) == step + 2 * character
    assert once("a|b", 10) == once("[ab]", 10)  # as the parser reads it


@pytest.mark.parametrize("source", [r"(a)\1", r"(a)?(?(1)b|c)", r"x*(y)z\1"])
def test_back_references_have_no_bound(source: str) -> None:
    assert PatternCost.of(source).anywhere(1) == float("inf")


@pytest.mark.parametrize("source", ["a*b", "(?:ab)*c", "(?=.*x)y", "(?s).*x", r"\w+\s"])
def test_one_open_repetition_is_quadratic(source: str) -> None:
    cost = PatternCost.of(source)
    assert 3.5 < cost.anywhere(20_000) / cost.anywhere(10_000) < 4.5


@pytest.mark.parametrize("source", ["a*a*b", "a*(?:b|c)d*e", "(?=a*b)c*d*e"])
def test_two_open_repetitions_are_worse(source: str) -> None:
    cost = PatternCost.of(source)
    assert cost.anywhere(2000) / cost.anywhere(1000) > 7


@pytest.mark.parametrize("source", ["a{500}b", "[ab]" * 500 + "c", "a" * 500 + "[xy]"])
def test_long_fixed_parts_count(source: str) -> None:
    assert once(source, 10_000) > 500 * costs._CHARACTER


@pytest.mark.parametrize(
    ("source", "beginnings"),
    [
        ("answer is (.*)x", ["answer is "]),
        ("(?<=is )(.*)x", ["is "]),
        ("[Aa]nswer(.*)x", ["nswer"]),
        ("(?:abc|xyz)(.*)x", ["abc", "xyz"]),
        ("(?:abc|.*)x", []),
        (".*abc", []),
        ("(?=.*x)abc", []),
        ("[ab][ab][ab]abc", []),
        (r"\babc.*d", ["abc"]),
    ],
)
def test_where_matches_begin(source: str, beginnings: list[str]) -> None:
    expected = [re.escape(text) for text in beginnings]
    assert [known.pattern for known in PatternCost.of(source).beginnings] == expected


def test_text_that_repeats_itself_matches_at_more_places() -> None:
    assert _matched_letters("answer") == (2.0, 6)
    assert _matched_letters("####") == (5.0, 1)
    assert _matched_letters("#### ") == (5.0, 5)
    assert _matched_letters("abab") == (3.0, 2)
    assert PatternCost.of("aa(.*)b").overlaps == 2
    assert PatternCost.of("ab(.*)b").overlaps == 1


def test_a_dot_ends_with_the_line() -> None:
    text = "short line\n" * 500
    within, everywhere = (PatternCost.of(s).within(text) for s in (".*x", "(?s).*x"))
    assert within < everywhere / 100
    assert PatternCost.of("(?:a|(?s:.))*x").dots_end_with_the_line is False


@pytest.mark.parametrize(
    "source",
    [
        r"(?:\S+\s+)*answer is (-?\d+)\.",
        r"(?:(?:\S+\s*)+)+answer",
        r"(?:(?:a*)*b)*c(?:d*)*",
        r"(?:a|(?:b*)*)*ab{0,20000}",
    ],
)
def test_a_bound_beyond_all_numbers_is_still_a_bound(source: str) -> None:
    text = "I do think that " * 200
    assert PatternCost.of(source).within(text) == math.inf
    with pytest.raises(NeedsWorker):
        quickly(compile_pattern(source).findall, text)

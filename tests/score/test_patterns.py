"""Regular expressions: the bound on backtracking, and that runaways are stopped."""

import re

import pytest

from passband.errors import InvalidInput
from passband.score import patterns
from passband.score.patterns import compile_pattern
from passband.score.workers.pool import WorkerTimeout


@pytest.mark.parametrize(
    "source",
    [
        r"#### (\-?[0-9\.\,]+)",
        r"(-?[$0-9.,]{2,})|(-?[0-9]+)",
        r"answer is \(?([A-J])\)?",
        "",
        "a",
        r"(?<=the answer is )(.*)(?=.)",
        r"(?s).*#### ",
        r"\d{1,3}(?:,\d{3})*",
        r"(?i)yes|no",
    ],
)
def test_ordinary_patterns_need_no_worker(source: str) -> None:
    assert not compile_pattern(source).slow


@pytest.mark.parametrize(
    "source",
    [
        r"(a+)+$",
        r"(a|a)*b",
        r"(a?){30}b",
        r"(.*)*x",
        r"((a|b)*)*c",
        r"(a|aa)+$",
        r"(?:(?:a*)b?)*c",
        r"\\boxed\{((?:[^{}]+|\{[^{}]*\})*)\}",
    ],
)
def test_runaways_are_known_as_such(source: str) -> None:
    assert compile_pattern(source).inline_up_to < 30


def test_more_repetitions_allow_shorter_texts() -> None:
    lengths = [compile_pattern("a*" * n + "b").inline_up_to for n in (1, 2, 3, 4)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[1] ** 3 <= patterns._MOST_WAYS


def test_the_worker_gives_the_same_results() -> None:
    source, text = r"(a+)+(b)?", "xx aab y aaa " * 5
    pattern = compile_pattern(source)
    assert len(text) > pattern.inline_up_to
    assert [tuple(found) for found in pattern.findall(text)] == re.findall(source, text)
    assert pattern.remove(text) == re.sub(source, "", text)
    assert pattern.search(text)
    assert not pattern.search("x" * 50)


def test_a_runaway_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = compile_pattern(r"(a+)+$")
    with monkeypatch.context() as impatient:
        impatient.setattr(patterns, "REGEX_SECONDS", 0.2)
        with pytest.raises(WorkerTimeout):
            pattern.findall("a" * 40 + "b")
    assert pattern.search("b" * 40 + "a")  # and the next call works


def test_what_is_no_pattern_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not a regular expression"):
        compile_pattern("(a")


def test_a_repeat_longer_than_the_text_hides_nothing() -> None:
    assert compile_pattern(r"(?:(?:xa|yb){50}|a+)*$").inline_up_to < 20

"""Regular expressions: where they run, and that runaways are stopped."""

import re

import pytest

from passband.errors import InvalidInput
from passband.score import patterns
from passband.score.patterns import NeedsWorker, compile_pattern, quickly
from passband.score.workers.worker_pool import WorkerTimeout, pool


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
        r"answer is (.*?)\.",
        r"(?i)the answer is:? *\(?([A-J])\)?",
        r"((?<=The answer is )(.*)(?=.)|(?<=answer is )(.*)(?=.))",
        r"[Aa]nswer:? *(.+)",
        r"\\boxed\{(.*)\}",
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
        r"(a*)\1b",
        r"(.+?)\1\1\1x",
        r"(?P<q>a)?b(?(q)c|d)",
        r"x|(y)\1",
        r"(?=(a+))\1*b",
    ],
)
def test_runaways_are_known_as_such(source: str) -> None:
    assert compile_pattern(source).inline_up_to < 30


def test_more_repetitions_allow_shorter_texts() -> None:
    lengths = [compile_pattern("a*" * n + "b").inline_up_to for n in (1, 2, 3, 4)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[1] ** 3 <= patterns.MOST_NANOSECONDS


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


def test_back_references_never_run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    monkeypatch.setattr(pool, "call", lambda name, *_, **__: called.append(name) or [])
    for source in (r"(a)\1", r"(?P<n>a)(?P=n)", r"(a)?(?(1)b|c)"):
        pattern = compile_pattern(source)
        assert pattern.inline_up_to == 0
        assert pattern.slow
        pattern.findall("a")
    assert called == ["findall"] * 3


def test_an_ordinary_long_text_is_searched_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "call", None)
    text = "So we add the two numbers and get seven. " * 1000 + "The answer is 7."
    for source in (r"answer is (.*?)\.", r"(?i)ANSWER IS (.*?)\.", r"#### (-?[0-9.,]+)"):
        pattern = compile_pattern(source)
        assert pattern.findall(text) == re.findall(source, text)
    lines = "one line of many\n" * 200 + "#### 7"
    assert compile_pattern(".*#### (.*)").findall(lines) == ["7"]


def test_a_text_made_to_be_hard_goes_to_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    monkeypatch.setattr(pool, "call", lambda name, *_, **__: called.append(name) or [])
    for source, text in (
        (r"answer is (.*?)\.", "answer is " * 1000),
        (r"(?i)answer is (.*?)\.", "An\u017fwer I\u017f " * 1000),  # a long s is an s, too
        (r"(?s).*#### ", "a" * 5000),
        (r"a{2000}b", "a" * 20_000),
        (r"[ab]" * 300 + "c", "a" * 20_000),
        (r"aaaa(.*?)x", "a" * 5000),
    ):
        compile_pattern(source).findall(text)
    assert called == ["findall"] * 6


def test_quickly_refuses_what_takes_longer_than_a_moment() -> None:
    hard, easy = compile_pattern(r"a*a*b"), compile_pattern(r"a+")
    assert quickly(easy.findall, "aa b a") == ["aa", "a"]
    assert quickly(easy.findall, "a" * 50) == ["a" * 50]
    with pytest.raises(NeedsWorker):
        quickly(hard.findall, "a" * 5000)
    assert easy.findall("a" * 50)  # outside of it nothing is refused


def test_quickly_adds_up() -> None:
    pattern = compile_pattern(r"a*b")
    text = "a" * (pattern.inline_up_to // 2)
    assert quickly(lambda: [pattern.search(text) for _ in range(3)]) == [False] * 3
    with pytest.raises(NeedsWorker):
        quickly(lambda: [pattern.search(text) for _ in range(9)])


def test_quickly_compiles_nothing() -> None:
    with pytest.raises(NeedsWorker):
        quickly(compile_pattern, "(?i)never [a-z]een")
    compile_pattern("never seen before")
    assert quickly(compile_pattern, "never seen before").source == "never seen before"


def test_patterns_that_are_kept_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_KNOWN", 3)
    monkeypatch.setattr(patterns, "_known", {})
    for letter in "abcdef":
        compile_pattern(letter)
    assert list(patterns._known) == ["d", "e", "f"]

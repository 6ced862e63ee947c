"""Scorers: statuses, several targets, identities, and whether answers are the same."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import passband
from passband.errors import InvalidInput, UnknownName
from passband.score import patterns
from passband.score.pipeline import make_scorer
from passband.score.registry import Extra, register_scorer, scorers
from passband.score.scorer import Reference, Score, Scorer

ONE = Reference(("1",))


@pytest.fixture
def returns() -> Iterator[Any]:
    """Make a scorer of a function for the length of a test."""
    names: list[str] = []

    def make(function: Any, **options: Any) -> Scorer:
        register_scorer("tried", **options)(function)
        names.append("tried")
        return make_scorer("tried")

    yield make
    for name in names:
        scorers.remove(name)


def test_steps_run_in_order_and_the_last_rule_is_kept() -> None:
    steps: list[Any] = ["strip_reasoning", {"function": "extract"}, "uppercase"]
    scorer = make_scorer("exact_match,strict", "exact_match", steps=steps)
    assert scorer.name == "exact_match,strict"
    score = scorer.score(r"<think>x</think>\boxed{paris}", Reference(("Rome", "PARIS")))
    assert score == Score(1.0, "ok", "PARIS", "boxed")


@pytest.mark.parametrize("text", [None, "", " \n", "no idea", "<think>1", r"\boxed{1"])
def test_no_answer_counts_as_incorrect(text: str | None) -> None:
    score = make_scorer("exact_match", steps=["extract"]).score(text, ONE)
    assert (score.value, score.status, score.answer) == (0.0, "no_answer", None)


def test_the_fallback_of_lm_eval_is_no_answer() -> None:
    scorer = make_scorer("exact_match", steps=["regex", "uppercase"])
    assert scorer.score("none", ONE) == Score(0.0, "no_answer", None, "fallback")


def test_no_answer_has_the_worst_score() -> None:
    assert make_scorer("ter").score(" ", ONE) == Score(100.0, "no_answer")


def test_nothing_may_be_the_right_answer() -> None:
    assert make_scorer("exact_match").score("", Reference(("",))).value == 1.0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None, "1", 1j, [1.0]])
def test_what_is_no_number_is_an_error(returns: Any, bad: Any) -> None:
    score = returns(lambda answer, target: bad).score("1", ONE)
    assert (score.value, score.status, score.answer) == (None, "error", "1")


@pytest.mark.parametrize("good", [True, 1, 1.0, np.float32(1), np.int64(1), np.bool_(True)])
def test_numbers_of_any_kind_are_scores(returns: Any, good: Any) -> None:
    score = returns(lambda answer, target: good).score("1", ONE)
    assert (score.value, type(score.value)) == (1.0, float)


def test_an_exception_is_an_error_and_never_a_zero(returns: Any) -> None:
    def broken(answer: str, target: str) -> float:
        raise KeyError("x" * 1000)

    score = returns(broken).score("1", ONE)
    assert (score.value, score.status) == (None, "error")
    assert score.detail is not None
    assert score.detail.startswith("KeyError: 'xxx")
    assert len(score.detail) == 200


def test_an_exception_that_cannot_be_told(returns: Any) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def broken(answer: str, target: str) -> float:
        raise Mute

    assert returns(broken).score("1", ONE).detail == "Mute: ?"


def test_the_best_of_several_targets_counts() -> None:
    scorer = make_scorer("f1")
    assert scorer.score("red car", Reference(("blue", "red car here"))).value == pytest.approx(0.8)
    assert make_scorer("exact_match").score("b", Reference(("a", "b"))).value == 1.0


def test_an_error_at_one_target_counts_unless_another_matches() -> None:
    scorer = make_scorer("numeric")
    assert scorer.score("5", Reference(("five", "5"))).value == 1.0
    assert scorer.score("6", Reference(("five", "5"))).status == "error"


def test_lower_may_be_better(returns: Any) -> None:
    def distance(answer: str, target: str) -> float:
        return abs(int(answer) - int(target))

    scorer = returns(distance, best=0.0, worst=10.0)
    assert scorer.score("4", Reference(("1", "3"))).value == 1.0
    assert scorer.score(None, Reference(("1", "3"))).value == 10.0
    assert scorer.same("4", "04")
    assert not scorer.same("4", "5")


def test_a_function_may_take_the_whole_reference(returns: Any) -> None:
    def by_doc(answer: str, *, reference: Reference) -> bool:
        return bool(answer == reference.doc["key"])

    scorer = returns(by_doc)
    assert scorer.score("k", Reference((), doc={"key": "k"})).value == 1.0
    assert scorer.score("k", Reference(())).status == "error"


def test_a_problem_without_targets_is_an_error() -> None:
    assert make_scorer("exact_match").score("1", Reference(())).status == "error"


def test_a_runaway_pattern_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "REGEX_SECONDS", 0.2)
    steps: list[Any] = [{"function": "regex", "regex_pattern": "(a+)+$"}]
    scorer = make_scorer("exact_match", steps=steps)
    assert scorer.slow
    score = scorer.score("a" * 40 + "b", ONE)
    assert (score.value, score.status, score.answer) == (None, "timeout", None)
    ignoring = make_scorer("exact_match", options={"regexes_to_ignore": ["(a+)+$"]})
    assert ignoring.slow
    assert ignoring.score("a" * 40 + "b", ONE).status == "timeout"
    ignoring.close()


def test_same() -> None:
    scorer = make_scorer("exact_match", options={"ignore_case": True})
    assert scorer.same("a", "A")
    assert not scorer.same("a", "b")
    assert make_scorer("numeric").same("1/2", "0.5")
    assert not make_scorer("numeric").same("half", "0.5")
    assert make_scorer("choice").same("(B)", "B.")
    assert not make_scorer("contains").same("12", "1")
    assert not make_scorer("regex").same("1.", "12")
    assert not make_scorer("bleu").same("the cat sat here", "the cat sat there")


def test_identity_says_what_scores_depend_on() -> None:
    def identity(**options: Any) -> str:
        return make_scorer("exact_match", options=options, steps=["extract"]).identity

    assert json.loads(identity(ignore_case=True)) == {
        "passband": 2,
        "function": "exact_match",
        "options": {"ignore_case": True},
        "steps": [{"function": "extract", "options": {}}],
    }
    assert identity(ignore_case=True, ignore_numbers=True) == identity(
        ignore_numbers=True, ignore_case=True
    )
    assert identity() != identity(ignore_case=True)
    assert "sacrebleu " in make_scorer("bleu").identity
    renamed = make_scorer("a name", "exact_match", steps=["extract"])
    assert renamed.identity == identity()


def test_identity_of_a_users_function_has_its_source(returns: Any) -> None:
    assert len(json.loads(returns(lambda answer, target: 1.0).identity)["source"]) == 16


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("exact_mach",), "Did you mean 'exact_match'"),
        (("exact_match", None, {"ignore_cas": True}), "Did you mean 'ignore_case'"),
        (("exact_match", None, {"regexes_to_ignore": ["("]}), "not a regular expression"),
        (("exact_match", None, {"regexes_to_ignore": "a"}), "must be a list"),
        (("regex", None, {"pattern": "("}), "not a regular expression"),
        (("numeric", None, {"relative": -1}), "at least 0"),
        (("numeric", None, {"relative": "x"}), "at least 0"),
        (("math", None, {"timeout": 0}), "above 0"),
        (("contains", None, {"target": "x"}), "no option 'target'"),
        (("exact_match", None, {"ignore_case": object()}), "plain values"),
    ],
)
def test_wrong_scorers_are_refused_at_the_door(arguments: Any, match: str) -> None:
    with pytest.raises((InvalidInput, UnknownName), match=match):
        make_scorer(*arguments)


@pytest.mark.parametrize(("name", "extra"), [("math", "math"), ("bleu", "translation")])
def test_a_missing_package_is_named(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda module: None)
    with pytest.raises(InvalidInput, match=rf"pip install 'passband\[{extra}\]'"):
        make_scorer(name)


def test_an_extra_knows_its_version() -> None:
    assert Extra("numpy", "numpy", "none").version == np.__version__


def test_a_name_is_taken_once() -> None:
    with pytest.raises(InvalidInput, match="already registered"):
        register_scorer("math")(lambda answer, target: 1.0)


@given(st.one_of(st.none(), st.text()))
def test_scoring_never_raises(text: str | None) -> None:
    reference = Reference(("12", "a\ud800"), ("12", "a", "b"))
    for name in ("exact_match", "numeric", "choice", "contains", "f1", "regex"):
        for steps in ((), ("extract",), ("multi_choice_regex",)):
            score = make_scorer(name, steps=steps).score(text, reference)
            assert (score.value is None) == (score.status in ("error", "timeout"))


def test_importing_is_light() -> None:
    code = (
        "import sys, passband.score.pipeline, passband.score.repeats, passband.score.translation;"
        "print(*{'numpy', 'sympy', 'sacrebleu', 'math_verify'} & set(sys.modules))"
    )
    source = str(Path(passband.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "", done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("steps", [["extract"], ["extract", "lowercase"], [], ["lowercase"]])
@pytest.mark.parametrize("options", [{}, {"ignore_case": True}])
def test_many_are_scored_as_each_is(steps: list[str], options: dict[str, bool]) -> None:
    scorer = make_scorer("exact_match", options=options, steps=steps)
    texts = [
        None,
        "",
        " ",
        "4",
        "[invalid]",
        "The answer is 4.",
        r"\boxed{5}",
        r"\boxed{",
        "Answer: A",
    ]
    targets: list[tuple[str, ...]] = [(), ("4",), ("a",), ("4", "5"), (" ",)]
    pairs = [(text, Reference(target)) for text in texts for target in targets]
    assert scorer.score_all(pairs) == [scorer.score(*pair) for pair in pairs]

"""Assertions on success rates: verdicts, messages, what is refused before anything is tried."""

import random
from typing import Any

import numpy as np
import pytest

from passband.errors import InvalidInput
from passband.pytest import assert_no_worse, assert_pass_rate
from passband.pytest.plugin import Session
from passband.pytest.result import RateResult


@pytest.fixture(autouse=True)
def _own_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep these results out of the table of the session that runs the tests."""
    session = Session()
    monkeypatch.setattr("passband.pytest.check.session", session)
    monkeypatch.setattr("passband.pytest.measure.session", session)


def coin(rate: float) -> Any:
    return lambda seed: random.Random(seed).random() < rate


def test_a_good_function_passes_early() -> None:
    result = assert_pass_rate(lambda: True, at_least=0.9)
    assert (result.verdict, result.trials, result.most) == ("pass", 47, 100)
    assert result.low > 0.9


def test_a_bad_function_fails_with_rate_interval_and_examples() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_pass_rate(coin(0.4), at_least=0.9, name="answers")
    first, head, *examples = str(caught.value).splitlines()
    assert first.startswith("answers is below 0.9: 0.")
    assert "at level 0.95 after " in first
    assert head == "failed trials:"
    assert len(examples) == 3
    assert "returned False" in examples[0]


@pytest.mark.parametrize(
    ("undecided", "raised"),
    [(None, pytest.skip.Exception), ("xfail", pytest.xfail.Exception), ("fail", AssertionError)],
)
def test_undecided_ends_as_asked(undecided: Any, raised: Any) -> None:
    with pytest.raises(raised, match=r"whether the pass rate is at least 0\.5"):
        assert_pass_rate([True, False] * 20, at_least=0.5, undecided=undecided)
    result = assert_pass_rate([True, False] * 20, at_least=0.5, undecided="pass")
    assert result.verdict == "undecided"
    assert result.more_trials is None


def test_undecided_says_about_how_many_more() -> None:
    result = assert_pass_rate([True] * 19 + [False], at_least=0.8, undecided="pass")
    assert result.more_trials == 16
    assert "About 16 more trials would decide it, if it stays at 0.95." in result.message()


def test_cases_are_measured_by_rounds() -> None:
    seen: list[str] = []
    result = assert_pass_rate(seen.append, at_least=0.8, cases=["a", "b", "c"])
    assert result.verdict == "pass"
    assert seen[:6] == ["a", "b", "c"] * 2
    assert result.trials == len(seen)
    with pytest.raises(AssertionError, match="case 'hard'"):
        assert_pass_rate(lambda case: case == "easy", 0.9, cases=["easy", "hard"])


def test_two_functions_are_tried_in_turn() -> None:
    result = assert_no_worse(coin(0.95), coin(0.95), tolerance=0.2)
    assert result.verdict == "pass"
    assert result.value == 0.0  # the same seeds
    with pytest.raises(AssertionError, match="the difference is below 0"):
        assert_no_worse(coin(0.3), coin(0.95), tolerance=0.2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"at_least": 0.99}, "takes 368 successes in a row"),
        ({"at_least": 0.9, "cases": [1, 2], "trials": 3}, "takes 36 rounds of 2 cases"),
        ({"at_least": 0.9, "cases": []}, "at least one case"),
        ({"at_least": 0.9, "errors": "fial"}, "Did you mean 'fail'"),
        ({"at_least": 0.9, "undecided": "skp"}, "Did you mean 'skip'"),
    ],
)
def test_nothing_is_tried_in_vain(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        assert_pass_rate(lambda: pytest.exit("tried"), **arguments)


def test_results_that_are_there_are_looked_at_once() -> None:
    with pytest.raises(InvalidInput, match="True, False, 1 or 0; got 'yes'"):
        assert_pass_rate(["yes"], at_least=0.5)
    with pytest.raises(InvalidInput, match="have neither"):
        assert_pass_rate([1], at_least=0.5, trials=5)
    with pytest.raises(InvalidInput, match="at least one result"):
        assert_pass_rate([], at_least=0.9)


def test_a_result_travels_as_text() -> None:
    result = assert_pass_rate(coin(0.99), at_least=0.8)
    assert RateResult.from_property(result.as_property()[1]) == result


def test_results_that_are_copies_of_each_other_allow_no_verdict() -> None:
    rng = np.random.default_rng(4)
    drawn = (rng.random(100) < 0.8).tolist()
    alone = assert_pass_rate(drawn, at_least=0.5)
    assert (alone.verdict, alone.refused) == ("pass", "")
    copied = [one for one in drawn for _ in range(2)]
    result = assert_pass_rate(copied, at_least=0.5, undecided="pass")
    assert result.verdict == "undecided"
    assert "No verdict: scores of successive trials agree in" in result.message()
    with pytest.raises(AssertionError, match="as if answers were copied or cached"):
        assert_pass_rate(copied, at_least=0.5, undecided="fail")

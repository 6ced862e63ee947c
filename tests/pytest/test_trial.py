"""One trial: the arguments that a function asks for, what it returns, and its errors."""

import asyncio
from typing import Any

import pytest

from passband.errors import WrongType
from passband.pytest.trial import Caller, Trial, seed_of

TRIAL = Trial(3, 7, "two")


def score(function: Any, *, graded: bool = False, errors: Any = "raise", case: bool = False) -> Any:
    with Caller(function, errors=errors, graded=graded) as caller:
        return caller.outcome(TRIAL, has_case=case)


def test_a_function_gets_what_it_names() -> None:
    assert score(lambda: True).score == 1.0
    assert score(lambda seed: seed == 7).score == 1.0
    assert score(lambda trial: trial.number == 3).score == 1.0
    assert score(lambda text, seed: (text, seed) == ("two", 7), case=True).score == 1.0
    assert score(lambda case: case == "two", case=True).score == 1.0
    assert score(lambda *anything: anything == ("two",), case=True).score == 1.0


def test_a_coroutine_is_awaited() -> None:
    async def answer(seed: int) -> bool:
        return seed == 8

    assert score(answer) == (0.0, "returned False")


def test_a_coroutine_inside_a_running_loop_is_refused() -> None:
    async def answer() -> bool:
        return True

    async def outer() -> Any:
        return score(answer)

    with pytest.raises(WrongType, match="while an event loop is running"):
        asyncio.run(outer())


def test_a_skip_or_an_xfail_ends_the_test() -> None:
    for end in (pytest.skip, pytest.xfail):
        with pytest.raises(end.Exception):
            score(lambda end=end: end("no network"), errors="fail")


def test_an_assertion_or_a_failure_is_a_failed_trial() -> None:
    def wrong() -> None:
        raise AssertionError("4 is not 5")

    assert score(wrong) == (0.0, "AssertionError: 4 is not 5")
    assert score(lambda: pytest.fail("no")).score == 0.0
    assert score(lambda: None).score == 1.0


def test_another_error_ends_the_test_unless_it_counts() -> None:
    def broken() -> None:
        raise OSError("no server")

    assert score(broken, errors="fail") == (0.0, "OSError: no server")
    with pytest.raises(OSError, match="no server") as caught:
        score(broken)
    assert "in trial 3 (seed 7)" in getattr(caught.value, "__notes__", ["in trial 3 (seed 7)"])[0]


@pytest.mark.parametrize("value", ["yes", "", 0.5, 2, [1], float("nan")])
def test_what_is_no_outcome_is_refused(value: object) -> None:
    with pytest.raises(WrongType, match="a trial must return True, False"):
        score(lambda: value)


def test_scores_between_0_and_1_count_where_means_are_measured() -> None:
    assert score(lambda: 0.25, graded=True).score == 0.25
    with pytest.raises(WrongType, match="a number from 0 to 1"):
        score(lambda: 1.25, graded=True)


def test_seeds_differ_by_test_session_and_trial() -> None:
    seeds = [seed_of("a", 0, 0), seed_of("b", 0, 0), seed_of("a", 1, 0), seed_of("a", 0, 1)]
    assert len(set(seeds)) == 4
    assert all(0 <= seed < 2**31 for seed in seeds)

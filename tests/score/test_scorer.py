"""Scorers as values and as protocol: spec, bounds, the whole trial, async functions."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.score import pipeline
from passband.score.pipeline import make_scorer
from passband.score.registry import register_scorer, scorers
from passband.score.scorer import Reference, Score, ScoredTrial, Scorer

Register = Callable[..., Callable[[Any], Any]]


@pytest.fixture
def register() -> Iterator[Register]:
    """Register functions for the length of a test."""
    entries = scorers.snapshot()
    yield register_scorer
    scorers.restore(entries)


# -- spec ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "bounds"),
    [
        ({"name": "exact_match"}, [0.0, 1.0]),
        ({"name": "mine", "function": "numeric", "options": {"absolute": 0.5}}, [0.0, 1.0]),
        ({"name": "exact_match", "steps": ["extract", {"function": "lowercase"}]}, [0.0, 1.0]),
        ({"name": "regex", "options": {"pattern": "(a+)+$"}}, [0.0, 1.0]),
        ({"name": "bleu"}, [0.0, 100.0]),
        ({"name": "ter"}, [0.0, None]),
    ],
)
def test_a_spec_makes_the_same_scorer_again(
    arguments: dict[str, Any], bounds: list[float | None]
) -> None:
    scorer = make_scorer(**arguments)
    spec = json.loads(json.dumps(scorer.spec))
    assert spec["bounds"] == bounds
    again = make_scorer(**spec)
    assert (again.name, again.identity, again.slow) == (scorer.name, scorer.identity, scorer.slow)
    assert again.spec == scorer.spec


def test_every_registered_scorer_has_a_spec_with_bounds() -> None:
    needed = {"command": {"command": ["true"]}}
    for name in scorers:
        low, high = make_scorer(name, options=needed.get(name)).spec["bounds"]
        function = scorers.get(name)
        assert low <= min(function.best, function.worst)
        assert high is None or max(function.best, function.worst) <= high


def test_the_filters_of_an_identity():
    identity = make_scorer("exact_match", steps=["extract", "lowercase"]).identity
    assert pipeline.filters_in(identity) == ["extract", "lowercase"]
    assert pipeline.filters_in(f"{identity}\ntruncated: score") == ["extract", "lowercase"]
    for other in ("reader:other match", "", "[]", "{}", "3"):
        assert pipeline.filters_in(other) == []


def test_a_scorer_without_bounds(register: Register) -> None:
    register("unbounded")(lambda answer, target: len(answer) * 100)
    assert "bounds" not in make_scorer("unbounded").spec
    assert make_scorer("unbounded").score("abc", Reference(("x",))).value == 300


# -- bounds --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "status"),
    [(0, "ok"), (1, "ok"), (1.0 + 1e-12, "ok"), (-1e-12, "ok"), (1.01, "error"), (-0.5, "error")],
)
def test_a_score_beyond_its_bounds_is_an_error(
    register: Register, value: float, status: str
) -> None:
    register("bounded", bounds=(0, 1))(lambda answer, target: value)
    score = make_scorer("bounded").score("a", Reference(("a",)))
    assert score.status == status
    if status == "error":
        assert "outside 0 to 1" in score.detail


def test_bounds_must_hold_best_and_worst() -> None:
    with pytest.raises(InvalidInput, match=r"'wide': best 5 and worst 0 must be within the bound"):
        register_scorer("wide", best=5, bounds=(0, 1))
    with pytest.raises(InvalidInput, match="-inf to 1"):
        register_scorer("wide", best=5, bounds=(None, 1))


# -- the whole trial, and async functions ---------------------------------------------------


TRIAL = ScoredTrial("42", "I think", [{"role": "tool"}], "ok", 3, 9)


def test_a_function_may_see_the_trial(register: Register) -> None:
    seen = []

    @register("of_trial")
    def of_trial(answer, target, trial, *, most=5):
        seen.append(trial)
        return answer == target and trial.completion_tokens <= most

    scorer = make_scorer("of_trial", options={"most": 9})
    assert scorer.takes_trial
    assert not scorer.is_async
    assert scorer.score("42", Reference(("41", "42")), TRIAL).value == 1
    assert seen == [TRIAL, TRIAL]
    assert make_scorer("of_trial").score("42", Reference(("42",)), TRIAL).value == 0
    assert not scorer.same("42", "42.0")
    seen.clear()
    make_scorer("of_trial", options={"most": 9}).score("42", Reference(("42",)))
    assert seen == [ScoredTrial("42")]  # no more is known than the text


def test_a_function_of_answer_and_trial_alone_is_called_once(register: Register) -> None:
    register("thought")(lambda answer, trial: len(trial.reasoning) > 3)
    assert make_scorer("thought").score("42", Reference(("a", "b")), TRIAL).value == 1


@pytest.mark.parametrize("option", ["trial", "reference", "target"])
def test_what_passband_passes_is_no_option(register: Register, option: str) -> None:
    register("full")(lambda answer, target, trial: True)
    with pytest.raises(InvalidInput, match=f"'full' has no option '{option}'. Known: none"):
        make_scorer("full", options={option: 1})


def test_a_function_of_nothing_but_the_answer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must take an answer and a target, a reference or a"):
        register_scorer("lonely")(lambda answer: True)
    assert scorers.registered("lonely") is None


@pytest.fixture
def judge(register: Register) -> Scorer:
    @register("awaited")
    async def judge(answer, target, trial, *, strict=False):
        await asyncio.sleep(0)
        if answer == "boom":
            raise RuntimeError("no")
        return answer == target or (not strict and trial.reasoning is not None)

    return make_scorer("awaited", options={"strict": True}, steps=["lowercase"])


def test_an_async_function(judge: Scorer) -> None:
    assert judge.is_async
    assert judge.slow
    assert judge.score("YES", Reference(("no", "yes"))) == Score(1.0, "ok", "yes")
    assert judge.score("boom", Reference(("x",))).detail == "RuntimeError: no"
    assert judge.score("  ", Reference(("x",))).status == "no_answer"
    assert judge.same("a", "a")
    assert not judge.same("a", "b")
    lax = make_scorer("awaited")
    assert asyncio.run(lax.score_async("a", Reference(("b",)), TRIAL)).value == 1
    assert make_scorer(**json.loads(json.dumps(judge.spec))).identity == judge.identity


def test_many_async_scores_are_under_way_at_once(register: Register) -> None:
    waiting = []

    @register("patient")
    async def patient(answer, target):
        gate = asyncio.get_running_loop().create_future()
        waiting.append(gate)
        if len(waiting) == 3:
            for other in waiting:
                other.set_result(None)
        await gate
        return True

    async def three():
        scorer, reference = make_scorer("patient"), Reference(("a",))
        return await asyncio.gather(*(scorer.score_async("a", reference) for _ in range(3)))

    assert [score.value for score in asyncio.run(three())] == [1, 1, 1]


def test_an_async_function_within_a_running_loop(judge: Scorer) -> None:
    async def notebook():
        return judge.score("yes", Reference(("yes",)))

    assert asyncio.run(notebook()).value == 1


def test_an_async_function_that_never_ends_is_a_timeout(
    register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    @register("endless")
    async def endless(answer, target):
        await asyncio.Event().wait()

    monkeypatch.setattr(pipeline, "ASYNC_SECONDS", 0.01)
    score = make_scorer("endless").score("a", Reference(("a",)))
    assert (score.value, score.status, score.detail) == (None, "timeout", "took longer than 0.01 s")


def test_any_scorer_may_be_awaited() -> None:
    score = asyncio.run(make_scorer("exact_match").score_async("a", Reference(("a",))))
    assert score.value == 1

"""The judge scorer at a bench that is a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from passband.score.judge.call import CallFailed, JudgeCall, JudgedProblem, RecordedReply, Reply
from passband.score.judge.scorer import JudgeScorer, make_judge
from passband.score.scorer import NotScoredYet, Reference, Score, ScoredTrial

REFERENCE = Reference(("42",))


@dataclass
class Desk:
    """A bench whose judge is a function of the call."""

    reply: Callable[[JudgeCall], str | None]
    calls: list[JudgeCall] = field(default_factory=list)

    def problem(self, position: int) -> JudgedProblem:
        return JudgedProblem(f"p{position}", "What is 17 + 25?")

    def other(self, problem: str, trial: int) -> str | None:
        return "41" if trial == 0 else None

    async def ask(self, call: JudgeCall) -> RecordedReply:
        self.calls.append(call)
        text = self.reply(call)
        return RecordedReply(Reply(text), call.read(text, is_complete=True))


def judged(desk: Desk, text: str | None = "It is 42.", trial: int = 0, **options: Any) -> Score:
    scorer = make_judge("judge", {"model": "m", **options}).with_client(desk)
    place = ScoredTrial(text, problem=0, trial=trial)
    return asyncio.run(scorer.score_async(text, REFERENCE, place))


def always(text: str | None) -> Desk:
    return Desk(lambda call: text)


def test_votes_have_keys_of_their_own() -> None:
    desk = Desk(lambda call: f"VERDICT: {'PASS' if call.vote < 2 else 'FAIL'}")
    assert judged(desk, votes=3).value == pytest.approx(2 / 3)
    assert len({call.key for call in desk.calls}) == 3
    assert [call.number for call in desk.calls] == [0, 2, 4]
    assert len({call.turns for call in desk.calls}) == 1  # the very same question


def test_equal_answers_of_two_trials_are_the_same_calls() -> None:
    desk = always("VERDICT: PASS")
    judged(desk, trial=0)
    judged(desk, trial=1)
    judged(desk, "It is 43.", trial=1)
    keys = [call.key for call in desk.calls]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("reply", [None, "", "Yes!", "VERDICT: PASS\nVERDICT: FAIL"])
def test_a_reply_without_a_verdict_is_asked_for_once_more(reply: str | None) -> None:
    desk = always(reply)
    score = judged(desk)
    assert (score.value, score.status) == (None, "no_verdict")
    assert [call.attempt for call in desk.calls] == [1, 2]
    assert desk.calls[1].turns[-1].content.startswith("That holds no single verdict.")


def test_the_second_reply_counts() -> None:
    desk = Desk(lambda call: "Hm." if call.attempt == 1 else "VERDICT: FAIL")
    assert judged(desk).value == 0.0


@pytest.mark.parametrize("text", [None, "", " \n", "<think>I was about to"])
def test_no_answer_is_wrong_without_asking(text: str | None) -> None:
    desk = always("VERDICT: PASS")
    assert judged(desk, text) == Score(0.0, "no_answer")
    assert not desk.calls


def test_reasoning_is_not_judged() -> None:
    desk = always("VERDICT: PASS")
    judged(desk, "<think>secret</think>It is 42.")
    assert "secret" not in desk.calls[0].turns[-1].content


def test_filters_come_first() -> None:
    desk = always("VERDICT: PASS")
    scorer = make_judge("judge", {"model": "m"}, [{"function": "extract"}]).with_client(desk)
    asyncio.run(
        scorer.score_async(r"So \boxed{4}.", REFERENCE, ScoredTrial("", problem=0, trial=0))
    )
    assert "\n4\n<<<END OF ANSWER" in desk.calls[0].turns[-1].content


def test_a_pair_is_judged_in_both_orders() -> None:
    desk = always("VERDICT: A")
    score = judged(desk, rubric={"form": "pairwise"})
    assert (score.value, score.detail) == (0.5, "1 of 1 flipped when swapped")
    first, second = (call.turns[-1].content for call in desk.calls)
    assert first.index("It is 42.") < first.index("\n42\n")
    assert second.index("\n42\n") < second.index("It is 42.")


def test_a_pair_that_is_half_read_is_no_score() -> None:
    desk = Desk(lambda call: "VERDICT: A" if call.order == 0 else "Both are fine.")
    assert judged(desk, rubric={"form": "pairwise"}).status == "no_verdict"


def test_a_pair_with_another_run() -> None:
    desk = Desk(lambda call: f"VERDICT: {'AB'[call.order]}")
    rubric = {"form": "pairwise", "against": "run"}
    assert judged(desk, rubric=rubric, against="other").value == 1.0
    missing = judged(desk, rubric=rubric, against="other", trial=1)
    assert (missing.value, missing.status) == (None, "error")
    assert "no answer to compare with" in str(missing.detail)


def test_a_scorer_without_a_bench_gives_no_score() -> None:
    scorer = make_judge("judge", {"model": "m"})
    with pytest.raises(NotScoredYet):
        asyncio.run(scorer.score_async("42", REFERENCE, ScoredTrial("42", problem=0, trial=0)))


def test_a_request_that_is_refused_is_an_error_of_this_trial() -> None:
    class Refusing(Desk):
        async def ask(self, call: JudgeCall) -> RecordedReply:
            raise CallFailed("too long")

    score = judged(Refusing(lambda call: None), votes=2)
    assert (score.value, score.status) == (None, "error")


def test_answers_are_the_same_only_as_text() -> None:
    scorer: JudgeScorer = make_judge("judge", {"model": "m"})
    assert scorer.same("4", "4")
    assert not scorer.same("4", "4.0")

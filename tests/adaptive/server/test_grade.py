"""Grades: choices by their ids, texts by the scorer, and a scorer that fails."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import passband
from passband.adaptive.server.body import Fields, Refusal
from passband.adaptive.server.catalogue import Catalogue, Split
from passband.adaptive.server.service import Graded, given_answer, grade
from passband.system.event_loop import complete
from support.servers.serving import DESIGN, sums


def split(folder: Path, **options: Any) -> Split:
    return Catalogue([sums(folder, **options)], DESIGN).dataset("sums").split("test")


def graded(part: Split, answer: str, item: str = "test-3") -> Graded:
    return complete(grade(part, part.bank.item(item), answer))


def test_a_choice_is_right_or_wrong(tmp_path: Path) -> None:
    part = split(tmp_path)
    assert [graded(part, choice).score for choice in "ABC"] == [0.0, 1.0, 0.0]


def test_a_text_is_scored_by_the_bank(tmp_path: Path) -> None:
    part = split(tmp_path, open_ended=True)
    assert [graded(part, text).score for text in ("20", "21", "")] == [1.0, 0.0, 0.0]


def test_scores_between_are_kept_and_others_are_none(tmp_path: Path) -> None:
    @passband.register_scorer("first-number-of-a-test")
    def first_number(answer: str, target: str) -> float:
        return float(answer)

    part = split(tmp_path, open_ended=True, scorer={"name": "first-number-of-a-test"})
    assert graded(part, "0.25") == Graded(0.25)
    for text in ("1.5", "-1", "nan", "inf", "x"):
        score, detail = graded(part, text)
        assert score is None
        assert detail is not None
        assert detail.startswith("error: ")


def test_an_answer_must_suit_its_item(tmp_path: Path) -> None:
    item = split(tmp_path).bank.item("test-3")
    assert given_answer(item, Fields({"itemChoiceId": "A", "textResponse": None})) == "A"
    for fields in ({}, {"textResponse": "A"}, {"itemChoiceId": "A", "textResponse": "A"}):
        with pytest.raises(Refusal, match="answer it with itemChoiceId"):
            given_answer(item, Fields(fields))
    for choice in ("D", "a", "", "A "):
        with pytest.raises(Refusal, match="has no choice"):
            given_answer(item, Fields({"itemChoiceId": choice}))
    for value in (1, None, [], True):
        with pytest.raises(Refusal):
            given_answer(item, Fields({"itemChoiceId": value}))


@pytest.mark.process
class Noted(ThreadPoolExecutor):
    """Threads that count their calls."""

    calls = 0

    def submit(self, *arguments: Any, **options: Any) -> Any:
        self.calls += 1
        return super().submit(*arguments, **options)


@pytest.mark.parametrize(
    ("pattern", "is_beside"),
    [
        (r"answer is (-?\d+)\.", False),
        (r"(?:\S+\s+)*answer is (-?\d+)\.", True),  # hard for the text, as it turns out
        (r"answer is (-?\d+)\.(?!\1)", True),  # hard for any
    ],
)
def test_a_slow_scorer_works_beside_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, is_beside: bool
) -> None:
    step = {"function": "regex", "regex_pattern": pattern}
    part = split(tmp_path, open_ended=True, scorer={"name": "exact_match", "steps": [step]})
    assert part.scorer is not None
    threads = Noted(1)
    monkeypatch.setattr("passband.adaptive.server.service._SCORING", threads)
    try:
        answer = f"{'I do think that ' * 200}the answer is 20."
        assert graded(part, answer).score == 1.0
    finally:
        part.scorer.close()
        threads.shutdown()
    assert bool(threads.calls) == is_beside

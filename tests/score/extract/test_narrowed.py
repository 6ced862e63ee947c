"""Boxed and marked answers that are more than a number or a letter, in two hundred texts."""

from typing import Any

import pytest

from passband.score.extract.answer import extract, narrowed
from passband.score.extract.rules import Extracted
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference
from support.samples.extraction_texts import AMBIGUOUS, LETTERS, NUMBERS, TEXTS

FOR_NUMBERS = ("boxed", "marker", "last_number")
FOR_LETTERS = ("letter", "boxed", "marker")
ANY = ("boxed", "marker")


def misread(texts: dict[str, str | None], target: str, rules: tuple[str, ...]) -> dict[str, Any]:
    """Return the texts in which another answer is found than they have."""
    answers = {text: extract(text, rules, targets=(target,)).answer for text in texts}
    return {text: answer for text, answer in answers.items() if answer != texts[text]}


def test_the_texts_are_two_hundred_of_ten_kinds() -> None:
    kinds: list[Any] = [*NUMBERS.values(), LETTERS, AMBIGUOUS, TEXTS]
    sizes = [sum(map(len, kind.values())) for kind in kinds]
    assert sizes == [20] * 10


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_found_as_their_targets_are_written(kind: str) -> None:
    for target, texts in NUMBERS[kind].items():
        assert misread(dict.fromkeys(texts, target), target, FOR_NUMBERS) == {}
        numeric = make_scorer("numeric", steps=["extract"])
        assert [numeric.score(text, Reference((target,))).value for text in texts] == [1] * len(
            texts
        )


def test_letters_are_found_with_their_texts_and_reasons() -> None:
    for target, texts in LETTERS.items():
        assert misread(dict.fromkeys(texts, target), target, FOR_LETTERS) == {}


def test_what_can_be_read_in_two_ways_is_no_answer() -> None:
    for target, texts in AMBIGUOUS.items():
        assert misread(dict.fromkeys(texts), target, ANY) == {}
        scores = [
            make_scorer("exact_match", steps=["extract"]).score(text, Reference((target,)))
            for text in texts
        ]
        assert {(one.value, one.status, one.rule) for one in scores} == {
            (0.0, "no_answer", "marker-ambiguous")
        }


def test_free_answers_and_formulas_stay_as_they_are() -> None:
    for target, texts in TEXTS.items():
        assert misread(dict(texts), target, ANY) == {}


@pytest.mark.parametrize(
    ("answer", "targets", "narrow"),
    [
        ("14 apples", ("14", "fourteen"), "14 apples"),  # a target that is a text
        ("14 apples", ("14", "14.0"), "14"),
        ("14 apples", (), "14 apples"),
        ("42.0 m", ("42",), "42.0"),  # another text; `numeric` says that it is equal
        ("B. Paris", ("b",), "B. Paris"),
        ("B: it rains", ("A", "B"), "B"),
        ("the letter I", ("I",), "the letter I"),
        ("A dog", ("A",), "A dog"),
        ("AB", ("A",), "AB"),
    ],
)
def test_every_target_has_a_say(answer: str, targets: tuple[str, ...], narrow: str) -> None:
    assert narrowed(Extracted(answer, "marker"), targets, ()).answer == narrow


def test_a_box_is_never_ambiguous() -> None:
    box = Extracted("12 or 13", "boxed")
    assert narrowed(box, ("12",), ()) is box
    assert narrowed(Extracted("3!", "boxed"), ("6",), ()).answer == "3!"  # a factorial
    assert narrowed(Extracted("6!", "marker"), ("6",), ()).answer == "6"


def test_choices_have_letters_whatever_the_targets_are() -> None:
    cities, numbers = ("London", "Paris"), ("12", "42 apples")
    sentence = Extracted("B, because it rains", "marker")
    assert narrowed(sentence, ("Paris",), cities).answer == "B"
    assert narrowed(Extracted("Paris", "marker"), ("Paris",), cities).answer == "Paris"
    assert narrowed(Extracted("B) 42", "marker"), ("12",), numbers).answer == "B"
    assert narrowed(Extracted("12 apples", "marker"), ("12",), numbers).answer == "12"


def test_without_targets_the_rules_say_what_answers_are() -> None:
    text = "The answer is 42 apples."
    assert extract(text).answer == "42 apples"
    assert extract(text, FOR_NUMBERS) == Extracted("42", "marker")

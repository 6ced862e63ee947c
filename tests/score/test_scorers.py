"""The scoring functions, each by hand cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.score.builtin.choice import choice, read_choice
from passband.score.builtin.numeric import numeric
from passband.score.builtin.text import contains, exact_match, f1, regex
from passband.score.builtin.translation import bleu, chrf, ter
from passband.score.scorer import Reference


def test_exact_match() -> None:
    assert exact_match("a", "a")
    assert not exact_match("a", "A")
    assert exact_match("a", "A", ignore_case=True)
    assert exact_match("a.!", "a", ignore_punctuation=True)
    assert not exact_match("a\u3002", "a", ignore_punctuation=True)  # ASCII only, as in lm-eval
    assert exact_match("a1", "a2", ignore_numbers=True)
    assert exact_match("so #### $1,000", "1000", regexes_to_ignore=["(?s).*#### ", "[$,]"])


def test_exact_match_ignores_in_the_order_of_lm_eval() -> None:
    # The pattern is taken out before letters are made lower-case, so "ABC" is left alone.
    assert not exact_match("ABC", "", ignore_case=True, regexes_to_ignore=["abc"])


@pytest.mark.parametrize(
    ("answer", "target", "options", "right"),
    [
        ("1,000", "1000.0", {}, True),
        ("\u22125", "-5", {}, True),
        ("5 apples", "5", {}, True),
        ("5 or 6 apples", "5", {}, False),
        ("0.3333", "1/3", {}, False),
        ("0.3333", "1/3", {"absolute": 0.001}, True),
        ("101", "100", {"relative": 0.01}, True),
        ("101.1", "100", {"relative": 0.01}, False),
        ("0.1", "0.3", {"absolute": 0.2}, True),  # which it is not in binary floating point
        ("50%", "0.5", {}, True),
    ],
)
def test_numeric(answer: str, target: str, options: dict[str, float], right: bool) -> None:
    assert numeric(answer, target, **options) is right


def test_a_target_that_is_no_number_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="not a number"):
        numeric("5", "five")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(B)", "B"),
        ("B.", "B"),
        ("**B**", "B"),
        (r"\text{B}", "B"),
        ("B) Paris", "B"),
        ("B. London", "B"),  # the letter counts more than what is written behind it
        ("Answer: B", "B"),
        ("the correct option is (B), I think", "B"),
        ("Option A? No, option B", "B"),
        ("Paris", "B"),
        ("  PARIS. ", "B"),
        ("E", None),
        ("A city", None),
        ("", None),
    ],
)
def test_choice(text: str, letter: str | None) -> None:
    assert read_choice(text, ("London", "Paris", "Rome")) == letter


def test_the_text_of_a_choice_counts_before_its_letter() -> None:
    assert read_choice("A", ("B", "A")) == "B"


def test_choice_targets_may_be_letters_or_texts() -> None:
    cities = ("London", "Paris")
    for target in ("B", "(B)", "Paris"):
        assert choice("b", Reference((target,), cities))
        assert not choice("a", Reference((target,), cities))
    assert not choice("no idea", Reference(("no idea either",), cities))


def test_contains_and_regex() -> None:
    assert contains("abc", "b")
    assert not contains("abc", "B")
    assert contains("abc", "B", ignore_case=True)
    assert regex("abc", Reference(()), pattern="b.$")
    assert regex("abc", Reference(("x", "^a")))
    with pytest.raises(InvalidInput, match="needs a target"):
        regex("abc", Reference(()))


def test_f1_by_hand() -> None:
    # 1 common word of 2 and 3: precision 1/2, recall 1/3, so 2 * (1/6) / (5/6).
    assert f1("red car", "blue big car") == pytest.approx(0.4)
    assert f1("The Car!", "a car") == 1.0
    assert f1("car car", "car") == pytest.approx(2 / 3)
    assert f1("", "car") == 0.0


@given(st.text(), st.text())
def test_f1_is_symmetric_and_between_0_and_1(one: str, other: str) -> None:
    assert f1(one, other) == f1(other, one)
    assert 0 <= f1(one, other) <= 1
    assert f1(one, one) == 1


def test_translation_scores_are_those_of_sacrebleu() -> None:
    import sacrebleu

    answer, targets = "the cat sat on the mat", ["the cat sat on a mat", "a cat was on the mat"]
    reference = Reference(tuple(targets))
    expected = sacrebleu.sentence_bleu(answer, targets, use_effective_order=True).score
    assert bleu(answer, reference) == expected
    assert chrf(answer, reference) == sacrebleu.sentence_chrf(answer, targets).score
    assert ter(answer, reference) == sacrebleu.sentence_ter(answer, targets).score
    assert bleu("cat", Reference(("cat",))) == pytest.approx(100)
    assert ter("cat", Reference(("cat",))) == 0
    assert ter("", Reference(("cat",))) == 100

"""The rule `letter`: every way of naming a choice, and prose that names none."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passband.score.extract.answer import extract
from passband.score.extract.letter import LETTERS, find_letter

# B stands for the letter.
WAYS = [
    "B",
    "(B)",
    "B.",
    "**B**",
    "Answer: B",
    "ANSWER: (B)",
    "**Answer:** B",
    "**Answer: B**",
    "Answer: $B$",
    "The answer is B.",
    "The correct answer is (B) 20 m.",
    r"\boxed{B}",
    r"\boxed{\text{B}}",
    "The correct option is B",
    "I choose option B.",
    "I think B",
    "### Answer\nB",
    "B. 20 m",
    "Option B is correct.",
]
MORE = [
    "B)",
    "(B) 20 m.",
    "b",
    "#### B",
    "**Final Answer**\n\nB",
    "Answer:\n\nB",
    "Answer: [B]",
    'Answer: "B"',
    "answer is b",
    "The answer is **(B)**, as shown.",
    "The answer is B, not C.",
    "So the answer is B because it is far.",
    "The answer to this question is B.",
    "The best choice would be B: 20 m",
    "Correct answer: B) 20 m",
    "Therefore, (B).",
    "I'd go with B.",
    "So B is the correct answer.",
    "B\n\nBecause it is so.",
    "(B) 20 m\n\nThat is what the formula gives.",
    "Answer: C\nWait, no.\nAnswer: B",
    "Answer: C\nOn reflection:\n\nB",
    "The answer is B. The answer is not C.",
    r"$\boxed{\textbf{(B)}}$",
    "<think>The answer is C.</think>B",
]


def letter(text, choices=()):
    return extract(text, ("letter",), choices=choices).answer


def test_there_are_nineteen_ways_of_saying_b():
    assert len(set(WAYS)) == 19


@pytest.mark.parametrize("text", [*WAYS, *MORE])
def test_ways_of_saying_b(text):
    assert letter(text) == "B"
    assert letter(text, ("10 m", "20 m", "30 m", "40 m")) == "B"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LETTERS)
def test_ways_of_saying_any_letter(way, name):
    # "I is correct" aside, where the letter is a word of its own.
    assert letter(way.replace("B", name)) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A dog barks.",
        "I think so.",
        "I think a cat is a mammal.",
        "I am not sure. A man came.",
        "Vitamin A is good for you.",
        "The group A is abelian, and I know it.",
        "The answer is A dog.",
        "The answer is a",
        "The answer is I do not know.",
        "Answer: I don't know",
        "Answer: A's value",
        "Answer: B-cells",
        "Answer: B cells do it.",
        "Answer: Washington D.C.",
        "The answer is not A.",
        "It is neither A nor B.",
        "I rule out option A and option C.",
        "If A is correct, then we are lost.",
        "Plan B failed; I left.",
        "Answer: A and B",
        "Answer: A or C",
        "Answer: A, C",
        "A) 1\nB) 2\nC) 3\nD) 4",
        "A. 1\nB. 2",
        "I like it.\nE. coli is a bacterium.",
        "A. Smith proved it.\nI agree.",
        r"\boxed{20\text{ m}}",
    ],
)
def test_prose_has_no_letter(text):
    assert letter(text) is None


def test_the_choices_decide_what_may_be_a_letter():
    choices = ("E. coli", "20 m", "B cells", "x")
    assert letter("Answer: E", choices) is None  # there are four
    assert letter("The answer is E. coli.", choices) is None
    assert letter("Answer: B 20 m", choices) == "B"
    assert letter("C. B cells", choices) == "C"
    assert letter("A. Smith", choices) is None
    many = tuple(map(str, range(12)))
    assert letter("Answer: L", many) == "L"


@pytest.mark.parametrize("text", ["So it is C.\nAnswer: ", "The answer is"])
def test_a_text_that_stops_after_a_marker_has_no_answer(text):
    assert extract(text, ("letter", "marker")) == (None, "marker-empty")


def test_a_box_cut_off_ends_the_search():
    assert extract(r"Answer: B, so \boxed{\text{C", ("letter",)) == (None, "boxed-unclosed")


WORDS = st.sampled_from(
    ["A", "I", "a", "dog", "cat", "is", "and", "think", "so", "not", "the", "man"]
)
PROSE = st.lists(WORDS, min_size=1, max_size=8).map(lambda words: " ".join([*words, "walks home."]))


@settings(max_examples=60)
@given(st.lists(PROSE, min_size=1, max_size=4))
def test_articles_and_pronouns_are_no_letters(sentences):
    assert letter("\n".join(sentences)) is None


@settings(max_examples=60)
@given(PROSE, st.sampled_from(WAYS), st.sampled_from("BCDEFGH"))
def test_what_is_said_last_counts(prose, way, name):
    assert letter(f"{prose}\n\n{prose}\n\nAnswer: A\n\nAnswer: {name}") == name
    if "." not in way[:3]:  # a line "B. 20 m" below others may begin a sentence
        assert letter(f"{prose}\n\n{way.replace('B', name)}") == name


@given(st.text(alphabet=string.ascii_letters + " \n.:()*#$\\{}", max_size=200))
def test_any_text_gives_a_letter_of_the_choices_or_none(text):
    found = find_letter(text, ("a", "b", "c"))
    assert found is None or found.answer in (None, "A", "B", "C")


@pytest.mark.parametrize(
    "text", ["answer " * 30_000, "A is " * 30_000, "(" * 100_000, "*A*" * 50_000, "\nB)" * 50_000]
)
def test_long_texts_are_read(text):
    assert find_letter(text) is None or find_letter(text).answer is not None


@pytest.mark.parametrize(
    "text",
    [
        "Answer: B\n\nNote: option A is correct only for liquids.",
        "Answer: B\n\nExplanation: A is the best answer for those who guess.",
        "So the right choice is B, since A is correct only when x > 0.",
        "The answer is clearly B.",
        "My final answer is therefore (B)",
        "The answer is most likely B",
        "Answer: B (not C)",
        "It floats. <answer>B</answer>",
        "Ans: B",
    ],
)
def test_what_is_said_beside_the_answer_changes_nothing(text):
    assert letter(text) == "B"


def test_a_small_letter_after_a_marker_is_one_whichever_it_is():
    assert [letter(f"Answer: {name}") for name in "abi"] == ["A", "B", "I"]
    assert letter("The answer is a") is None


def test_two_answers_in_brackets_are_none():
    assert letter("Answer: A (or B)") is None

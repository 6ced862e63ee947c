"""Extraction: hand cases, properties, and texts made to be slow."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput, UnknownName
from passband.score.extract.answer import RULES, check_rules, extract, without_reasoning
from passband.score.extract.rules import Extracted

ALL = ("boxed", "marker", "last_number")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"\boxed{42}", "42"),
        (r"First \boxed{3}. Wait, no. \boxed{7}", "7"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{a \} b}", r"a \} b"),
        (r"\boxed{\\}", r"\\"),
        (r"\boxed 5", "5"),
        (r"$\boxed 5$.", "5"),
        (r"\boxed5.", "5"),
        (r"\boxed {6}", "6"),
        (r"\fbox{4}", "4"),
        (r"\boxed{1} then \fbox{2}", "2"),
        (r"\boxed{\boxed{5}}", "5"),
        (r"\boxed{\text{Paris}}", "Paris"),
        (r"\boxed{\textbf{(B)}}", "(B)"),
        (r"\boxed{\text{a} + \text{b}}", r"\text{a} + \text{b}"),
        (r"\boxed{$x$}", "x"),
        (r"\boxed{ 1,\!000 }", r"1,\!000"),
        (r"\boxed{5}, as asked for in \boxed{}", "5"),
        ("\\boxed{1\n+ 2}", "1\n+ 2"),
        (r"\boxed{\begin{pmatrix}1\\2\end{pmatrix}}", r"\begin{pmatrix}1\\2\end{pmatrix}"),
    ],
)
def test_boxed(text: str, answer: str) -> None:
    assert extract(text) == Extracted(answer, "boxed")


@pytest.mark.parametrize("text", [r"\boxed{4", r"\boxed{7} no, \boxed{4", r"\boxed{\frac{1}{2}"])
def test_an_unclosed_last_box_is_no_answer(text: str) -> None:
    assert extract(text + " the answer is 7", ALL) == Extracted(None, "boxed-unclosed")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("ANSWER: 42", "42"),
        ("Final Answer: 42.", "42"),
        ("The answer is 42.", "42"),
        ("the final answer is $42$.", "42"),
        ("Therefore, the answer is **42**.", "42"),
        ("**Final Answer:** 42", "42"),
        ("**Answer**: **C**", "C"),
        ("Answer:\n\n42", "42"),
        ("**Final Answer**\n\n42", "42"),
        ("**Answer: B**", "B"),
        ("**The answer is:** 42", "42"),
        ("Answer: **42** apples", "**42** apples"),
        ("#### 18", "18"),
        ("####18\n", "18"),
        ("The answer is 3. Or rather, the answer is 4.", "4"),
        ("The answer is 42. I am sure of it.", "42"),
        ("Answer: Dr. Who", "Dr. Who"),
        ("The answer is 3.5.", "3.5"),
        ("the answer is: x = 5", "x = 5"),
        (r"The answer is \(\frac{1}{2}\).", r"\frac{1}{2}"),
        ("The answer is $3.50.", "$3.50"),
        ("Answer: $x$ and $y$", "$x$ and $y$"),
        ("tHe AnSwEr Is 9", "9"),
        ("The correct answer is (B)", "(B)"),
    ],
)
def test_marker(text: str, answer: str) -> None:
    assert extract(text) == Extracted(answer, "marker")


def test_a_box_behind_a_marker_is_opened() -> None:
    assert extract(r"Answer: $\boxed{5}$", ("marker",)) == Extracted("5", "marker")
    assert extract(r"Answer: $\boxed{5", ("marker",)) == Extracted(None, "boxed-unclosed")


def test_a_text_cut_off_after_the_marker_has_no_answer() -> None:
    assert extract("Answer: 3? No. The answer is", ALL) == Extracted(None, "marker-empty")


@pytest.mark.parametrize("text", ["", "no idea", "answers are nice", "an answer", "### heading"])
def test_nothing_to_find(text: str) -> None:
    assert extract(text) == Extracted(None, None)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("-5", "-5"),
        ("\u22125", "-5"),
        ("\u20135", "-5"),
        ("3-4", "4"),
        ("3\u20134", "4"),
        ("3 - 4", "4"),
        ("(-4)", "-4"),
        ("x=-4", "-4"),
        ("(1)-2", "2"),
        ("1,234,567", "1234567"),
        ("1{,}234", "1234"),
        ("1,2,3", "3"),
        ("1,234.5 and no more.", "1234.5"),
        ("it ends with 7.", "7"),
        (".5", ".5"),
        ("-.5", "-.5"),
        ("6.02e23 of them", "6.02e23"),
        ("1e\u22125", "1e-5"),
        ("5em", "5"),
        ("3/4", "3/4"),
        (r"-\frac{3}{4}", "-3/4"),
        (r"\dfrac{10}{3} is it", "10/3"),
        ("x2 is 8", "8"),
        ("8 is x_1", "8"),
        ("$5", "5"),
        ("50%", "50"),
    ],
)
def test_last_number(text: str, answer: str) -> None:
    assert extract(text, ("last_number",)) == Extracted(answer, "last_number")


def test_the_last_number_is_only_looked_for_when_asked() -> None:
    assert extract("it is 5").answer is None
    assert extract("it is 5", ALL).answer == "5"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("plain", "plain"),
        ("<think>a</think>b", "b"),
        ("a</think>b", "b"),
        ("<think>a</think>b<think>c</think>d", "d"),
        ("<think>a", None),
        ("<think>a</think>b<think>c", None),
        ("<|channel|>analysis<|message|>a<|end|>", None),
        ("<|channel|>analysis<|message|>a<|channel|>final<|message|>b<|return|>", "b"),
    ],
)
def test_reasoning(text: str, rest: str | None) -> None:
    assert without_reasoning(text) == rest


def test_answers_within_reasoning_do_not_count() -> None:
    assert extract(r"<think>\boxed{3}</think>I gave up.").answer is None
    assert extract(r"<think>\boxed{3}") == Extracted(None, "reasoning-unclosed")
    assert extract(r"<think>\boxed{3}", strip_reasoning=False).answer == "3"
    assert extract(None) == Extracted(None, None)


def test_rules_are_checked() -> None:
    assert check_rules(["boxed"]) == ("boxed",)
    with pytest.raises(UnknownName, match="Did you mean 'boxed'"):
        check_rules(["boxd"])
    with pytest.raises(InvalidInput, match="must be a list"):
        check_rules("boxed")


# -- properties ----------------------------------------------------------------------------

MARKS = ["\\boxed", "\\text{", "\\frac", "answer", " is ", "####", "<think>", "</think>", "**"]
PIECES = st.sampled_from([*MARKS, *"{}\\$:\n -1,.e/x\u2212\ud800\0"])


@given(st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join)))
def test_extraction_never_raises_and_answers_are_not_blank(text: str) -> None:
    found = extract(text, ALL)
    assert found.answer is None or found.answer.strip()
    for rule in RULES.values():
        rule(text)


def balanced() -> st.SearchStrategy[str]:
    leaf = st.sampled_from(["1", "x", "+", r"\{", r"\}", r"\\", "a b"])
    return st.recursive(
        leaf,
        lambda inner: st.lists(inner, min_size=1, max_size=4).map(lambda p: f"{{{''.join(p)}}}"),
    )


@given(balanced(), st.text(alphabet="ab {}\n"), st.text(alphabet="ab {}\n"))
def test_balanced_boxes_come_back_whole(content: str, before: str, after: str) -> None:
    found = extract(f"{before}\\boxed{{{content}}}{after}")
    assert found == Extracted(content.strip(), "boxed")


# -- hostile texts -------------------------------------------------------------------------

SIZE = 100_000
HOSTILE = {
    "open boxes": "\\boxed{" * (SIZE // 7),
    "empty boxes": "\\boxed{}" * (SIZE // 8),
    "open braces": "\\boxed" + "{" * SIZE,
    "parentheses": "(" * SIZE,
    "long box": "\\boxed{" + "x" * SIZE,
    "nested text": "\\boxed{" + "\\text{" * (SIZE // 12) + "}" * (SIZE // 12 + 1),
    "dollars": "\\boxed{" + "$" * SIZE + "}",
    "markers": "answer is " * (SIZE // 10),
    "half a marker": "answer" + " " * SIZE,
    "stars": "Answer: " + "*" * SIZE,
    "sentences": "The answer is " + ". " * (SIZE // 2),
    "thousands": "111," * (SIZE // 4),
    "digits": "1" * SIZE,
    "dashes": "-" * SIZE,
    "fractions": "\\frac{1}{" * (SIZE // 9),
    "spaces": "\\boxed" + " " * SIZE,
    "backslashes": "\\boxed{" + "\\" * SIZE,
    "thoughts": "<think>" * (SIZE // 7),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_take_linear_time(name: str) -> None:
    # A quadratic rule takes minutes on these; a linear one some tens of milliseconds.
    start = time.process_time()
    for rule in RULES.values():
        rule(HOSTILE[name])
    extract(HOSTILE[name], ALL)
    assert time.process_time() - start < 5

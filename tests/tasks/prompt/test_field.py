from pathlib import Path

import pytest

from passband.errors import InvalidInput, Place
from passband.tasks.prompt.field import ProblemField, RowTargets

PLACE = Place(Path("t.yaml"), 7)
ROW = {"question": "What?", "n": 3, "list": ["x", "y"], "none": None, "text": "['a', 'b']"}


def field(setting: object, name: str = "doc_to_text") -> ProblemField:
    return ProblemField(name, setting, PLACE)


def text(setting: object) -> str:
    return field(setting).text(ROW, ROW, "p1")


def targets(setting: object, choice: object = None) -> tuple[str, ...]:
    choices = None if choice is None else field(choice, "doc_to_choice")
    answers = RowTargets(field(setting, "doc_to_target"), choices)
    return answers.targets(ROW, ROW, answers.choices(ROW, ROW, "p1"), "p1")


def test_text_is_a_column_a_template_or_a_function():
    assert text("question") == "What?"
    assert text("question {{ n }}") == "question 3"
    assert text("n") == "3"
    assert text(lambda row: row["question"] * 2) == "What?What?"


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("{{ qestion }}", "no column 'qestion'. Did you mean 'question'?"),
        ("none", "must give text; got nothing (null)."),
        ("list", "must give text; got list"),
        (lambda row: row["gone"], "KeyError: 'gone'"),
    ],
)
def test_a_failure_names_file_line_and_problem(setting, told):
    with pytest.raises(InvalidInput) as caught:
        text(setting)
    assert str(caught.value).startswith("t.yaml:7: doc_to_text of problem 'p1': ")
    assert told in str(caught.value)


def test_a_column_that_only_other_rows_have_is_missed():
    with pytest.raises(InvalidInput, match="the row has no column 'hint'"):
        field("hint").text(ROW, [*ROW, "hint"], "p1")


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("question", ("What?",)),
        ("n", ("3",)),
        ("list", ("x", "y")),
        (5, ("5",)),
        (["a", "b"], ("a", "b")),
        ("{{ list }}", ("x", "y")),  # as lm-eval: a list that a template writes is several
        ("text", ("['a', 'b']",)),  # and text of a column is text
        ("[{{ n }}, 4]", ("[3, 4]",)),  # an interval, say
        ("[{{ n }}", ("[3",)),
        ("[]{{ '' }}", ("[]",)),
        (lambda row: row["n"], ("3",)),
        ("yes", ("yes",)),
    ],
)
def test_targets(setting, expected):
    assert targets(setting) == expected


@pytest.mark.parametrize(
    ("setting", "choice", "expected"),
    [
        (1, ["a", "b"], "b"),
        ("{{ n - 3 }}", ["a", "b"], "a"),
        ("{{ 1 }}", "list", "y"),
        ("{{ 0 }}", "{{ list }}", "x"),
        (0, "{{ ['p', n] }}", "p"),
        (1, {"A": "a", "B": "b"}, "b"),
        (lambda row: 1, lambda row: row["list"], "y"),
        ("{{ 'b' }}", ["a", "b"], "b"),
    ],
)
def test_a_number_is_a_position_among_the_choices(setting, choice, expected):
    assert targets(setting, choice) == (expected,)


@pytest.mark.parametrize(
    ("setting", "choice", "told"),
    [
        (2, ["a", "b"], "2 is not a position among 2 choices"),
        (-1, ["a", "b"], "-1 is not a position"),
        ("{{ 'c' }}", ["a", "b"], "'c' is not among the choices"),
        (0, "question", "must give a list of texts"),
        (0, [], "must give a list of texts"),
        ("none", None, "must give text; got nothing"),
        (lambda row: [None], None, "must give text"),
    ],
)
def test_wrong_targets(setting, choice, told):
    with pytest.raises(InvalidInput, match=told):
        targets(setting, choice)


def test_a_prompt_must_have_something_of_the_problem():
    field("question").check_column(ROW, constant=False)
    field("{{ question }}").check_column(ROW, constant=False)
    with pytest.raises(InvalidInput, match=r"t.yaml:7: .*Did you mean 'question'\?"):
        field("qestion").check_column(ROW, constant=False)
    with pytest.raises(InvalidInput, match="The columns are question, n"):
        field("zzz").check_column(ROW, constant=False)


def test_a_target_may_be_constant_unless_it_is_nearly_a_column():
    field("yes").check_column(ROW, constant=True)
    with pytest.raises(InvalidInput, match="Did you mean 'question'"):
        field("qestion").check_column(ROW, constant=True)

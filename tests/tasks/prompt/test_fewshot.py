from collections import Counter
from pathlib import Path

import pytest

from passband.errors import InvalidInput, Place
from passband.tasks.prompt.fewshot import ExamplePool, Prompt, Turn
from passband.tasks.prompt.field import ProblemField, RowTargets

PLACE = Place(Path("t.yaml"), 1)
ROWS = [{"q": f"q{i}", "a": f"a{i}"} for i in range(6)]


def field(setting: object) -> ProblemField:
    return ProblemField("field", setting, PLACE)


def turn(prefix: str | None = None, delimiter: str = " ", text: str = "Q: {{ q }}\nA:") -> Turn:
    answers = RowTargets(field("a"), None)
    return Turn(field(text), answers, field(prefix) if prefix is not None else None, delimiter)


def pool(number: int, at_random: bool = True, rows: list[dict[str, str]] = ROWS) -> ExamplePool:
    return ExamplePool(rows, number, at_random, "sums", PLACE)


def prompt(shown: Turn, number: int = 2, description: str = "", delimiter: str = "\n\n") -> str:
    examples = pool(number, at_random=False) if number else None
    whole = Prompt(field(description), shown, shown, examples, delimiter)
    return whole.text(ROWS[0], ROWS[0], "p")


def test_the_layout_by_hand():
    assert prompt(turn(), description="Be brief.\n") == (
        "Be brief.\nQ: q1\nA: a1\n\nQ: q2\nA: a2\n\nQ: q0\nA:"
    )
    assert prompt(turn(), number=0) == "Q: q0\nA:"
    assert prompt(turn(delimiter="=>"), number=1, delimiter="|") == "Q: q1\nA:=>a1|Q: q0\nA:"


@pytest.mark.parametrize(
    ("prefix", "text", "expected"),
    [
        ("It is", "{{ q }}", "q1 It is a1\n\nq0 It is"),
        ("It is ", "{{ q }}\n", "q1\nIt is a1\n\nq0\nIt is "),
        (" It is", "{{ q }}", "q1 It is a1\n\nq0 It is"),
        ("{{ q }}:", "{{ q }}", "q1 q1: a1\n\nq0 q0:"),
        ("", "{{ q }}", "q1 a1\n\nq0"),
    ],
)
def test_a_prefix_is_set_off_only_where_no_space_is(prefix, text, expected):
    assert prompt(turn(prefix, text=text), number=1) == expected


def test_several_targets_show_the_first():
    shown = Turn(field("q"), RowTargets(field(["x", "y"]), None), None, " ")
    assert prompt(shown, number=1) == "q1 x\n\nq0"


def test_the_problem_is_never_among_its_own_examples():
    for at_random in (True, False):
        for index, row in enumerate(ROWS):
            chosen = pool(5, at_random).choose(row, str(index))
            assert row not in chosen
            assert len({example["q"] for example in chosen}) == 5
    # A row that stands twice in the pool is the same problem twice.
    assert ROWS[0] not in pool(5, rows=[*ROWS, ROWS[0]]).choose(ROWS[0], "p")


def test_first_n_takes_the_first():
    assert pool(2, at_random=False).choose(ROWS[1], "p") == [ROWS[0], ROWS[2]]


def test_a_choice_depends_on_task_and_problem_alone():
    one, other = pool(3), ExamplePool(ROWS, 3, True, "other", PLACE)
    keys = [str(i) for i in range(20)]
    chosen = [one.choose({}, key) for key in keys]
    assert chosen == [one.choose({}, key) for key in reversed(keys)][::-1]
    assert chosen != [other.choose({}, key) for key in keys]
    # Frozen: a prompt that changes between versions would make runs incomparable.
    assert [row["q"] for row in one.choose({}, "0")] == ["q0", "q3", "q4"]


def test_every_row_is_drawn_equally_often():
    firsts = Counter(pool(1).choose({}, str(key))[0]["q"] for key in range(6000))
    assert set(firsts) == {row["q"] for row in ROWS}
    assert all(abs(count - 1000) < 150 for count in firsts.values())  # five standard deviations


def test_too_few_examples():
    with pytest.raises(InvalidInput, match=r"t.yaml:1: num_fewshot is 6, .* only 5 .*'p'"):
        pool(6).choose(ROWS[0], "p")

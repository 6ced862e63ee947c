import pytest

from passband.errors import InvalidInput
from passband.tasks.data.rows import Condition
from passband.tasks.file.loader import load_task

ROWS = [
    {"question": f"q{i}", "answer": str(i), "level": i % 5, "High level": "xy"[i % 2]}
    for i in range(20)
]


def keys(path, limit=None):
    return [problem.key for problem in load_task(path).load(limit)]


def test_rows_that_fulfil_a_condition_keep_their_names(task):
    assert keys(task("where: level == 3", rows=ROWS)) == ["3", "8", "13", "18"]
    assert keys(task("where: level == 3", rows=ROWS), 2) == ["3", "8"]
    text = """where: 'doc["High level"] == "y" and level in [1, 3] and answer | length == 1'"""
    assert keys(task(text, rows=ROWS)) == ["1", "3"]
    # A condition that is rendered by a worker process.
    text = """where: "question | regex_replace('q', '') | int is divisibleby 7" """
    assert keys(task(text, rows=ROWS)) == ["0", "7", "14"]


def test_examples_fulfil_it_too_unless_they_have_their_own(task):
    def shown(text):
        prompt = load_task(task(text, rows=ROWS)).load(1)[0].messages[0].content
        return {int(part.split()[0][1:]) for part in prompt.split("\n\n")[:-1]}

    assert shown("where: level == 3\nnum_fewshot: 3") == {8, 13, 18}
    own = "where: level == 3\nnum_fewshot: 4\nfewshot_config: {where: level == 1}"
    assert shown(own) == {1, 6, 11, 16}


def test_examples_of_the_same_kind(task):
    text = "num_fewshot: 3\nfewshot_config: {match: level}"
    for place, problem in enumerate(load_task(task(text, rows=ROWS)).load(None)):
        *shown, _ = problem.messages[0].content.split("\n\n")
        numbers = [int(part.split()[0][1:]) for part in shown]
        assert len(set(numbers)) == 3
        assert place not in numbers
        assert {number % 5 for number in numbers} == {place % 5}
    few = "num_fewshot: 4\nfewshot_config: {match: level}"
    with pytest.raises(InvalidInput, match="only 3 examples with the same level for problem '0'"):
        keys(task(few, rows=ROWS))
    with pytest.raises(
        InvalidInput, match=r"problem '0' has no column 'levl'. Did you mean 'level'"
    ):
        keys(task("num_fewshot: 1\nfewshot_config: {match: levl}", rows=ROWS))


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("level == 9", r"sums.yaml:1: where: level == 9 holds for none of the 20 rows"),
        ("levl == 3", r"sums.yaml:1: where: there is no column 'levl'. Did you mean 'level'"),
        ("level = 3", "where: the template cannot be read"),
        ("'{{ level == 3 }}'", "an expression without braces"),
        ("answer > 3", "where: the template failed: .*not supported"),
        ("3", "where must be text; got 3"),
    ],
)
def test_wrong_conditions(task, condition, message):
    with pytest.raises(InvalidInput, match=message):
        keys(task(f"where: {condition}", rows=ROWS))


def test_a_condition_by_itself():
    assert Condition("a and not b").holds({"a": 1, "b": 0})
    assert not Condition("a and not b").holds({"a": 1, "b": 1})

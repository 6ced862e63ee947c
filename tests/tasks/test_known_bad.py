import pytest

from passband.errors import InvalidInput
from passband.tasks.check import check_task
from passband.tasks.file.loader import load_task
from passband.tasks.known_bad import BadProblem, KnownBad

TEXT = """
known_bad:
  - {problem: b, reason: the key is wrong.}
  - {problem: c, where: "answer == '7'", reason: only in another copy.}
  - {where: "question.startswith('3')", reason: the text is cut off.}
"""


def test_entries_by_name_and_by_condition():
    bad = KnownBad(
        [
            {"problem": 7, "where": None, "reason": "x"},
            {"where": "a > 1", "reason": "y"},
        ]
    )
    rows = [("7", {"a": 0}), ("8", {"a": 2}), ("9", {"b": 1})]
    assert bad.among(rows) == [BadProblem("7", "x"), BadProblem("8", "y")]


def test_validating_lists_them_as_warnings(task):
    lines = check_task(task(TEXT))
    assert [(line.level, line.line) for line in lines] == [("warning", 1), ("warning", 1)]
    assert str(lines[0]).endswith("warning: known_bad: problem 'b': the key is wrong.")
    assert str(lines[1]).endswith("problem 'c': the text is cut off.")
    assert len(load_task(task(TEXT)).load(None)) == 3  # they are asked all the same


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{reason: x}", "an entry needs a problem, a where, or both"),
        ("{problem: a}", "known_bad: the key 'reason' is missing"),
        ("{problem: a, why: x, reason: y}", "unknown key 'why' in known_bad"),
        ("{where: 'a = 1', reason: y}", "sums.yaml:1: known_bad.where|cannot be read"),
    ],
)
def test_wrong_entries(task, entry, message):
    with pytest.raises(InvalidInput, match=message):
        load_task(task(f"known_bad: [{entry}]"))

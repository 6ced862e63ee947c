"""Where an answer was found in its text."""

import pytest

from passband.score.extract.answer import extract
from passband.score.span import find_span, steps_of

NUMBER = [{"function": "extract", "rules": ["last_number"]}]
ANSWER = [{"function": "extract", "rules": ["boxed", "marker"]}]
PATTERN = [{"function": "regex", "regex_pattern": r"first: (\w+)"}]


@pytest.mark.parametrize(
    ("text", "answer", "steps", "found"),
    [
        ("12 and 1,212 are 1,212.", "1212", NUMBER, (17, 22)),
        ("it is \u22127 m", "-7", NUMBER, (6, 8)),
        (r"7 apples: \boxed{7}, not 7", "7", ANSWER, (17, 18)),
        ("The answer is **12**. I checked 12.", "12", ANSWER, (16, 18)),
        ("first: B, second: B", "B", PATTERN, (7, 8)),
        ("<think>\\boxed{3}</think>\\boxed{3} so", "3", ANSWER, (31, 32)),
        (r"\boxed{\frac12}", r"\frac12", ANSWER, (7, 14)),
        ("only here: x7", "x7", None, (11, 13)),
        ("7 or 7", "7", None, None),  # another tool's: which one is not known
        ("nowhere", "7", NUMBER, None),
        ("text", "", NUMBER, None),
        ("7 or 7", "7", [{"function": "no such filter"}], None),
    ],
)
def test_the_place_of_an_answer(
    text: str, answer: str, steps: list[dict[str, object]] | None, found: tuple[int, int] | None
) -> None:
    assert find_span(text, answer, steps_of(steps)) == found


def test_an_early_answer_is_not_marked_for_a_late_one() -> None:
    text = "Of 5 things, 5 remain, 5 each: 5, 5, 5, 5 and 5. The answer is 5."
    assert extract(text, ("marker",)).answer == "5"
    assert find_span(text, "5", steps_of(ANSWER)) == (63, 64)

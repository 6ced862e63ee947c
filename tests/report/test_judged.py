"""A judge in words: called by its name, which may be no more than that it is one."""

import pytest

from passband.report.judged import judge_lines
from passband.summary.from_sources import summarize


@pytest.mark.parametrize(("column", "name"), [("judge", "judge"), ("quality", "judge quality")])
def test_a_column_called_judge_is_not_named_twice(column: str, name: str) -> None:
    cells = {
        "problem": [at // 2 for at in range(40)],
        "trial": [at % 2 for at in range(40)],
        column: [at % 3 > 0 for at in range(40)],
        "human": [at % 4 > 0 if at % 2 else None for at in range(40)],
    }
    lines = judge_lines(summarize(cells, judge=column, label="human"))
    assert lines
    assert all(line.startswith((f"{name}, ", f"{name}: ")) for line in lines)


def test_labels_that_all_agree_show_no_parts_of_a_variance() -> None:
    cells = {
        "problem": [at // 2 for at in range(40)],
        "trial": [at % 2 for at in range(40)],
        "judge": [at % 3 > 0 for at in range(40)],
        "human": [True if at % 2 else None for at in range(40)],
    }
    lines = judge_lines(summarize(cells, judge="judge", label="human"))
    assert lines
    assert not any("where the variance comes from" in line for line in lines)

"""The parts of a text that are shown."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from passband.report.show.excerpt import ALL, Amount, excerpt

LITTLE = Amount(30, 30, 3, 3)


@given(st.text("ab\n", max_size=600), st.integers(0, 600), st.integers(0, 40))
def test_parts_are_in_order_and_hold_the_answer(text: str, start: int, length: int) -> None:
    mark = min(start, len(text)), min(start + length, len(text))
    parts = excerpt(text, LITTLE, mark)
    assert parts[0][0] == 0
    assert parts[-1][1] == len(text)
    assert all(low[1] < high[0] for low, high in pairwise(parts))
    assert any(low <= mark[0] and mark[1] <= high for low, high in parts)
    assert excerpt(text, ALL, mark) == [(0, len(text))]


def test_lines_count_as_well_as_characters() -> None:
    assert excerpt("\n" * 500, LITTLE) == [(0, 2), (498, 500)]

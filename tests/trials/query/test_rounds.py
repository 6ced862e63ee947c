"""Complete rounds: how many, and the outcomes of those alone."""

from hypothesis import given
from hypothesis import strategies as st

from passband.trials.query.counts import count_complete_rounds


@given(st.lists(st.integers(0, 2**12 - 1), min_size=1, max_size=6))
def test_a_round_is_complete_if_every_problem_has_it(masks: list[int]) -> None:
    rounds = count_complete_rounds(masks)
    for trial in range(rounds):
        assert all(mask >> trial & 1 for mask in masks)
    assert not all(mask >> rounds & 1 for mask in masks)

"""Every trial of a source has one place in the destination: it is new, or there, or gives way."""

from hypothesis import given
from hypothesis import strategies as st

from passband.trials.merging.rows import SharedTrials, places

MASKS = st.dictionaries(st.integers(0, 3), st.integers(0, 255), max_size=4)


@given(MASKS, MASKS, MASKS, MASKS)
def test_every_trial_is_sorted_once(
    here: dict[int, int], failed: dict[int, int], there: dict[int, int], lost: dict[int, int]
) -> None:
    failed = {problem: mask & here.get(problem, 0) for problem, mask in failed.items()}
    lost = {problem: mask & there.get(problem, 0) for problem, mask in lost.items()}
    shared = SharedTrials.of(here, failed, there, lost)
    kinds = (shared.new, shared.replacing, shared.skipped_failed, shared.both_failed, shared.same)
    sorted_out = [place for kind in kinds for place in places(kind)]
    assert len(sorted_out) == len(set(sorted_out))
    assert set(sorted_out) == set(places(there))
    assert set(places(shared.new)).isdisjoint(places(here))
    assert set(places(shared.replacing)) == set(places(failed)) & (
        set(places(there)) - set(places(lost))
    )
    assert shared.are_all_new == set(places(here)).isdisjoint(places(there))


def test_a_trial_that_failed_in_both_is_settled() -> None:
    shared = SharedTrials.of({0: 1}, {0: 1}, {0: 1}, {0: 1})
    assert shared.both_failed == {0: 1}
    shared.settle(0, 0, "replacing")
    shared.settle(0, 3, "replacing")
    assert shared.replacing == {0: 0b1001}

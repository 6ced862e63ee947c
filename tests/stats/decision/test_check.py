"""One comparison of a gate: both p-values, and what failed trials could change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes
from passband.stats.decision.gate import all_right, all_wrong, check
from properties import one_in

BASE = Outcomes.from_counts([3, 0, 8, 5, 1, 7, 0, 2] * 5, 8)
NEW = Outcomes.from_counts([2, 0, 8, 5, 0, 7, 0, 2] * 5, 8)
tolerances = st.floats(0.01, 0.5)
counts = st.lists(st.integers(0, 4), min_size=3, max_size=12)


def test_evidence_is_that_of_the_interval() -> None:
    """Lower ends above -tolerance, and room for unseen losses, are a p_beyond below .025."""
    found = check(BASE, NEW, "pass@1", tolerance=0.05, over="problems")
    comparison = found.comparison
    assert comparison.low is not None
    p_worse, p_beyond = found.evidence.p_worse, found.evidence.p_beyond
    assert p_worse == pytest.approx((comparison.p_value or 0) / 2)
    assert (p_beyond or 0) > 0.025
    assert comparison.low < -0.05
    near = check(BASE, NEW, "pass@1", tolerance=-comparison.low, over="problems")
    value, room = comparison.value, comparison.value - comparison.low
    assert near.evidence.p_beyond == pytest.approx((1 - room / (1 + value)) ** 40)
    assert near.evidence.p_beyond > 0.025
    alone = check(BASE, NEW, "pass@1", tolerance=0.2, over="problems").evidence
    assert alone.p_beyond is not None
    assert alone.p_beyond < 0.025


def test_sides_swapped_swap_the_evidence() -> None:
    """Of one difference, worse one way is better the other way."""
    one, other = (check(*s, "pass@1", tolerance=0.05) for s in ((BASE, NEW), (NEW, BASE)))
    assert (one.evidence.p_worse or 0) + (other.evidence.p_worse or 0) == pytest.approx(1.0)


@one_in(2)
@given(counts, counts, tolerances, tolerances)
def test_a_larger_tolerance_is_easier_to_pass(
    a: list[int], b: list[int], t: float, u: float
) -> None:
    size = min(len(a), len(b))
    sides = [Outcomes.from_counts(c[:size], 4) for c in (a, b)]
    strict, loose = (
        check(*sides, "pass@1", tolerance=tolerance, over="problems").evidence
        for tolerance in sorted((t, u))
    )
    assert strict.p_worse == loose.p_worse
    if strict.p_beyond is not None and loose.p_beyond is not None:
        assert loose.p_beyond <= strict.p_beyond + 1e-12


def holed(outcomes: Outcomes, failed: int) -> Outcomes:
    unscored = np.zeros(outcomes.n_problems, int)
    unscored[:failed] = 1
    wins = np.minimum(outcomes.required_successes(), outcomes.trials - unscored)
    return Outcomes.from_counts(wins, outcomes.trials - unscored, unscored={"timeout": unscored})


def test_bracket_is_what_failed_trials_could_make_of_it() -> None:
    base, new = holed(BASE, 4), holed(NEW, 10)
    found = check(base, new, "pass@1", tolerance=0.05)
    assert found.bracket == (
        check(all_right(base), all_wrong(new), "pass@1", tolerance=0.05).comparison.value,
        check(all_wrong(base), all_right(new), "pass@1", tolerance=0.05).comparison.value,
    )
    plain, robust = found.plain, found.evidence
    assert (robust.p_worse or 0) >= (plain.p_worse or 0)
    assert (robust.p_beyond or 0) >= (plain.p_beyond or 0)
    dropped = check(base, new, "pass@1", tolerance=0.05, failed="drop")
    assert dropped.evidence == plain
    assert dropped.bracket is None
    wrong = check(base, new, "pass@1", tolerance=0.05, failed="wrong")
    assert wrong.evidence == check(*map(all_wrong, (base, new)), "pass@1", tolerance=0.05).plain


def test_graded_scores_have_no_bracket() -> None:
    graded = Outcomes.from_array([[0.5, 0.2], [None, 0.7], [0.1, 0.9]])
    with pytest.raises(InvalidInput, match=r"1 trials failed.* wrong, or drop"):
        check(graded, graded, "avg", tolerance=0.1)
    assert check(graded, graded, "avg", tolerance=0.1, failed="drop").bracket is None

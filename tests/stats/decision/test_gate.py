"""One comparison of a gate: both p-values, and what failed trials could change."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes
from passband.stats.decision.gate import CheckVerdict, PValues, all_right, all_wrong, check, rule
from support.fuzz.properties import one_in

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
        check(*sides, "pass@1", tolerance=tolerance, over="problems").evidence  # type: ignore[arg-type]
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
    assert wrong.evidence == check(*map(all_wrong, (base, new)), "pass@1", tolerance=0.05).plain  # type: ignore[arg-type]


def test_graded_scores_have_no_bracket() -> None:
    graded = Outcomes.from_array([[0.5, 0.2], [None, 0.7], [0.1, 0.9]])
    with pytest.raises(InvalidInput, match=r"1 trials failed.* wrong, or drop"):
        check(graded, graded, "avg", tolerance=0.1)
    assert check(graded, graded, "avg", tolerance=0.1, failed="drop").bracket is None


shares = st.floats(0.0, 1.0)
families = st.lists(st.builds(PValues, shares, shares), min_size=1, max_size=6)


def verdicts(family: list[PValues], **options: float) -> list[CheckVerdict]:
    return [one.verdict for one in rule(family, **options)]


def test_each_verdict_by_hand() -> None:
    """Four checks: 0.006 x 4 = 0.024 and 0.007 x 3 = 0.021 pass 0.025; 0.02 x 2 = 0.04 does not."""
    family = [
        PValues(0.006, 0.9), PValues(0.007, 0.01), PValues(0.02, 0.5), PValues(0.9, 0.02),
    ]  # fmt: skip
    assert verdicts(family) == ["regression", "worse-within-tolerance", "undecided", "pass"]
    assert [round(one.p_adjusted or 0, 3) for one in rule(family)] == [0.024, 0.024, 0.04, 0.9]


def test_missing_evidence_leaves_it_open_and_counts_in_the_family() -> None:
    assert verdicts([PValues(None, None), PValues(0.01, 0.9)]) == ["undecided", "regression"]
    assert verdicts([PValues(None, None), PValues(0.02, 0.9)]) == ["undecided", "undecided"]
    assert rule([PValues(None, 0.5)])[0].p_adjusted is None


def test_passing_needs_no_correction() -> None:
    assert verdicts([PValues(0.9, 0.024)] * 100) == ["pass"] * 100
    assert verdicts([PValues(0.9, 0.024)], pass_error=0.01) == ["undecided"]


def is_worse_by_closure(p: list[float], i: int, error: float) -> bool:
    """Test i by the closure: every set of hypotheses with i in it is rejected by Bonferroni."""
    others = [j for j in range(len(p)) if j != i]
    sets = [{i, *more} for n in range(len(p)) for more in combinations(others, n)]
    return all(min(p[j] for j in one) * len(one) <= error for one in sets)


@given(families, st.sampled_from([0.01, 0.025, 0.2]))
def test_regressions_are_those_of_the_closed_bonferroni_test(
    family: list[PValues], error: float
) -> None:
    p = [one.p_worse or 0.0 for one in family]
    found = [v in ("regression", "worse-within-tolerance") for v in verdicts(family, error=error)]
    assert found == [is_worse_by_closure(p, i, error) for i in range(len(p))]


@given(families, st.permutations(range(6)))
def test_the_order_of_checks_does_not_matter(family: list[PValues], order: list[int]) -> None:
    places = [i for i in order if i < len(family)]
    shuffled = verdicts([family[i] for i in places])
    assert shuffled == [verdicts(family)[i] for i in places]

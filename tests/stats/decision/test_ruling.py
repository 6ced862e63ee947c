"""Rulings on families of checks: Holm by its definition, verdicts worked out by hand."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from passband.stats.decision.gate import CheckVerdict, PValues, rule

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

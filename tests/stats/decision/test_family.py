"""Verdicts that allow for the number of comparisons, and of rankings."""

from dataclasses import replace

import numpy as np
import pytest

from passband import Comparison, Outcomes, compare, compare_all
from passband.stats.decision.family import family_of, family_of_rankings
from passband.stats.decision.ranking.simultaneous import benjamini_hochberg, holm
from passband.stats.decision.verdict import not_comparable


def pair(gain: int, problems: int = 20) -> tuple[Outcomes, Outcomes]:
    """Return two models, of which the second has one or two successes more in some problems."""
    wins = np.full(problems, 3)
    more = (
        wins
        + np.where(np.arange(problems) % 4 == 1, 2, 0)
        + np.where(np.arange(problems) % 4 == 2, gain, 0)
    )
    return Outcomes.from_counts(wins, 8), Outcomes.from_counts(more, 8)


def test_adjusted_p_values_are_those_of_holm() -> None:
    found = [compare(*pair(gain), "pass@1") for gain in (0, 1, 2, 3)]
    together = family_of(found)
    assert [one.p_adjusted for one in together] == holm([one.p_value or 0 for one in found])
    assert {one.family for one in together} == {4}
    assert [one.p_value for one in together] == [one.p_value for one in found]
    assert [(one.low, one.high) for one in together] == [(one.low, one.high) for one in found]


def test_one_comparison_stays_as_it_is() -> None:
    alone = compare(*pair(1), "pass@1", margin=0.3)
    (same,) = family_of([alone])
    assert same.p_adjusted == alone.p_value
    assert replace(same, p_adjusted=None) == alone
    assert family_of([]) == []


def test_verdicts_are_weaker_the_more_there_are() -> None:
    """p = .0006 is a finding among 24, and none among 100."""
    alone = compare(*pair(1), "pass@1")
    assert alone.p_value == pytest.approx(0.000597, abs=1e-6)
    for count, verdict in ((24, "better"), (83, "better"), (84, "undecided"), (100, "undecided")):
        found = family_of([alone] * count)
        assert {one.decision.verdict for one in found} == {verdict}
        assert (found[0].influence is None) == (verdict == "undecided")
    back = compare(*pair(1)[::-1], "pass@1")
    assert family_of([back] * 24)[0].decision.verdict == "worse"


def test_families_may_be_joined_in_a_larger_one() -> None:
    found = [compare(*pair(gain), "pass@1", margin=0.2) for gain in (0, 1, 2)]
    parts = [*family_of(found[:2]), *family_of(found[2:])]
    assert family_of(parts) == family_of(found)


def with_margin(p_no_worse: float, p_no_better: float) -> Comparison:
    alone = compare(*[Outcomes.from_counts([3, 4] * 100, 8)] * 2, "pass@1", margin=0.1)  # type: ignore[arg-type]
    assert alone.decision.verdict == "equivalent"
    decision = replace(alone.decision, p_no_worse=p_no_worse, p_no_better=p_no_better)
    return replace(alone, decision=decision)


def test_claims_about_a_margin_are_adjusted_each_by_itself() -> None:
    """Of two, the smaller p of a kind is doubled: .02 is above .025 then, .012 is not."""
    found = family_of([with_margin(0.012, 0.02), with_margin(0.02, 0.02)])
    assert [one.decision.verdict for one in found] == ["no-worse", "no-worse"]
    assert [one.decision.within_margin for one in found] == [False, False]
    found = family_of([with_margin(0.0, 0.0), with_margin(0.03, 0.024)])
    assert [one.decision.verdict for one in found] == ["equivalent", "no-better"]


def test_what_was_not_tested_is_not_counted() -> None:
    tested = compare(*pair(1), "pass@1")
    untested = replace(tested, p_value=None, confidence=None, decision=not_comparable(None))
    found = family_of([tested, untested])
    assert found[1] == untested
    assert (found[0].family, found[0].p_adjusted) == (1, tested.p_value)


def test_a_strict_test_keeps_its_say() -> None:
    rows = [(0, 1)] * 5 + [(1, 1)] * 20
    a, b = (Outcomes.from_counts(side, 1) for side in zip(*rows, strict=True))
    exact, clear = compare(a, b, "pass@1", test="exact"), compare(*pair(3), "pass@1")
    assert [one.decision.verdict for one in family_of([exact, clear])] == ["undecided", "better"]


def test_false_findings_are_as_rare_as_promised() -> None:
    """Among 24 comparisons of models that are alike, one verdict or more in 5 % of sets."""
    rng = np.random.default_rng(5)
    sets, alone, together = 80, 0, 0
    for _ in range(sets):
        found = []
        for _ in range(24):
            p = rng.beta(0.5, 0.7, 40)
            a, b = (Outcomes.from_counts(rng.binomial(4, p), 4) for _ in range(2))
            found.append(compare(a, b, "pass@1"))
        alone += any(one.decision.verdict != "undecided" for one in found)
        together += any(one.decision.verdict != "undecided" for one in family_of(found))
    assert alone > 0.4 * sets
    assert together <= 0.1 * sets  # .05 + 2 standard errors


def test_rankings_hold_together() -> None:
    models = {
        name: Outcomes.from_counts([wins, wins + 1] * 15, 8)
        for name, wins in (("a", 3), ("b", 4), ("c", 6))
    }
    alone = compare_all(models, "pass@1", seed=1)
    of_ten = compare_all(models, "pass@1", seed=1, family=10)
    assert of_ten.reach > alone.reach
    for one, other in zip(alone.pairs, of_ten.pairs, strict=True):
        assert one.p_adjusted is not None
        assert other.p_adjusted == pytest.approx(10 * one.p_adjusted)
        assert (other.low or 0) < (one.low or 0)
        assert one.p_value == other.p_value
    both = family_of_rankings([alone, of_ten])
    p_values = [pair.p_value or 0 for one in both for pair in one.pairs]
    assert [pair.p_holm for one in both for pair in one.pairs] == holm(p_values)
    assert [pair.p_bh for one in both for pair in one.pairs] == benjamini_hochberg(p_values)

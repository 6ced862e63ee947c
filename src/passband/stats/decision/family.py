"""Adjust the p-values and verdicts of several comparisons for their number.

Of twenty comparisons of models that are alike, one comes out at 5 % as a rule. Holm's method makes
the chance of any false finding at most the chosen one, however the comparisons depend on each
other.

Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from passband.stats.decision.comparison import Comparison
from passband.stats.decision.ranking.ranking import Ranking
from passband.stats.decision.ranking.simultaneous import benjamini_hochberg, holm
from passband.stats.decision.verdict import Decision, Verdict, in_margin


def family_of(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return comparisons with p-values and verdicts that allow for their number.

    Each kind of claim is adjusted after Holm: that there is a difference, at 1 - level; that b is
    not worse, or not better, by the margin, at half of that each, as for one comparison. Those
    without a p-value are not counted. Of a comparison by itself remain `p_value`, the interval, and
    the p-values of its decision; `influence` is left out where the verdict is another.

    >>> from passband import Outcomes, compare
    >>> base, new = Outcomes.from_counts([3] * 20, 8), Outcomes.from_counts([3, 5, 4, 3] * 5, 8)
    >>> alone = compare(base, new, "pass@1")
    >>> for count in (1, 24, 100):
    ...     one = family_of([alone] * count)[0]
    ...     print(round(one.p_value, 4), round(one.p_adjusted, 4), one.decision.verdict)
    0.0006 0.0006 better
    0.0006 0.0143 better
    0.0006 0.0597 undecided
    """
    counted = [one for one in comparisons if one.p_value is not None]
    p_values = _holm([one.p_value for one in counted])
    no_worse = _holm([one.decision.p_no_worse for one in counted])
    no_better = _holm([one.decision.p_no_better for one in counted])
    ruled = (
        _ruled(one, next(p_values), (next(no_worse), next(no_better)), len(counted))
        for one in counted
    )
    return [one if one.p_value is None else next(ruled) for one in comparisons]


def _holm(p_values: Sequence[float | None]) -> Iterator[float]:
    """Yield adjusted p-values; untested comparisons count as 1."""
    return iter(holm([1.0 if p is None else p for p in p_values]))


def _ruled(
    comparison: Comparison, p_adjusted: float, margins: tuple[float, float], family: int
) -> Comparison:
    decision = comparison.decision if family == 1 else _decided(comparison, p_adjusted, margins)
    same = decision.verdict == comparison.decision.verdict
    return replace(
        comparison,
        p_adjusted=p_adjusted,
        family=family,
        decision=decision,
        influence=comparison.influence if same else None,
    )


def _decided(comparison: Comparison, p_adjusted: float, margins: tuple[float, float]) -> Decision:
    """Return the decision at adjusted p-values; the interval alone must agree, as ever."""
    confidence, alpha = comparison.confidence, 1.0 - comparison.level
    no_worse, no_better = (p < alpha / 2.0 for p in margins)
    verdict: Verdict = in_margin(no_worse, no_better)
    if confidence is not None and max(p_adjusted, 2.0 * min(confidence, 1.0 - confidence)) < alpha:
        verdict = "better" if confidence > 0.5 else "worse"
    within = None if comparison.decision.within_margin is None else no_worse and no_better
    return replace(comparison.decision, verdict=verdict, within_margin=within)


def family_of_rankings(rankings: Sequence[Ranking]) -> list[Ranking]:
    """Return rankings with `p_holm` and `p_bh` adjusted over all their pairs."""
    p_values = [pair.p_value for one in rankings for pair in one.pairs if pair.p_value is not None]
    by_holm, by_bh = iter(holm(p_values)), iter(benjamini_hochberg(p_values))
    return [
        replace(
            one,
            pairs=tuple(
                pair
                if pair.p_value is None
                else replace(pair, p_holm=next(by_holm), p_bh=next(by_bh))
                for pair in one.pairs
            ),
        )
        for one in rankings
    ]

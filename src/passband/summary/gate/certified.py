"""Why a comparison is not certified though it could be made: failed trials, problems left out."""

from __future__ import annotations

from passband.stats.data.outcomes import Outcomes
from passband.stats.decision.compare import Comparison

__all__ = ["failed_reason", "left_out_reason"]


def failed_reason(sides: tuple[Outcomes, Outcomes], most: float) -> str:
    """Return which side has too large a share of failed trials; nothing if neither has.

    >>> whole = Outcomes.from_counts([1, 2], 4)
    >>> holed = Outcomes.from_counts([1, 2], 3, unscored={"timeout": [1, 1]})
    >>> failed_reason((whole, holed), 0.05)
    '2 of 8 trials of NEW have no score (2 timeout), more than the 5% that max_failed allows'
    """
    reasons = []
    for name, side in zip(("BASE", "NEW"), sides, strict=True):
        asked = side.n_trials + side.n_unscored
        if side.n_unscored > most * asked:
            counts = {status: n for status, n in side.status_counts.items() if status != "ok"}
            kinds = ", ".join(f"{count} {status}" for status, count in counts.items())
            reasons.append(
                f"{side.n_unscored} of {asked} trials of {name} have no score ({kinds}), more than "
                f"the {100 * most:g}% that max_failed allows"
            )
    return "; ".join(reasons)


def left_out_reason(comparison: Comparison, most: float) -> str:
    """Return how many of the base's problems are not compared, if they are too many."""
    asked = comparison.n_shared + comparison.only_a
    if comparison.only_a + comparison.left_out <= most * asked:
        return ""
    parts = [
        (comparison.only_a, "not in NEW"),
        (comparison.left_out, f"with too few scored trials for {comparison.metric}"),
    ]
    kinds = ", ".join(f"{count} {why}" for count, why in parts if count)
    return (
        f"{comparison.only_a + comparison.left_out} of {asked} problems of BASE are not compared "
        f"({kinds}), more than the {100 * most:g}% that max_left_out allows"
    )

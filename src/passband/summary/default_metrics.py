"""The metrics to show when none is named."""

from __future__ import annotations

from passband.stats.data.outcomes import Outcomes

__all__ = ["default_metrics"]


def default_metrics(outcomes: Outcomes, *, most: int | None = None) -> list[str]:
    """Return metrics at k = 1, 2, 4, ... up to what every problem allows.

    With `most`, every second or third k, so that there are no more than that. Outcomes without a
    scored trial get pass@1, whose line then gives the reason.

    >>> default_metrics(Outcomes.from_counts([1, 2], 8))
    ['pass@1,2,4,8', 'pass^1,2,4,8']
    """
    if not outcomes.n_trials:
        return ["pass@1"]
    fewest = int(outcomes.trials[outcomes.trials > 0].min(initial=outcomes.most_trials()))
    powers = fewest.bit_length()
    step = 1 if most is None else -(-powers // most)
    ks = ",".join(str(2**power) for power in range(0, powers, step))
    return [f"pass@{ks}", f"pass^{ks}"] if outcomes.is_binary else ["avg", f"max@{ks}"]

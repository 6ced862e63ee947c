"""Scores that agree in all trials of each problem, where no texts show whether answers do."""

from __future__ import annotations

from passband.stats.data.evidence import Finding
from passband.stats.evidence.agreement import copies_found
from passband.types import Bools, Ints

__all__ = ["alike_findings"]

_PROBLEMS = 20  # with several trials
_REPEATS = 60  # trials beyond the first of their problem
_MIXED = 0.01  # of the problems may have both scores
_EACH_KIND = 0.1  # of the problems are all right, and as many all wrong, at least
_FEWEST = 5


def alike_findings(trials: Ints, successes: Ints) -> tuple[Finding, ...]:
    """Find that problems are either right in all of their trials or wrong in all.

    At most 1 % of at least 20 problems with several trials have both scores, a tenth of them or
    more are all right and a tenth all wrong. A model that is sampled is hardly ever like that:
    with success rates from Beta(.1, .1), 60 pairs of trials agree with probability .005.

    >>> import numpy as np
    >>> found = alike_findings(np.full(20, 4), np.array([4, 0] * 10))
    >>> [(finding.code, finding.severity, dict(finding.targets)) for finding in found]
    [('identical-scores', 'invalid', {'trials': 1}), ('copied-draws', 'weak', {'problems': 2})]
    """
    several = trials > 1
    n, c = trials[several], successes[several]
    is_mixed: Bools = (c > 0) & (c < n)
    right, wrong = int((c == n).sum()), int((c == 0).sum())
    is_each = min(right, wrong) >= max(_FEWEST, _EACH_KIND * len(n))
    is_enough = len(n) >= _PROBLEMS and (n - 1).sum() >= _REPEATS
    if not is_each or not is_enough or is_mixed.sum() > _MIXED * len(n):
        return ()
    text = (
        f"all trials have the same score in {right + wrong} of {len(n)} problems, right {right} "
        f"times and wrong {wrong} times, as if answers were copied or cached, or decoding is greedy"
    )
    numbers: dict[str, float | int | str] = {"right": right, "wrong": wrong, "problems": len(n)}
    return copies_found("identical-scores", text, numbers)

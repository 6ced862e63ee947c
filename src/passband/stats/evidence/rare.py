"""Rare problems at the far end of a bounded scale, which so few problems may not have shown."""

from __future__ import annotations

import math

from passband.stats.data.evidence import Finding
from passband.stats.tolerance import ROUNDING
from passband.types import Floats

__all__ = ["rare_findings"]

_MISSED = 0.025  # the probability that problems of such a share are all missed
_WIDTHS = 4.0  # half-widths of an interval that they would move the mean by


def rare_findings(means: Floats, low: float, high: float) -> tuple[Finding, ...]:
    """Find that the mean of a bounded score, higher ones better, may lack problems not drawn.

    M problems miss those of a share x = 1 - .025^(1/M) with probability .025. If all of them are at
    the end of the scale that is farther away, the mean m moves by x (end - m). It is a finding if
    that is more than four times 2 s / sqrt(M), of M values with standard deviation s: full credit
    may be rare where there is little partial credit, and total failure where nearly all is well.

    >>> import numpy as np
    >>> means = np.linspace(0.0, 0.1, 20)
    >>> (finding,) = rare_findings(means, 0.0, 1.0)
    >>> print(finding.text)
    all 20 problems score within 0.05 of their mean: up to 17% of problems with the best score \
would not have shown in so few, and the mean would then be better by 0.16
    >>> rare_findings(1.0 - means, 0.0, 1.0)[0].text[-13:]
    'worse by 0.16'
    >>> rare_findings(np.linspace(0.2, 0.8, 20), 0.0, 1.0)
    ()
    """
    problems = len(means)
    if problems < 2:
        return ()
    mean, spread = float(means.mean()), float(means.std(ddof=1))
    missed = -math.expm1(math.log(_MISSED) / problems)
    moved = missed * max(high - mean, mean - low)
    if spread <= ROUNDING or moved <= _WIDTHS * 2.0 * spread / math.sqrt(problems):
        return ()
    end, side = ("best", "better") if high - mean >= mean - low else ("worst", "worse")
    text = (
        f"all {problems} problems score within {abs(means - mean).max():.2g} of their mean: up to "
        f"{missed:.0%} of problems with the {end} score would not have shown in so few, and the "
        f"mean would then be {side} by {moved:.2g}"
    )
    numbers = {"share": missed, "moved": moved}
    return (Finding("rare-credit", "weak", text, {"problems": 1}, numbers),)

"""Problems that are copies of each other by their prompts."""

from __future__ import annotations

import math

import numpy as np

from passband.notes import Severity
from passband.stats.data.evidence import Finding
from passband.types import Ints

__all__ = ["problem_copies"]

_MANY = 1.2  # the variance of a mean over problems, over that without copies, at most


def problem_copies(prompts: Ints) -> tuple[Finding, ...]:
    """Find problems with equal prompts, given a number for the prompt of each.

    If the results of copies are equal, too, groups of sizes g_1, g_2, ... multiply the variance of
    a mean over M problems by sum(g^2) / M. Up to 1.2 of it is a remark; an interval of 95 % covers
    93 % then.

    >>> (finding,) = problem_copies(np.array([7, 7, 8, 8, 9, 9]))
    >>> finding.severity, finding.numbers["copies"], round(finding.numbers["inflation"], 2)
    ('weak', 3, 1.41)
    """
    _, sizes = np.unique(prompts, return_counts=True)
    copies = len(prompts) - len(sizes)
    if not copies:
        return ()
    variance = float((sizes**2).sum()) / len(prompts)
    text = (
        f"{len(prompts)} problems have {len(sizes)} different prompts: {copies} "
        f"{'is a copy' if copies == 1 else 'are copies'} of others, which an interval over "
        f"problems counts as new ones; it may have to be {math.sqrt(variance):.2f} times as wide, "
        "and --cluster prompt makes it so"
    )
    numbers = {"copies": copies, "prompts": len(sizes), "inflation": math.sqrt(variance)}
    severity: Severity = "weak" if variance > _MANY else "remark"
    return (Finding("copied-problems", severity, text, {"problems": 1}, numbers),)

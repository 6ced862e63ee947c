"""Find problems with copied prompts, unasked problems, and results of unknown ones."""

from __future__ import annotations

import math

import numpy as np

from passband.notes import Severity
from passband.stats.data.evidence import Finding
from passband.types import Ints

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


_LARGE = 0.1  # of all problems of the task


def unasked_findings(
    asked: int, not_asked: int, gone: int = 0, shuffled: bool = False, limit: int | None = None
) -> tuple[Finding, ...]:
    """Find problems of the task without results, and results of unknown problems.

    The problems asked first are like the others if they were `shuffled`. In the order of a file,
    which may be that of difficulty or subject, they are not: over problems that is invalid where
    more than a tenth of the task is missing, else weak.

    >>> (finding,) = unasked_findings(73, 127)
    >>> finding.severity_for("problems", 1), finding.severity_for("trials", 1)
    ('invalid', 'remark')
    >>> print(finding.text)
    127 of 200 problems have not been asked; the results are of the first 73 of the file, which \
may be unlike the others
    """
    return (*_unasked(asked, not_asked, shuffled), *_gone(gone), *_limited(limit))


def _unasked(asked: int, not_asked: int, shuffled: bool) -> tuple[Finding, ...]:
    if not asked or not not_asked:
        return ()
    total = asked + not_asked
    text = f"{not_asked} of {total} problems {_have(not_asked)} not been asked; the results are of "
    numbers = {"asked": asked, "not_asked": not_asked}
    if shuffled:
        text += f"{asked} drawn at random, which are like the others"
        return (Finding("unasked-problems", "remark", text, {}, numbers),)
    text += f"the first {asked} of the file, which may be unlike the others"
    severity: Severity = "invalid" if not_asked > _LARGE * total else "weak"
    return (Finding("unasked-problems", severity, text, {"problems": 1}, numbers),)


def _gone(gone: int) -> tuple[Finding, ...]:
    if not gone:
        return ()
    text = f"the results are also of {gone} problem{'s' * (gone > 1)} that the task no longer has"
    return (Finding("gone-problems", "remark", text, {}, {"gone": gone}),)


def _limited(limit: int | None) -> tuple[Finding, ...]:
    if limit is None:
        return ()
    text = (
        f"the task was cut to the first {limit} problems of its data (--limit), and those after "
        "may be unlike them"
    )
    return (Finding("limited-problems", "remark", text, {}, {"limit": limit}),)


def _have(number: int) -> str:
    return "has" if number == 1 else "have"

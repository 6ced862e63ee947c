"""Find answers whose texts are copies: in all trials of a problem, or of the one before.

Texts are numbers here, equal for equal texts. A model that is asked again writes another text,
unless the answer is a letter or a number, which a model that is sure repeats. What a sure model
hardly does is to be wrong in the same words each time, in every problem that it does not solve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from passband.notes import Severity
from passband.stats.data.evidence import Finding
from passband.stats.evidence.agreement import (
    NeighbourAgreement,
    agreement_of,
    copied_findings,
    copies_found,
    falling_sums,
)
from passband.types import Ints

_ENOUGH = 5  # answers beyond the first of their problem
_MOST = 0.5  # of the problems, with long answers
_SEVERAL = 0.1  # of them, at least two
_HARDLY_ANY = 0.05  # of the problems that are not solved have short answers that differ
_FEW = 0.15
_WRONG_KEYS = 0.05 + 1e-9  # of the problems, where a sure model is wrong each time ...
_FEW_KEYS = 2.5  # ... if there are no more
_FAR = 3.1  # standard errors; in one direction


@dataclass(frozen=True)
class _Copies:
    """Count problems with equal answers in all trials."""

    equal: int
    problems: int  #: that have several answers
    solved: float  #: the share of problems all of whose trials are right

    @property
    def share(self) -> float:
        return self.equal / self.problems

    @property
    def varied(self) -> float:
        """The share with answers that differ, of the problems that are not solved.

        At most: of the solved ones, some may have answers that differ, too.
        """
        if self.share <= self.solved:
            return 1.0
        return (1.0 - self.share) / (1.0 - self.solved)


def text_findings(
    codes: Ints, offsets: Ints, *, short: bool = False, greedy: bool = False, solved: float = 0.0
) -> tuple[Finding, ...]:
    """Find copies among the answers of problem i, ``codes[offsets[i]:offsets[i + 1]]``.

    - *identical-answers*: all answers of a problem are equal. Over trials this is invalid for long
      answers if it holds for more than half of the problems, and weak for more than a tenth. For
      `short` ones, such as "A" or "42", it is invalid where answers differ in at most 5 % of the
      problems that are not `solved`, and weak where they do in 15 %, unless those with equal ones
      are two, and 5 % of all, at most: their keys may be wrong.
    - *copied-trials*, *copied-draws*: successive answers agree more often than any two of their
      problem.
    - *greedy-decoding*: with `greedy` decoding answers are equal by design; only this is found.

    >>> codes, offsets = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3]), np.array([0, 3, 6, 9])
    >>> [(one.code, one.severity) for one in text_findings(codes, offsets)]
    [('identical-answers', 'invalid'), ('copied-draws', 'weak')]
    >>> text_findings(codes, offsets, short=True)
    ()
    """
    n = np.diff(offsets)
    owners = np.repeat(np.arange(len(n)), n)
    same = (codes[1:] == codes[:-1]) & (owners[1:] == owners[:-1])
    agreeing = np.bincount(owners[:-1][same], minlength=len(n))
    several = n > 1
    if (n[several] - 1).sum() < _ENOUGH:
        return ()
    equal = int((agreeing[several] == n[several] - 1).sum())
    copies = _Copies(equal, int(several.sum()), solved)
    if greedy:
        return (_greedy(copies),)
    severity = _severity_of_short(copies) if short else _severity_of_long(copies)
    found = () if severity is None else _identical(copies, severity)
    sums = falling_sums(codes, owners, len(n))
    agreement = agreement_of(agreeing, np.maximum(n - 1, 0), 2 * np.maximum(n - 2, 0), n, sums)
    return (*found, *_copied(agreement))


def solved_share(trials: Ints, right: Ints, each: int) -> float:
    """Return the share of problems with `each` trials that are all right.

    With c of n trials right it is C(c, each) / C(n, each), which is unbiased for any n.

    >>> solved_share(np.array([4, 4, 1]), np.array([4, 2, 1]), 2)
    0.5833333333333334
    """
    enough = trials >= max(each, 1)
    if not enough.any():
        return 0.0
    n, c = trials[enough], right[enough]
    chances = np.ones(len(n))
    for drawn in range(each):
        chances *= np.maximum(c - drawn, 0) / (n - drawn)
    return float(chances.mean())


def _severity_of_long(copies: _Copies) -> Severity | None:
    if copies.share > _MOST:
        return "invalid"
    return "weak" if copies.share > _SEVERAL and copies.equal > 1 else None


def _severity_of_short(copies: _Copies) -> Severity | None:
    wrong = copies.share - copies.solved
    if wrong <= _WRONG_KEYS and wrong * copies.problems <= _FEW_KEYS:
        return None
    if copies.varied <= _HARDLY_ANY:
        return "invalid"
    return "weak" if copies.varied <= _FEW else None


def _identical(copies: _Copies, severity: Severity) -> tuple[Finding, ...]:
    text = (
        f"all answers are identical in {copies.equal} of {copies.problems} problems, as if the "
        "server ignored the temperature or the seeds, or returned what it had cached"
    )
    found = copies_found("identical-answers", text, _numbers(copies))
    return found if severity == "invalid" else (replace(found[0], severity=severity),)


def _greedy(copies: _Copies) -> Finding:
    text = (
        f"decoding is greedy (temperature 0): all answers are identical in {copies.equal} of "
        f"{copies.problems} problems, as they should be, and n identical trials are worth one"
    )
    return Finding("greedy-decoding", "remark", text, {}, _numbers(copies))


def _numbers(copies: _Copies) -> dict[str, float | int | str]:
    return {"identical": copies.equal, "problems": copies.problems, "share": copies.share}


def _copied(agreement: NeighbourAgreement) -> tuple[Finding, ...]:
    return copied_findings(agreement, "successive answers") if agreement.z > _FAR else ()

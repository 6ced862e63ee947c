"""Test whether successive trials agree more often than others of the same problem.

Given how often each value occurs among a problem's n trials, which trials have which is for chance
to decide if the trials are independent and alike. Of e pairs of neighbours, the number A that agree
has then the mean e P_2 / n_(2), where P_r is the sum over the values, which occur m times, of the
falling power m_(r) = m (m - 1) ... (m - r + 1). With h ordered pairs of pairs that have one trial
in common, E[A^2] = e P_2 / n_(2) + h P_3 / n_(3) + (e^2 - e - h) (P_2^2 - 4 P_3 - 2 P_2) / n_(4).

`alike_findings` reports scores that agree in all trials of each problem, if there are no texts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from passband.stats.data.evidence import Finding
from passband.stats.evidence.correlation import standard_errors
from passband.types import Bools, Floats, Ints


@dataclass(frozen=True)
class NeighbourAgreement:
    """Compare agreements of neighbours with chance."""

    share: float  #: of the pairs of neighbours, in problems whose trials are not all alike
    expected: float
    z: float


def agreement_of(
    agreeing: Ints, edges: Ints, shared: Ints, n: Ints, sums: Floats
) -> NeighbourAgreement:
    """Compare the agreeing neighbours of each problem with those expected.

    `edges` and `shared` are e and h of each problem, `sums` has its P_2 and P_3. Problems whose
    trials all agree, or all differ, say nothing.
    """
    keep = (edges > 0) & (n >= 3) & (sums[0] > 0) & (sums[0] < n * (n - 1.0))
    if not keep.any():
        return NeighbourAgreement(0.0, 0.0, 0.0)
    e, h, size = (each[keep].astype(np.float64) for each in (edges, shared, n))
    twos, threes = sums[:, keep]
    pairs = twos / (size * (size - 1.0))
    triples = threes / (size * (size - 1.0) * (size - 2.0))
    disjoint = (twos**2 - 4.0 * threes - 2.0 * twos) / np.maximum(
        size * (size - 1.0) * (size - 2.0) * (size - 3.0), 1.0
    )
    mean = e * pairs
    variance = e * pairs + h * triples + (e * e - e - h) * disjoint - mean**2
    total = float(e.sum())
    share, expected = float(agreeing[keep].sum()) / total, float(mean.sum()) / total
    error = math.sqrt(max(float(variance.sum()), 0.0)) / total
    return NeighbourAgreement(share, expected, standard_errors(share, expected, error, total**-0.5))


def falling_sums(values: Floats | Ints, owners: Ints, problems: int) -> Floats:
    """Return P_2 and P_3 of each problem, as two rows.

    >>> falling_sums(np.array([7, 7, 7, 4, 7]), np.array([0, 0, 0, 1, 1]), 2).tolist()
    [[6.0, 0.0], [6.0, 0.0]]
    """
    order = np.lexsort((values, owners))
    values, owners = values[order], owners[order]
    is_new: Bools = np.ones(len(values), dtype=bool)
    is_new[1:] = (values[1:] != values[:-1]) | (owners[1:] != owners[:-1])
    (starts,) = is_new.nonzero()
    m = np.diff(starts, append=len(values)).astype(np.float64)
    twos = m * (m - 1.0)
    powers = (twos, twos * (m - 2.0))
    return np.array([np.bincount(owners[starts], each, minlength=problems) for each in powers])


def copied_findings(agreement: NeighbourAgreement, what: str) -> tuple[Finding, ...]:
    """Return findings on `what` agreeing too often, over trials and for k draws."""
    numbers = {"share": agreement.share, "expected": agreement.expected, "z": agreement.z}
    text = (
        f"{what} agree in {agreement.share:.2f} of all pairs, where {agreement.expected:.2f} would "
        "by chance, as if answers were copied or cached"
    )
    return copies_found("copied-trials", text, numbers)


def copies_found(
    code: str, text: str, numbers: Mapping[str, float | int | str]
) -> tuple[Finding, ...]:
    """Return the findings on copies, over trials and for several draws; `text` describes them.

    Both have one sentence, so that it is printed once.
    """
    text = (
        f"{text}; copies are not new trials: an interval over trials would be too narrow, pass@k "
        "is too low, and pass^k too high"
    )
    return (
        Finding(code, "invalid", text, {"trials": 1}, numbers),
        Finding("copied-draws", "weak", text, {"problems": 2}, numbers),
    )


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

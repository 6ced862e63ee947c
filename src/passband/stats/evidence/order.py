"""Find trials that are not alike in the order in which they were asked.

Given the scores of a problem, any order of them is as likely as any other if the number of trials
was fixed and the trials are independent and alike. Scores that are not 0 and 1 are read as above
the mean of their problem, or not.

`RoundEffects` tests whether the trials of one round are unlike those of another. D_t is the sum
over problems of the score in round t less the problem's mean; with n_i trials of problem i, and v_i
the variance of its scores, Cov(D_s, D_t) is the sum of v_i ([s = t] - 1/n_i) over the problems that
have both. The trend, sum of t D_t, is one direction among them; what is left of D' C^- D without it
is chi-square with a degree of freedom less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passband.stats.data.evidence import Finding
from passband.stats.data.sequence import AskedScores
from passband.stats.evidence.agreement import (
    NeighbourAgreement,
    agreement_of,
    copied_findings,
    falling_sums,
)
from passband.stats.evidence.correlation import standard_errors
from passband.stats.evidence.counts import (
    count_findings,
    first_of_each,
    graded_count_findings,
)
from passband.types import Bools, Floats, Ints

_SEVERAL = 5  # problems that a round needs
_MOST_ROUNDS = 200


@dataclass(frozen=True)
class RoundEffects:
    """Measure the differences between rounds."""

    trend: float  #: in standard errors; below 0 if later trials score less
    others: float  #: what is left without the trend, as a normal deviate
    round: int  #: the one most unlike the others, from 1
    apart: float  #: how far it is, in standard errors
    inflation: float  #: of the standard error of the mean, beyond that of trials that are alike


def rounds_of(deviations: Floats, position: Ints, n: Ints, variances: Floats) -> RoundEffects:
    """Compare the rounds, given each trial's score less its problem's mean, and its round from 0.

    `n` and `variances` are of the problems.
    """
    trend = float(deviations @ (position + 1.0))
    spread = float(variances @ (n * (n + 1.0) * (n - 1.0))) / 12.0
    z = trend / math.sqrt(spread) if spread > 0.0 else 0.0
    totals, covariance = _totals(deviations, position, n, variances)
    if len(totals) < 2:
        return RoundEffects(z, 0.0, 0, 0.0, 1.0)
    chi_square, freedom = _quadratic(totals, covariance)
    steps = np.arange(1.0, len(totals) + 1.0)
    along = float(steps @ totals) ** 2 / float(steps @ covariance @ steps)
    apart = totals / np.sqrt(np.diag(covariance))
    worst = int(np.argmax(np.abs(apart)))
    inflation = math.sqrt(max(chi_square / freedom, 1.0))
    others = _deviate(max(chi_square - along, 0.0), freedom - 1)
    return RoundEffects(z, others, worst + 1, float(apart[worst]), inflation)


def _totals(
    deviations: Floats, position: Ints, n: Ints, variances: Floats
) -> tuple[Floats, Floats]:
    """Return D and its covariance, of the first rounds that several problems have."""
    rounds = min(int((_from(np.bincount(n)) >= _SEVERAL).sum()), _MOST_ROUNDS)
    totals = np.bincount(position, deviations, minlength=rounds)[:rounds].astype(np.float64)
    own = _from(np.bincount(n, variances))[:rounds]
    shared = _from(np.bincount(n, variances / n))
    later = np.maximum.outer(np.arange(rounds), np.arange(rounds))
    return totals, np.diag(own) - shared[later]


def _from(tally: Floats | Ints) -> Floats:
    """Return the sums of what belongs to t trials or more, for t = 1, 2, ..."""
    sums: Floats = np.cumsum(tally[:0:-1], dtype=np.float64)[::-1]
    return sums


def _quadratic(totals: Floats, covariance: Floats) -> tuple[float, int]:
    """Return D' C^- D, and the rank of C."""
    spreads, axes = np.linalg.eigh(covariance)
    keep = spreads > 1e-9 * spreads[-1]
    return float(((totals @ axes)[keep] ** 2 / spreads[keep]).sum()), int(keep.sum())


def _deviate(chi_square: float, freedom: int) -> float:
    """Return the normal deviate with the same upper tail (Wilson and Hilferty 1931)."""
    if freedom < 1:
        return 0.0
    spread = 2.0 / (9.0 * freedom)
    return (float(np.cbrt(chi_square / freedom)) - 1.0 + spread) / math.sqrt(spread)


# Standard errors; all tests together, with those of counts, are to alarm in less than 1 % of fair
# data sets.
_FAR = 3.3  # of the last trial, of a trend
_FAR_COPIES = 3.1  # in one direction
_FAR_ROUNDS = 2.9

_SORTED = Finding(
    "order-unknown",
    "remark",
    "the scores of each problem are sorted, so that the order is not that of asking: whether later "
    "trials are like earlier ones cannot be seen, and there are no first trials to use",
)


def order_findings(sequence: AskedScores, counts_explained: bool = False) -> tuple[Finding, ...]:
    """Find trends, unlike rounds and copies in the order of trials.

    - *stopped-by-results*: the last trial of problems with fewer trials than the most scores 1
      more often than c/n, or less often. Not asked if `counts_explained`: a plan that saw no
      result fixed the numbers of trials.
    - *drift*: scores rise or fall with the index of the trial.
    - *unlike-round*: a round is unlike the others, or rounds scatter more than their trials do.
    - *copied-trials*: successive trials agree more often than any two of a problem.

    Each alarms at about three standard errors. If results decided the numbers of trials, as the
    last trials or `count_findings` show, the others are looked for in the first trials of each
    problem, as many as all have: those were asked whatever the rule.

    >>> rows = [[0, 0, 1], [1], [0, 1], [0, 0, 0, 0], [0, 0, 0, 1]] * 8
    >>> tried = AskedScores(np.concatenate(rows), np.cumsum([0, *map(len, rows)]))
    >>> [finding.code for finding in order_findings(tried)]
    ['stopped-by-results']
    """
    if not len(sequence.values):
        return ()
    if sequence.is_sorted:
        return (_SORTED,)
    table = _Table.of(sequence)
    stopped = None if counts_explained else _stopped_by_results(table)
    if stopped or not (counts_explained or table.counts_look_fair):
        table = _Table.of(sequence.first(int(table.n.min())))
    return (*([stopped] if stopped else ()), *_unlike_trials(table))


@dataclass(frozen=True)
class _Table:
    """The problems of a sequence that have any trials, and their scores as 0 and 1."""

    sequence: AskedScores
    bits: Bools  #: whether a score is 1; if not all are 0 or 1, whether it is above its mean
    n: Ints
    c: Ints
    means: Floats
    is_binary: bool

    @staticmethod
    def of(sequence: AskedScores) -> _Table:
        """Read the scores of a sequence."""
        values, counts = sequence.values, sequence.counts()
        starts, n = sequence.offsets[:-1][counts > 0], counts[counts > 0]
        means = np.add.reduceat(values, starts, dtype=np.float64) / n
        is_binary = bool(((values == 0) | (values == 1)).all())
        bits = values == 1 if is_binary else values > np.repeat(means, n)
        c = np.add.reduceat(bits, starts, dtype=np.int64)
        return _Table(sequence, bits, n, c, means, is_binary)

    @property
    def is_mixed(self) -> Bools:
        """Whether a problem has both scores, so that order is informative."""
        is_mixed: Bools = (self.c > 0) & (self.c < self.n)
        return is_mixed

    @property
    def counts_look_fair(self) -> bool:
        """Whether counts show no sign that results decided the numbers of trials."""
        if self.is_binary:
            return not count_findings(self.n, self.c)
        return not graded_count_findings(self.n, self.means)


def _stopped_by_results(table: _Table) -> Finding | None:
    """Compare the last trial of mixed problems with fewer than the most trials with c/n."""
    n, cap = table.n, int(table.n.max())
    keep = (n < cap) & table.is_mixed
    problems = int(keep.sum())
    if not problems:
        return None
    rates = table.c[keep] / n[keep]
    share = float(table.bits[np.cumsum(n)[keep] - 1].mean())
    error = math.sqrt(float((rates * (1.0 - rates)).sum())) / problems
    expected = float(rates.mean())
    if abs(standard_errors(share, expected, error, problems**-0.5)) <= _FAR:
        return None
    first = int(n.min())
    text = (
        f"of {problems} problems with fewer than {cap} trials, the last trial "
        f"{'scores 1' if table.is_binary else 'is above the mean'} in {share:.0%}, where it would "
        f"in {expected:.0%} by chance, as if results decided when to stop; no interval is right "
        f"for that. {first_of_each(first)}"
    )
    numbers = {"share": share, "expected": expected, "first": first}
    return Finding("stopped-by-results", "invalid", text, numbers=numbers)


def _unlike_trials(table: _Table) -> tuple[Finding, ...]:
    """Return the clearest of trend, unlike rounds and copies, which bring each other about."""
    if not table.is_mixed.any():
        return ()
    rounds, agreement = _rounds(table), _agreement(table)
    by_round = max(abs(rounds.trend), rounds.others)
    if agreement.z > max(_FAR_COPIES, by_round):
        return copied_findings(agreement, "scores of successive trials")
    if abs(rounds.trend) <= _FAR and rounds.others <= _FAR_ROUNDS:
        return ()
    if abs(rounds.trend) > max(_FAR, abs(rounds.apart)):
        return (_drift(table, rounds),)
    return (_unlike_round(table, rounds),)


def _rounds(table: _Table) -> RoundEffects:
    keep = table.is_mixed
    n, rates = table.n[keep], table.c[keep] / table.n[keep]
    position = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
    deviations: Floats = table.bits[np.repeat(keep, table.n)] - np.repeat(rates, n)
    return rounds_of(deviations, position, n, rates * (1.0 - rates) * n / (n - 1))


def _drift(table: _Table, rounds: RoundEffects) -> Finding:
    early, late = _halves(table)
    text = (
        f"later trials score {'higher' if late > early else 'lower'}: {early:.2f} on average in "
        f"the first half of the trials of a problem, {late:.2f} in the second; if the model, the "
        "server or the prompt changed meanwhile, the estimate is of none of them"
    )
    numbers = {"early": early, "late": late, "z": rounds.trend, "inflation": rounds.inflation}
    return Finding("drift", "weak", text, numbers=numbers)


def _halves(table: _Table) -> tuple[float, float]:
    """Return the mean score of the first and of the second half of each problem's trials."""
    n = table.n
    position = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
    half = np.repeat(n // 2, n)
    values = table.sequence.values
    early, late = position < half, position >= np.repeat(n, n) - half
    return float(values[early].mean()), float(values[late].mean())


def _unlike_round(table: _Table, rounds: RoundEffects) -> Finding:
    what = "the rounds of asking are unlike each other by more than the noise of their trials"
    numbers: dict[str, float | int] = {"inflation": rounds.inflation}
    if abs(rounds.apart) > _FAR:
        position, values = rounds.round - 1, table.sequence.values
        has = table.n > position
        mean = float(values[(np.cumsum(table.n) - table.n)[has] + position].mean())
        what = (
            f"round {rounds.round} of asking is unlike the others: its mean score is {mean:.2f}, "
            f"and that of all {float(values.mean()):.2f}"
        )
        numbers["round"] = rounds.round
    text = (
        f"{what}; trials of one round are not independent, and an interval over trials should be "
        f"{rounds.inflation:.1f} times as wide"
    )
    return Finding("unlike-round", "weak", text, numbers=numbers)


def _agreement(table: _Table) -> NeighbourAgreement:
    """Compare successive trials with any two of a problem: is their score the same?"""
    n, c, sequence = table.n, table.c.astype(np.float64), table.sequence
    same = (sequence.values[1:] == sequence.values[:-1]) & sequence.neighbours
    owners = np.repeat(np.arange(len(n)), n)
    agreeing = np.bincount(owners[:-1][same], minlength=len(n))
    if table.is_binary:
        kinds = np.array([c, n - c])
        twos = kinds * (kinds - 1.0)
        sums = np.array([twos.sum(axis=0), (twos * (kinds - 2.0)).sum(axis=0)])
    else:
        sums = falling_sums(sequence.values, owners, len(n))
    return agreement_of(agreeing, n - 1, 2 * np.maximum(n - 2, 0), n, sums)

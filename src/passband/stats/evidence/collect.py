"""Collect the evidence on outcomes: their reader's findings, and those in their counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from passband.errors import InvalidInput
from passband.notes import Note, plural
from passband.stats.checks import ROUNDING, Over
from passband.stats.data.counts import Histogram
from passband.stats.data.evidence import COUNTS_FIXED, Evidence, Finding
from passband.stats.data.outcomes import MISSING, Outcomes
from passband.stats.evidence.agreement import alike_findings
from passband.stats.evidence.counts import (
    count_findings,
    failure_findings,
    graded_count_findings,
    stopping_findings,
)
from passband.stats.evidence.order import order_findings
from passband.types import Floats, Ints

_BEYOND_CHANCE = 2.576  # standard errors: 1 % of alike groups
_LARGE = 0.1  # difference in pass@1 that is worth a note though it could be chance ...
_SEVERAL = 5  # ... if it rests on this many problems


def left_out_notes(outcomes: Outcomes, k: int) -> tuple[Note, ...]:
    """Return the note on the problems with fewer than k trials, if they are unlike the others."""
    if outcomes.successes is None or np.count_nonzero(outcomes.trial_tally[1:]) < 2:
        return ()
    note = _left_out(outcomes.histogram, k)
    return () if note is None else (note,)


def _left_out(pairs: Histogram, k: int) -> Note | None:
    """Compare the problems with fewer than k trials with the others."""
    short = pairs.trials < k
    left, kept = pairs.where(short), pairs.where(~short)
    if not left.n_problems or not kept.n_problems:
        return None
    apart = _rate(left) - _rate(kept)
    rate = pairs.successes / pairs.trials
    spread = pairs.mean(rate**2) - pairs.mean(rate) ** 2
    error = math.sqrt(max(spread, 0.0) * (1.0 / left.n_problems + 1.0 / kept.n_problems))
    is_large = abs(apart) >= _LARGE and min(left.n_problems, kept.n_problems) >= _SEVERAL
    if not is_large and abs(apart) <= _BEYOND_CHANCE * error:
        return None
    return left_out_differ(_rate(left), _rate(kept), left.n_problems, k)


def _rate(pairs: Histogram) -> float:
    return pairs.mean(pairs.successes / pairs.trials)


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


def evidence_of(outcomes: Outcomes) -> Evidence:
    """Return the evidence on outcomes of which higher scores are better; found once, and kept."""
    if "evidence" not in outcomes.memo:
        own = (*_of_counts(outcomes), *_of_order(outcomes), *_of_scores(outcomes))
        outcomes.memo["evidence"] = _with_one_cause(outcomes.found.joined(own))
    evidence: Evidence = outcomes.memo["evidence"]
    return evidence


def require_claims(what: str, outcomes: Outcomes, over: Over, k: int) -> None:
    """Refuse outcomes whose data forbid an interval for a target, unless accepted."""
    finding = evidence_of(outcomes).against(over, k)
    if finding is not None:
        raise InvalidInput(
            f"{what}: {finding.text} (to go on all the same, accept {finding.code!r})"
        )


def data_notes(outcomes: Outcomes, k: int, over: Over) -> tuple[Note, ...]:
    """Return the evidence as notes, with one on problems with fewer than k trials."""
    return (*evidence_of(outcomes).notes(over, k), *left_out_notes(outcomes, k))


def evidence_of_strata(outcomes: Outcomes, strata: Iterable[Outcomes]) -> Evidence:
    """Return the evidence on outcomes whose strata may differ in trials.

    That they go with the difficulty of a stratum does no harm; within one it does, and so does
    trying each problem until its first success.
    """
    findings = [finding for stratum in strata for finding in _of_counts(stratum)]
    if outcomes.successes is not None:
        findings = [*stopping_findings(outcomes.trials, outcomes.successes), *findings]
    return _with_one_cause(outcomes.found.joined((*findings, *_of_order(outcomes))))


def _with_one_cause(evidence: Evidence) -> Evidence:
    """Return the evidence with one finding that results decided the numbers of trials.

    Counts and last trials may both show it, and counts name the rule.
    """
    codes = {finding.code for finding in evidence.findings}
    named = next((code for code in COUNTS_FIXED if code in codes), None)
    others = {code for code in COUNTS_FIXED if code != named}
    kept = tuple(finding for finding in evidence.findings if finding.code not in others)
    return replace(evidence, findings=kept)


def evidence_of_all(parts: Iterable[Outcomes]) -> Evidence:
    """Return the evidence on any of several outcomes; a finding about one weighs on all."""
    every = [evidence_of(part) for part in parts]
    findings = [finding for evidence in every for finding in evidence.findings]
    accepted = [code for evidence in every for code in evidence.accepted]
    return Evidence().joined(findings).accepting(accepted)


def _of_scores(outcomes: Outcomes) -> tuple[Finding, ...]:
    """Find scores that are all alike; where texts were compared, those say whether answers are."""
    if outcomes.successes is None or outcomes.found.has_texts:
        return ()
    return alike_findings(outcomes.trials, outcomes.successes)


def _of_order(outcomes: Outcomes) -> tuple[Finding, ...]:
    if outcomes.asked is None:
        return ()
    return order_findings(outcomes.asked, counts_explained=_is_planned(outcomes))


def _is_planned(outcomes: Outcomes) -> bool:
    """Return whether each problem was asked as often, and failures made the numbers differ."""
    asked, failed = outcomes.trials > 0, _failed(outcomes)
    return bool(failed.any() and asked.any() and np.ptp((outcomes.trials + failed)[asked]) == 0)


def _of_counts(outcomes: Outcomes) -> Iterator[Finding]:
    """Find what numbers of trials, failed trials and mean scores show by themselves."""
    has_trials = outcomes.trials > 0
    if not has_trials.any():
        return
    trials, failed = outcomes.trials[has_trials], _failed(outcomes)[has_trials]
    means, is_planned = _means(outcomes), _is_planned(outcomes)
    if outcomes.successes is None:
        if not is_planned:
            yield from graded_count_findings(trials, means)
        scale = outcomes.range
        if scale.low is not None and scale.high is not None:
            yield from rare_findings(means, scale.low, scale.high)
    elif not is_planned:
        yield from count_findings(trials, outcomes.successes[has_trials])
    yield from failure_findings(failed, trials, means)


def _failed(outcomes: Outcomes) -> Ints:
    """Count each problem's trials without a score."""
    kinds = [counts for status, counts in outcomes.unscored.items() if status != MISSING]
    return np.sum(kinds, axis=0) if kinds else np.zeros_like(outcomes.trials)


def _means(outcomes: Outcomes) -> Floats:
    """Return the mean score of each problem that has any."""
    has_trials = outcomes.trials > 0
    if outcomes.successes is not None:
        return outcomes.successes[has_trials] / outcomes.trials[has_trials]
    graded = outcomes.required_graded()
    sums: Floats = np.add.reduceat(graded.values, graded.offsets[:-1][has_trials])
    return sums / outcomes.trials[has_trials]


def left_out_differ(left: float, kept: float, problems: int, k: int) -> Note:
    """Return the note on problems with too few trials that are unlike the others.

    >>> print(left_out_differ(0.91, 0.24, 12, 4))
    12 problems with fewer than 4 trials are left out, and differ: their pass@1 is 0.910, that of \
the others 0.240
    """
    return Note(
        "left-out-differ",
        f"{plural(problems, 'problem')} with fewer than {k} trials are left out, and differ: their "
        f"pass@1 is {left:.3f}, that of the others {kept:.3f}",
    )

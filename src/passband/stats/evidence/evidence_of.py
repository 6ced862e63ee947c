"""All that is known about outcomes: what their reader found, and what their counts show."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.data.evidence import Evidence, Finding
from passband.stats.data.outcomes import Outcomes
from passband.stats.evidence.counts import (
    count_findings,
    graded_count_findings,
    stopping_findings,
)
from passband.stats.evidence.failures import failure_findings
from passband.stats.evidence.left_out import left_out_notes

__all__ = ["data_notes", "evidence_of", "evidence_of_all", "evidence_of_strata"]


def evidence_of(outcomes: Outcomes) -> Evidence:
    """Return the evidence on outcomes of which higher scores are better; found once, and kept."""
    if "evidence" not in outcomes.memo:
        outcomes.memo["evidence"] = outcomes.found.joined(_of_counts(outcomes))
    evidence: Evidence = outcomes.memo["evidence"]
    return evidence


def data_notes(outcomes: Outcomes, k: int, over: Over) -> tuple[Note, ...]:
    """Return what is known about outcomes as notes, and on problems with fewer than k trials."""
    return (*evidence_of(outcomes).notes(over, k), *left_out_notes(outcomes, k))


def evidence_of_strata(outcomes: Outcomes, strata: Iterable[Outcomes]) -> Evidence:
    """Return the evidence on outcomes whose numbers of trials may differ from stratum to stratum.

    That they go with the difficulty of a stratum does no harm; within one it does, and so does
    trying each problem until its first success.
    """
    findings = [finding for stratum in strata for finding in _of_counts(stratum)]
    if outcomes.successes is not None:
        findings = [*stopping_findings(outcomes.trials, outcomes.successes), *findings]
    return outcomes.found.joined(findings)


def evidence_of_all(parts: Iterable[Outcomes]) -> Evidence:
    """Return the evidence on any of several outcomes; a finding about one weighs on all."""
    every = [evidence_of(part) for part in parts]
    findings = [finding for evidence in every for finding in evidence.findings]
    accepted = [code for evidence in every for code in evidence.accepted]
    return Evidence().joined(findings).accepting(accepted)


def _of_counts(outcomes: Outcomes) -> Iterable[Finding]:
    if outcomes.successes is None:
        graded = outcomes.required_graded()
        has_any = outcomes.trials > 0
        means = (
            np.add.reduceat(graded.values, graded.offsets[:-1][has_any]) / outcomes.trials[has_any]
        )
        yield from graded_count_findings(outcomes.trials[has_any], means)
        return
    yield from count_findings(outcomes.trials, outcomes.successes)
    yield from failure_findings(outcomes.trials, outcomes.successes, outcomes.unscored)

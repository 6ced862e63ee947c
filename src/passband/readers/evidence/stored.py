"""The evidence on a run of the trials table: from its tallies, and from some of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from passband.errors import InvalidInput
from passband.readers.evidence.misread import misread_findings
from passband.readers.evidence.observed import (
    ANSWERS,
    EACH,
    AnswerTexts,
    Observed,
    Progress,
    with_evidence,
)
from passband.readers.evidence.spending import StoredSpending
from passband.stats import as_whole
from passband.stats.data import AskedScores, Finding, Outcomes
from passband.trials import RunRecord, ScorerRecord, Trials, count_complete_rounds
from passband.types import Ints

_SCORES = 50_000  # that are read in the order of asking
_PROMPTS = 100_000  # problems, beyond which copies are not looked for


def stored_outcomes(
    trials: Trials, run: RunRecord, scorer: ScorerRecord, first: int | None = None
) -> Outcomes:
    """Return the outcomes of a run, which know what its rows show beyond them.

    With `first`, they are those of so many first trials of each problem.
    """
    outcomes = trials.outcomes(run, scorer)
    if first is not None:
        return _of_first(trials, run, scorer, as_whole("first", first))
    if "with-evidence" not in outcomes.memo:
        observed = _observed(trials, run, scorer, outcomes)
        spending = StoredSpending(trials.directory, run.number)
        known = replace(outcomes, spending=spending)
        outcomes.memo["with-evidence"] = with_evidence(known, observed)
    result: Outcomes = outcomes.memo["with-evidence"]
    return result


def _of_first(trials: Trials, run: RunRecord, scorer: ScorerRecord, first: int) -> Outcomes:
    """Return the outcomes of first trials, and what is known of all but their order."""
    if first > trials.fewest_recorded(run):
        masks = trials.recorded(run.number)
        complete = {n: count_complete_rounds([mask]) for n, mask in masks.items() if mask}
        fewest = min(complete, key=complete.__getitem__)
        key = next(key for key, number in trials.numbers(run.number).items() if number == fewest)
        raise InvalidInput(
            f"{run.task}: the first {first} trials of each problem need {first} of each; problem "
            f"{key!r:.80} has {complete[fewest]}."
        )
    found = stored_outcomes(trials, run, scorer).found
    found.require_first()
    outcomes = trials.outcomes_of_first(run, first, scorer)
    spending = StoredSpending(trials.directory, run.number, first)
    return replace(outcomes, found=found.of_first(), spending=spending)


def _observed(trials: Trials, run: RunRecord, scorer: ScorerRecord, outcomes: Outcomes) -> Observed:
    findings: tuple[Finding, ...] = ()
    is_known = scorer.spec is not None or not run.is_imported  # whose other scores may be right
    if not scorer.is_label and (is_known or outcomes.is_binary):
        findings = tuple(misread_findings(trials, run, scorer))
    return Observed(
        scores=_scores(trials, run, scorer, outcomes),
        texts=_texts(trials, run, outcomes),
        is_greedy=_is_greedy(run),
        prompts=_prompts(trials, run, outcomes),
        progress=_progress(trials, run),
        findings=(*findings, *_of_servers(run), *_of_lost_rows(trials, run)),
    )


def _of_servers(run: RunRecord) -> Iterator[Finding]:
    """Find trials of several servers, which were taken for one model."""
    if len(run.addresses) > 1:
        text = f"trials are from {len(run.addresses)} addresses of one model"
        listed = ", ".join(run.addresses)
        yield Finding("moved-server", "remark", f"{text}: {listed}", {}, {"n": len(run.addresses)})


def _of_lost_rows(trials: Trials, run: RunRecord) -> Iterator[Finding]:
    """Find rows of trials that were written and are gone, though the tallies still count them."""
    if lost := trials.lost(run):
        rows = "1 row of a trial is" if lost == 1 else f"{lost} rows of trials are"
        text = f"{rows} missing from the store, and counted all the same; passband check says more"
        yield Finding("missing-rows", "weak", text, numbers={"lost": lost})


def _texts(trials: Trials, run: RunRecord, outcomes: Outcomes) -> AnswerTexts | None:
    """Return texts of some problems' first trials; None where nothing has two."""
    each = min(outcomes.most_trials(), EACH)
    if each < 2:
        return None
    rows = trials.sampled_answers(run.number, max(ANSWERS // each, 1), each)
    return AnswerTexts.of_rows([[_as_text(answer) for answer in row] for row in rows])


def _as_text(answer: tuple[Any, ...]) -> str:
    return "".join(str(part) for part in answer[1:] if part is not None)


def _scores(
    trials: Trials, run: RunRecord, scorer: ScorerRecord, outcomes: Outcomes
) -> AskedScores | None:
    if outcomes.most_trials() < 2 or scorer.is_label:
        return None
    each = max(outcomes.n_trials // outcomes.n_problems, 1)
    rows = trials.sampled_scores(run.number, scorer.number, max(_SCORES // each, 1))
    if not rows:
        return None
    table = np.array(rows, dtype=np.float64)
    _, counts = np.unique(table[:, 0], return_counts=True)
    return AskedScores(table[:, 1], np.concatenate([[0], np.cumsum(counts)]))


def _prompts(trials: Trials, run: RunRecord, outcomes: Outcomes) -> Ints | None:
    """Return a number for the prompt of each problem; None where prompts are not recorded."""
    if outcomes.n_problems > _PROMPTS or outcomes.is_clustered:
        return None
    prompts = trials.prompts(run.number)
    return None if None in prompts else np.array([hash(prompt) for prompt in prompts])


def _progress(trials: Trials, run: RunRecord) -> Progress | None:
    if run.adaptive is not None:
        return None
    coverage = trials.coverage(run)
    limit = run.config.get("limit")
    is_cut = limit is not None and coverage.asked + coverage.not_asked == limit
    return Progress(
        coverage.asked,
        coverage.not_asked,
        coverage.gone,
        run.is_shuffled,
        limit if is_cut else None,
    )


def _is_greedy(run: RunRecord) -> bool:
    """Return whether the run's settings ask for the likeliest token always."""
    sampling = run.spec.get("sampling") or run.spec
    return bool(sampling.get("temperature") == 0)

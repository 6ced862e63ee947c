"""Scores for rows: which rows are scored, by which scorers, at once or aside."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace

from passband.score import (
    NotScoredYet,
    Reference,
    Score,
    ScoredTrial,
    Scorer,
    Truncated,
    failed_score,
)
from passband.system import available_cpus
from passband.trials import ScorerEntry, ScoreRow, Status, TrialRow

_SCORED_TOO = "\ntruncated: score"  # ends the identity of a scorer of truncated completions


@dataclass(frozen=True)
class Grader:
    """The scorers of a run under their numbers in the store, and the problems' references.

    A trial that was refused, or that got no answer, is not scored: it is no wrong answer. A
    truncated one is scored only if the task or the user says so, whatever its text: a rule that
    looked at the text first would keep the short ways to an answer and drop the long ones.
    """

    scorers: Sequence[tuple[int, Scorer]]
    references: Sequence[Reference] | Mapping[int, Reference]  # by position of the problem
    truncated: Truncated = "leave"

    @property
    def scored_statuses(self) -> tuple[Status, ...]:
        """Statuses of the trials that are scored."""
        return ("ok", "truncated") if self.truncated == "score" else ("ok",)

    def quick(self) -> Grader:
        """Return a grader of the scorers that may run between two requests."""
        return self.only(lambda scorer: not scorer.slow and not scorer.is_async)

    def slow(self) -> Grader:
        """Return a grader of the scorers that must not hold up the run: slow or async ones."""
        return self.only(lambda scorer: scorer.slow or scorer.is_async)

    def only(self, is_wanted: Callable[[Scorer], bool]) -> Grader:
        """Return a grader of some of the scorers."""
        return replace(self, scorers=[pair for pair in self.scorers if is_wanted(pair[1])])

    def grade(self, row: TrialRow) -> list[ScoreRow]:
        """Return the scores of a trial by every scorer; async ones must not be among them."""
        if row.status not in self.scored_statuses:
            return []
        reference = self.references[row.problem]
        return [
            score_row(number, _score(scorer, row, reference), row.text)
            for number, scorer in self.scorers
        ]

    def grade_all(self, rows: Sequence[TrialRow]) -> None:
        """Set the scores of trials, in less time than `grade` takes over each of them."""
        statuses = self.scored_statuses
        scored = [row for row in rows if row.status in statuses]
        references = {problem: self.references[problem] for problem in {r.problem for r in scored}}
        pairs = [(row.text, references[row.problem]) for row in scored]
        for number, scorer in self.scorers:
            if scorer.takes_trial:
                scores = [
                    _score(scorer, row, reference)
                    for row, (_, reference) in zip(scored, pairs, strict=True)
                ]
            else:
                scores = scorer.score_all(pairs)
            for row, score in zip(scored, scores, strict=True):
                row.scores.append(score_row(number, score, row.text))

    async def grade_async(self, row: TrialRow, threads: Executor | None) -> list[ScoreRow]:
        """Return the scores of a trial; async scorers are awaited, others run in a thread."""
        if row.status not in self.scored_statuses:
            return []
        reference = self.references[row.problem]
        scores = []
        for number, scorer in self.scorers:
            if scorer.is_async:
                with suppress(NotScoredYet):
                    score = await _score_async(scorer, row, reference)
                    scores.append(score_row(number, score, row.text))
        rest = self.only(lambda scorer: not scorer.is_async)
        if rest.scorers:
            loop = asyncio.get_running_loop()
            scores += await loop.run_in_executor(threads, rest.grade, row)
        return scores

    def close(self) -> None:
        for _, scorer in self.scorers:
            scorer.close()


def slow_threads() -> int:
    """Return the number of threads for scorers that wait for other processes."""
    return max(4, available_cpus() + 2)


def scorer_entry(scorer: Scorer, truncated: Truncated) -> ScorerEntry:
    """Return a scorer as it is entered into the store."""
    return ScorerEntry(scorer.name, identity_of(scorer, truncated), scorer.spec)


def identity_of(scorer: Scorer, truncated: Truncated) -> str:
    """Return what the scores depend on; scoring truncated completions makes other scores."""
    return scorer.identity + (_SCORED_TOO if truncated == "score" else "")


def truncated_of(identity: str) -> Truncated:
    """Return how a recorded scorer treats truncated completions."""
    return "score" if identity.endswith(_SCORED_TOO) else "leave"


def score_row(number: int, score: Score, text: str | None) -> ScoreRow:
    """Return the row of a score; an answer that is the whole text is not stored twice."""
    value, status, answer, rule, detail = score
    if value is not None and not math.isfinite(value):
        value, status, detail = None, "error", f"the score was {value}"
    if answer == text:
        answer = None
    # What ScoreRow(...) does, without the call of a function that only passes it on.
    return tuple.__new__(ScoreRow, (number, value, status, answer, rule, detail))


def _score(scorer: Scorer, row: TrialRow, reference: Reference) -> Score:
    """Score a completion; an exception of a scorer costs one score and not the run."""
    try:
        return scorer.score(row.text, reference, **_trial(scorer, row))
    except Exception as error:
        return failed_score(error)


async def _score_async(scorer: Scorer, row: TrialRow, reference: Reference) -> Score:
    try:
        return await scorer.score_async(row.text, reference, **_trial(scorer, row))
    except NotScoredYet:
        raise
    except Exception as error:
        return failed_score(error)


def _trial(scorer: Scorer, row: TrialRow) -> dict[str, ScoredTrial]:
    """Return the further argument of a scorer that looks at more than the text."""
    if not scorer.takes_trial:
        return {}
    return {
        "trial": ScoredTrial(
            row.text, row.reasoning, row.transcript, row.status, row.prompt_tokens,
            row.completion_tokens, row.problem, row.trial,
        )
    }  # fmt: skip

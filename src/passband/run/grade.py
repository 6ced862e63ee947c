"""Scores for rows: which rows are scored, and by whom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from passband.run.settings import Truncated
from passband.score.scorer import Reference, Score, Scorer
from passband.trials.rows import ScoreRow, Status, TrialRow

__all__ = ["Grader", "identity_of"]

_DETAIL = 200  # characters of an error that are kept


@dataclass(frozen=True)
class Grader:
    """The scorers of a run under their numbers in the store, and what they compare with.

    A trial that was refused, or that gave nothing, is not scored: it is no wrong answer. One
    that was cut off is scored only if the task or the user says so, whatever it holds: a rule
    that looked at the text first would keep the short ways to an answer and drop the long ones.
    """

    scorers: Sequence[tuple[int, Scorer]]
    references: Sequence[Reference]  # by position of the problem
    truncated: Truncated = "leave"

    @property
    def scored_statuses(self) -> tuple[Status, ...]:
        return ("ok", "truncated") if self.truncated == "score" else ("ok",)

    def quick(self) -> Grader:
        """Return only the scorers that take no time worth mentioning."""
        return Grader([s for s in self.scorers if not s[1].slow], self.references, self.truncated)

    def slow(self) -> Grader:
        """Return only the scorers that must not hold up the run."""
        return Grader([s for s in self.scorers if s[1].slow], self.references, self.truncated)

    def grade(self, row: TrialRow) -> list[ScoreRow]:
        """Return what each scorer says of a trial."""
        if row.status not in self.scored_statuses:
            return []
        reference = self.references[row.problem]
        return [
            _score_row(number, _score(scorer, row.text, reference), row.text)
            for number, scorer in self.scorers
        ]

    def close(self) -> None:
        for _, scorer in self.scorers:
            scorer.close()


def identity_of(scorer: Scorer, truncated: Truncated) -> str:
    """Return what the scores depend on; scoring what was cut off makes other scores."""
    return scorer.identity + ("\ntruncated: score" if truncated == "score" else "")


def _score(scorer: Scorer, text: str | None, reference: Reference) -> Score:
    """Score a completion; what a scorer must not do costs one score and not the run."""
    try:
        return scorer.score(text, reference)
    except Exception as error:
        return Score(None, "error", detail=f"{type(error).__name__}: {error}"[:_DETAIL])


def _score_row(number: int, score: Score, text: str | None) -> ScoreRow:
    """Return the row of a score; an answer that is the whole text is not stored twice."""
    if score.value is not None and not math.isfinite(score.value):
        score = Score(None, "error", score.answer, score.rule, f"the score was {score.value}")
    answer = None if score.answer == text else score.answer
    return ScoreRow(number, score.value, score.status, answer, score.rule, score.detail)

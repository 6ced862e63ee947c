"""The votes of recorded trials: what each trial answered, as its scorer read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from passband.notes import ANSWERS_AS_TEXT, Note
from passband.score.recorded import recorded_equality
from passband.stats.data.answers import answer_text
from passband.stats.data.votes import Same, Votes, votes_of_rows
from passband.trials.reader import RunRecord, ScorerRecord, Trials
from passband.trials.rows import ScoreRow, TrialRow

__all__ = ["RecordedVotes", "stored_votes", "votes_of_log"]

_SHORT = 100  # characters; a longer completion is not an answer but leads to one


@dataclass(frozen=True)
class RecordedVotes:
    """The votes, None where the answers are not known, and notes on how answers were compared."""

    votes: Votes | None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class _Answer:
    """The scored answer of a trial."""

    score: float
    text: str | None  # None for no answer
    is_extracted: bool

    @property
    def is_long(self) -> bool:
        return not self.is_extracted and self.text is not None and len(self.text) > _SHORT


def stored_votes(
    trials: Trials,
    run: RunRecord,
    scorer: ScorerRecord,
    first: int | None = None,
    *,
    rounds: int | None = None,
) -> RecordedVotes:
    """Return the votes of a run of a trials table, by the scorer's own equality of answers.

    With `first`, of only that many scored trials of each problem; with `rounds`, of the first
    trials that were asked, whether they were scored or not.
    """
    rows: dict[int, list[_Answer]] = {problem.number: [] for problem in trials.problems(run.number)}
    rounds = trials.complete_rounds(run) if rounds is None else rounds
    for trial in trials.trials(run):
        if rounds is None or trial.trial < rounds:
            rows[trial.problem] += _scored(trial, scorer.number)
    kept = [row[:first] for row in rows.values()]
    if run.is_imported and _are_whole(kept):
        return RecordedVotes(None)
    with recorded_equality(scorer) as equality:
        return RecordedVotes(_votes(kept, equality.same), equality.notes)


def votes_of_log(problems: int, trials: Iterable[TrialRow], scorer: int) -> RecordedVotes:
    """Return the votes of a log, whose answers are compared as text."""
    rows: list[list[_Answer]] = [[] for _ in range(problems)]
    for trial in trials:
        rows[trial.problem] += _scored(trial, scorer)
    if _are_whole(rows) or _are_unknown(rows):
        return RecordedVotes(None)
    return RecordedVotes(_votes(rows, None), (ANSWERS_AS_TEXT,))


def _scored(trial: TrialRow, scorer: int) -> list[_Answer]:
    """Return the answer that a scorer gave a value; nothing where it gave none."""
    for score in trial.scores:
        if score.scorer == scorer and score.value is not None:
            text = _text(trial, score)
            return [_Answer(score.value, answer_text(text), score.answer is not None)]
    return []


def _text(trial: TrialRow, score: ScoreRow) -> str | None:
    if score.status == "no_answer":
        return None
    return trial.text if score.answer is None else score.answer


def _are_whole(rows: Sequence[Sequence[_Answer]]) -> bool:
    """Return whether what was recorded are long completions, of which no answer was extracted."""
    answers = [answer for row in rows for answer in row]
    return not any(one.is_extracted for one in answers) and any(one.is_long for one in answers)


def _are_unknown(rows: Sequence[Sequence[_Answer]]) -> bool:
    """Return whether no trial has an answer though some are right: they were not recorded."""
    answers = [answer for row in rows for answer in row]
    known = any(one.text is not None for one in answers)
    return not known and any(one.score > 0.0 for one in answers)


def _votes(rows: Sequence[Sequence[_Answer]], same: Same | None) -> Votes:
    return votes_of_rows(
        [[one.text for one in row] for row in rows],
        [[one.score for one in row] for row in rows],
        same,
    )

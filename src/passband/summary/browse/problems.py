"""Read the scores of problems: trial by trial, or as rates from the tallies alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from passband.stats.data import UNSTATED
from passband.trials import (
    ProblemRecord,
    RunRecord,
    ScorerRecord,
    Status,
    TrialFilter,
    TrialRow,
    Trials,
)

Mark = tuple[float | None, str | None]  # a trial's score, and the answer that was scored


@dataclass(frozen=True)
class Scored:
    """Scores and answers of the trials of a problem that count."""

    scores: list[float]
    answers: list[str | None]


@dataclass(frozen=True)
class ProblemScores:
    """A problem, and the status and the scores of each of its trials."""

    problem: ProblemRecord
    statuses: list[Status] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)  # completions, where they were read
    marks: dict[int, list[Mark]] = field(default_factory=dict)  # by number of the scorer

    def add(self, trial: TrialRow, scorers: Sequence[int], *, texts: bool) -> None:
        """Append the next trial."""
        self.statuses.append(trial.status)
        if texts:
            self.texts.append(trial.text)
        for scorer in scorers:
            self.marks.setdefault(scorer, []).append(_mark(trial, scorer))

    def scores(self, scorer: int) -> list[float | None]:
        """Return the score of each trial; None where it has none."""
        return [value for value, _ in self.marks.get(scorer, ())]

    def answers(self, scorer: int) -> list[str | None]:
        """Return the answer that was scored in each trial; None where there is none."""
        return [answer for _, answer in self.marks.get(scorer, ())]

    def scored(self, scorer: int, first: int | None = None, failure: float | None = None) -> Scored:
        """Return the trials that count, or the first few of them.

        Trials without a score have that of a failure and no answer, or are left out.
        """
        marks = self.marks.get(scorer, ())
        if failure is not None:
            marks = [(failure, None) if value is None else (value, said) for value, said in marks]
        kept = [(value, answer) for value, answer in marks if value is not None][:first]
        return Scored([value for value, _ in kept], [answer for _, answer in kept])


def read_scores_alone(trials: Trials, run: RunRecord) -> list[ProblemScores]:
    """Return every problem of a run with the scores that there are, and without answers.

    This reads no completion, and nothing of trials without a score: their statuses are left out.
    """
    problems = {problem.number: ProblemScores(problem) for problem in trials.problems(run.number)}
    rounds = trials.complete_rounds(run)
    for scorer in run.scorers:
        for number, trial, score in trials.scores(scorer.number):
            if rounds is not None and trial >= rounds:
                continue
            marks = problems[number].marks.setdefault(scorer.number, [])
            marks.append((score.value, None))
    return list(problems.values())


def read_problem_scores(
    trials: Trials, run: RunRecord, *, texts: bool = False
) -> list[ProblemScores]:
    """Return every problem of a run with its scores; a problem may have no trial yet."""
    scorers = [scorer.number for scorer in run.scorers]
    problems = {problem.number: ProblemScores(problem) for problem in trials.problems(run.number)}
    rounds = trials.complete_rounds(run)
    for trial in trials.trials(run):
        if rounds is None or trial.trial < rounds:
            problems[trial.problem].add(trial, scorers, texts=texts)
    return list(problems.values())


def _mark(trial: TrialRow, scorer: int) -> Mark:
    for score in trial.scores:
        if score.scorer == scorer:
            if score.status == "no_answer":
                return score.value, None
            return score.value, trial.text if score.answer is None else score.answer
    return None, None


class ProblemRate(NamedTuple):
    """A problem with its mean score; of 0/1 scores, the share of right trials."""

    number: int  #: in the store
    key: str
    trials: int  #: recorded
    scored: int
    mean: float | None  #: None where no trial has a score
    ease: float | None = None  #: the mean, mirrored where lower is better


def rates_of(trials: Trials, run: RunRecord, scorer: ScorerRecord | None) -> list[ProblemRate]:
    """Return the problems of a run, the easiest first, those without a score last."""
    sums = {} if scorer is None else {p: (n, s) for p, n, s in trials.score_sums(scorer.number)}
    recorded = trials.walk(run, TrialFilter()).matches
    scale = UNSTATED if scorer is None else run.scale(scorer)
    rates = []
    for key, number in trials.numbers(run.number).items():
        scored, total = sums.get(number, (0, 0.0))
        mean = total / scored if scored else None
        ease = scale.mirrored(mean) if scale.lower_is_better and mean is not None else mean
        rates.append(ProblemRate(number, key, recorded.get(number) or 0, scored, mean, ease))
    return sorted(rates, key=lambda rate: (rate.ease is None, -(rate.ease or 0.0)))

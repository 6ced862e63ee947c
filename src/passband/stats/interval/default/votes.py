"""The default interval of a vote among k answers.

Over problems, the vote of each problem is one score between 0 and 1, and the interval is that of a
mean of such scores. Over trials, the spread is that of replicates from fitted answers.

The value of a vote among k of n trials is the same in expectation for any n, but no formula gives
its variance. So each problem's answers are resampled, and the vote is counted over them exactly as
it was over the recorded ones. An answer is drawn as often as it was seen. A wrong answer that was
seen once is one of many that could have been: a draw of it is an answer of its own. An eighth of a
trial is added to the right answer, and as much to answers not seen so far, as a problem whose
trials all agree is not certain to go on like that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.notes import Note, plural
from passband.stats.checks import ROUNDING_DIGITS
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.votes import SILENT, Votes
from passband.stats.interval.default.wilson import level_of, roots, student_quantile
from passband.stats.interval.notes import K_ABOVE_HALF, few_informative
from passband.stats.interval.registry import Interval
from passband.stats.interval.request import IntervalRequest
from passband.stats.metric.votes import VoteValue, vote_table
from passband.types import Floats, Ints

_EXTRA = 0.125  # of a trial
_FRESH = -2  # the number of an answer that nobody else gives
_COUNTED = 1500  # votes over 64 trials
_LEAST_COUNTED = 60


@dataclass(frozen=True, eq=False)
class VoteReplicates:
    """The values of votes over new trials of some problems, for k = 1, 2, ..."""

    tables: Floats  # (problems, replicates, k)
    trials: Ints  # of each problem

    def covariance(self) -> Floats:
        """Return the covariance of a problem's values at all k, averaged over problems.

        Draws from n recorded trials spread by (n-1)/n of what the trials themselves do.
        """
        away = self._away()
        flat = away.reshape(-1, away.shape[2])
        result: Floats = flat.T @ flat / len(flat) * self._correction
        return result

    def variance(self, k: int) -> float:
        """Return the variance of a problem's value at one k, averaged over problems."""
        away = self._away()[:, :, k - 1]
        return float((away**2).mean()) * self._correction

    def tilt(self, k: int) -> float:
        """Return the third central moment of a problem's value over the second."""
        away = self._away()[:, :, k - 1]
        second = float((away**2).mean())
        return float((away**3).mean()) / second if second > 0.0 else 0.0

    @property
    def _correction(self) -> float:
        count = float(self.tables.shape[1])
        return count / (count - 1.0)

    def _away(self) -> Floats:
        grown = np.sqrt(self.trials / np.maximum(self.trials - 1.0, 1.0))
        centre = self.tables.mean(axis=1, keepdims=True)
        away: Floats = (self.tables - centre) * grown[:, None, None]
        return away


def replicates_of(outcomes: Outcomes, k: int) -> VoteReplicates:
    """Return replicates of problems with at least k trials, kept with the outcomes.

    Where there are many problems, of some of them: the variance is averaged over problems anyway.
    """
    enough = np.flatnonzero(outcomes.trials >= max(k, 1))
    key = ("vote replicates", len(enough))
    if key not in outcomes.memo:
        longest = outcomes.most_trials()
        rng = np.random.default_rng(0)
        total = max(_LEAST_COUNTED, int(_COUNTED * min(1.0, (64.0 / longest) ** 2)))
        if len(enough) > total // 2:
            enough = np.sort(rng.choice(enough, total // 2, replace=False))
        model = AnswerModel.of(outcomes.required_votes().take(enough))
        tables = model.tables(max(2, total // len(enough)), longest, rng)
        outcomes.memo[key] = VoteReplicates(tables, model.trials)
    replicates: VoteReplicates = outcomes.memo[key]
    return replicates


@dataclass(frozen=True, eq=False)
class AnswerModel:
    """The probability of each answer, for each problem."""

    problem: Ints  # of each answer
    weight: Floats
    answer: Ints  # its number; SILENT for none, _FRESH for one that nobody else gives
    right: Floats  # the share of its trials that are right
    trials: Ints  # of each problem

    @staticmethod
    def of(votes: Votes) -> AnswerModel:
        """Fit the answers to each problem."""
        groups, problems = votes.groups, np.arange(votes.n_problems)
        single = (groups.size == 1) & (groups.right == 0)
        fresh = np.bincount(groups.problem[single], minlength=len(problems)) + _EXTRA
        repeated = ~single
        named = np.arange(len(groups.problem))
        best = _best_right(votes)
        return AnswerModel(
            np.concatenate([groups.problem[repeated], problems, problems, problems]),
            np.concatenate(
                [groups.size[repeated], groups.silent, fresh, np.full(len(problems), _EXTRA)]
            ).astype(np.float64),
            np.concatenate(
                [
                    named[repeated],
                    np.full(len(problems), SILENT),
                    np.full(len(problems), _FRESH),
                    np.where(best < 0, len(named) + problems, best),
                ]
            ),
            np.concatenate(
                [
                    (groups.right / groups.size)[repeated],
                    np.zeros(2 * len(problems)),
                    np.ones(len(problems)),
                ]
            ),
            votes.trials,
        )

    def mixed_with(self, share: float, *, right: bool) -> AnswerModel:
        """Return a model in which a share of the trials gives one further answer."""
        problems = np.arange(len(self.trials))
        total = np.bincount(self.problem, self.weight)
        fresh = self.answer.max(initial=0) + 1 + problems
        return AnswerModel(
            np.concatenate([self.problem, problems]),
            np.concatenate([(1.0 - share) * self.weight, share * total]),
            np.concatenate([self.answer, fresh]),
            np.concatenate([self.right, np.full(len(problems), float(right))]),
            self.trials,
        )

    def tables(self, count: int, longest: int, rng: np.random.Generator) -> Floats:
        """Resample each problem's trials and count the votes."""
        row_of = np.repeat(np.arange(len(self.trials) * count), np.repeat(self.trials, count))
        index = self._drawn(row_of // count, rng)
        answer = self.answer[index]
        fresh = np.flatnonzero(answer == _FRESH)
        answer[fresh] = self.answer.max(initial=0) + 1 + np.arange(len(fresh))
        score = (rng.random(len(index)) < self.right[index]).astype(np.float64)
        votes = Votes.of_trials(row_of, answer, score, len(self.trials) * count)
        return vote_table(votes, longest).reshape(len(self.trials), count, longest)

    def _drawn(self, problem_of: Ints, rng: np.random.Generator) -> Ints:
        """Return the position of a drawn answer for each trial, given its problem."""
        order = np.argsort(self.problem, kind="stable")
        problem, weight = self.problem[order], self.weight[order]
        running = np.cumsum(weight)
        totals = np.bincount(problem, weight)
        before = np.cumsum(totals) - totals
        reached = problem + np.minimum((running - before[problem]) / totals[problem], 1.0)
        place = np.searchsorted(reached, problem_of + rng.random(len(problem_of)), side="right")
        last = np.cumsum(np.bincount(problem)) - 1
        drawn: Ints = order[np.minimum(place, last[problem_of])]
        return drawn


def _best_right(votes: Votes) -> Ints:
    """Return the number of each problem's most frequent right answer; -1 where none is right."""
    groups = votes.groups
    best = np.full(votes.n_problems, -1)
    order = np.argsort(groups.right, kind="stable")
    seen = order[groups.right[order] > 0]
    best[groups.problem[seen]] = seen  # the last, and so the most frequent, one stays
    return best


_ENOUGH_INFORMATIVE = 10  # problems that differ from the commonest value
_HIDDEN = 6  # numbers of problems that could share a hidden answer
_TRIED = 200  # problems that a hidden answer is tried on


def vote_over_trials(request: IntervalRequest, reach: float | None = None) -> Interval:
    """Return the interval for these problems, the model being sampled again.

    A band over several k gives `reach`, a larger quantile than the level's own, and takes the
    outer of these ends and of those that follow the skewness.
    """
    outcomes, k = request.outcomes, request.k
    problems = int((outcomes.trials >= k).sum())
    replicates = replicates_of(outcomes, k)
    se = float(np.sqrt(replicates.variance(k) / problems))
    fewest = int(outcomes.trials[outcomes.trials >= k].min())
    freedom = (4.0 if 2 * k <= fewest else 2.0) * problems
    q = student_quantile(request.level if reach is None else level_of(reach), freedom)
    low, high = request.value - q * se, request.value + q * se
    if reach is not None:
        value, variance = np.asarray(request.value), np.asarray(se**2 * problems)
        ends = roots(value, variance, np.asarray(replicates.tilt(k)), 0.0, q, float(problems))
        low, high = min(low, float(ends[0])), max(high, float(ends[1]))
    if _all_alike(outcomes):
        low, high = _hidden_ends(request)
    return Interval(
        max(min(low, request.value), 0.0),
        min(max(high, request.value), 1.0),
        se,
        vote_trial_notes(request),
    )


def vote_trial_notes(request: IntervalRequest) -> tuple[Note, ...]:
    """Return notes on where the interval over trials is known to be weak."""
    outcomes, notes = request.outcomes, []
    used = outcomes.trials[outcomes.trials >= request.k]
    if 2 * request.k > int(used.min()):
        notes.append(K_ABOVE_HALF)
    values = VoteValue().of_answers(outcomes, request.k)
    informative = len(values) - _commonest(values)
    if len(values) > 1 and informative < _ENOUGH_INFORMATIVE:
        notes.append(few_informative(len(values), informative))
    return tuple(notes)


def _commonest(values: Floats) -> int:
    """Return the number of problems that share the commonest value."""
    return int(np.unique(np.round(values, ROUNDING_DIGITS), return_counts=True)[1].max())


def _all_alike(outcomes: Outcomes) -> bool:
    """Return whether no trial succeeded, or none failed."""
    successes = int(outcomes.required_successes().sum())
    return successes in (0, outcomes.n_trials)


def _hidden_ends(request: IntervalRequest) -> tuple[float, float]:
    """Return the possible shift of the value if R problems had an unseen answer.

    With n trials of each, a rate of 1 - tail**(1/(nR)) is the largest that leaves it unseen with
    probability `tail`. Where every trial is right it is one wrong answer, else the right one. The
    worst R counts.
    """
    outcomes = request.outcomes
    enough = np.flatnonzero(outcomes.trials >= request.k)
    trials = float(outcomes.trials[enough].mean())
    right = not outcomes.required_successes().any()
    model = AnswerModel.of(outcomes.required_votes().take(enough[:_TRIED]))
    ends = [request.value]
    for sharing in np.unique(np.geomspace(1, len(enough), _HIDDEN).round()):
        rate = 1.0 - request.tail ** (1.0 / (trials * sharing))
        hidden = model.mixed_with(rate, right=right)
        count = max(2, 4 * _TRIED // len(model.trials))
        tables = hidden.tables(count, outcomes.most_trials(), np.random.default_rng(0))
        shift = float(tables[:, :, request.k - 1].mean()) - request.value
        ends.append(request.value + sharing / len(enough) * shift)
    return min(ends), max(ends)


def answer_notes(outcomes: Outcomes, k: int) -> tuple[Note, ...]:
    """Return notes on answers that are missing, or that their scores contradict."""
    votes = outcomes.required_votes()
    groups, problems = votes.groups, votes.n_problems
    enough = outcomes.trials >= max(k, 1)
    without = enough & (np.bincount(groups.problem, minlength=problems) == 0)
    mixed = (groups.right > 0) & (groups.right < groups.size)
    right = np.bincount(groups.problem, groups.right == groups.size, problems)
    counts = (
        (no_answers, int(without.sum())),
        (missing_answers, int(enough[votes.wavering_silence].sum())),
        (mixed_answers, len(np.unique(groups.problem[mixed]))),
        (several_right_answers, int((enough & (right > 1)).sum())),
    )
    return tuple(note(count, int(enough.sum())) for note, count in counts if count)


def no_answers(without: int, problems: int) -> Note:
    """Return the note on problems none of whose trials has an answer.

    >>> print(no_answers(2, 30))
    no trial of 2 of 30 problems has an answer, so that their vote is never right
    """
    return Note(
        "no-answers",
        f"no trial of {without} of {plural(problems, 'problem')} has an answer, so that their vote "
        "is never right",
    )


def missing_answers(missing: int, problems: int) -> Note:
    """Return the note on trials without an answer, some of which are right."""
    return Note(
        "missing-answers",
        f"in {missing} of {plural(problems, 'problem')} some trials without an answer are right "
        "and others wrong, and only the right ones vote; if answers were not recorded, vote@k is "
        "too high",
    )


def mixed_answers(mixed: int, problems: int) -> Note:
    """Return the note on answers with different scores in different trials."""
    return Note(
        "mixed-answers",
        f"in {mixed} of {plural(problems, 'problem')} the same answer is scored right in one trial "
        "and wrong in another; where it wins, it is right in the share of its trials that are",
    )


def several_right_answers(several: int, problems: int) -> Note:
    """Return the note on problems with several right answers, which vote apart."""
    return Note(
        "several-right-answers",
        f"in {several} of {plural(problems, 'problem')} several different answers are right, and "
        "each has its own votes; if they are one answer in several spellings, vote@k is too low",
    )

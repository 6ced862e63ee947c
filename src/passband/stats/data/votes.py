"""Votes: which answers the trials of each problem gave, how often, and which of them are right.

A vote counts answers, so it needs more than scores: three wrong trials that agree beat two right
ones, and three that disagree do not. Answers are kept as numbers within their problem. Whether two
texts are the same answer was decided before, by the scorer or by the texts themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.values import ArrayValue, owned
from passband.types import Bools, Floats, Ints

Same = Callable[[str, str], bool]

SILENT = -1  #: the number of a trial without an answer


@dataclass(frozen=True, eq=False)
class AnswerGroups:
    """Answers that can win a vote, problem after problem, each with the trials that gave it."""

    problem: Ints  #: position of the problem
    size: Ints  #: trials with this answer
    right: Ints  #: of them, how many scored 1
    silent: Ints  #: for each problem, its trials that do not vote


@dataclass(frozen=True, eq=False)
class Votes(ArrayValue):
    """Count each problem's trials by answer and score.

    Problem i has the entries ``offsets[i]:offsets[i+1]``, in order of answers and then of scores.
    """

    offsets: Ints
    answers: Ints  #: numbered within the problem from 0; `SILENT` where there is no answer
    scores: Floats
    counts: Ints  #: trials

    def __post_init__(self) -> None:
        for name in ("offsets", "answers", "scores", "counts"):
            object.__setattr__(self, name, owned(getattr(self, name)))

    @staticmethod
    def of_trials(problem_of: Ints, answer_of: Ints, scores: Floats, problems: int) -> Votes:
        """Count trials, given the problem, the number of the answer and the score of each.

        >>> votes = Votes.of_trials(np.array([0, 0, 0]), np.array([0, 1, 0]), np.ones(3), 1)
        >>> votes.answers.tolist(), votes.counts.tolist()
        ([0, 1], [2, 1])
        """
        order = np.lexsort((scores, answer_of, problem_of))
        problem, answer, score = problem_of[order], answer_of[order], scores[order]
        starts = np.ones(len(order), dtype=bool)
        starts[1:] = (np.diff(problem) != 0) | (np.diff(answer) != 0) | (score[1:] != score[:-1])
        first = np.flatnonzero(starts)
        counts = np.diff(np.append(first, len(order)))
        per_problem = np.bincount(problem[first], minlength=problems)
        offsets = np.concatenate([[0], np.cumsum(per_problem)])
        return Votes(offsets, answer[first], score[first].astype(np.float64), counts)

    @property
    def n_problems(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def problem_of(self) -> Ints:
        """The problem of each entry."""
        return np.repeat(np.arange(self.n_problems), np.diff(self.offsets))

    @property
    def trials(self) -> Ints:
        """The trials of each problem."""
        return np.bincount(self.problem_of, self.counts, self.n_problems).astype(np.int64)

    @property
    def is_silent(self) -> bool:
        """Whether there are trials but no answers."""
        return len(self.answers) > 0 and bool((self.answers == SILENT).all())

    @property
    def wavering_silence(self) -> Ints:
        """The problems where no answer is right in one trial and wrong in another."""
        silent = self.answers == SILENT
        right, wrong = silent & (self.scores == 1.0), silent & (self.scores != 1.0)
        return np.intersect1d(self.problem_of[right], self.problem_of[wrong])

    @cached_property
    def groups(self) -> AnswerGroups:
        """The answers that can win a vote, where every score is 0 or 1.

        A trial without an answer does not vote. Where such a trial is scored right, giving no
        answer was right, and it votes for that.
        """
        ones = self.scores == 1.0
        voting = (self.answers != SILENT) | ones
        problem, answer = self.problem_of[voting], self.answers[voting]
        starts = np.ones(len(problem), dtype=bool)
        starts[1:] = (np.diff(problem) != 0) | (np.diff(answer) != 0)
        group_of, first = np.cumsum(starts) - 1, np.flatnonzero(starts)
        counts = self.counts[voting]
        size = np.bincount(group_of, counts, len(first)).astype(np.int64)
        right = np.bincount(group_of, counts * ones[voting], len(first)).astype(np.int64)
        silent = np.bincount(self.problem_of[~voting], self.counts[~voting], self.n_problems)
        return AnswerGroups(problem[first], size, right, silent.astype(np.int64))

    def take(self, positions: Ints) -> Votes:
        """Return the votes of the problems at these positions."""
        lengths = np.diff(self.offsets)[positions]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        shift = np.repeat(self.offsets[:-1][positions] - offsets[:-1], lengths)
        entries = np.arange(offsets[-1]) + shift
        return Votes(offsets, self.answers[entries], self.scores[entries], self.counts[entries])

    def padded(self, silent: Ints, score: float = 0.0) -> Votes:
        """Return the votes with further trials of each problem that have no answer."""
        more = np.flatnonzero(silent)
        return _recounted(
            np.concatenate([self.problem_of, more]),
            np.concatenate([self.answers, np.full(len(more), SILENT)]),
            np.concatenate([self.scores, np.full(len(more), score)]),
            np.concatenate([self.counts, silent[more]]),
            self.n_problems,
        )

    def mirrored(self, mirror: Callable[[Floats], Floats]) -> Votes:
        """Return the votes with their scores mirrored on their scale."""
        return Votes(self.offsets, self.answers, mirror(self.scores), self.counts)

    def binarize(self, has_passed: Callable[[Floats], Bools]) -> Votes:
        """Return the votes with scores that have passed as 1, and others as 0."""
        passed = has_passed(self.scores).astype(np.float64)
        return _recounted(self.problem_of, self.answers, passed, self.counts, self.n_problems)


def _recounted(
    problem_of: Ints, answers: Ints, scores: Floats, counts: Ints, problems: int
) -> Votes:
    """Join entries of the same problem, answer and score."""
    return Votes.of_trials(
        np.repeat(problem_of, counts),
        np.repeat(answers, counts),
        np.repeat(scores, counts),
        problems,
    )


def number_answers(answers: Iterable[str | None], same: Same | None = None) -> list[int]:
    """Number the answers to one problem in the order of their first trials.

    Texts are the same answer if they are equal, or `same` says so of a text and the first text of
    an answer. None is no answer, `SILENT`.

    >>> number_answers(["7", None, "8", "7.0"], lambda one, other: float(one) == float(other))
    [0, -1, 1, 0]
    """
    numbers: dict[str | None, int] = {None: SILENT}
    leaders: list[str] = []
    result = []
    for answer in answers:
        if answer not in numbers and answer is not None:  # each text is compared once
            numbers[answer] = _number_of(answer, leaders, same)
        result.append(numbers[answer])
    return result


def _number_of(answer: str, leaders: list[str], same: Same | None) -> int:
    for number, leader in enumerate(leaders):
        if same is not None and same(leader, answer):
            return number
    leaders.append(answer)
    return len(leaders) - 1


def votes_of_rows(
    answers: Sequence[Sequence[str | None]],
    scores: Sequence[Sequence[float]],
    same: Same | None = None,
) -> Votes:
    """Count each problem's answers; rows match those of the scores."""
    for row, (texts, values) in enumerate(zip(answers, scores, strict=True)):
        if len(texts) != len(values):
            raise InvalidInput(
                f"answers and scores must match; problem {row} has {len(texts)} answers and "
                f"{len(values)} scores."
            )
    numbers = [number_answers(texts, same) for texts in answers]
    lengths = [len(row) for row in numbers]
    return Votes.of_trials(
        np.repeat(np.arange(len(numbers)), lengths),
        np.array([number for row in numbers for number in row], dtype=np.int64),
        np.array([value for row in scores for value in row], dtype=np.float64),
        len(numbers),
    )

"""Judged trials: the judge's score of each trial of one model, and the labels of some.

A `Design` says how the labelled trials were drawn, and with which probability. With M problems,
problem i of n_i trials, and m labels, a trial of problem i is drawn with

    spread    e_i / n_i, e_i the expected labels of the problem: one in every full round, and the
              share of problems that the last round reaches
    trial     m / N, N being all trials
    problem   (chosen problems / M) * (labels in the problem / n_i)
    verdict   (labels with this verdict) / (trials with this verdict)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from passband.errors import InvalidInput, WrongType
from passband.stats.data.values import ArrayValue, frozen, owned
from passband.types import ArrayLike, Bools, Floats, Ints

Design = Literal["spread", "trial", "problem", "verdict", "unknown", "chosen"]


def check_design(design: object) -> None:
    """Refuse a design that has no name here."""
    if not isinstance(design, str) or design not in get_args(Design):
        names = ", ".join(map(repr, get_args(Design)))
        raise InvalidInput(f"design must be one of {names}; got {design!r}.")


def labels_in_rounds(trials: Ints, count: int) -> Floats:
    """Return the expected number of labels of each problem if `count` are dealt out in rounds.

    Every round goes once through the problems that have a trial left, in random order.

    >>> labels_in_rounds(np.array([1, 2, 2]), 4).tolist()
    [1.0, 1.5, 1.5]
    """
    expected = np.zeros(len(trials))
    left = count
    for done in range(int(trials.max())):
        open_problems = trials > done
        share = min(left / open_problems.sum(), 1.0)
        expected += share * open_problems
        left -= int(open_problems.sum())
        if left <= 0:
            break
    return expected


def probabilities(
    design: Design, problem: Ints, trials: Ints, verdict: Ints, labelled: Bools
) -> Floats:
    """Return the probability of each trial to be labelled, from how many labels there are."""
    count = int(labelled.sum())
    if design == "verdict":
        share = np.bincount(verdict[labelled], minlength=3) / np.maximum(
            np.bincount(verdict, minlength=3), 1
        )
        return np.asarray(share[verdict])
    if design == "spread":
        return np.asarray((labels_in_rounds(trials, count) / trials)[problem])
    if design == "problem":
        labels = np.bincount(problem[labelled], minlength=len(trials))
        return np.asarray((float((labels > 0).mean()) * labels / trials)[problem])
    return np.full(len(problem), count / len(problem))


def probability_of_labels(design: Design, trials: Ints, labels: Ints, k: int) -> Floats:
    """Return the probability of each problem to have at least k labels.

    It depends on the number of trials alone, as neither design looks at verdicts.
    """
    from passband.stats.special import bdtrc

    count = int(labels.sum())
    if design == "problem":
        return np.full(len(trials), float((labels > 0).mean()))
    if design == "spread":
        expected = labels_in_rounds(trials, count)
        return np.clip(expected - (k - 1), 0.0, 1.0)
    return np.asarray(bdtrc(k - 1, trials, count / trials.sum()))


@dataclass(frozen=True, eq=False, repr=False)
class Judged(ArrayValue):
    """Hold the trials of one model: a judge's score each, and labels for a drawn part.

    Make one with `Judged.of`, which sorts the trials by problem and number, so that the order of
    rows never matters. A score of NaN is a verdict that could not be read, a label of NaN a trial
    that nobody labelled. `design` says how the labelled trials were drawn (see `draw_labels`):
    "unknown" is taken as a random sample, "chosen" is refused by every correction.

    >>> Judged.of(["a", "a", "b"], [0, 1, 0], [1, 0, 1], [1, None, None], design="spread")
    Judged(2 problems, 3 trials, 1 labelled by spread)
    """

    problems: tuple[str, ...]
    problem: Ints  #: position of each trial's problem, rising
    trial: Ints  #: number of the trial within its problem
    score: Floats  #: the judge's: the mean of its votes; NaN where it has no verdict
    label: Floats  #: NaN where there is none
    design: Design = "unknown"
    probability: Floats | None = None  #: of each trial, of being drawn; None to derive it
    votes: Ints | None = None  #: of each trial, how many votes its score is the mean of
    vote_variance: Floats | None = None  #: among the votes of each trial; NaN for a single vote
    threshold: float = 0.5  #: the least score that is a verdict of pass

    @classmethod
    def of(
        cls,
        problem: Sequence[object] | ArrayLike,
        trial: Sequence[int] | ArrayLike,
        score: Sequence[float | None] | ArrayLike,
        label: Sequence[float | None] | ArrayLike | None = None,
        *,
        design: Design = "unknown",
        probability: float | Sequence[float | None] | ArrayLike | None = None,
        votes: int | Sequence[int] | ArrayLike | None = None,
        vote_variance: Sequence[float | None] | ArrayLike | None = None,
        threshold: float = 0.5,
    ) -> Judged:
        """Take one entry per trial, in any order.

        `probability` is each trial's of being drawn for a label, or one number for all; it has to
        be known for the labelled trials only. `votes` is the number of votes of each trial; their
        variance has to be given only where votes are not all 0 or 1.
        """
        names = np.array([str(name) for name in np.asarray(problem, dtype=object)], dtype=np.str_)
        if len(names) == 0:
            raise InvalidInput("there must be at least one trial; got none.")
        number = _whole("trial", trial, len(names))
        order = np.lexsort((number, names))
        distinct, codes = np.unique(names[order], return_inverse=True)
        labels = np.full(len(names), np.nan) if label is None else label

        def sorted_floats(name: str, values: object) -> Floats:
            return _floats(name, values, len(names))[order]

        return cls(
            tuple(distinct.tolist()),
            codes,
            number[order],
            sorted_floats("score", score),
            sorted_floats("label", labels),
            design,
            None if probability is None else sorted_floats("probability", probability),
            None if votes is None else _whole("votes", votes, len(names))[order],
            None if vote_variance is None else sorted_floats("vote_variance", vote_variance),
            threshold,
        )

    def __post_init__(self) -> None:
        check_design(self.design)
        if not np.isfinite(self.threshold):
            raise InvalidInput(f"threshold must be a finite number; got {self.threshold}.")
        for name in ("problem", "trial", "score", "label", "probability", "votes", "vote_variance"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, owned(np.asarray(array)))
        _check_trials(self)

    # -- contents --------------------------------------------------------------------------

    @property
    def n_problems(self) -> int:
        return len(self.problems)

    @property
    def n_trials(self) -> int:
        return len(self.problem)

    @property
    def n_labels(self) -> int:
        return int(self.is_labelled.sum())

    @property
    def n_failed(self) -> int:
        """Trials without a verdict."""
        return int(np.isnan(self.score).sum())

    @property
    def is_fully_labelled(self) -> bool:
        return bool(self.is_labelled.all())

    @property
    def has_binary_labels(self) -> bool:
        """Whether every label is 0 or 1."""
        labels = self.label[self.is_labelled]
        return bool(((labels == 0.0) | (labels == 1.0)).all())

    @cached_property
    def is_labelled(self) -> Bools:
        return frozen(~np.isnan(self.label))

    @cached_property
    def trials(self) -> Ints:
        """The number of trials of each problem."""
        return frozen(np.bincount(self.problem, minlength=self.n_problems))

    @cached_property
    def verdict(self) -> Ints:
        """Of each trial: 1 for pass, 0 for fail, 2 for no verdict."""
        passed = (self.score >= self.threshold).astype(np.int64)
        return frozen(np.where(np.isnan(self.score), 2, passed))

    def __repr__(self) -> str:
        labels = f"{self.n_labels} labelled by {self.design}" if self.n_labels else "no labels"
        failed = f", {self.n_failed} without a verdict" if self.n_failed else ""
        problems = "1 problem" if self.n_problems == 1 else f"{self.n_problems} problems"
        trials = "1 trial" if self.n_trials == 1 else f"{self.n_trials} trials"
        return f"Judged({problems}, {trials}{failed}, {labels})"


def _check_trials(judged: Judged) -> None:
    """Refuse trials that come twice, and numbers that are none."""
    step = np.diff(judged.problem)
    same = (step == 0) & (np.diff(judged.trial) == 0)
    if same.any():
        at = int(np.flatnonzero(same)[0])
        name, number = judged.problems[int(judged.problem[at])], int(judged.trial[at])
        raise InvalidInput(f"a trial must come once; trial {number} of {name!r} comes twice.")
    if judged.votes is not None and int(judged.votes.min()) < 1:
        raise InvalidInput(f"votes must be at least 1; got {int(judged.votes.min())}.")
    for name in ("score", "label"):
        values = getattr(judged, name)
        if np.isinf(values).any():
            raise InvalidInput(f"{name} must be finite numbers, or NaN for none; got infinity.")


def _floats(name: str, values: object, count: int) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise WrongType(f"{name} must be numbers, or None for none; got {values!r}.") from None
    numbers = np.full(count, numbers) if numbers.ndim == 0 else numbers
    if numbers.shape != (count,):
        raise InvalidInput(
            f"{name} must have {count} entries, one per trial; got shape {numbers.shape}."
        )
    return numbers


def _whole(name: str, values: object, count: int) -> Ints:
    numbers = _floats(name, values, count)
    if not (np.isfinite(numbers).all() and (np.floor(numbers) == numbers).all()):
        raise InvalidInput(f"{name} must be whole numbers.")
    return numbers.astype(np.int64)

"""Find the problems on which two models differ most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from passband.stats.data import Outcomes, on_one_scale
from passband.stats.decision import changes, common_range, linear_values, match_problems
from passband.stats.metric import parse_metric
from passband.summary.browse.shown_trial import ShownProblem
from passband.summary.findings.sample import SampledProblem
from passband.types import Floats

SHOWN = 12


@dataclass(frozen=True)
class Stack:
    """The scored trials of one problem by one model."""

    value: float  #: mean score
    trials: int
    right: int | None  #: None if scores are not 0 or 1


@dataclass(frozen=True)
class ProblemChange:
    """A problem on which one model does better than the other."""

    problem: str
    a: Stack
    b: Stack
    is_flip: bool  #: whether the two are on different sides of the middle of the range
    #: the problem with the trials of either model, where texts are recorded
    asked: tuple[SampledProblem | None, SampledProblem | None] = (None, None)

    @property
    def problem_text(self) -> ShownProblem | None:
        """The problem as either model was asked it."""
        return next((side.problem for side in self.asked if side is not None), None)


@dataclass(frozen=True)
class Changes:
    """How many problems changed, and those that changed most, the largest change first."""

    n_problems: int  #: with a scored trial of both models
    improved: int  #: problems with a better mean score in b
    worsened: int
    flipped_up: int  #: of them, from the lower half of the range to the upper
    flipped_down: int
    most: tuple[ProblemChange, ...]

    def with_texts(
        self, a: Mapping[str, SampledProblem], b: Mapping[str, SampledProblem]
    ) -> Changes:
        """Return the changes with each problem as the two models were asked and answered it."""
        most = [
            replace(change, asked=(a.get(change.problem), b.get(change.problem)))
            for change in self.most
        ]
        return replace(self, most=tuple(most))


def changes_of(a: Outcomes, b: Outcomes, limit: int = SHOWN) -> Changes:
    """Return how the mean scores of the shared problems differ.

    Of two changes of the same size, the one with more trials comes first: it is the less likely
    to be luck.

    >>> a = Outcomes.from_counts([0, 8, 3], 8, problems=["p", "q", "r"])
    >>> b = Outcomes.from_counts([7, 7, 3], 8, problems=["p", "q", "r"])
    >>> found = changes_of(a, b)
    >>> found.improved, found.worsened, found.flipped_up, [one.problem for one in found.most]
    (1, 1, 1, ['p', 'q'])
    """
    a, b = on_one_scale({"a": a, "b": b}).values()
    match = match_problems(a.upright, b.upright, 1, paired=True)
    mean = parse_metric("avg", 1)
    values_a, values_b = (_required(linear_values(side, mean)) for side in (match.a, match.b))
    change = changes(values_a, values_b)
    middle = sum(common_range((match.a, match.b), mean)) / 2.0
    crossed = (values_a >= middle) != (values_b >= middle)
    trials = match.a.trials + match.b.trials
    order = np.lexsort((-trials, -np.abs(change)))
    shown = [int(i) for i in order[:limit] if change[i] != 0]
    return Changes(
        n_problems=match.n_problems,
        improved=int((change > 0).sum()),
        worsened=int((change < 0).sum()),
        flipped_up=int((crossed & (change > 0)).sum()),
        flipped_down=int((crossed & (change < 0)).sum()),
        most=tuple(
            ProblemChange(
                match.a.problems[i],
                _stack(match.a, mean.on_scale(a, float(values_a[i])), i),
                _stack(match.b, mean.on_scale(b, float(values_b[i])), i),
                bool(crossed[i]),
            )
            for i in shown
        ),
    )


def _required(values: Floats | None) -> Floats:
    assert values is not None, "a mean has a value for each problem"
    return values


def _stack(side: Outcomes, values: tuple[float, ...], index: int) -> Stack:
    right = None if side.successes is None else int(side.successes[index])
    return Stack(values[0], int(side.trials[index]), right)

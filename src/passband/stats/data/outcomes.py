"""Outcomes: every problem with its trials, checked once and never changed after."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from passband.errors import InvalidInput, NotEnoughData, WrongType
from passband.stats.data.counts import Histogram, binary_row_sums, byte_row_sums
from passband.stats.data.evidence import NOTHING, Evidence, Finding
from passband.stats.data.graded import GradedScores
from passband.stats.data.inputs import (
    as_labels,
    check_labels,
    masked_sums,
    problem_labels,
    score_matrix,
)
from passband.stats.data.scale import UNIT, UNSTATED, Scale
from passband.stats.data.sequence import AskedScores, compact
from passband.stats.data.spending import Spending, Spent, SpentColumn, spent_outcomes
from passband.stats.data.values import ArrayValue, FrozenDict, frozen, owned
from passband.stats.data.votes import Same, Votes
from passband.types import ArrayLike, Bools, Floats, Ints

Policy = Literal["drop", "fail", "error"]
MISSING = "missing"
_LARGEST_SCORE = 1e75
_MOST_ASKED = 20_000_000  # trials of a matrix whose order is kept, a byte each
_NO_ANSWERS = (
    "a vote needs the answer of every trial beside its score. A table needs a column of answers, "
    "named prediction, extracted or answer, or chosen with answer= (in the shell, --answer); run "
    "directories, and logs that hold answers, have them; in Python, use Outcomes.from_answers."
)
_ALL_SILENT = (
    "a vote needs answers: trials are scored right, and not one has an answer. A table may have "
    "them in another column, chosen with answer= (in the shell, --answer); a scorer has to return "
    "them."
)


@dataclass(frozen=True, eq=False, repr=False)
class Outcomes(ArrayValue):
    """Problems, and what happened in the trials of each.

    Make one with `from_array`, `from_counts`, `from_answers`, `from_table` or `from_file`.
    Problems may have different numbers of trials. A trial without a score is counted under its
    status, never scored 0 and never forgotten.

    >>> outcomes = Outcomes.from_array([[1, 0, 1, 1], [0, 0, None]])
    >>> outcomes
    Outcomes(2 problems, 2-4 trials each, 6 scored, 1 missing)
    >>> outcomes.trials.tolist(), outcomes.successes.tolist()
    ([4, 2], [3, 0])
    """

    problems: Sequence[str]
    trials: Ints  #: scored trials of each problem
    successes: Ints | None  #: of them, how many scored 1; None if any score is not 0 or 1
    graded: GradedScores | None = None  #: the scores themselves, where they are not all 0 or 1
    clusters: Sequence[str] | None = None  #: for each problem, the group it belongs to
    unscored: Mapping[str, Ints] = field(default_factory=dict)  #: status -> count per problem
    votes: Votes | None = None  #: the answers of the scored trials, where they are known
    scale: Scale = UNSTATED  #: ends and direction of the scores, as far as they are stated
    # What is known beyond the scores, and no part of their value:
    found: Evidence = field(default=NOTHING, compare=False)  #: where the trials were read
    #: the scores in the order of asking, where that is known
    asked: AskedScores | None = field(default=None, compare=False)
    spending: Spending | None = field(default=None, compare=False)  #: what the trials took

    def __post_init__(self) -> None:
        count = len(self.trials)
        if count == 0:
            raise InvalidInput("there must be at least one problem; got none.")
        check_labels("problems", self.problems, count, distinct=True)
        if self.clusters is not None:
            check_labels("clusters", self.clusters, count, distinct=False)
        if (self.successes is None) == (self.graded is None):
            raise InvalidInput("there must be either successes or graded scores, and not both.")
        unscored = {
            status: _per_problem(f"unscored[{status!r}]", counts, count)
            for status, counts in self.unscored.items()
        }
        kept = {status: counts for status, counts in unscored.items() if counts.any()}
        object.__setattr__(self, "unscored", FrozenDict(kept))
        object.__setattr__(self, "trials", _per_problem("trials", self.trials, count))
        if self.successes is not None:
            successes = _per_problem("successes", self.successes, count)
            object.__setattr__(self, "successes", successes)
        if self.votes is not None and not np.array_equal(self.votes.trials, self.trials):
            raise InvalidInput("votes must have as many trials of each problem as have a score.")
        self._keep_to_scale()

    def _keep_to_scale(self) -> None:
        """Refuse scores beyond the scale; keep 0s and 1s of another scale than 0 to 1 as graded."""
        if self.scale.is_known and not self.scale.is_unit and self.successes is not None:
            graded = GradedScores.of_counts(self.trials, self.successes)
            object.__setattr__(self, "successes", None)
            object.__setattr__(self, "graded", graded)
        if self.graded is not None and len(self.graded.values):
            for extreme in self.graded.extremes:
                if not self.scale.holds(extreme):
                    number, trial = self.graded.place_of(extreme)
                    raise InvalidInput(
                        f"problem {self.problems[number]!r} has a score of {extreme:g} in its "
                        f"scored trial {trial}, outside its scale, {self.scale}."
                    )

    # -- ways in ---------------------------------------------------------------------------

    @classmethod
    def from_array(
        cls,
        scores: ArrayLike | Sequence[Sequence[float | None]],
        *,
        problems: Sequence[object] | None = None,
        clusters: Sequence[object] | NDArray[Any] | None = None,
        scale: Scale | None = None,
    ) -> Outcomes:
        """Make outcomes from a matrix of problems (rows) by trials (columns).

        NaN, None and masked entries are missing trials. Rows of a list may differ in length.
        Columns are taken to be in the order of asking, unless the scores of rows are sorted.
        `scale` says what range the scores have, and whether lower ones are better.
        """
        values, present, lengths = score_matrix(scores)
        missing: Mapping[str, Ints] = {}
        if present is None:
            trials: Ints = np.full(len(values), values.shape[1], dtype=np.int64)
            successes = binary_row_sums(values)
        else:
            trials = byte_row_sums(present)
            successes = masked_sums(values, present)
            missing = {MISSING: (values.shape[1] if lengths is None else lengths) - trials}
        graded = None
        if successes is None:
            everything = np.ones(values.shape, bool) if present is None else present
            graded = GradedScores.of_rows(np.asarray(values, dtype=np.float64), everything)
        names = problem_labels(problems, len(trials))
        for counts in (trials, successes, *missing.values()):
            if counts is not None:
                frozen(counts)  # ours, so that no copy is made
        return cls(
            names, trials, successes, graded, as_labels(clusters), missing, scale=scale or UNSTATED,
            asked=_asked(values, present, trials, graded),
        )  # fmt: skip

    @classmethod
    def from_counts(
        cls,
        successes: ArrayLike,
        trials: ArrayLike,
        *,
        problems: Sequence[object] | None = None,
        clusters: Sequence[object] | NDArray[Any] | None = None,
        unscored: Mapping[str, ArrayLike] | None = None,
        scale: Scale | None = None,
    ) -> Outcomes:
        """Make outcomes from c successes in n trials per problem; one n serves all problems.

        >>> Outcomes.from_counts([3, 0, 8], 8)
        Outcomes(3 problems, 8 trials each, 24 scored)
        """
        c = _counts("successes", successes)
        n = _counts("trials", trials)
        n = np.full(len(c), n[0]) if len(n) == 1 else n
        if len(c) != len(n):
            raise InvalidInput(f"successes and trials must match; got {len(c)} and {len(n)}.")
        wrong = np.flatnonzero(c > n)
        if len(wrong):
            first = int(wrong[0])
            raise InvalidInput(
                f"successes must not exceed trials; problem {first} has {c[first]} of {n[first]}."
            )
        statuses = {status: _counts(status, counts) for status, counts in (unscored or {}).items()}
        for status, counts in statuses.items():
            if len(counts) != len(c):
                raise InvalidInput(
                    f"unscored[{status!r}] must have {len(c)} entries; got {len(counts)}."
                )
        names = problem_labels(problems, len(c))
        return cls(names, n, c, None, as_labels(clusters), statuses, scale=scale or UNSTATED)

    @classmethod
    def from_answers(
        cls,
        answers: Sequence[Sequence[object]],
        scores: Sequence[Sequence[float | None]] | ArrayLike | None = None,
        *,
        targets: Sequence[object] | None = None,
        same: Same | None = None,
        problems: Sequence[object] | None = None,
        clusters: Sequence[object] | NDArray[Any] | None = None,
        scale: Scale | None = None,
    ) -> Outcomes:
        """Take the answers to each problem, with their scores or with the right answers.

        Rows are problems, and None is no answer. `same` says whether two texts are the same
        answer; without it they must be equal. Answers are what `vote@k` needs beside scores.

        >>> Outcomes.from_answers([["4", "5", "4"], ["x", None, "y"]], targets=["4", "z"])
        Outcomes(2 problems, 3 trials each, 6 scored, answers known)
        """
        from passband.stats.data.answers import scored_answers

        scored = scored_answers(answers, scores, targets, same)
        outcomes = cls.from_array(scored.scores, problems=problems, clusters=clusters, scale=scale)
        return replace(outcomes, votes=scored.votes)

    @classmethod
    def from_table(cls, table: Any, *, scale: Scale | None = None, **roles: str | None) -> Outcomes:
        """Take a table with one row per trial; see `passband.stats.data.tables.Table.of`.

        Columns are guessed from their names, or given as ``problem=``, ``trial=``, ``score=``,
        ``cluster=``, ``status=``, ``answer=``. A table of several models or tasks is refused;
        `passband.read` gives the outcomes of each.

        >>> Outcomes.from_table({"task_id": ["a", "a", "b"], "passed": [True, False, True]})
        Outcomes(2 problems, 1-2 trials each, 3 scored)
        """
        from passband.stats.data.tables import Table

        return Table.of(table).outcomes(scale=scale, **roles)

    @classmethod
    def from_file(
        cls, path: str | Path, *, scale: Scale | None = None, **roles: str | None
    ) -> Outcomes:
        """Read a file of trials or of a matrix, or a run directory; see `passband.read`.

        A file of several models or tasks is refused; `passband.read` gives the outcomes of each.
        A `scale` that contradicts what the file says of its scores is refused.
        """
        # By name: the readers know about files and stores, the statistics do not.
        outcomes: Outcomes = import_module("passband.readers").outcomes_of(
            Path(path), columns=roles
        )
        try:
            return outcomes if scale is None else outcomes.stating(scale, str(path))
        except InvalidInput as error:  # of a score that is not on it
            raise InvalidInput(f"{path}: {str(error).removeprefix(f'{path} ')}") from None

    # -- contents ---------------------------------------------------------------------

    @property
    def n_problems(self) -> int:
        return len(self.trials)

    @property
    def n_trials(self) -> int:
        """Scored trials, all problems together."""
        return int(self.trials.sum())

    @property
    def n_unscored(self) -> int:
        return sum(int(counts.sum()) for counts in self.unscored.values())

    @property
    def status_counts(self) -> dict[str, int]:
        """Trials by status; "ok" are the scored ones."""
        return {"ok": self.n_trials} | {s: int(c.sum()) for s, c in self.unscored.items()}

    @property
    def is_binary(self) -> bool:
        """Whether every score is 0 or 1, so that counts suffice."""
        return self.successes is not None

    @property
    def is_clustered(self) -> bool:
        """Whether the problems come in clusters."""
        return self.clusters is not None

    @cached_property
    def histogram(self) -> Histogram:
        """Distinct (n, c) pairs of the problems that have at least one scored trial."""
        successes = self.required_successes()
        self.require(1)
        return Histogram.of_counts(self.trials, successes).at_least(1)

    @cached_property
    def range(self) -> Scale:
        """The scale that is stated; without one, 0 to 1 if no score lies beyond."""
        if self.scale.is_known:
            return self.scale
        least, most = (0.0, 1.0) if self.graded is None else self.graded.extremes
        return (
            replace(self.scale, low=0.0, high=1.0) if least >= 0.0 and most <= 1.0 else self.scale
        )

    @property
    def is_share(self) -> bool:
        """Whether scores are from 0 to 1, so that a mean of them can be written as a percentage."""
        return self.range.is_unit

    @cached_property
    def upright(self) -> Outcomes:
        """The same trials with higher scores better: scores of which lower ones are, mirrored.

        Statistics are computed on these, and `Metric.on_scale` returns them to the scores' scale.
        """
        if not self.scale.lower_is_better:
            return self
        scale = self.range
        return replace(
            self,
            successes=None if self.successes is None else self.trials - self.successes,
            graded=None if self.graded is None else self.graded.mapped(scale.mirrored),
            votes=None if self.votes is None else self.votes.mirrored(scale.mirrored),
            scale=self.scale.upright,
            asked=None if self.asked is None else self.asked.mapped(scale.mirrored),
        )

    @cached_property
    def unit(self) -> Outcomes:
        """The same trials with scores from 0 to 1, where both ends of another scale are stated."""
        if self.graded is None or self.scale.is_unit or not self.scale.is_bounded:
            return self
        return replace(self, graded=self.graded.mapped(self.scale.share_of), votes=None, scale=UNIT)

    def stating(self, scale: Scale, source: str) -> Outcomes:
        """Return the outcomes on the scale that they have, and that `scale` says they have."""
        joined = self.scale.joined(scale, source)
        return self if joined == self.scale else replace(self, scale=joined)

    def knowing(self, findings: Iterable[Finding]) -> Outcomes:
        """Return the outcomes with further findings about them."""
        findings = tuple(findings)
        return replace(self, found=self.found.joined(findings)) if findings else self

    def accepting(self, codes: Iterable[str]) -> Outcomes:
        """Return the outcomes with some findings about them accepted, by code."""
        codes = tuple(codes)
        return replace(self, found=self.found.accepting(codes)) if codes else self

    def counted(self, policy: Policy) -> Outcomes:
        """Return the outcomes as `policy` treats unscored trials, with higher scores better."""
        return self.under(policy).upright

    def required_successes(self) -> Ints:
        """Return the successes; refuse scores that are not 0 or 1."""
        if self.successes is None:
            raise InvalidInput(self._not_binary())
        return self.successes

    def required_graded(self) -> GradedScores:
        """Return the graded scores; refuse scores that are all 0 or 1."""
        if self.graded is None:
            raise InvalidInput("these scores are all 0 or 1; they are kept as counts.")
        return self.graded

    def required_votes(self) -> Votes:
        """Return the votes; refuse outcomes without answers."""
        if self.votes is None:
            raise InvalidInput(_NO_ANSWERS)
        if self.votes.is_silent and (self.votes.scores > 0.0).any():
            raise InvalidInput(_ALL_SILENT)
        return self.votes

    def cluster_codes(self, problems: Bools | Ints) -> Ints:
        """Return the cluster, by number, of each of some problems (a mask, or positions).

        The numbers run from 0 to one less than the clusters of these problems.
        """
        _, codes = np.unique(self._cluster_labels[problems], return_inverse=True)
        return codes

    @cached_property
    def _cluster_labels(self) -> NDArray[np.str_]:
        if self.clusters is None:
            raise InvalidInput("these problems have no clusters.")
        return np.array(self.clusters)

    def n_units(self, k: int) -> int:
        """Count the clusters (or problems, without clusters) that have k trials."""
        enough = self.trials >= max(k, 1)
        if not self.is_clustered:
            return int(enough.sum())
        return len(np.unique(self._cluster_labels[enough]))

    @cached_property
    def memo(self) -> dict[Hashable, Any]:
        """Results kept for as long as these outcomes are, such as fits; no part of their value."""
        return {}

    @cached_property
    def trial_tally(self) -> Ints:
        """The number of problems with 0, 1, 2, ... scored trials."""
        return np.bincount(self.trials)

    def most_trials(self) -> int:
        return len(self.trial_tally) - 1

    def require(self, k: int) -> None:
        """Refuse a k that no problem has enough trials for."""
        if not self.most_trials():
            raise NotEnoughData(f"no trial has a score{self._and_why()}.")
        if k > self.most_trials():
            raise NotEnoughData(
                f"k must not exceed the trials of every problem; got k={k}, "
                f"and the most trials of any problem is {self.most_trials()}."
            )

    # -- other outcomes from these ---------------------------------------------------------

    def binarize(self, threshold: float) -> Outcomes:
        """Count a score of at least `threshold` as a success, or of at most, if lower is better.

        >>> Outcomes.from_array([[0.2, 0.9], [0.5, 0.1]]).binarize(0.5).successes.tolist()
        [1, 1]
        """
        if not np.isfinite(threshold):
            raise InvalidInput(f"threshold must be a finite number; got {threshold}.")
        if self.graded is None and self.scale.lower_is_better:
            return replace(self.upright, scale=UNIT)
        if self.graded is None:
            if not 0 < threshold <= 1:
                raise InvalidInput(
                    f"scores are 0 or 1 already; threshold must be in (0, 1], got {threshold}."
                )
            return self
        has_passed = partial(_has_passed, threshold, self.scale)
        passed = np.concatenate([[0], np.cumsum(has_passed(self.graded.values))])
        successes = np.diff(passed[self.graded.offsets])
        votes = None if self.votes is None else self.votes.binarize(has_passed)
        asked = None if self.asked is None else self.asked.mapped(has_passed)
        return replace(self, successes=successes, graded=None, votes=votes, scale=UNIT, asked=asked)

    def first(self, n: int) -> Outcomes:
        """Return the first n trials of each problem, which were asked whatever their results.

        Trials without a score are left out, and the answers of trials are no longer known.

        >>> Outcomes.from_array([[1], [0, 0, 1], [0, 1]]).first(1).successes.tolist()
        [1, 0, 0]
        """
        if self.asked is None:
            raise InvalidInput(
                "the order in which trials were asked is not known, so that there are no first "
                f"{n} of each problem; it is that of columns in a matrix, and of the trial numbers "
                "or rows in a table."
            )
        self.asked.require_first(n)
        sequence = self.asked.first(n, self.problems)
        trials, successes, graded = frozen(sequence.counts()), None, None
        if self.successes is None:
            graded = GradedScores(np.asarray(sequence.values, dtype=np.float64), sequence.offsets)
        else:
            successes = frozen(sequence.sums())
        return replace(
            self, trials=trials, successes=successes, graded=graded, unscored={}, votes=None,
            asked=sequence, found=self.found.of_first(),
        )  # fmt: skip

    def take(self, positions: Ints) -> Outcomes:
        """Return the scores of the problems at these positions, without evidence or order.

        >>> Outcomes.from_counts([3, 0, 8], 8).take(np.array([2, 0])).successes.tolist()
        [8, 3]
        """
        if np.array_equal(positions, np.arange(self.n_problems)):
            return self
        chosen = positions.tolist()
        problems, clusters = self.problems[:], self.clusters
        return Outcomes(
            tuple(problems[i] for i in chosen),
            self.trials[positions],
            None if self.successes is None else self.successes[positions],
            None if self.graded is None else self.graded.take(positions),
            None if clusters is None else tuple(clusters[i] for i in chosen),
            votes=None if self.votes is None else self.votes.take(positions),
            scale=self.range,
            spending=self.spending if isinstance(self.spending, Spent) else None,
        )

    def spent(self, column: SpentColumn) -> Outcomes:
        """Return the trials' cost, tokens or seconds as scores; lower is better."""
        key = "spent", column
        if key not in self.memo:
            self.memo[key] = spent_outcomes(self, column)
        result: Outcomes = self.memo[key]
        return result

    def under(self, policy: Policy) -> Outcomes:
        """Return the outcomes as `policy` treats unscored trials.

        "drop" leaves them out, "fail" gives them the worst score, "error" raises an error if there
        are any.
        """
        if policy not in ("drop", "fail", "error"):
            raise InvalidInput(f"policy must be 'drop', 'fail' or 'error'; got {policy!r}.")
        if policy == "drop" or not self.unscored:
            return self
        if policy == "error":
            raise InvalidInput(
                f"{self._unscored_text()} without a score, and the policy is 'error'."
            )
        absent = np.sum(list(self.unscored.values()), axis=0)
        worst = self.failure_score
        successes = None if self.successes is None else self.successes + int(worst) * absent
        graded = None if self.graded is None else self.graded.padded(absent, worst)
        votes = None if self.votes is None else self.votes.padded(absent, worst)
        return replace(
            self,
            trials=self.trials + absent,
            successes=successes,
            graded=graded,
            unscored={},
            votes=votes,
        )

    @property
    def failure_score(self) -> float:
        """The score of a failure: the worst; of scores without a scale 0, if none is below it."""
        worst = self.range.worst
        if worst is None and not self.scale.is_known and not self.scale.lower_is_better:
            worst = 0.0 if self.required_graded().extremes[0] >= 0.0 else None
        if worst is None:
            raise InvalidInput(
                f"{self._unscored_text()} without a score cannot count as failures, as the worst "
                f"score is not known ({self.scale}); use policy 'drop'."
            )
        return worst

    # -- words -----------------------------------------------------------------------------

    def __repr__(self) -> str:
        low, high = int(self.trials.min()), self.most_trials()
        trials_each = f"{low}" if low == high else f"{low}-{high}"
        groups = f", {len(set(self.clusters))} clusters" if self.clusters else ""
        absent = f", {self._unscored_text()}" if self.unscored else ""
        problems = "1 problem" if self.n_problems == 1 else f"{self.n_problems} problems"
        trials = "trial" if trials_each == "1" else "trials"
        shape = f"{problems}{groups}, {trials_each} {trials} each"
        known = "" if self.votes is None else ", answers known"
        return f"Outcomes({shape}, {self.n_trials} scored{absent}{known})"

    def _unscored_text(self) -> str:
        return ", ".join(
            f"{int(counts.sum())} {status}" for status, counts in self.unscored.items()
        )

    def _and_why(self) -> str:
        return f" ({self._unscored_text()})" if self.unscored else ""

    def _not_binary(self) -> str:
        seen = self.required_graded().values
        lowered = self.scale.is_mirrored
        seen = np.unique(self.range.mirrored(seen) if lowered else seen) + 0.0  # -0 is 0
        more = f" and {len(seen) - 5} more" if len(seen) > 5 else ""
        shown = ", ".join(f"{value:g}" for value in seen[:5]) + more
        middle = seen[0] / 2 + seen[-1] / 2
        return (
            f"this metric needs scores of 0 or 1; got {shown}. Choose the "
            f"{'highest' if lowered else 'lowest'} score that counts as a success: "
            f".binarize({middle:g}) or, in the shell, --threshold {middle:g}."
        )


def on_one_scale(sides: Mapping[str, Outcomes]) -> dict[str, Outcomes]:
    """Return outcomes that are compared with each other on one scale; refuse two directions.

    One that states no scale has that of the others. Where ends are stated twice, or differ because
    no side states them and only some have all scores from 0 to 1, there are no common ends.
    """
    stated = {name: side.scale for name, side in sides.items() if side.scale != UNSTATED}
    if not stated:
        return dict(sides)
    directed = {n: scale for n, scale in stated.items() if scale.lower_is_better is not None}
    directions = {scale.lower_is_better for scale in directed.values()}
    if len(directions) > 1:
        said = ", and ".join(f"{name} has scores of {scale}" for name, scale in directed.items())
        raise InvalidInput(f"scores of two directions cannot be put together: {said}.")
    direction = next(iter(directions), None)
    scales = {scale.directed(direction) for scale in stated.values()}
    common = _common_scale(list(sides.values()), scales, direction)
    return {
        name: side if side.scale == common else replace(side, scale=common)
        for name, side in sides.items()
    }


def _common_scale(sides: Sequence[Outcomes], stated: set[Scale], direction: bool | None) -> Scale:
    known = {scale for scale in stated if scale.is_known}
    known = known or {side.range.directed(direction) for side in sides}
    fitting = [scale for scale in known if all(map(partial(_fits, scale), sides))]
    return fitting[0] if len(known) == len(fitting) == 1 else Scale(None, None, direction)


def _fits(scale: Scale, outcomes: Outcomes) -> bool:
    """Return whether all scores lie on a scale."""
    extremes = (0.0, 1.0) if outcomes.graded is None else outcomes.graded.extremes
    return all(map(scale.holds, extremes))


def _asked(
    values: NDArray[Any], present: Bools | None, trials: Ints, graded: GradedScores | None
) -> AskedScores | None:
    """Return the entries of a matrix in the order of its columns; None if they are too many."""
    if values.size > _MOST_ASKED:
        return None
    if graded is not None:
        return AskedScores(graded.values, graded.offsets)
    kept = values.ravel() if present is None else values[present]
    return AskedScores(frozen(compact(kept)), frozen(np.append(0, np.cumsum(trials))))


def _has_passed(threshold: float, scale: Scale, scores: Floats) -> Bools:
    return scores <= threshold if scale.lower_is_better else scores >= threshold


def _counts(name: str, counts: ArrayLike) -> Ints:
    if np.ma.is_masked(counts):
        raise InvalidInput(f"{name} must have an entry for every problem; some are masked.")
    numbers = np.atleast_1d(np.asarray(counts))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf":
        raise WrongType(f"{name} must be a list of whole numbers; got {counts!r}.")
    fits = (numbers >= 0) & (numbers < 2**53) & (np.floor(numbers) == numbers)
    if not fits.all():
        raise InvalidInput(f"{name} must be whole numbers of at least 0; got {numbers[~fits][0]}.")
    return frozen(numbers.astype(np.int64))


def _per_problem(name: str, counts: Ints, count: int) -> Ints:
    """Return read-only counts, one per problem."""
    if np.shape(counts) != (count,):
        raise InvalidInput(
            f"{name} must have {count} entries, one per problem; got shape {np.shape(counts)}."
        )
    return owned(np.asarray(counts))


def check_outcomes(name: str, value: object) -> None:
    """Refuse an argument that is not `Outcomes`.

    >>> check_outcomes("outcomes", [[0, 1]])
    Traceback (most recent call last):
    ...
    passband.errors.WrongType: outcomes must be Outcomes, see Outcomes.from_array; got list.
    """
    if not isinstance(value, Outcomes):
        kind = type(value).__name__
        raise WrongType(f"{name} must be Outcomes, see Outcomes.from_array; got {kind}.")
    if value.graded is not None:
        _check_size(name, *value.graded.extremes)


def _check_size(name: str, least: float, most: float) -> None:
    """Refuse scores whose fourth powers are too large for a number."""
    largest = max(abs(least), abs(most))
    if largest > _LARGEST_SCORE:
        raise InvalidInput(
            f"{name} must have scores of a size up to {_LARGEST_SCORE:g}; got {largest:g}. "
            "Divide all scores by a constant."
        )


def treatment(policy: str, count: int) -> str:
    """Return the words for what a policy does with trials without a score.

    >>> treatment("drop", 1), treatment("fail", 2)
    ('is left out', 'count as failures')
    """
    if policy == "drop":
        return "is left out" if count == 1 else "are left out"
    return "counts as a failure" if count == 1 else "count as failures"

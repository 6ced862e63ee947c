"""Lay out a table: the role of each column, the groups of rows, the outcomes of each.

Everything about columns is decided here, once: `lay_out` finds roles, columns to split by and
columns that are pooled by accident, and `Layout.groups` reads each column a single time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from passband.errors import InvalidInput
from passband.files import matching
from passband.stats.data.answers import guess_answer, number_texts
from passband.stats.data.cells import (
    ABSENT,
    distinct_labels,
    is_absent,
    is_nameless,
    label,
    listing,
    number_labels,
    parse_scores,
    shortened,
)
from passband.stats.data.columns import (
    SPLIT_BY,
    Roles,
    TableCondition,
    find_conditions,
    find_roles,
    group_numbers,
    ranked,
    require_column,
    score_columns,
    split_columns,
)
from passband.stats.data.count_columns import unused_counts
from passband.stats.data.failed_rows import failed_rows
from passband.stats.data.graded import GradedScores
from passband.stats.data.outcomes import MISSING, Outcomes
from passband.stats.data.scale import UNSTATED, Scale
from passband.stats.data.sequence import AskedScores, RowOrder, compact, row_order
from passband.stats.data.unfold import COUNTS
from passband.stats.data.values import frozen
from passband.stats.data.votes import Votes
from passband.types import Floats, Ints

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class TableGroup:
    """The rows that belong together: one model on one task, or the whole table."""

    key: tuple[str, ...]  #: values of the columns that the table is split by
    outcomes: Outcomes
    labels: Mapping[str, str]  #: values of known columns that are the same in every row
    rows: Ints  #: their numbers, from 0


class TableTrial(NamedTuple):
    """The cells of one row."""

    problem: str
    trial: str | None  #: its label; None where no column numbers the trials
    score: float | None
    status: str | None
    cluster: str | None


@dataclass(frozen=True, eq=False)
class Layout:
    """The role of each column, and which rows belong together."""

    columns: Columns
    roles: Roles
    by: tuple[str, ...]
    unfolded: str = ""  #: in words, where the rows were made from columns, counts or lists
    rivals: tuple[str, ...] = ()  #: columns that could have been the score
    scale: Scale = UNSTATED  #: of the scores, as far as the caller states it
    first: int | None = None  #: only so many first trials of each problem

    def groups(self) -> list[TableGroup]:
        """Return the outcomes of each group, in order of rows."""
        group_of, count = group_numbers(self.columns, self.by)
        if count == 1:
            return [self._group(np.arange(len(group_of)))]
        order = np.argsort(group_of, kind="stable")
        ends = np.cumsum(np.bincount(group_of))[:-1]
        return [self._group(rows) for rows in np.split(order, ends)]

    @cached_property
    def conditions(self) -> tuple[TableCondition, ...]:
        """Columns pooled as trials although they look like conditions."""
        skip = {*self.by, *vars(self.roles).values(), *matching(self.columns, SPLIT_BY)}
        unit_of, units = self._problem_of, len(self._problems)
        if self.by:
            group_of, _ = group_numbers(self.columns, self.by)
            unit_of = ranked(group_of * units + unit_of)
            units = int(unit_of.max()) + 1
        return tuple(find_conditions(self.columns, skip, unit_of, units))

    @cached_property
    def lone_responses(self) -> int:
        """The most responses that a row of a sample log has beyond the one that is scored."""
        column = self.columns.get("resps", ())
        if self.unfolded:
            return 0
        nested = [cell[0] for cell in column[:1000] if isinstance(cell, list) and cell]
        return max((len(first) for first in nested if isinstance(first, list)), default=1) - 1

    def trials(self, group: TableGroup) -> Iterator[TableTrial]:
        """Return the cells of each row of a group."""
        return map(self.trial, group.rows.tolist())

    def trial(self, row: int) -> TableTrial:
        """Return the cells of a row; a status or a cluster that is empty is None."""
        status, cluster = (
            None if name is None or is_absent(self.columns[name][row]) else self.columns[name][row]
            for name in (self.roles.status, self.roles.cluster)
        )
        score = float(self._scores[row])
        return TableTrial(
            problem=self._problems[self._problem_of[row]],
            trial=None if self._trial_of is None else self._trial_of[1][self._trial_of[0][row]],
            score=None if np.isnan(score) else score,
            status=self._failed.get(row, None if status is None else label(status)),
            cluster=None if cluster is None else label(cluster),
        )

    def ordered(self, group: TableGroup) -> tuple[Ints, Ints]:
        """Return the rows of a group, problem after problem in the order of asking, and offsets.

        Problem i has the rows from ``offsets[i]`` on, before ``offsets[i + 1]``.
        """
        problem_of = ranked(self._problem_of[group.rows])
        rows = group.rows[self.order.positions(group.rows, problem_of)]
        return rows, np.append(0, np.cumsum(np.bincount(problem_of)))

    def refusal(self) -> str:
        """Return why the groups of the table cannot be pooled, and what to do instead."""
        held = [f"column {name} has several values ({self._values(name)})" for name in self.by]
        return (
            f"{' and '.join(held)}, which must not be pooled. passband.read gives the outcomes of "
            "each; for those of one, keep its rows alone."
        )

    def _values(self, name: str) -> str:
        return listing(number_labels(self.columns[name])[1], 4)

    # -- columns, each read once -----------------------------------------------------------

    @cached_property
    def _numbered_problems(self) -> tuple[Ints, list[str]]:
        numbers, names = number_labels(self.columns[self.roles.problem])
        if not ABSENT.isdisjoint(name.strip().lower() for name in names):
            for row, value in enumerate(self.columns[self.roles.problem], start=1):
                if is_nameless(value):
                    raise InvalidInput(f"column {self.roles.problem} is empty in row {row}.")
        return numbers, names

    @property
    def _problem_of(self) -> Ints:
        return self._numbered_problems[0]

    @property
    def _problems(self) -> list[str]:
        return self._numbered_problems[1]

    @cached_property
    def _failed(self) -> Mapping[int, str]:
        """Status of each failed row, whose score measures nothing."""
        if not self.unfolded:
            return failed_rows(self.columns, self.roles, self._read_scores)
        return {}

    @cached_property
    def _scores(self) -> Floats:
        scores = self._read_scores
        if self._failed:
            scores = scores.copy()
            scores[list(self._failed)] = np.nan
        return scores

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """In words, which scores are left out, and which columns may mean that rows are counts."""
        rows = sorted(row for row in self._failed if not np.isnan(self._read_scores[row]))
        doubts = []
        if rows:
            words = Counter(self._failed[row] for row in rows)
            said = ", ".join(f"{word}: {count}" for word, count in words.items())
            doubts.append(
                f"scores in failed rows are left out: {len(rows)} ({said}; the first is row "
                f"{rows[0] + 1}); --policy fail counts such trials as wrong"
            )
        used = (*vars(self.roles).values(), *self.by)
        if names := unused_counts(self.columns, used, self._problem_of, bool(self.unfolded)):
            doubts.append(
                f"not used: {listing(names)}, which looks like a count; each row is read as one "
                f"trial with the score {self.roles.score}"
            )
        return tuple(doubts)

    @cached_property
    def _read_scores(self) -> Floats:
        scores = parse_scores(self.roles.score, self.columns[self.roles.score])
        for extreme in () if np.isnan(scores).all() else (np.nanmin(scores), np.nanmax(scores)):
            if not self.scale.holds(extreme):
                row = int((scores == extreme).argmax()) + 1
                raise InvalidInput(
                    f"column {self.roles.score} has a score of {extreme:g} in row {row}, outside "
                    f"its scale, {self.scale}."
                )
        return scores

    @cached_property
    def _trial_of(self) -> tuple[Ints, list[str]] | None:
        name = self.roles.trial
        return None if name is None else number_labels(self.columns[name])

    @cached_property
    def order(self) -> RowOrder:
        """The order in which the trials of a problem were asked."""
        if self.unfolded.startswith(COUNTS):
            return RowOrder(unknown=f"read as {self.unfolded}")
        return (
            RowOrder()
            if self.unfolded
            else row_order(self.roles.trial, self._trial_of, self._problem_of)
        )

    @cached_property
    def _answer_of(self) -> Ints | None:
        name = self.roles.answer
        return None if name is None else number_texts(self.columns[name], name)

    # -- one group -------------------------------------------------------------------------

    def _group(self, rows: Ints) -> TableGroup:
        key = tuple(label(self.columns[name][rows[0]]) for name in self.by)
        _ = self._problem_of, self._scores  # errors there are about the table, not the group
        with error_prefix(key):
            rows = self._of_first(rows)
            outcomes = self._outcomes(rows)
        labels = dict(zip(self.by, key, strict=True)) | self._constants
        return TableGroup(key, outcomes, labels, rows)

    @cached_property
    def _constants(self) -> dict[str, str]:
        names = [name for name in matching(self.columns, SPLIT_BY) if name not in self.by]
        labels = {name: distinct_labels(self.columns[name], 1) for name in names}
        return {name: only[0] for name, only in labels.items() if only}

    def _of_first(self, rows: Ints) -> Ints:
        """Return the rows of the first trials of each problem; one that is missing is no trial."""
        if self.first is None:
            return rows
        is_there = ~np.isnan(self._scores[rows])
        for place in np.flatnonzero(~is_there).tolist():
            is_there[place] = self._status(rows[place]) != MISSING
        rows = rows[is_there]
        kept = self.order.first(self.first, rows, self._problem_of[rows], self._problems)
        scored = rows[~np.isnan(self._scores[rows])]
        problem_of = self._problem_of[scored]
        self._asked(scored, problem_of, np.bincount(problem_of)).require_first(self.first)
        return kept

    def _outcomes(self, rows: Ints) -> Outcomes:
        problem_of, names = self._problem_of[rows], self._problems
        if len(rows) < len(self._problem_of):
            numbers, first = np.unique(problem_of, return_index=True)
            names = [names[number] for number in numbers[np.argsort(first)]]
            problem_of = ranked(problem_of)
        self._refuse_duplicates(rows, problem_of, names)
        scores = self._scores[rows]
        scored = ~np.isnan(scores)
        trials = np.bincount(problem_of[scored], minlength=len(names))
        unscored = self._unscored(rows[~scored], problem_of[~scored], len(names))
        sequence = self._asked(rows[scored], problem_of[scored], trials)
        successes, graded = _collected(sequence)
        clusters = self._clusters(rows, problem_of, names)
        votes = None
        if self._answer_of is not None:
            answers = self._answer_of[rows][scored]
            votes = Votes.of_trials(problem_of[scored], answers, scores[scored], len(names))
        return Outcomes(
            names, trials, successes, graded, clusters, unscored, votes, self.scale,
            asked=None if self.order.unknown else sequence,
        )  # fmt: skip

    def _asked(self, rows: Ints, problem_of: Ints, trials: Ints) -> AskedScores:
        """Return the scores of rows, problem after problem, in the order of asking."""
        scores = self._scores[rows[self.order.positions(rows, problem_of)]]
        offsets = np.concatenate([[0], np.cumsum(trials)])
        return AskedScores(frozen(compact(scores)), frozen(offsets))

    def _unscored(self, rows: Ints, problem_of: Ints, count: int) -> dict[str, Ints]:
        """Count the rows without a score per problem, by their status."""
        problems: dict[str, list[int]] = {}
        for row, problem in zip(rows.tolist(), problem_of.tolist(), strict=True):
            problems.setdefault(self._status(row), []).append(problem)
        return {word: np.bincount(where, minlength=count) for word, where in problems.items()}

    def _status(self, row: int) -> str:
        """Return why a row without a score has none."""
        if row in self._failed:
            return self._failed[row]
        if self.roles.status is None:
            return MISSING
        status = label(self.columns[self.roles.status][row])
        return MISSING if status.strip().lower() in ABSENT | {"ok"} else status

    def _refuse_duplicates(self, rows: Ints, problem_of: Ints, names: Sequence[str]) -> None:
        if self._trial_of is None:
            return
        numbers, labels = self._trial_of
        trial_of = numbers[rows]
        pairs = problem_of * len(labels) + trial_of
        if _are_distinct(pairs, len(names) * len(labels)):
            return
        _, first, repeats = np.unique(pairs, return_index=True, return_counts=True)
        twice = sorted(first[repeats > 1])[:3]
        shown = "; ".join(
            f"({shortened(names[problem_of[i]])}, {shortened(labels[trial_of[i]])})" for i in twice
        )
        more = int((repeats > 1).sum()) - len(twice)
        raise InvalidInput(
            f"each trial needs its own row; ({self.roles.problem}, {self.roles.trial}) is repeated "
            f"for {shown}{f' and {more} more' if more > 0 else ''}. {self._advice(pairs, rows)}"
        )

    def _advice(self, pairs: Ints, rows: Ints) -> str:
        """Name the column that distinguishes repeated trials."""
        skip = {*self.by, *vars(self.roles).values()}
        for name, column in self.columns.items():
            if name not in skip and distinct_labels(column, 50) is not None:
                numbers, labels = number_labels([column[row] for row in rows.tolist()])
                if len(np.unique(pairs * len(labels) + numbers)) == len(pairs):
                    return f"Column {name} tells them apart; in the shell, --by {name} splits."
        return "If the table holds several models or tasks, split it by that column."

    def _clusters(self, rows: Ints, problem_of: Ints, names: Sequence[str]) -> list[str] | None:
        """Return the cluster of each problem; None if the column is empty in all of these rows."""
        if self.roles.cluster is None:
            return None
        column = self.columns[self.roles.cluster]
        if all(is_absent(column[row]) for row in rows.tolist()):
            return None
        cluster_of: dict[int, str] = {}
        for row, problem in zip(rows.tolist(), problem_of.tolist(), strict=True):
            if is_absent(column[row]):
                raise InvalidInput(
                    f"column {self.roles.cluster} is empty for problem {names[problem]!r}; every "
                    "problem needs a cluster, or none has one."
                )
            cluster = label(column[row])
            if cluster_of.setdefault(problem, cluster) != cluster:
                raise InvalidInput(
                    f"a problem must be in one cluster; {names[problem]!r} is in "
                    f"{cluster_of[problem]!r} and {cluster!r}."
                )
        return [cluster_of[problem] for problem in range(len(names))]


def lay_out(
    columns: Columns,
    chosen: Mapping[str, str | None],
    by: Sequence[str],
    unfolded: str = "",
    *,
    answers: bool = False,
    scales: Mapping[str, Scale] | None = None,
    first: int | None = None,
) -> Layout:
    """Decide the role of each column and the columns to split by, in a table of trials.

    With `answers`, the column of answers is guessed too. `scales` are those of columns of scores.
    With `first`, groups are of so many first trials of each problem.
    """
    roles = find_roles(columns, chosen)
    if answers and roles.answer is None:
        roles = replace(roles, answer=guess_answer(columns, roles))
    named = tuple(dict.fromkeys(require_column(columns, "--by", name) for name in by))
    rivals = [name for name in score_columns(columns) if name != roles.score]
    split = split_columns(columns, roles, named)
    scale = (scales or {}).get(roles.score, UNSTATED)
    shown = () if chosen.get("score") else tuple(rivals)
    return Layout(columns, roles, split, unfolded, shown, scale, first)


@contextmanager
def error_prefix(key: Sequence[str]) -> Iterator[None]:
    """Put the name of a group, or of a file, in front of an error about it."""
    try:
        yield
    except InvalidInput as error:
        raise type(error)(f"{' / '.join(key)}: {error}" if key else str(error)) from None


def _are_distinct(numbers: Ints, count: int) -> bool:
    """Return whether numbers below a count are all different."""
    if count <= 4 * len(numbers):
        return bool(np.bincount(numbers).max(initial=0) <= 1)
    return len(np.unique(numbers)) == len(numbers)


def _collected(scores: AskedScores) -> tuple[Ints | None, GradedScores | None]:
    """Return success counts where every score is 0 or 1, and all scores where not."""
    if scores.values.dtype == np.uint8:
        return scores.sums(), None
    return None, GradedScores(np.asarray(scores.values, np.float64), scores.offsets)

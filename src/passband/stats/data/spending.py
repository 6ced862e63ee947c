"""Read cost, tokens and seconds of trials when a metric asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np

from passband.errors import InvalidInput
from passband.stats.data.graded import GradedScores
from passband.stats.data.scale import Scale

if TYPE_CHECKING:
    from passband.stats.data.outcomes import Outcomes


SpentColumn = Literal["cost", "tokens", "latency"]
COLUMNS: tuple[SpentColumn, ...] = get_args(SpentColumn)
PER_SOLVED = "cost-per-solved"
SPENT_METRICS = (*COLUMNS, PER_SOLVED)
SPENT = Scale(0.0, None, lower_is_better=True)
_UNKNOWN = "{0} is not known of these trials; run directories have it"
_PRICE = (
    ", once the price of the model is given: passband run --price IN,OUT, or for recorded trials "
    "passband score RUN --price IN,OUT"
)

#: By the name of the problem, what each trial took; None for an answer that does not say.
SpentTrials = dict[str, list[float | None]]


@dataclass(frozen=True)
class Spent:
    """Mark outcomes whose scores are costs, tokens or seconds."""

    column: SpentColumn

    def of(self, column: SpentColumn) -> SpentTrials:
        """Refuse any other column."""
        raise _unknown(column)


class Spending(Protocol):
    """Read the cost, tokens and seconds of trials."""

    def of(self, column: SpentColumn) -> SpentTrials:
        """Return a column, by problem."""


def spent_outcomes(outcomes: Outcomes, column: SpentColumn) -> Outcomes:
    """Return cost, tokens or seconds of trials as graded scores; lower is better.

    All trials count that state it, truncated and unscored ones among them.
    """
    if outcomes.spending == Spent(column):
        return outcomes
    if outcomes.spending is None:
        raise _unknown(column)
    trials = outcomes.spending.of(column)
    rows = [trials.get(problem, []) for problem in outcomes.problems]
    values = [[one for one in row if one is not None] for row in rows]
    counts = np.array([len(row) for row in values])
    if not counts.any():
        raise _unknown(column)
    graded = GradedScores(
        np.array([one for row in values for one in row], dtype=np.float64),
        np.concatenate([[0], np.cumsum(counts)]),
    )
    lacking = np.array([len(row) for row in rows]) - counts
    return type(outcomes)(
        outcomes.problems, counts, None, graded, outcomes.clusters,
        {f"without {column}": lacking}, scale=SPENT,
        spending=Spent(column),
    )  # fmt: skip


def _unknown(column: SpentColumn) -> InvalidInput:
    price = _PRICE if column == "cost" else ""
    return InvalidInput(f"{_UNKNOWN.format(column)}{price}.")

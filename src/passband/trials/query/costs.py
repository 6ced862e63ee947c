"""What the trials of a run cost: those with a cost, and those that still need a price.

Costs are added up in whole units of 1e-12. A token at a price of up to six decimals per million is
a whole number of them, so a sum does not depend on the order of the trials, nor on merging.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.packing import STATUS
from passband.trials.rows import FAILED

_UNITS = 10**12
_TAKEN = {
    "cost": "cost",
    "tokens": "prompt_tokens + completion_tokens",
    "latency": "latency_ms / 1000.0",
}
_FAILED = ",".join(str(STATUS[status]) for status in FAILED)


@dataclass(frozen=True)
class Costs:
    """How many trials have a cost, and the tokens of those without."""

    priced: int
    unpriced: int  #: answers without a cost; failed trials are not among them
    prompt_tokens: int  #: of trials without a cost
    completion_tokens: int


def total_cost(costs: Iterable[float]) -> float:
    """Return the sum of costs, the same in whatever order.

    >>> total_cost([0.1, 0.2, 0.3]), sum([0.1, 0.2, 0.3])
    (0.6, 0.6000000000000001)
    """
    return sum(round(cost * _UNITS) for cost in costs) / _UNITS


def read_costs(rows: CheckedRows, run: int) -> Costs:
    """Count the trials of a run with and without a cost; reads all of its rows."""
    query = (
        f"SELECT count(cost), total(cost IS NULL AND status NOT IN ({_FAILED})), "
        "total(prompt_tokens) - total(prompt_tokens * (cost IS NOT NULL)), "
        "total(completion_tokens) - total(completion_tokens * (cost IS NOT NULL)) "
        "FROM trial WHERE run=?"
    )
    ((priced, unpriced, prompt, completion),) = rows.each(query, run)
    return Costs(priced, int(unpriced), int(prompt), int(completion))


def read_taken(rows: CheckedRows, run: int, column: str) -> Iterator[tuple[int, int, float | None]]:
    """Yield problem, trial and what it took; failed trials only where they state it."""
    value = _TAKEN[column]
    query = (
        f"SELECT problem, trial, {value} FROM trial WHERE run=? "
        f"AND ({value} NOT NULL OR status NOT IN ({_FAILED})) ORDER BY problem, trial"
    )
    yield from rows.each(query, run)

"""Complete rounds of a run: how many there are, and the outcomes of those alone.

A run that stops by the width of its interval is measured on complete rounds, one trial of every
problem in each. Trials of a round that was cut short by Ctrl-C or a budget are those that came back
first, and would bias what is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from passband.trials.query.counts import Counts, ProblemRef, unscored_reason

if TYPE_CHECKING:
    from passband.stats.data import Outcomes
    from passband.types import Ints


def count_complete_rounds(recorded: Iterable[int]) -> int:
    """Return how many first trials all problems have; each has a number whose bits are its trials.

    >>> count_complete_rounds([0b111, 0b1011]), count_complete_rounds([])
    (2, 0)
    """
    return min((((mask + 1) & ~mask).bit_length() - 1 for mask in recorded), default=0)


def outcomes_of_rounds(
    counts: Counts, run: int, scorer: int, places: Sequence[ProblemRef], rounds: int
) -> Outcomes:
    """Return the outcomes of a run's first rounds, as `Counts.outcomes` returns those of all."""
    from passband.stats.data import Outcomes

    tallies = counts.trial_tallies(run)
    statuses = {
        (problem, trial): status
        for problem, status, places in zip(
            tallies.problems, tallies.statuses, tallies.places, strict=True
        )
        for trial in range(rounds)
        if int.from_bytes(places, "little") >> trial & 1
    }
    reasons = {place: unscored_reason(status, None) for place, status in statuses.items()}
    scores: dict[int, list[float]] = {place.number: [] for place in places}
    for row in counts.rows.rows("score", "scorer=?", scorer, order="problem, trial"):
        problem, trial, value, status = row[1:5]
        if (problem, trial) not in statuses:
            continue
        if value is None:
            reasons[problem, trial] = unscored_reason(statuses[problem, trial], status)
        else:
            scores[problem].append(value)
            del reasons[problem, trial]
    rows = [scores[place.number] for place in places]
    keys = [place.key for place in places]
    clusters = [place.cluster for place in places if place.cluster is not None]
    groups = clusters if len(clusters) == len(places) else None
    if any(rows):
        outcomes = Outcomes.from_array(rows, problems=keys, clusters=groups)
    else:
        outcomes = Outcomes.from_counts([0] * len(rows), 0, problems=keys, clusters=groups)
    return replace(outcomes, unscored=_by_reason(reasons, [place.number for place in places]))


def _by_reason(reasons: Mapping[tuple[int, int], str], problems: Sequence[int]) -> dict[str, Ints]:
    """Return, for every reason, of how many trials of each problem it is the reason."""
    import numpy as np

    index = {number: position for position, number in enumerate(problems)}
    result: dict[str, Ints] = {
        name: np.zeros(len(problems), dtype=np.int64) for name in sorted(set(reasons.values()))
    }
    for (problem, _), name in reasons.items():
        result[name][index[problem]] += 1
    return result

"""Notes on names of metrics that mean something else to other people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from passband import notes
from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.data.outcomes import Outcomes
from passband.stats.metric.names import MetricName, parse_name

__all__ = ["name_notes"]


def name_notes(names: Sequence[str], outcomes: Outcomes) -> tuple[Note, ...]:
    """Return what maj@k is, and what avg@k is where not every problem has k trials.

    >>> [note.code for note in name_notes(["maj@4"], Outcomes.from_counts([1], 4))]
    ['majority-of-scores']
    """
    found = [note for name in _parsed(names) for note in _of_name(name, outcomes)]
    return tuple(dict.fromkeys(found))


def _parsed(names: Sequence[str]) -> Iterator[MetricName]:
    for name in names:
        try:
            yield parse_name(name)
        except InvalidInput:  # its line has the reason
            continue


def _of_name(name: MetricName, outcomes: Outcomes) -> Iterator[Note]:
    if name.key == "maj@":
        yield notes.MAJORITY_OF_SCORES
    if name.key in ("avg@", "mean@"):
        for k in name.ks or ():
            if (outcomes.trials != k).any():
                yield notes.mean_of_all_trials(name.at(k), k)

"""The metrics to show when none is named.

Notes on names of metrics that mean something else to other people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.data import Outcomes
from passband.stats.metric import MetricName, parse_name

MAJORITY_OF_SCORES = Note(
    "majority-of-scores",
    "maj@k is the chance that more than half of k trials are right; vote@k is the chance that the "
    "most frequent answer among k is",
)

_MOST = 4  # values of k


def default_metrics(outcomes: Outcomes) -> list[str]:
    """Return metrics at up to four values of k, from 1 to what every problem allows.

    pass^1 is pass@1 and max@1 is avg, so both are left out. Outcomes without a scored trial get
    pass@1, whose line then gives the reason.

    >>> default_metrics(Outcomes.from_counts([1, 2], 8))
    ['pass@1,2,4,8', 'pass^2,4,8']
    >>> default_metrics(Outcomes.from_counts([1, 2], 10))
    ['pass@1,2,4,10', 'pass^2,4,10']
    """
    if not outcomes.n_trials:
        return ["pass@1"]
    fewest = int(outcomes.trials[outcomes.trials > 0].min())
    ks = _values_of_k(fewest)
    every, beyond = (",".join(map(str, chosen)) for chosen in (ks, ks[1:]))
    first, second = (f"pass@{every}", "pass^") if outcomes.is_binary else ("avg", "max@")
    return [first, second + beyond] if beyond else [first]


def _values_of_k(fewest: int) -> list[int]:
    """Return 1, powers of 2 or 4 and so on, and the number of trials itself.

    >>> _values_of_k(1), _values_of_k(5), _values_of_k(32), _values_of_k(64)
    ([1], [1, 2, 4, 5], [1, 4, 16, 32], [1, 4, 16, 64])
    """
    powers = fewest.bit_length()
    step = -(-powers // _MOST)
    ks = [2**power for power in range(0, powers, step)]
    if ks[-1] == fewest:
        return ks
    return [*ks[: _MOST - 1], fewest]


def name_notes(names: Sequence[str], outcomes: Outcomes) -> tuple[Note, ...]:
    """Return what maj@k is, and what avg@k is where not every problem has k trials.

    >>> [note.code for note in name_notes(["maj@4"], Outcomes.from_counts([1], 4))]
    ['majority-of-scores']
    """
    noted = [note for name in _parsed(names) for note in _of_name(name, outcomes)]
    return tuple(dict.fromkeys(noted))


def _parsed(names: Sequence[str]) -> Iterator[MetricName]:
    for name in names:
        try:
            yield parse_name(name)
        except InvalidInput:  # its line has the reason
            continue


def _of_name(name: MetricName, outcomes: Outcomes) -> Iterator[Note]:
    if name.key == "maj@":
        yield MAJORITY_OF_SCORES
    if name.key in ("avg@", "mean@"):
        for k in name.ks or ():
            if (outcomes.trials != k).any():
                yield mean_of_all_trials(name.at(k), k)


def mean_of_all_trials(name: str, k: int) -> Note:
    """Return the note on a mean of k trials where problems have other numbers of them.

    >>> print(mean_of_all_trials("avg@64", 64))
    avg@64 is the mean score of all trials of the problems that have at least 64
    """
    return Note(
        "mean-of-all-trials",
        f"{name} is the mean score of all trials of the problems that have at least {k}",
    )

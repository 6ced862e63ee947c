"""Merging calls to judges: those that are new are added, replies that contradict are refused.

A call that both directories hold must have been replied to in the same words. A failed one says
nothing: it is kept, under another number if its own is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby, islice

from passband.trials.reader import Trials
from passband.trials.rows import CallRow
from passband.trials.store import Store

_CHUNK = 500  # calls


class ConflictingCalls(Exception):
    """Two directories hold different replies to one call; `call` is that of the destination."""

    def __init__(self, call: CallRow) -> None:
        super().__init__(f"call {call.call} of trial {call.trial}")
        self.call = call


def merge_calls(
    store: Store, trials: Trials, there: int, here: int, numbers: Mapping[int, int]
) -> int:
    """Copy the calls of a scorer, which has another number here, and return how many are new."""
    added = 0
    new = _new_calls(partial(store.calls, here), trials, there, here, numbers)
    while chunk := list(islice(new, _CHUNK)):
        store.add_calls(chunk)
        added += len(chunk)
    return added


def refuse_contradictions(
    earlier: Trials, trials: Trials, there: int, here: int, numbers: Mapping[int, int]
) -> None:
    """Raise `ConflictingCalls` if a scorer's calls contradict those of an earlier directory.

    `numbers` are the problems that both have, there and here.
    """
    known = partial(earlier.calls_of_trial, here)
    for _ in _new_calls(known, trials, there, here, numbers):
        pass


def _new_calls(
    known_calls: Callable[[int, int], list[CallRow]],
    trials: Trials,
    there: int,
    here: int,
    numbers: Mapping[int, int],
) -> Iterator[CallRow]:
    for (problem, trial), calls in groupby(trials.calls(there), key=_place):
        if problem not in numbers:
            continue
        number = numbers[problem]
        known = known_calls(number, trial)
        for call in calls:
            moved = replace(call, scorer=here, problem=number)
            new = _placed(moved, [row for row in known if row.call == call.call])
            if new is not None:
                known.append(new)
                yield new


def _place(call: CallRow) -> tuple[int, int]:
    return call.problem, call.trial


def _placed(call: CallRow, known: list[CallRow]) -> CallRow | None:
    """Return a call under a free number; None if it is there already."""
    if any(_is_same(call, row) for row in known):
        return None
    replied = [row for row in known if row.status != "failed"]
    if call.status != "failed" and any(_contradict(call, row) for row in replied):
        raise ConflictingCalls(call)
    attempts = {row.attempt for row in known}
    free = call.attempt if call.attempt not in attempts else 1 + max(attempts)
    return replace(call, attempt=free)


def _is_same(one: CallRow, other: CallRow) -> bool:
    """Return whether two rows say the same; how long it took and what it cost is not what it says.

    Failures are alike, and told apart by their time. One that was cached need not hold the reply.
    """
    if (one.key, one.status, one.value) != (other.key, other.status, other.value):
        return False
    if one.status == "failed":
        return one.at_ms == other.at_ms
    return one.is_cached or other.is_cached or one.reply == other.reply


def _contradict(one: CallRow, other: CallRow) -> bool:
    """Return whether two replies that differ cannot both be those of one call."""
    return one.attempt == other.attempt or one.status == other.status == "ok"

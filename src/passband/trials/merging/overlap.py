"""Compare the trials and judge calls that two directories both hold.

SQLite compares the rows where both files number their problems alike, and only rows that differ are
read; otherwise every shared trial is. Latency may differ. A failed trial that may be requested
again gives way to one with an answer. Replies to one call have to agree; a failed call is kept,
under another number if its own is taken.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby, islice

from passband.trials.file.connection import attach
from passband.trials.file.schema import STORE_FILE, sqlite_errors
from passband.trials.reader import Trials
from passband.trials.records import RunRecord
from passband.trials.rows import FAILED, CallRow, TrialRow
from passband.trials.settings import SettingsChanged
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


Names = Mapping[int, object]  # of scorers, by number


def conflict_error(earlier: TrialRow, row: TrialRow) -> str | None:
    """Return what differs in two rows of a trial, if anything does that a reader would see."""
    names = {
        "status": "its status", "text": "its completion", "reasoning": "its reasoning",
        "transcript": "its transcript", "seed": "its seed", "prompt_tokens": "its tokens",
        "completion_tokens": "its tokens", "reasoning_tokens": "its tokens",
        "cached_tokens": "its tokens", "finish_reason": "how it ended",
    }  # fmt: skip
    for name, words in names.items():
        if getattr(earlier, name) != getattr(row, name):
            return words
    return None


def supersedes(row: TrialRow, other: TrialRow) -> bool:
    """Return whether a row of a trial takes the place of another, which failed.

    It does if it has an answer; or if it failed in another way, after more attempts.
    """
    if other.status not in FAILED:
        return False
    if row.status not in FAILED:
        return True
    return row.attempts > other.attempts and conflict_error(row, other) is not None


def contradiction(
    earlier: TrialRow, earlier_names: Names, row: TrialRow, names: Names
) -> str | None:
    """Return in what two rows of a trial contradict each other, if they do; scores included."""
    if supersedes(row, earlier) or supersedes(earlier, row):
        return None
    there = {earlier_names[score.scorer]: score for score in earlier.scores}
    for score in row.scores:
        other = there.get(names[score.scorer], score)
        if other[1:5] != score[1:5]:  # all but the scorer's number and the detail
            return conflict_error(earlier, row) or "its score"
    return conflict_error(earlier, row)


def recorded_twice(
    where: object, task: str, key: str, trial: int, what: str, other: object
) -> SettingsChanged:
    """Return the error to raise for a trial of which two directories say different things."""
    return SettingsChanged(
        f"{where} cannot be merged: trial {trial} of problem {key!r} of {task} is recorded twice, "
        f"and {what} differs from that in {other}."
    )


_TRIALS = (
    "SELECT y.problem, y.trial FROM later.trial AS y CROSS JOIN earlier.trial AS x "
    "ON x.run=:earlier AND x.problem=y.problem AND x.trial=y.trial "
    "LEFT JOIN earlier.body AS p ON p.id=x.body LEFT JOIN later.body AS q ON q.id=y.body "
    "WHERE y.run=:later AND (x.status IS NOT y.status OR x.seed IS NOT y.seed "
    "OR x.prompt_tokens IS NOT y.prompt_tokens OR x.completion_tokens IS NOT y.completion_tokens "
    "OR x.reasoning_tokens IS NOT y.reasoning_tokens OR x.cached_tokens IS NOT y.cached_tokens "
    "OR x.finish_reason IS NOT y.finish_reason OR p.codec IS NOT q.codec OR p.text IS NOT q.text "
    "OR p.reasoning IS NOT q.reasoning OR p.transcript IS NOT q.transcript)"
)
_SCORES = (
    "SELECT y.problem, y.trial FROM later.score AS y CROSS JOIN earlier.score AS x "
    "ON x.scorer=:earlier AND x.problem=y.problem AND x.trial=y.trial "
    "WHERE y.scorer=:later AND (x.value IS NOT y.value OR x.status IS NOT y.status "
    "OR x.answer IS NOT y.answer OR x.rule IS NOT y.rule)"
)


class Overlap:
    """A run that two directories hold parts of."""

    def __init__(self, earlier: Trials, later: Trials, run: RunRecord) -> None:
        self._earlier, self._later, self._run = earlier, later, run
        self._other = same_run(earlier, run)
        self._numbers = earlier.numbers(self._other.number)
        self._keys = {number: key for key, number in later.numbers(run.number).items()}

    def refuse_trials(self) -> None:
        """Refuse trials that contradict each other."""
        for problem, trial in self._suspects():
            self._refuse(problem, trial)

    def refuse_calls(self) -> None:
        """Refuse replies of a judge that contradict each other."""
        known = self._numbers
        numbers = {number: known[key] for number, key in self._keys.items() if key in known}
        for earlier, later in self._scorers():
            try:
                refuse_contradictions(self._earlier, self._later, later, earlier, numbers)
            except ConflictingCalls as error:
                key = next(k for k, n in self._numbers.items() if n == error.call.problem)
                raise self._error(key, error.call.trial, "a judge's reply") from None

    # -- inside ----------------------------------------------------------------------------

    def _suspects(self) -> Iterator[tuple[int, int]]:
        """Yield the places, by number in the later directory, of trials that may differ."""
        same = all(self._numbers.get(key, number) == number for number, key in self._keys.items())
        if same:
            yield from sorted(self._compared())
            return
        recorded = self._earlier.recorded(self._other.number)
        there = {key: recorded.get(number, 0) for key, number in self._numbers.items()}
        for number, mask in sorted(self._later.recorded(self._run.number).items()):
            yield from ((number, trial) for trial in bits(mask & there.get(self._keys[number], 0)))

    def _compared(self) -> set[tuple[int, int]]:
        """Return the places of trials and scores that differ.

        A file that is being written may hold more by now than what is being merged.
        """
        paths = {name: one.directory / STORE_FILE
                 for name, one in (("earlier", self._earlier), ("later", self._later))}  # fmt: skip
        places: set[tuple[int, int]] = set()
        with closing(sqlite3.connect("", uri=True)) as connection:
            for name, path in paths.items():
                attach(connection, path, name)
            with sqlite_errors(paths["later"]):
                runs = {"earlier": self._other.number, "later": self._run.number}
                places.update(connection.execute(_TRIALS, runs))
                for earlier, later in self._scorers():
                    numbers = {"earlier": earlier, "later": later}
                    places.update(connection.execute(_SCORES, numbers))
        return places

    def _refuse(self, problem: int, trial: int) -> None:
        key = self._keys.get(problem)
        if key is None or key not in self._numbers:  # entered since, or another problem's number
            return
        row = self._later.trial(self._run.number, problem, trial)
        earlier = self._earlier.trial(self._other.number, self._numbers[key], trial)
        if row is None or earlier is None:  # recorded since
            return
        what = contradiction(earlier, self._earlier_names, row, self._names)
        if what is not None:
            raise self._error(key, trial, what)

    def _error(self, key: str, trial: int, what: str) -> Exception:
        return recorded_twice(
            self._later.directory, self._run.task, key, trial, what, self._earlier.directory
        )

    def _scorers(self) -> list[tuple[int, int]]:
        """Return the numbers of the scorers that both have."""
        earlier = {name: number for number, name in self._earlier_names.items()}
        return [(earlier[name], number) for number, name in self._names.items() if name in earlier]

    @cached_property
    def _names(self) -> dict[int, tuple[str, str]]:
        return scorer_names(self._later, self._run.number)

    @cached_property
    def _earlier_names(self) -> dict[int, tuple[str, str]]:
        return scorer_names(self._earlier, self._other.number)


def same_run(trials: Trials, run: RunRecord) -> RunRecord:
    """Return the run of the same task and model in another directory, which has it."""
    return next(one for one in trials.runs() if (one.task, one.model) == (run.task, run.model))


def scorer_names(trials: Trials, run: int) -> dict[int, tuple[str, str]]:
    """Return the name and identity of every scorer of a run, used or not, by number."""
    return {
        scorer.number: (scorer.name, scorer.identity)
        for number, _, scorer in trials.all_scorers()
        if number == run
    }


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the ones in a number.

    >>> list(bits(0b10110))
    [1, 2, 4]
    """
    text = bin(mask)[:1:-1]
    position = text.find("1")
    while position >= 0:
        yield position
        position = text.find("1", position + 1)

"""Find the trials that the rows of a label file are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place, nearest
from passband.files import unguarded
from passband.run.label.frame import fingerprint, read_answer
from passband.run.label.sheet import SheetRow, Ticket, digest_of
from passband.trials import RunRecord, Trials


@dataclass(frozen=True, eq=False)
class ResolvedRow:
    """A row whose trial is known."""

    run: RunRecord
    key: str
    number: tuple[int, int]  #: of the problem in the store, and of the trial
    label: Any
    place: Place
    ticket: Ticket | None


class Resolver:
    """Finds the trials of rows among the runs of some directories."""

    def __init__(
        self, directories: Sequence[Path], tasks: Sequence[str] = (), models: Sequence[str] = ()
    ) -> None:
        self._open = [Trials(directory) for directory in directories]
        self.runs: list[tuple[Path, RunRecord]] = []
        self._trials: dict[int, Trials] = {}
        self._numbers: dict[int, dict[str, int]] = {}
        self._recorded: dict[int, dict[int, int]] = {}
        for trials in self._open:
            for run in trials.chosen_runs(tasks, models):
                self.runs.append((trials.directory, run))
                self._trials[id(run)] = trials
                self._numbers[id(run)] = trials.numbers(run.number)
                self._recorded[id(run)] = trials.recorded(run.number)

    def close(self) -> None:
        for trials in self._open:
            trials.close()

    def trials(self, run: RunRecord) -> Trials:
        """Return the open table that a run is in."""
        return self._trials[id(run)]

    def resolve(self, row: SheetRow) -> ResolvedRow:
        """Return the trial of a row; raise `InvalidInput`, with its line, where there is none."""
        try:
            run = self._run(row)
            key, trial = self._named(run, row)
            number = self._number(run, key), trial
            self._require_trial(run, key, number)
            if row.ticket is not None:
                self._require_answer(run, key, number, row.ticket)
        except InvalidInput as error:
            raise InvalidInput(error.message, place=row.place) from None
        return ResolvedRow(run, key, number, row.label, row.place, row.ticket)

    # -- the run ---------------------------------------------------------------------------

    def _run(self, row: SheetRow) -> RunRecord:
        if row.ticket is not None:
            for _, run in self.runs:
                if fingerprint(run) == row.ticket.run:
                    return run
            raise InvalidInput(
                "this trial was drawn from another run; give the run directory that "
                "`passband label` drew from."
            )
        runs = [
            run
            for _, run in self.runs
            if row.task in (None, run.task) and row.model in (None, run.model, run.label)
        ]
        if len(runs) == 1:
            return runs[0]
        held = ", ".join(f"{run.task} by {run.label}" for _, run in self.runs) or "nothing"
        if not runs:
            raise InvalidInput(f"there are no trials of {row.task} by {row.model}, only {held}.")
        raise InvalidInput(f"which run is it? There are {held}; choose with --task and --model.")

    # -- the trial -------------------------------------------------------------------------

    def _named(self, run: RunRecord, row: SheetRow) -> tuple[str, int]:
        """Return the key and the number of a trial; the ticket's, where it does not contradict."""
        if row.ticket is None:
            return self._key(run, row.problem), self._trial(run, row)
        own = row.ticket.problem, row.ticket.trial
        if row.problem is not None and not _is_same(row.problem, own[0]):
            raise InvalidInput(
                f"the ticket is that of problem {own[0]!r:.60}, but the row is of problem "
                f"{row.problem!r:.60}; sort whole rows, not single columns."
            )
        return own

    def _key(self, run: RunRecord, problem: str | None) -> str:
        if problem is None:
            raise InvalidInput("the problem is missing.")
        known = self._numbers[id(run)]
        for key in (problem, unguarded(problem), problem.strip()):
            if key in known:
                return key
        hint = nearest(problem, known) or f" It has {', '.join(list(known)[:5])}, ..."
        raise InvalidInput(f"{run.task} has no problem {problem!r:.60}.{hint}")

    def _trial(self, run: RunRecord, row: SheetRow) -> int:
        if row.trial is None or str(row.trial).strip() == "":
            if self._most_trials(run) == 1:
                return 0
            raise InvalidInput(
                "the number of the trial is missing, and problems have several; add a column trial."
            )
        try:
            number = float(str(row.trial))
        except ValueError:
            number = -1.0
        if number < 0 or number != int(number):
            raise InvalidInput(
                f"the number of a trial is a whole number from 0 on; got {row.trial!r:.60}."
            )
        return int(number)

    def _most_trials(self, run: RunRecord) -> int:
        return max((mask.bit_length() for mask in self._recorded[id(run)].values()), default=0)

    def _number(self, run: RunRecord, key: str) -> int:
        known = self._numbers[id(run)]
        if key not in known:
            raise InvalidInput(f"{run.task} no longer has problem {key!r:.60}.")
        return known[key]

    def _require_trial(self, run: RunRecord, key: str, number: tuple[int, int]) -> None:
        problem, trial = number
        mask = self._recorded[id(run)].get(problem, 0)
        if not mask >> trial & 1:
            has = [at for at in range(mask.bit_length()) if mask >> at & 1]
            last = f"; its trials are 0 to {has[-1]}" if has else ""
            raise InvalidInput(f"problem {key!r:.60} has no trial {trial}{last}.")

    def _require_answer(
        self, run: RunRecord, key: str, number: tuple[int, int], ticket: Ticket
    ) -> None:
        if digest_of(read_answer(self.trials(run), run, number)) != ticket.answer:
            raise InvalidInput(
                f"the answer of problem {key!r:.60}, trial {number[1]} is another one than when "
                "it was drawn; draw again, and label what is there now."
            )


def _is_same(cell: str, key: str) -> bool:
    """Return whether a cell names a problem, also after a spreadsheet has made 7 of 007."""
    if key in (cell, unguarded(cell), cell.strip()):
        return True
    try:
        return float(cell) == float(key)
    except ValueError:
        return False

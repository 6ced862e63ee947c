"""The problems of runs, written: numbered, compared with those that are there, forgotten."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from passband.trials.call_table import CallTable
from passband.trials.outline import OUTLINE, digest_of
from passband.trials.packing import INTO, MARKS, packed
from passband.trials.problems import KnownProblem, Placing, StoredProblem
from passband.trials.rows import AttemptRow, ProblemRow

__all__ = ["ProblemTable"]

_CHUNK = 500  # problems that are in memory with their records


class ProblemTable(CallTable):
    """Problems, and the attempts at them that came to nothing."""

    def add_problems(
        self,
        run: int,
        problems: Iterable[ProblemRow],
        elsewhere: Callable[[], Collection[str]] = tuple,
    ) -> list[int]:
        """Record problems, and return their numbers in the order of the rows.

        Those that are there already must be what they were, once one was asked; see `Placing`.
        """
        with self.transaction():
            known = self._known_problems(run)
            if known and not self._is_asked(run):
                problems = list(problems)
                self._forget_problems(run, {row.key: row.record for row in problems})
                known = self._known_problems(run)
            placing = Placing(known, self.directory, partial(self._record, run), elsewhere)
            source = iter(problems)
            while rows := list(islice(source, _CHUNK)):
                before = placing.added
                self._write_problems(run, placing.place(rows), placing.added - before)
            self._write_problems(run, placing.displaced(), 0)
        return placing.numbers.tolist()

    def problem_count(self, run: int) -> int:
        """Return how many problems of a run are recorded, those that are gone included."""
        return self._tallies.value("problem", run)

    def _known_problems(self, run: int) -> dict[str, KnownProblem]:
        known = {p.key: KnownProblem.of(p) for p in self._each_problem(run)}
        self._require_problems(run, len(known))
        return known

    def _record(self, run: int, number: int) -> str:
        """Return the record of a problem."""
        ((*_, record),) = self._checked.rows("problem", "run=? AND problem=?", run, number)
        return str(record)

    def problems(self, run: int) -> dict[str, StoredProblem]:
        """Return the problems of a run by their keys."""
        problems = {problem.key: problem for problem in self._each_problem(run)}
        self._require_problems(run, len(problems))
        return problems

    def _each_problem(self, run: int) -> Iterator[StoredProblem]:
        rows = self._checked.rows("problem", "run=?", run, order="1, 2")
        return (StoredProblem(*row[1:6]) for row in rows)

    def _require_problems(self, run: int, count: int) -> None:
        if count != self._tallies.value("problem", run):
            raise self._checked.corrupt("problems are lost")

    def problem_digest(self, run: int) -> int:
        """Return a number that changes with any problem of a run."""
        rows = self._all(OUTLINE, run)
        self._require_problems(run, len(rows))
        return digest_of(rows)

    def numbers_by_position(self, run: int) -> list[int]:
        """Return the numbers of all problems in the order of the data."""
        query = "SELECT problem FROM problem WHERE run=? ORDER BY position, problem"
        return [number for (number,) in self._all(query, run)]

    def put_problems(self, run: int, problems: Sequence[StoredProblem]) -> None:
        """Write problems under their numbers, in place of what is there."""
        with self.transaction():
            before = self._one("SELECT count(*) FROM problem WHERE run=?", run)
            self._write_problems(run, problems, 0)
            after = self._one("SELECT count(*) FROM problem WHERE run=?", run)
            self._tallies.count("problem", run, after - before)

    def _write_problems(self, run: int, problems: Sequence[StoredProblem], new: int) -> None:
        """Write problems, some of which the store does not have yet."""
        rows = [(run, p.number, p.position, p.key, p.cluster, p.record) for p in problems]
        self._connection.executemany(
            f"INSERT {INTO['problem']} {MARKS['problem']} ON CONFLICT(run, problem) "
            "DO UPDATE SET position=excluded.position, cluster=excluded.cluster, "
            "crc=excluded.crc",
            [packed("problem", row) for row in rows],
        )
        self._tallies.count("problem", run, new)

    def add_attempts(self, run: int, attempts: Sequence[AttemptRow]) -> None:
        """Record attempts that returned no completion."""
        self._require_room()
        rows = [
            packed("attempt", (run, row.problem, row.trial, row.attempt, row.at_ms, row.outcome,
                               row.http, row.detail))
            for row in attempts
        ]  # fmt: skip
        with self.transaction():
            self._tallies.count("attempt", run, self._insert("attempt", rows, "OR IGNORE"))

    # -- inside ----------------------------------------------------------------------------

    def _forget_problems(self, run: int, records: Mapping[str, str]) -> None:
        """Delete the problems of a run without trials that have changed or are gone.

        Attempts at them and calls to judges go too: their numbers may be reused.
        """
        known = self.problems(run).values()
        unchanged = {p.number: p for p in known if records.get(p.key) == p.record}
        if len(unchanged) == len(known):
            return
        attempts = [AttemptRow(*row[1:]) for row in self.rows("attempt", "run=?", run)]
        self._forget_calls(run, unchanged)
        self._delete("problem", run)
        self._delete("attempt", run)
        self.put_problems(run, list(unchanged.values()))
        if kept := [attempt for attempt in attempts if attempt.problem in unchanged]:
            self.add_attempts(run, kept)

    def _is_asked(self, run: int) -> bool:
        return bool(self._one("SELECT EXISTS (SELECT 1 FROM trial WHERE run=?)", run))

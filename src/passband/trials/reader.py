"""Reading the trials table: counts for the statistics, rows for export and for scoring again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput, UnknownName, nearest
from passband.files import Framed, Kind
from passband.trials.exports.json_lines import ProblemPart, TrialLines
from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.connection import connect_to_read
from passband.trials.file.judge_calls import (
    CallTotals,
    TrialVotes,
    all_calls,
    calls_of,
    read_totals,
    replies_of,
    votes_of,
)
from passband.trials.file.problem_table import BEHIND, StoredProblem, outline_of
from passband.trials.file.schema import STORE_FILE, selected, sqlite_errors
from passband.trials.file.tally_columns import ScoreTallies, TrialTallies, added
from passband.trials.file.unpacking import placed_trial, scores_of
from passband.trials.query.counts import (
    Costs,
    Counts,
    ProblemRef,
    count_complete_rounds,
    outcomes_of_rounds,
    read_costs,
    read_taken,
    stretches,
    total_cost,
)
from passband.trials.query.filters import FilteredTrials, TrialFilter
from passband.trials.query.pages import TrialPages
from passband.trials.query.scored_trials import (
    all_scores,
    sampled_answers,
    sampled_scores,
    scored_trials,
    some,
    unseen_trials,
)
from passband.trials.query.search import Column, Extreme, Search, largest
from passband.trials.records import (
    ProblemCoverage,
    ProblemRecord,
    RunRecord,
    ScorerRecord,
    SessionRecord,
    SourceRecord,
    with_labels,
)
from passband.trials.rows import (
    SCORE_STATUSES,
    STATUSES,
    AttemptRow,
    CallRow,
    ScoreRow,
    Status,
    TrialRow,
)  # fmt: skip

if TYPE_CHECKING:
    from passband.stats.data import Outcomes, Scale


_TOGETHER = 1_000  # problems
_BY_TIME = "at_ms, problem, trial, attempt"

_PROBLEMS = "SELECT count(*), total(crc) FROM problem WHERE run=?"  # another for other problems


class Trials(Framed):
    """The trials of a run directory, read only; also while they are being written.

    Everything is read as it was at one moment, that of the first reading. A file that this
    process has open for writing is `trusted`: it has been looked through for damage already.
    Every row is checked when it is read, and whether one is missing when all of a kind are.
    Close it, or `refresh` it, when you have read: meanwhile the store's log cannot be emptied.
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        trusted: bool = False,
        scales: Mapping[str, Scale] | None = None,
    ) -> None:
        """`scales` are those that the caller states, by scorer, beside what the store says."""
        self.directory = Path(directory)
        self._scales = scales or {}
        self._connection = connect_to_read(self.directory / STORE_FILE, trusted=trusted)
        self._rows = CheckedRows(self._connection, self.directory / STORE_FILE)
        # Others seldom write problems: a reader that stays keeps them as long as they are the same.
        self._outlines: dict[int, tuple[object, list[ProblemRef]]] = defaultdict(lambda: (None, []))
        self._begin()
        for name in self._scales:
            self._require_name("score", name, [one.name for *_, one in self.all_scorers()])

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self) -> None:
        self._connection.execute("BEGIN")  # else a commit could fall between two queries
        self._forget()

    def _forget(self) -> None:
        self._version: int | None = None
        self._counts = Counts(self._rows)
        self._known_places: dict[int, list[ProblemRef]] = {}
        self._walks: dict[tuple[int, TrialFilter], TrialPages] = {}
        self._outcomes: dict[tuple[int, int], Outcomes] = {}

    def refresh(self) -> None:
        """Read from now on what is there at the next reading.

        Until then nothing is held. A reader that stays open has to do this whenever it has read:
        as long as one holds on to a moment, the log of the store grows.
        """
        self._connection.execute("COMMIT")
        self._begin()

    def release(self) -> None:
        """Hold on to no moment; `renew` before reading again."""
        if self._connection.in_transaction:  # damage may have ended it
            self._connection.execute("COMMIT")

    def renew(self) -> int:
        """Read from now on what is there now; return a number that changes when that does.

        What was counted is kept as long as no other process has written. For a reader that stays
        open, and is asked now and then.
        """
        with sqlite_errors(self.directory / STORE_FILE):
            self._connection.execute("BEGIN")
            version = int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        if version != self._version:
            self._forget()
            self._version = version
        return version

    def interrupt(self) -> None:
        """End the query that another thread is waiting for; there it raises an error."""
        self._connection.interrupt()

    @property
    def commits(self) -> int:
        """The number of transactions written so far; it changes when anything does."""
        return self._rows.counter("commit")

    def counter(self, name: str, number: int = 0) -> int:
        """Return how many rows of a table were written, in all or of a run or a scorer."""
        return self._rows.counter(name, number)

    # -- runs ------------------------------------------------------------------------------

    def runs(self) -> list[RunRecord]:
        """Return every run, by the names of its task and its model."""
        rows = list(self._rows.rows("run"))
        self._rows.require("run", 0, len(rows))
        scorers = self.all_scorers()
        runs = [
            RunRecord(
                number=number,
                name=name,
                task=task,
                model=model,
                spec=self._rows.mapping(spec),
                config=self._rows.mapping(config),
                created=created,
                address=address,
                source=source,
                scorers=tuple(
                    record for run, position, record in scorers
                    if run == number and position is not None
                ),
                stated=self._scales,
            )
            for number, name, task, model, spec, config, created, address, source in rows
        ]  # fmt: skip
        return sorted(with_labels(runs), key=lambda run: (run.task, run.model))

    def run(self, task: str | None = None, model: str | None = None) -> RunRecord:
        """Return the run of a task and a model; where there is only one, it needs no name."""
        runs = self.runs()
        tasks, models = [run.task for run in runs], [run.label for run in runs]
        self._require_name("task", task, tasks)
        self._require_name("model", model, [*models, *(run.model for run in runs)])
        chosen = [r for r in runs if task in (None, r.task) and model in (None, r.label, r.model)]
        if len(chosen) == 1:
            return chosen[0]
        if not chosen:
            raise InvalidInput(f"{self.directory} has no trials of {task!r} by {model!r}.")
        several = len({run.task for run in chosen}) > 1
        what, names = ("task", tasks) if several else ("model", models)
        raise InvalidInput(
            f"{self.directory}: say which {what}. It has {', '.join(dict.fromkeys(names))}."
        )

    def chosen_runs(self, tasks: Sequence[str] = (), models: Sequence[str] = ()) -> list[RunRecord]:
        """Return the runs of these tasks and models; without a name, of all."""
        runs = self.runs()
        for task in tasks:
            self._require_name("task", task, [run.task for run in runs])
        for model in models:
            known = [name for run in runs for name in (run.label, run.model)]
            self._require_name("model", model, known)
        return [
            run
            for run in runs
            if (not tasks or run.task in tasks)
            and (not models or {run.label, run.model} & set(models))
        ]

    def run_numbered(self, number: int) -> RunRecord:
        """Return the run of that number."""
        for run in self.runs():
            if run.number == number:
                return run
        raise InvalidInput(f"{self.directory} has no run {number}.")

    def _require_name(self, what: str, name: str | None, names: Sequence[str]) -> None:
        has = f" It has {', '.join(dict.fromkeys(names)) or 'none'}."
        if name is None and not names:
            raise InvalidInput(f"{self.directory}: say which {what}.{has}")
        if name is not None and name not in names:
            hint = nearest(name, names) or has
            raise UnknownName(f"{self.directory} has no {what} named {name!r}.{hint}")

    def all_scorers(self) -> list[tuple[int, int | None, ScorerRecord]]:
        """Return (run, position, scorer) by run and position; one without is no longer used."""
        rows = list(self._rows.rows("scorer"))
        self._rows.require("scorer", 0, len(rows))
        rows.sort(key=lambda row: (row[1], row[5] is None, row[5] or 0, row[0]))
        return [
            (run, position, ScorerRecord(
                number, name, identity, None if spec is None else self._rows.mapping(spec)))
            for number, run, name, identity, spec, position in rows
        ]  # fmt: skip

    def sources(self) -> list[SourceRecord]:
        """Return the files that trials were imported from."""
        rows = list(self._rows.rows("source"))
        self._rows.require("source", 0, len(rows))
        return [SourceRecord(*row) for row in rows]

    def sessions(self) -> list[SessionRecord]:
        """Return the processes that asked."""
        rows = list(self._rows.rows("session"))
        self._rows.require("session", 0, len(rows))
        return [SessionRecord(*row[1:]) for row in rows]

    def rate(self) -> float | None:
        """Return how many trials came per second, over the sessions that came to an end."""
        sessions = [session for session in self.sessions() if session.trials]
        trials = sum(session.trials or 0 for session in sessions)
        seconds = sum(session.seconds or 0.0 for session in sessions)
        return trials / seconds if trials and seconds else None

    # -- what is there ---------------------------------------------------------------------

    def problems(self, run: int) -> Iterator[ProblemRecord]:
        """Yield the problems of a run in the order of the data."""
        for row in sorted(self._problem_rows(run), key=itemgetter(1, 2)):
            yield self._problem(*row)

    def each_problem(self, run: int) -> Iterator[ProblemRecord]:
        """Yield the problems of a run by number, without holding on to them."""
        for row in self._problem_rows(run):
            yield self._problem(*row)

    def _problem(
        self, number: int, position: int, key: str, cluster: str | None, record: str
    ) -> ProblemRecord:
        return ProblemRecord(number, position, key, cluster, self._rows.mapping(record))

    def stored_problems(self, run: int) -> Iterator[StoredProblem]:
        """Yield the problems of a run by number, their records as they are stored."""
        return (StoredProblem(*row) for row in self._problem_rows(run))

    def problem_digest(self, run: int) -> int:
        """Return a number that changes with any problem of a run, within this process."""
        query = f"SELECT {selected('problem')} FROM problem WHERE run=? ORDER BY problem"
        chunks = self._rows.together(query, _TOGETHER, run)
        return hash(tuple(hash(tuple(chunk)) for chunk in chunks))

    def numbers(self, run: int) -> dict[str, int]:
        """Return the number of each problem by its key, in the order of the data."""
        return {place.key: place.number for place in self._places(run)}

    def _problem_rows(self, run: int) -> Iterator[tuple[Any, ...]]:
        count = 0
        for row in self._rows.rows("problem", "run=?", run, order="problem"):
            count += 1
            yield row[1:]
        self._rows.require("problem", run, count)

    def _places(self, run: int) -> list[ProblemRef]:
        """Return the problems of a run in the order of the data, without their records."""
        if run not in self._known_places:
            stays = self._version is not None
            state = next(self._rows.each(_PROBLEMS, run)) if stays else None
            if state is None or self._outlines[run][0] != state:
                self._outlines[run] = state, self._read_places(run)
            self._known_places[run] = self._outlines[run][1]
        return self._known_places[run]

    def _read_places(self, run: int) -> list[ProblemRef]:
        rows = outline_of(self._rows, run) or [row[:4] for row in self._problem_rows(run)]
        rows.sort(key=itemgetter(1, 2))
        return [ProblemRef(row[0], row[2], row[3], row[1]) for row in rows]

    def trial_count(self, run: int) -> int:
        """Return how many trials of a run are recorded."""
        return self._rows.counter("trial", run)

    def coverage(self, run: RunRecord) -> ProblemCoverage:
        """Return how many problems have a trial and how many have none, by the tallies.

        A problem that is gone is known by its place: behind all others, if one of them has the
        place that it had, or beyond the number of problems, where the run records that.
        """
        end = BEHIND if run.size is None else run.size
        places = self._places(run.number)
        there = {place.number for place in places if place.position < end}
        recorded = set(self.trial_tallies(run.number).problems)
        asked = len(recorded & there)
        return ProblemCoverage(asked, len(there) - asked, len(recorded) - asked)

    def lost(self, run: RunRecord) -> int:
        """Return how many trials of a run were written and have no row."""
        ((rows,),) = self._rows.each("SELECT count(*) FROM trial WHERE run=?", run.number)
        return max(self._rows.counter("trial", run.number) - int(rows), 0)

    def recorded(self, run: int, without: Sequence[Status] = ()) -> dict[int, int]:
        """Return for each problem the set of its recorded trials, as the bits of a number."""
        left_out = [STATUSES.index(status) for status in without]
        return self._counts.trial_tallies(run).masks(left_out)

    def attempts(self, run: int, without: Sequence[Status] = ()) -> dict[tuple[int, int], int]:
        """Return how many attempts have failed, of trials that are not recorded."""
        recorded = self.recorded(run, without)
        most: dict[tuple[int, int], int] = {}
        for row in self.attempt_rows(run):
            place = row.problem, row.trial
            if not recorded.get(row.problem, 0) >> row.trial & 1:
                most[place] = max(row.attempt, most.get(place, 0))
        return most

    def attempt_rows(self, run: int) -> list[AttemptRow]:
        """Return every attempt that returned no completion."""
        rows = [AttemptRow(*row[1:]) for row in self._rows.rows("attempt", "run=?", run)]
        self._rows.require("attempt", run, len(rows))
        return rows

    def statuses(self, run: int) -> dict[str, int]:
        """Return how many trials have each status."""
        counts = self._counts.trial_tallies(run).by_status()
        return {self._rows.status(status): count for status, count in sorted(counts.items())}

    def trial_tallies(self, run: int) -> TrialTallies:
        """Return the trials of a run added up by problem and status."""
        return self._counts.trial_tallies(run)

    def score_tallies(self, scorer: int) -> ScoreTallies:
        """Return the scores of a scorer added up by problem and status."""
        return self._counts.score_tallies(scorer)

    def tokens(self, run: int) -> tuple[int, int]:
        """Return the tokens that went in and came out, where they were counted."""
        tallies = self._counts.trial_tallies(run)
        return sum(tallies.prompt_tokens), sum(tallies.completion_tokens)

    def reasoning_tokens(self, run: int) -> int:
        """Return how many of the tokens that came out were reasoning, where they were counted."""
        return sum(self._counts.trial_tallies(run).reasoning_tokens)

    def cached_tokens(self, run: int) -> int:
        """Return how many of the tokens that went in were read from a cache, where counted."""
        return sum(self._counts.trial_tallies(run).cached_tokens)

    def cost(self, run: int) -> float:
        """Return what the trials cost, where that was recorded with them."""
        return total_cost(self._counts.trial_tallies(run).costs)

    def costs(self, run: int) -> Costs:
        """Return how many trials have a cost, and the tokens of the others; reads all of them."""
        return read_costs(self._rows, run)

    def taken(self, run: int, column: str) -> Iterator[tuple[int, int, float | None]]:
        """Yield problem, trial and its cost, tokens or latency in seconds."""
        return read_taken(self._rows, run, column)

    def is_priced(self, run: int) -> bool:
        """Return whether any trial has a cost, if only of 0."""
        return self.cost(run) != 0 or self.costs(run).priced > 0

    def retried(self, run: int) -> int:
        """Return how many trials needed more than one attempt."""
        return sum(self._counts.trial_tallies(run).retried)

    def first_failure(self, run: int, outcome: str) -> str | None:
        """Return the detail of the first failed attempt of a kind, if there is one."""
        rows = self._rows.rows("attempt", "run=? AND outcome=?", run, outcome, order=_BY_TIME)
        return next((str(row[7]) for row in rows), None)

    # -- rounds ----------------------------------------------------------------------------

    def complete_rounds(self, run: RunRecord) -> int | None:
        """Return how many rounds of a run with a rule for its width are complete; else None."""
        return self.rounds_there(run) if "until" in run.config else None

    def beyond_rounds(self, run: RunRecord) -> int:
        """Return how many trials of a run with a rule for its width are in no complete round."""
        rounds = self.complete_rounds(run)
        if rounds is None:
            return 0
        return sum((mask >> rounds).bit_count() for mask in self.recorded(run.number).values())

    def rounds_there(self, run: RunRecord) -> int:
        """Return how many rounds of a run are complete: trials that every problem has."""
        recorded = self.recorded(run.number)
        return count_complete_rounds(
            recorded.get(place.number, 0) for place in self._places(run.number)
        )

    def fewest_recorded(self, run: RunRecord) -> int:
        """Return the fewest trials that a problem with any has, from the first without a gap."""
        return count_complete_rounds(mask for mask in self.recorded(run.number).values() if mask)

    def outcomes_of_first(
        self, run: RunRecord, rounds: int, scorer: ScorerRecord | None = None
    ) -> Outcomes:
        """Return the outcomes of a run's first rounds, by a scorer or its main one."""
        chosen, places = scorer or run.scorer(), self._places(run.number)
        found = outcomes_of_rounds(self._counts, run.number, chosen.number, places, rounds)
        return replace(found, scale=run.scale(chosen))

    # -- scores ----------------------------------------------------------------------------

    def outcomes(
        self, run: RunRecord | None = None, scorer: ScorerRecord | None = None
    ) -> Outcomes:
        """Return what the statistics work on: scores by problem, and why some have none.

        Those of an adaptive test are refused: its problems are no sample of anything.
        Of a run that stops by the width of its interval, they are those of complete rounds.
        """
        run = run or self.run()
        run.refuse_averages()
        chosen = scorer or run.scorer()
        key = run.number, chosen.number
        if key not in self._outcomes:
            outcomes = self._measured(run, chosen.number)
            self._outcomes[key] = replace(outcomes, scale=run.scale(chosen))
        return self._outcomes[key]

    def _measured(self, run: RunRecord, scorer: int) -> Outcomes:
        places, planned = self._places(run.number), run.imported.planned
        if self.beyond_rounds(run):
            rounds = self.complete_rounds(run) or 0
            return outcomes_of_rounds(self._counts, run.number, scorer, places, rounds)
        return self._counts.outcomes(run.number, scorer, places, planned)

    def score_statuses(self, scorer: int) -> dict[str, int]:
        """Return how many scores of a scorer have each status."""
        tallies = self._counts.score_tallies(scorer)
        counts = added(tallies.statuses, tallies.scores)
        return {self._rows.score_status(status): n for status, n in sorted(counts.items())}

    def scored_statuses(self, scorer: int) -> dict[Status, int]:
        """Return how many trials of each status have a score with a value."""
        tallies = self._counts.score_tallies(scorer)
        counts = added(tallies.trial_statuses, tallies.valued)
        return {self._rows.status(status): n for status, n in sorted(counts.items()) if n}

    def has_scored(self, run: int, scorer: int, statuses: Sequence[Status]) -> bool:
        """Return whether a scorer has seen every trial with one of these statuses."""
        trials = self._counts.trial_tallies(run).by_status()
        tallies = self._counts.score_tallies(scorer)
        scores = added(tallies.trial_statuses, tallies.scores)
        chosen = [STATUSES.index(status) for status in statuses]
        return sum(trials.get(s, 0) for s in chosen) == sum(scores.get(s, 0) for s in chosen)

    def score_sums(self, scorer: int) -> list[tuple[int, int, float]]:
        """Return for each problem how many trials have a score, and their sum.

        A sum of graded scores is rounded as they came; `outcomes` has the scores themselves.
        """
        return self._counts.score_tallies(scorer).sums()

    # -- samples ---------------------------------------------------------------------------

    def sampled_answers(
        self, run: int, problems: int, first: int
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield for some problems the answers to their first trials, as they are stored."""
        numbers = some([place.number for place in self._places(run)], problems)
        return sampled_answers(self._rows, run, numbers, first)

    def sampled_scores(self, run: int, scorer: int, problems: int) -> list[tuple[int, float]]:
        """Return (problem, score) of some problems' trials, in the order of trials."""
        numbers = [place.number for place in self._places(run)]
        chosen = some(numbers, problems)
        return sampled_scores(self._rows, scorer, None if chosen is numbers else chosen)

    def prompts(self, run: int) -> list[str | None]:
        """Return the messages of each problem as JSON; None where none are recorded."""
        query = "SELECT nullif(json_extract(record,'$.messages'),'[]') FROM problem WHERE run=?"
        return [row[0] for row in self._rows.each(query, run)]

    # -- rows ------------------------------------------------------------------------------

    def frame_kinds(self) -> Mapping[str, Kind]:
        """Return the columns of an export, by name."""
        from passband.trials.exports.export import column_kinds

        return column_kinds(self, self.runs())

    def frame_rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield one row per trial, as an export has them."""
        from passband.trials.exports.export import rows

        return rows(self, self.runs())

    def trials(self, run: RunRecord, *, unscored_by: int | None = None) -> Iterator[TrialRow]:
        """Yield every trial with its scores, by position of the problem and trial.

        With `unscored_by`, only trials that this scorer has not seen, without scores.
        """
        numbers = [place.number for place in self._places(run.number)]
        if unscored_by is None:
            scorers = [scorer.number for scorer in run.scorers]
            yield from scored_trials(self._rows, run.number, numbers, scorers)
        else:
            yield from unseen_trials(self._rows, run.number, numbers, unscored_by)

    def trial(self, run: int, problem: int, trial: int) -> TrialRow | None:
        """Return a trial with what every scorer gave it, if it is recorded."""
        return placed_trial(self._rows, run, problem, trial)

    def chosen(self, run: RunRecord, choice: TrialFilter) -> FilteredTrials:
        """Return some trials of a run, to be read one by one."""
        return FilteredTrials(self._rows, run, self._places(run.number), choice)

    def walk(self, run: RunRecord, choice: TrialFilter) -> TrialPages:
        """Return some trials of a run, to be read a page at a time."""
        key = run.number, choice
        if key not in self._walks:
            self._walks[key] = TrialPages(
                self._rows, run, self._places(run.number), choice, self._counts
            )
        return self._walks[key]

    def extremes(self, run: RunRecord, column: Column, most: int) -> list[Extreme]:
        """Return the trials with the largest latency or number of tokens; reads all of the run."""
        return largest(self._rows, run.number, column, most)

    def search(self, run: RunRecord, text: str) -> Search:
        """Return a search for a text in the completions of a run."""
        return Search(self._rows, run.number, text)

    def lines(self, run: RunRecord, parts: Mapping[int, ProblemPart]) -> Iterator[bytes]:
        """Yield the trials of a run with at most one scorer as lines of JSON, in the same order."""
        scorer = run.scorers[0].number if run.scorers else None
        lines = TrialLines(self._rows, run.number, scorer, parts)
        for stretch in stretches([place.number for place in self._places(run.number)]):
            yield from lines.of(stretch)
        lines.require_all()

    def scores(self, scorer: int) -> Iterator[tuple[int, int, ScoreRow]]:
        """Yield (problem, trial, score) of a scorer, by number of the problem and trial."""
        return all_scores(self._rows, scorer)

    def first_error(self, scorer: int) -> str | None:
        """Return the detail of the first score that is an error, if there is one."""
        where, status = "scorer=? AND status=?", SCORE_STATUSES.index("error")
        for _, _, score in scores_of(self._rows, where, scorer, status):
            return score.detail
        return None

    # -- judges ----------------------------------------------------------------------------

    def calls(self, scorer: int) -> Iterator[CallRow]:
        """Yield every call of a scorer to a judge, by problem, trial, call and attempt."""
        return all_calls(self._rows, scorer)

    def calls_of_trial(self, scorer: int, problem: int, trial: int) -> list[CallRow]:
        """Return the calls of a scorer for one trial, by number and attempt."""
        where = "scorer=? AND problem=? AND trial=?"
        return list(calls_of(self._rows, where, scorer, problem, trial))

    def called(self, scorer: int) -> dict[int, int]:
        """Return for each problem the set of the trials that a scorer has calls for, as bits."""
        masks: dict[int, int] = {}
        query = "SELECT DISTINCT problem, trial FROM call WHERE scorer=?"
        for problem, trial in self._rows.each(query, scorer):
            masks[problem] = masks.get(problem, 0) | 1 << trial
        return masks

    def replies(self, keys: Iterable[bytes]) -> dict[bytes, list[CallRow]]:
        """Return the paid replies to each of these requests that has any, the first one first."""
        return replies_of(self._rows, keys)

    def votes(self, scorer: int) -> Iterator[TrialVotes]:
        """Yield the votes of a judge on each trial that has any, by problem and trial."""
        return votes_of(self.calls(scorer))

    def call_totals(self, scorer: int) -> CallTotals:
        """Return the calls of a scorer added up: how many, failed ones, tokens and cost."""
        return read_totals(self._rows, scorer)

"""What must hold after every session, and at the end, whatever has failed in between."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from passband.errors import InvalidInput
from passband.trials.exports.export import export_trials, rows
from passband.trials.file.schema import EmptyStore
from passband.trials.reader import Trials
from passband.trials.records import RunRecord
from passband.trials.rows import FAILED, AttemptRow, TrialRow
from simulation.ledger import Asked
from simulation.questions import MOST_TRIALS, TOO_LONG, Place, answer, scores_of
from simulation.scenario import Scenario, Session

if TYPE_CHECKING:
    from simulation.simulate import Simulation

_STATUS = {"stop": "ok", "length": "truncated", "content_filter": "refused"}
_SHARED = ("seed", "prompt_tokens", "completion_tokens")
_LOSSY = ("kill -9", "disk")  # what may cost answers that were not yet on disk


class Broken(AssertionError):
    """Something that must hold does not."""


def hold(condition: bool, message: str) -> None:
    """Raise unless the condition holds."""
    if not condition:
        raise Broken(message)


class Checker:
    """Looks at the store after each session, and compares it with what the ledger knows."""

    def __init__(self, simulation: Simulation) -> None:
        self._of, self._ledger = simulation, simulation.ledger
        self._scenario: Scenario = simulation.scenario
        self._before: dict[Place, TrialRow] = {}  # what was stored after the last session
        self._is_retried = False  # whether failed trials were requested again
        self._is_lossless = True  # whether no session yet could lose what it had asked for

    # -- after every session ---------------------------------------------------------------

    def after(self, session: Session, ending: str) -> None:
        """Check what must hold however the session ended."""
        faults = self._ledger.in_session
        if any(faults[name] for name in _LOSSY):
            self._is_lossless = False
        self._is_retried = self._is_retried or session.retry_failed
        hold(not self._of.complaints, f"asyncio complains: {self._of.complaints}")
        if ending != "killed":
            hold(not self._ledger.left_tasks, f"tasks are left: {self._ledger.left_tasks}")
            self._check_ending(session, ending)
        self._forget(session)
        self._check_requests(ending)
        rows = self._read()
        self._index()
        self._check_attempt_rows()
        self._check_nothing_lost(rows)
        for place, row in rows.items():
            self._check_row(place, row)
        if ending == "finished" and self._scenario.is_plain:
            self._check_complete(session, rows)
        if session.max_cost is not None and ending != "killed":
            self._check_cost(session.max_cost, rows)
        self._before = rows

    def _index(self) -> None:
        """Note which requests were for which trial, and how many could draw for which problem."""
        self._asked: dict[Place, list[Asked]] = defaultdict(list)
        self._drew: Counter[tuple[str, str]] = Counter()
        for asked in self._ledger.asked:
            for place in asked.places:
                self._asked[place].append(asked)
            self._drew[asked.places[0][:2]] += asked.drew

    def _forget(self, session: Session) -> None:
        """Expect no attempts at problems that were left out before any trial was recorded."""
        chosen = session.problems[: session.limit]
        for asked in self._ledger.asked:
            task, problem, _ = asked.places[0]
            is_unasked = not any(place.task == task for place in self._before)
            if is_unasked and problem not in chosen and asked.session < self._ledger.session:
                asked.is_forgotten = True

    def _read(self) -> dict[Place, TrialRow]:
        """Return every stored trial; also check that none is there twice."""
        rows: dict[Place, TrialRow] = {}
        self._attempts: dict[Place, list[AttemptRow]] = defaultdict(list)
        self._scorers: dict[int, str] = {}
        try:
            with Trials(self._of.directory) as trials:
                for run in trials.runs():
                    self._read_run(trials, run, rows)
        except (InvalidInput, EmptyStore):
            hold(not self._ledger.stored, "trials were acknowledged, and there is no store")
        return rows

    def _read_run(self, trials: Trials, run: RunRecord, rows: dict[Place, TrialRow]) -> None:
        keys = {problem.number: problem.key for problem in trials.problems(run.number)}
        self._scorers |= {scorer.number: scorer.name for scorer in run.scorers}
        for row in trials.trials(run):
            place = Place(run.task, keys[row.problem], row.trial)
            hold(place not in rows, f"{place} is stored twice")
            rows[place] = row
        for attempt in trials.attempt_rows(run.number):
            place = Place(run.task, keys[attempt.problem], attempt.trial)
            self._attempts[place].append(attempt)

    def _check_nothing_lost(self, rows: dict[Place, TrialRow]) -> None:
        for place, acknowledged in self._ledger.stored.items():
            row = rows.get(place)
            hold(row is not None, f"{place} was acknowledged and is lost")
            assert row is not None
            is_same = (row.status, row.text) == (acknowledged.status, acknowledged.text)
            hold(is_same or acknowledged.status in FAILED, f"{place} is not what was acknowledged")

    def _check_row(self, place: Place, row: TrialRow) -> None:
        """A stored answer is the one that the server sends for this trial, whole."""
        if row.status in FAILED:
            hold(row.text is None, f"{place}: {row.status} with a text")
            self._check_given_up(place, row)
        else:
            said = answer(place)
            hold(row.text == said.text, f"{place}: {row.text!r} is not what the server sent")
            hold(row.status == _STATUS[said.finish], f"{place}: {row.status} for {said.finish}")
        hold(place in self._asked, f"{place} was stored, and never asked for")
        self._check_attempts(place, row)
        self._check_scores(place, row)

    def _check_given_up(self, place: Place, row: TrialRow) -> None:
        """A trial is given up after as many failures in one session as patience allows."""
        if self._is_too_long(place):
            return
        faults = Counter(
            each.session
            for each in self._asked[place]
            if each.fault not in (None, "RateLimited", "cancelled")
        )
        patience = self._scenario.patience
        least = min(patience.attempts, patience.replies)
        most = max(faults.values(), default=0)
        hold(most >= least, f"{place} was {row.status} after {most} failures")

    def _check_attempts(self, place: Place, row: TrialRow) -> None:
        """Attempts are the requests that may have drawn an answer."""
        same = [each for each in self._asked[place] if each.drew]
        hold(1 <= row.attempts <= self._drew[place[:2]], f"{place}: {row.attempts} attempts")
        if self._scenario.batch == 1:
            hold(row.attempts <= len(same), f"{place}: {row.attempts} attempts, not {len(same)}")
            kept = [each for each in same if not each.is_forgotten]
            rejected = sum(each.fault == "Rejected" for each in kept)
            known = len(kept) - max(0, rejected - 1)  # they draw nothing; the last is the outcome
            is_exact = self._is_lossless and not self._is_retried  # a failed trial's row is kept
            hold(
                row.attempts == known or not is_exact,
                f"{place}: {row.attempts} attempts, not {known}",
            )

    def _check_attempt_rows(self) -> None:
        """Every request that failed has one row, under the first of its trials."""
        if not self._is_lossless:
            return
        failed = Counter(
            each.places[0]
            for each in self._ledger.asked
            if each.fault is not None and not each.is_forgotten
        )
        noted = Counter({place: len(attempts) for place, attempts in self._attempts.items()})
        hold(noted == failed, f"attempts {noted - failed} too many, {failed - noted} missing")
        for place, attempts in self._attempts.items():
            numbers = sorted(attempt.attempt for attempt in attempts)
            hold(numbers == list(range(1, len(numbers) + 1)), f"{place}: attempts {numbers}")

    def _check_scores(self, place: Place, row: TrialRow) -> None:
        """Every score is the score of the stored text."""
        hold(row.status == "ok" or not row.scores, f"{place}: {row.status}, and scored")
        expected = scores_of(place)
        for score in row.scores:
            hold(score.value == expected[self._scorers[score.scorer]], f"{place}: another score")

    def _check_complete(self, session: Session, rows: dict[Place, TrialRow]) -> None:
        """A run that says that it is finished has every trial, with every score."""
        missing = [place for place in self._planned(session) if place not in rows]
        hold(not missing, f"it finished, and {missing} are missing")
        scorers = 1 + self._scenario.has_slow_scorer
        bare = [p for p, row in rows.items() if row.status == "ok" and len(row.scores) != scorers]
        bare = [place for place in bare if place.problem in session.problems[: session.limit]]
        hold(not bare, f"it finished, and {bare} lack a score")

    def _planned(self, session: Session) -> set[Place]:
        return {
            Place(task, key, trial)
            for task in self._scenario.tasks
            for key in session.problems[: session.limit]
            for trial in range(session.n if self._scenario.half_width is None else MOST_TRIALS)
        }

    # -- requests --------------------------------------------------------------------------

    def _check_requests(self, ending: str) -> None:
        """Requests are bounded, within a session and so in all.

        A trial is answered once, and asked again only after a failure, each of which was played.
        The run itself cancels no more requests than may be in flight. So there are at most
        trials + faults + concurrency * stops requests, and those whose answers were lost with a
        process or a disk.
        """
        session, faults = self._ledger.of_session(), self._ledger.in_session
        answered: Counter[Place] = Counter()
        for asked in session:
            answered.update(asked.places[: asked.answered])
        twice = [place for place, count in answered.items() if count > 1]
        hold(not twice, f"{twice} answered twice in one session")
        kinds = Counter(each.fault for each in session)
        failed = len(session) - kinds[None] - kinds["cancelled"]
        most = self._scenario.concurrency
        played = sum(faults.values()) + most * faults["machine asleep"]  # which cuts connections
        hold(failed <= played, f"{kinds} failed, {dict(faults)} were played")
        hold(kinds["cancelled"] <= most, f"{kinds['cancelled']} requests were cancelled")
        self._check_patience(session)
        if ending != "killed" and not faults["disk"]:
            lost = [place for place in answered if place not in self._ledger.stored]
            hold(not lost, f"{lost} were answered, and not recorded")

    def _check_patience(self, session: list[Asked]) -> None:
        """No trial fails more often than patience allows, but for limits and outages for all."""
        failures = Counter(
            each.places
            for each in session
            if each.fault not in (None, "cancelled", "RateLimited", "Down", "Rejected")
        )
        patience = self._scenario.patience
        most = patience.attempts + patience.replies - 1
        often = {places: count for places, count in failures.items() if count > most}
        hold(not often, f"{often}: more than {most} failures in one session")

    def _check_cost(self, limit: float, rows: dict[Place, TrialRow]) -> None:
        """A budget is kept, but for the first request, whose cost nobody knows."""

        def cost(table: dict[Place, TrialRow]) -> float:
            tokens = [(r.prompt_tokens or 0) + (r.completion_tokens or 0) for r in table.values()]
            return 0.01 * sum(tokens)

        before = cost(self._before)
        allowed = max(limit, before + 0.31 * self._scenario.batch)
        hold(cost(rows) <= allowed + 1e-9, f"{cost(rows)} spent of {limit}, {before} before")

    # -- endings ---------------------------------------------------------------------------

    def _check_ending(self, session: Session, ending: str) -> None:
        """Every ending has its cause in what was played."""
        faults = self._ledger.in_session
        allowed = {"finished"}
        if faults["SIGINT"]:
            allowed = {"interrupted"}
        if faults["SIGTERM"]:
            allowed = {"terminated"}
        if session.max_cost is not None:
            allowed |= {"max_cost"}
        if faults["401"]:
            allowed |= {"Hopeless"}
        if faults["disk"]:
            allowed |= {"PassbandError", "DiskNearlyFull"}
        if session.weather.outages or session.weather.rate:
            allowed |= {"NothingAnswered", "Outage"}
        if self._scenario.has_too_long:
            allowed |= {"NothingAnswered"}
        error = getattr(self._of, "last_error", "")
        hold(ending in allowed, f"the session ended as {ending}: {error}; expected {allowed}")

    # -- the end ---------------------------------------------------------------------------

    def finish(self) -> None:
        """Ask for all that is missing, in good weather; then everything is as if nothing failed."""
        final = self._scenario.final
        ending = self._of.play(final)
        self.after(final, ending)
        if ending == "NothingAnswered" and self._scenario.has_too_long:  # it was asked first
            hold(all(map(self._is_too_long, self._before)), "answers were there")
            return
        hold(ending == "finished", f"nothing failed, and it ended as {ending}")
        if any(row.status in FAILED for row in self._before.values()):
            if not self._scenario.is_plain:
                return
            again = replace(final, retry_failed=True)
            ending = self._of.play(again)
            self.after(again, ending)
            hold(ending == "finished", f"nothing failed, and it ended as {ending}")
            failed = [p for p, row in self._before.items() if row.status in FAILED]
            hold(all(map(self._is_too_long, failed)), f"{failed} failed, and nothing was wrong")
        self._check_nothing_else(final)
        if self._scenario.is_compared or not self._scenario.is_plain:
            self._check_same_as_undisturbed(final)

    def _check_nothing_else(self, final: Session) -> None:
        planned = self._planned(final)
        others = [place for place in self._before if place not in planned]
        hold(not others, f"{others} were not planned")

    def _check_same_as_undisturbed(self, final: Session) -> None:
        """The canonical export equals, byte for byte, that of a run in which nothing failed."""
        other = type(self._of)(self._scenario, self._of.directory.with_name("undisturbed"))
        hold(other.play(final) == "finished", "the undisturbed run did not finish")
        is_same = self._exported(self._of.directory) == self._exported(other.directory)
        hold(is_same, "the export is another")

    def _exported(self, directory: Path) -> bytes:
        with Trials(directory) as trials:
            runs = trials.runs()
            if self._scenario.front == "provider":
                file = BytesIO()
                export_trials(trials, runs, "jsonl", file)
                return file.getvalue()
            # A request for several has one seed and one sum of tokens, and a single one its own.
            table = [{**row, **dict.fromkeys(_SHARED)} for row in rows(trials, runs)]
            return json.dumps(table).encode()

    def _is_too_long(self, place: Place) -> bool:
        return self._scenario.has_too_long and place.problem == TOO_LONG

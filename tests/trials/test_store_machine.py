"""Any order of operations, closing and opening among them, against plain dictionaries."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from passband.trials.file.judge_calls import CallTotals
from passband.trials.reader import Trials
from passband.trials.rows import (
    SCORE_STATUSES,
    STATUSES,
    AttemptRow,
    CallRow,
    ScorerEntry,
    ScoreRow,
    TrialRow,
)
from passband.trials.settings import SettingsChanged
from passband.trials.store import Store
from support.fuzz.properties import one_in
from support.samples.stores import MODEL, any_calls, any_text, forget, problem

pytestmark = pytest.mark.slow

TASKS = ("a", "b")
tasks = st.sampled_from(TASKS)
places = st.tuples(st.integers(0, 3), st.integers(0, 4))
values = st.none() | st.sampled_from([0.0, 1.0, 0.5])


class StoreMachine(RuleBasedStateMachine):
    """The store, and what it should hold."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.store = Store(self.directory, low_water=0)
        self.runs: dict[str, int] = {}
        self.problems: dict[str, set[int]] = {}
        self.numbers: dict[tuple[str, str, str], int] = {}
        self.scorers: dict[str, list[int]] = {}
        self.trials: dict[str, dict[tuple[int, int], TrialRow]] = {}
        self.scores: dict[int, dict[tuple[int, int], ScoreRow]] = {}
        self.attempts: dict[str, dict[tuple[int, int], int]] = {}
        self.calls: dict[int, dict[tuple[int, int, int], CallRow]] = {}

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.directory)

    @rule(task=tasks, count=st.integers(1, 4))
    def begin(self, task: str, count: int) -> None:
        number = self.store.begin(task, MODEL, spec={"seed": task}, config={})
        assert self.runs.setdefault(task, number) == number
        self.store.add_problems(number, [problem(at) for at in range(count)])
        attempts = self.attempts.setdefault(task, {})
        if not self.trials.setdefault(task, {}):  # nothing was asked yet, so they may change
            self.problems[task] = set()
            self.attempts[task] = {place: n for place, n in attempts.items() if place[0] < count}
            for number in (n for (of, _, _), n in self.numbers.items() if of == task):
                calls = self.calls.get(number, {})
                self.calls[number] = {key: row for key, row in calls.items() if key[0] < count}
        self.problems[task].update(range(count))

    @rule(task=tasks)
    def begin_otherwise(self, task: str) -> None:
        """Other settings, or other problems, are refused and leave nothing behind."""
        for model, seed, at in ((MODEL, "other", 0), ("other", task, 0), (MODEL, task, 7)):
            try:
                with self.store.transaction():
                    number = self.store.begin(task, model, spec={"seed": seed}, config={})
                    self.store.add_problems(number, [problem(0, target=f"{at}")])
                    raise SettingsChanged("never mind")
            except SettingsChanged:
                pass

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), names=st.lists(st.sampled_from("xyz"), unique=True, max_size=3),
          identity=st.sampled_from("12"))  # fmt: skip
    def set_scorers(self, data: st.DataObject, names: list[str], identity: str) -> None:
        task = data.draw(st.sampled_from(sorted(self.runs)))
        found = self.store.set_scorers(
            self.runs[task], [ScorerEntry(name, identity) for name in names]
        )
        for name, number in zip(names, found, strict=True):
            assert self.numbers.setdefault((task, name, identity), number) == number
        of_number = {number: name for (_, name, _), number in self.numbers.items()}
        earlier = self.scorers.get(task, [])
        self.scorers[task] = found + [n for n in earlier if of_number[n] not in names]

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), chosen=st.sets(places, max_size=6), text=st.none() | any_text)
    def append(self, data: st.DataObject, chosen: set[tuple[int, int]], text: str | None) -> None:
        task = data.draw(st.sampled_from(sorted(self.runs)))
        rows = []
        for at, trial in sorted(chosen):
            if at in self.problems[task] and (at, trial) not in self.trials[task]:
                status = data.draw(st.sampled_from(STATUSES))
                scores = [ScoreRow(n, data.draw(values)) for n in self.scorers.get(task, [])]
                rows.append(TrialRow(at, trial, status, text, scores=scores))
        self.store.append(self.runs[task], rows)
        for row in rows:
            self.trials[task][row.problem, row.trial] = row
            for score in row.scores:
                self.scores.setdefault(score.scorer, {})[row.problem, row.trial] = score

    @precondition(lambda self: any(self.trials.values()) and any(self.scorers.values()))
    @rule(data=st.data(), value=values, status=st.sampled_from(SCORE_STATUSES), answer=any_text)
    def add_scores(self, data: st.DataObject, value, status, answer: str) -> None:
        task = data.draw(st.sampled_from(sorted(self.runs)))
        for number in self.scorers.get(task, []):
            new = [
                (*place, ScoreRow(number, value, status, answer))
                for place in self.trials[task]
                if data.draw(st.booleans())
            ]
            self.store.add_scores(new)
            found = self.scores.setdefault(number, {})
            found.update({(at, trial): score for at, trial, score in new})

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), place=places, attempt=st.integers(1, 5))
    def add_attempt(self, data: st.DataObject, place: tuple[int, int], attempt: int) -> None:
        task = data.draw(st.sampled_from(sorted(self.runs)))
        if place[0] not in self.problems[task]:
            return
        row = AttemptRow(*place, attempt, 0, "late", None, "")
        self.store.add_attempts(self.runs[task], [row])
        known = self.attempts[task]
        known[place] = max(attempt, known.get(place, 0))

    @precondition(lambda self: any(self.scorers.values()))
    @rule(data=st.data(), rows=st.lists(any_calls, min_size=1, max_size=4))
    def add_calls(self, data: st.DataObject, rows: list[CallRow]) -> None:
        """Each call once, for a trial that may not be recorded yet."""
        task = data.draw(st.sampled_from(sorted(t for t in self.scorers if self.scorers[t])))
        number = data.draw(st.sampled_from(self.scorers[task]))
        known = self.calls.setdefault(number, {})
        new = {
            (row.problem, row.trial, row.call): replace(row, scorer=number, attempt=1)
            for row in rows
            if row.problem in self.problems[task]
            and (row.problem, row.trial, row.call) not in known
        }
        self.store.add_calls(new.values())
        known.update(new)

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), statuses=st.sets(st.sampled_from(STATUSES), max_size=2))
    def forget(self, data: st.DataObject, statuses: set) -> None:
        task = data.draw(st.sampled_from(sorted(self.runs)))
        gone = {place for place, row in self.trials[task].items() if row.status in statuses}
        assert forget(self.store, self.runs[task], sorted(statuses)) == len(gone)
        for place in gone:
            del self.trials[task][place]
            for (of, _, _), number in self.numbers.items():
                if of == task:
                    self.scores.get(number, {}).pop(place, None)

    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = Store(self.directory, low_water=0)

    @invariant()
    def holds_what_it_should(self) -> None:
        with Trials(self.directory) as trials:
            assert {run.task: run.number for run in trials.runs()} == self.runs
            for run in trials.runs():
                self.check(trials, run)
            for number, calls in self.calls.items():
                assert list(trials.calls(number)) == [calls[key] for key in sorted(calls)]
                self.check_totals(trials.call_totals(number), [*calls.values()])

    def check(self, trials: Trials, run) -> None:
        kept = self.trials[run.task]
        used = self.scorers.get(run.task, [])
        assert [scorer.number for scorer in run.scorers] == used
        found = {(row.problem, row.trial): row for row in trials.trials(run)}
        assert list(found) == sorted(kept)
        for place, row in found.items():
            scores = [self.scores.get(number, {}).get(place) for number in used]
            assert row.scores == [score for score in scores if score is not None]
            assert (row.text, row.status) == (kept[place].text, kept[place].status)
        problems = [each.position for each in trials.problems(run.number)]
        assert problems == sorted(self.problems[run.task])
        masks = trials.recorded(run.number)
        assert {(at, n) for at, mask in masks.items() for n in range(9) if mask >> n & 1} == {*kept}
        waiting = {p: n for p, n in self.attempts[run.task].items() if p not in kept}
        assert trials.attempts(run.number) == waiting
        self.check_tallies(trials, run, found)
        for number in used:
            unseen = [(row.problem, row.trial) for row in trials.trials(run, unscored_by=number)]
            assert unseen == sorted({*kept} - {*self.scores.get(number, {})})

    def check_totals(self, totals: CallTotals, calls: list[CallRow]) -> None:
        expected = CallTotals()
        for row in calls:
            expected.add(row)
        assert totals.calls == expected.calls
        assert totals.failed == expected.failed
        assert totals.prompt_tokens == expected.prompt_tokens
        assert totals.cost == pytest.approx(expected.cost)

    def check_tallies(self, trials: Trials, run, rows: dict[tuple[int, int], TrialRow]) -> None:
        """Counts are what the rows give when they are counted."""
        counted = Counter(row.status for row in rows.values())
        assert trials.statuses(run.number) == {s: counted[s] for s in STATUSES if counted[s]}
        for scorer in run.scorers:
            scores = [s for row in rows.values() for s in row.scores if s.scorer == scorer.number]
            assert trials.score_statuses(scorer.number) == Counter(s.status for s in scores)
            valued = [s.value for s in scores if s.value is not None]
            assert sum(n for _, n, _ in trials.score_sums(scorer.number)) == len(valued)
            outcomes = trials.outcomes(run, scorer)
            assert outcomes.n_trials == len(valued)
            assert outcomes.n_unscored == len(rows) - len(valued)


StoreMachine.TestCase.settings = settings(
    one_in(2), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
TestStore = StoreMachine.TestCase

"""Open the judges of a run: each model once, however many scorers ask it.

What is to be kept in mind of verdicts once they are given: those missing, those that flipped.

The answers of another run, that a pairwise judge compares with.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from passband.errors import InvalidInput
from passband.generate import Connection, Problem, Subject, make_subject
from passband.run.budget import Budget
from passband.run.judge.canaries import Canaries, canary_entry
from passband.run.judge.choice import JudgeChoice, judged_tasks
from passband.run.judge.judge import Judge, Say, sampling_of
from passband.run.judge.queue import CallLog, JudgeQueue, question_of
from passband.run.loop.grader import Grader
from passband.run.settings import Patience
from passband.score import JudgeOptions, JudgeScorer, Scorer, count_flips
from passband.tasks import Task
from passband.trials import (
    MOVED_SERVER,
    CallRow,
    RunRecord,
    Store,
    Trials,
    is_moved,
    is_run_directory,
)


def closing_notes(directory: Path, bench: JudgeQueue, *, is_pairwise: bool) -> Iterator[str]:
    """Yield notes on the recorded verdicts of one judge."""
    with Trials(directory, trusted=True) as trials:
        statuses = trials.score_statuses(bench.scorer)
        lost, total = statuses.get("no_verdict", 0), sum(statuses.values())
        if lost:
            yield (
                f"{bench.task}, {bench.name}: {lost} of {total} answers have no verdict, because "
                "the replies of the judge could not be read; they are left out, and are no zeros"
            )
        if is_pairwise:
            pairs, flipped = count_flips(trials.calls(bench.scorer))
            yield (
                f"{bench.task}, {bench.name}: {flipped} of {pairs} pairs were judged the other way "
                "round when they were swapped; each counts as one half"
            )


class OtherRun:
    """Answers of another run by problem and trial, read when the first is needed."""

    def __init__(self, directory: str, task: str) -> None:
        self._directory, self._task = Path(directory), task
        self._run = self._find()

    def __call__(self, problem: str, trial: int) -> str | None:
        return self._answers.get((problem, trial))

    def _find(self) -> RunRecord:
        """Return the one run of the task there; refuse none and several."""
        if not is_run_directory(self._directory):
            raise InvalidInput(f"--against: {self._directory} is no run directory.")
        with Trials(self._directory) as trials:
            runs = [run for run in trials.runs() if run.task == self._task]
        if len(runs) != 1:
            number = len(runs) or "no"
            raise InvalidInput(
                f"--against: {self._directory} has {number} runs of {self._task}; it takes one."
            )
        return runs[0]

    @cached_property
    def _answers(self) -> dict[tuple[str, int], str]:
        with Trials(self._directory) as trials:
            keys = {record.number: record.key for record in trials.problems(self._run.number)}
            return {
                (keys[row.problem], row.trial): row.text
                for row in trials.trials(self._run)
                if row.status == "ok" and row.text is not None
            }


CHECKED = 100  # problems whose variables are looked at before anything is asked


class JudgedRun(NamedTuple):
    """A run whose trials are judged: its problems, and what seeds derive from."""

    run: int
    task: str
    seed: str | None
    problems: Sequence[Problem]
    numbers: Sequence[int]  # of the problems in the store


@dataclass(eq=False)
class Judges:
    """Makes the judges that scorers need, and opens, stops and closes them together."""

    choice: JudgeChoice
    budget: Budget
    patience: Patience = field(default_factory=Patience)
    timeout: float = 600.0
    make_subject: Callable[[str, Connection], Subject] = make_subject
    benches: list[tuple[JudgeQueue, bool]] = field(default_factory=list)  # whether it is pairwise
    canaries: list[Canaries] = field(default_factory=list)
    _judges: dict[str, Judge] = field(default_factory=dict)  # by model and parameters
    _subjects: dict[str, Subject] = field(default_factory=dict)  # by model
    _log: CallLog | None = None

    def __iter__(self) -> Iterator[Judge]:
        return iter(self._judges.values())

    def __bool__(self) -> bool:
        return bool(self._judges)

    # -- scorers ---------------------------------------------------------------------------

    def tasks(self, tasks: Sequence[Task]) -> list[Task]:
        """Return tasks whose judges know what their models' replies depend on."""
        return [
            replace(task, scorers=tuple(map(self.known, task.scorers)))
            for task in judged_tasks(tasks, self.choice)
        ]

    def known(self, scorer: Scorer) -> Scorer:
        """Return a judge that knows its model; any other scorer as it is."""
        if not isinstance(scorer, JudgeScorer):
            return scorer
        judge = self._judge(scorer.options)
        return scorer.with_model(judge.subject.spec, judge.subject.address)

    def refuse_moved(
        self, runs: Sequence[RunRecord], scorers: Sequence[Scorer], *, is_allowed: bool
    ) -> None:
        """Refuse a judge of recorded verdicts at another address, unless it is said to be it."""
        now = {s.identity: s for s in scorers if isinstance(s, JudgeScorer)}
        for record in (record for run in runs for record in run.scorers):
            scorer = now.get(record.identity.partition("\n")[0])
            before = (record.spec or {}).get("address")
            if scorer is None or is_allowed or not before:
                continue
            if is_moved([before], scorer.address):
                raise InvalidInput(
                    f"verdicts by {scorer.options.model} from {before} are recorded here, and now "
                    f"it is asked at {scorer.address or 'no server'}. If it is the same model, add "
                    f"{MOVED_SERVER}; otherwise give another directory with --out."
                )

    def grader(self, store: Store, grader: Grader, judged: JudgedRun) -> Grader:
        """Return a grader whose judges can ask; refuse rubrics that do not fit the problems."""
        scorers = [
            (number, self._seated(store, number, scorer, judged))
            for number, scorer in grader.scorers
        ]
        return replace(grader, scorers=scorers)

    def _seated(self, store: Store, number: int, scorer: Scorer, judged: JudgedRun) -> Scorer:
        if not isinstance(scorer, JudgeScorer):
            return scorer
        judge, options = self._judge(scorer.options), scorer.options
        _begin(judge, store, number)
        self._log = self._log or CallLog(store)
        bench = JudgeQueue(
            judge, self._log, number, judged.task, judged.seed, judged.problems, judged.numbers,
            scorer.name,
        )  # fmt: skip
        if options.against is not None:
            bench.others = OtherRun(options.against, judged.task)
        elif self.choice.canaries:
            entry = store.put_scorer(judged.run, canary_entry(scorer))
            _begin(judge, store, entry)
            apart = replace(bench, scorer=entry, name=f"{scorer.name} canaries")
            self.canaries.append(Canaries(scorer, apart, self.choice.canaries))
        self.benches.append((bench, options.rubric.form == "pairwise"))
        return scorer.with_client(bench)

    def _judge(self, options: JudgeOptions) -> Judge:
        model = options.model or ""
        sampling = sampling_of(options)
        key = json.dumps([model, sampling.spec], sort_keys=True)
        if key not in self._judges:
            price = self.choice.price_of(model)
            costs = self.budget.judge_by(model, price, options.calls)
            self._judges[key] = Judge(
                model, self._subject(model), sampling, self.budget, costs,
                self.choice.concurrency, self.patience,
            )  # fmt: skip
        return self._judges[key]

    def _subject(self, model: str) -> Subject:
        if model not in self._subjects:
            connection = Connection(
                self.choice.base_url,
                self.timeout,
                self.choice.concurrency,
                batch=1,
                outage=self.patience.outage,
            )
            try:
                self._subjects[model] = self.make_subject(model, connection)
            except InvalidInput as error:
                message = str(error).replace("--model", "--judge")
                raise InvalidInput(message.replace("--base-url", "--judge-base-url")) from None
        return self._subjects[model]

    # -- asking ----------------------------------------------------------------------------

    def open(
        self, thread: Executor, warn: Say, on_failure: Callable[[BaseException], None]
    ) -> None:
        """Let them ask; calls are recorded in `thread`, the only one that may use the store."""
        if self._log is not None:
            self._log.thread = thread
        for judge in self:
            judge.warn, judge.on_failure = warn, on_failure

    def stop(self) -> None:
        """Send no further request."""
        for judge in self:
            judge.stop()

    @property
    def failure(self) -> BaseException | None:
        """Why the run cannot go on, if it cannot."""
        return next((judge.failure for judge in self if judge.failure is not None), None)

    async def try_canaries(self, note: Say, warn: Say) -> None:
        """Ask about null answers, and report how many of them pass."""
        for canaries in self.canaries:
            if canaries.bench.judge.is_out:
                continue
            counts = await canaries.judged()
            if counts.judged or not canaries.bench.judge.is_out:
                (warn if counts.passed else note)(str(counts))

    def closing_notes(self, directory: Path) -> list[str]:
        """Return what is to be kept in mind of the verdicts that are recorded."""
        return [
            note
            for bench, is_pairwise in self.benches
            for note in closing_notes(directory, bench, is_pairwise=is_pairwise)
        ]

    async def close(self) -> None:
        """Record what is left, and close what was asked."""
        if self._log is not None:
            await asyncio.sleep(0)  # calls that were cancelled have something to record
            await self._log.close()
        for subject in self._subjects.values():
            await subject.close()


def _begin(judge: Judge, store: Store, scorer: int) -> None:
    """Let a judge start from the calls that are recorded of a scorer."""
    with Trials(store.directory, trusted=True) as trials:
        totals = trials.call_totals(scorer)
        calls = trials.calls(scorer) if totals.unpriced else ()
        judge.costs.begin(totals, filter(_is_unpriced, calls))
    judge.answered_before |= totals.calls > totals.failed


def _is_unpriced(row: CallRow) -> bool:
    return row.cost is None and not row.is_cached and row.status != "failed"


def check_rubrics(scorers: Sequence[Scorer], problems: Sequence[Problem]) -> None:
    """Refuse rubrics with variables that the first problems have nothing for."""
    judges = [scorer for scorer in scorers if isinstance(scorer, JudgeScorer)]
    for problem in problems[:CHECKED] if judges else ():
        for scorer in judges:
            try:
                scorer.check(question_of(problem), problem.reference)
            except InvalidInput as error:
                raise InvalidInput(f"{scorer.name}, problem {problem.key!r:.60}: {error}") from None

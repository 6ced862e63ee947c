"""Judging trials that are recorded already: the judges, their thread, and how it is stopped."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from passband.errors import ExitCode
from passband.generate import Connection, Message, Problem, Subject, make_subject
from passband.run.budget import Budget
from passband.run.judge.choice import JudgeChoice
from passband.run.judge.judges import CHECKED, JudgedRun, Judges, check_rubrics
from passband.run.judge.prepare import kinship
from passband.run.loop.grader import Grader
from passband.run.rescore.async_scorers import loop_for
from passband.run.settings import Patience
from passband.run.task_run import Price
from passband.score import Reference, Scorer, is_kin
from passband.trials import ProblemRecord, RunRecord, Store

ScoreRecorded = Callable[..., int]


class Observer(Protocol):
    """Receives notes, warnings and the number of trials that are judged."""

    def judged(self, trials: int) -> None:
        """Show how many trials are judged so far."""
        ...

    def note(self, text: str) -> None:
        """Show what the user should know even if nothing is wrong."""
        ...

    def warn(self, text: str) -> None:
        """Show what the user should not miss."""
        ...


@dataclass(eq=False)
class Judging:
    """How recorded trials are judged: by whom, at what cost, and who watches."""

    choice: JudgeChoice
    observer: Observer
    max_cost: float | None = None
    timeout: float = 600.0
    patience: Patience = field(default_factory=Patience)
    moved_server: bool = False
    make_subject: Callable[[str, Connection], Subject] = make_subject  # of a judge, by its name
    is_stopping: bool = False  # by Ctrl-C or SIGTERM
    is_unfinished: bool = False  # a judge was asked no more before all was judged
    _judges: Judges | None = None
    _done: int = 0
    _ended_by: ExitCode = ExitCode.INTERRUPTED

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the command: a judge may have left answers without a verdict."""
        if self.is_stopping:
            return self._ended_by
        return ExitCode.FAILED if self.is_unfinished else ExitCode.OK

    def known(
        self, run: RunRecord, scorers: Mapping[str, Scorer], records: Sequence[ProblemRecord]
    ) -> dict[str, Scorer]:
        """Return scorers by name whose judges know their models; each run has its own judges.

        Whatever is wrong with them shows here, before they are entered into the store.
        """
        budget = Budget(Price(0.0, 0.0), self.max_cost)
        self._judges = Judges(self.choice, budget, self.patience, self.timeout, self.make_subject)
        chosen = {name: self._judges.known(scorer) for name, scorer in scorers.items()}
        self._judges.refuse_moved([run], list(chosen.values()), is_allowed=self.moved_server)
        check_rubrics(list(chosen.values()), [_problem(record) for record in records[:CHECKED]])
        for judge in self._judges:
            if is_kin(judge.name, run.model):
                self.observer.note(kinship(judge.name, run.model))
        return chosen

    def score(
        self,
        store: Store,
        run: RunRecord,
        grader: Grader,
        records: Sequence[ProblemRecord],
        score_recorded: ScoreRecorded,
    ) -> int:
        """Score a run's trials, judges included; return how many scores are new."""
        judges = self._judges
        assert judges is not None  # `known` comes first
        problems = [_problem(record) for record in records]
        numbers = [record.number for record in records]
        seed = run.spec.get("seed") or run.name
        grader = judges.grader(
            store, grader, JudgedRun(run.number, run.task, seed, problems, numbers)
        )
        with ThreadPoolExecutor(1, "calls") as thread, loop_for(None) as loop:
            judges.open(thread, self.observer.warn, lambda error: None)
            with self._interruptible(loop, judges):
                try:
                    added = score_recorded(
                        store, run.number, grader, numbers, self._ends, running=loop,
                        tick=self._tick,
                    )  # fmt: skip
                    if not self._ends():
                        canaries = judges.try_canaries(self.observer.note, self.observer.warn)
                        asyncio.run_coroutine_threadsafe(canaries, loop).result()
                finally:
                    asyncio.run_coroutine_threadsafe(judges.close(), loop).result()
        if judges.failure is not None:
            raise judges.failure
        for note in judges.closing_notes(store.directory):
            self.observer.note(note)
        self.is_unfinished |= any(judge.is_out for judge in judges)
        return added

    def _tick(self) -> None:
        self._done += 1
        self.observer.judged(self._done)

    def _ends(self) -> bool:
        """Return whether nothing more is to be asked."""
        failure = None if self._judges is None else self._judges.failure
        return self.is_stopping or failure is not None

    @contextmanager
    def _interruptible(self, loop: asyncio.AbstractEventLoop, judges: Judges) -> Iterator[None]:
        """Let Ctrl-C or SIGTERM end the judging in good order, and a second one at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        codes = {signal.SIGINT: ExitCode.INTERRUPTED, signal.SIGTERM: ExitCode.TERMINATED}

        def stop(number: int, frame: object) -> None:
            if self.is_stopping:
                raise KeyboardInterrupt
            self.is_stopping, self._ended_by = True, codes[signal.Signals(number)]
            loop.call_soon_threadsafe(judges.stop)

        before = {number: signal.signal(number, stop) for number in codes}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _problem(record: ProblemRecord) -> Problem:
    content = record.record
    return Problem(
        record.key,
        tuple(Message(role, str(text)) for role, text in content.get("messages", ())),
        Reference(
            tuple(content.get("targets", ())),
            tuple(content.get("choices", ())),
            content.get("doc", {}),
        ),
        record.cluster,
    )

"""Queue a judge's requests in one run and record every call.

A call counts only once it is on disk; calls that end close together are written in one commit.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from passband.errors import PassbandError
from passband.generate import Problem
from passband.run.judge.judge import Judge
from passband.run.schedule.blocks import trial_seed
from passband.score import (
    CallFailed,
    JudgeCall,
    JudgedProblem,
    JudgeVerdict,
    NotScoredYet,
    RecordedReply,
    Reply,
)
from passband.trials import AttemptRow, CallRow, CallStatus, Status, Store, TrialRow

_EVERY = 0.05  # seconds between commits
Result = TypeVar("Result")


class RecordedCall(NamedTuple):
    """What the store holds of a call: a reply of the same content, and its attempts so far."""

    reply: CallRow | None
    attempts: int
    has_copy: bool  # whether a reply to another call is recorded for this one


class CallLog:
    """Reads and writes calls in the one thread that may use the store."""

    def __init__(self, store: Store, thread: Executor | None = None) -> None:
        self._store, self.thread = store, thread
        self._waiting: list[tuple[CallRow, asyncio.Future[None]]] = []
        self._flushing: set[asyncio.Task[None]] = set()

    async def look(
        self, scorer: int, problem: int, trial: int, call: int, key: bytes
    ) -> RecordedCall:
        """Return what is recorded of a call, and of calls with the same content."""

        def read() -> RecordedCall:
            replies = self._store.replies([key]).get(key, [])
            own = [row for row in self._store.calls(scorer, problem, trial) if row.call == call]
            attempts = max((row.attempt for row in own), default=0)
            place = (scorer, problem, trial, call)
            replies.sort(key=lambda row: (row.scorer, row.problem, row.trial, row.call) != place)
            copied = any(row.is_cached and row.key == key for row in own)
            return RecordedCall(replies[0] if replies else None, attempts, copied)

        return await self._in_thread(read)

    def add(self, row: CallRow) -> asyncio.Future[None]:
        """Take a call; what is returned is done when it is on disk, and raises if it is not."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_later(_EVERY, self._start)
        saved: asyncio.Future[None] = loop.create_future()
        saved.add_done_callback(_retrieve)
        self._waiting.append((row, saved))
        return saved

    async def close(self) -> None:
        """Write what is left."""
        self._start()
        await asyncio.gather(*self._flushing, return_exceptions=True)

    def _start(self) -> None:
        if self._waiting:
            task = asyncio.ensure_future(self._flush())
            self._flushing.add(task)
            task.add_done_callback(self._flushing.discard)

    async def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        errors = await self._in_thread(lambda: self._write([row for row, _ in waiting]))
        for (_, saved), error in zip(waiting, errors, strict=True):
            if saved.done():  # whoever waited for it was cancelled
                continue
            if error is None:
                saved.set_result(None)
            else:
                saved.set_exception(error)

    def _write(self, rows: Sequence[CallRow]) -> list[Exception | None]:
        """Record calls together, or else one by one; return what is wrong with each."""
        error = self._refusal(rows)
        if error is None or len(rows) == 1:
            return [error] * len(rows)
        return [self._refusal([row]) for row in rows]

    def _refusal(self, rows: Sequence[CallRow]) -> Exception | None:
        try:
            self._store.add_calls(rows)
        except Exception as error:
            return error
        return None

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self.thread, work)


def _retrieve(saved: asyncio.Future[None]) -> None:
    """Look at the error, for calls whose end nobody waits for."""
    if not saved.cancelled():
        saved.exception()


_REPLIED: dict[Status, CallStatus] = {
    "ok": "ok",
    "unknown": "ok",  # whether it is complete shows by its last line
    "truncated": "truncated",
    "refused": "refused",
}
_FOR_LATER = ("gave_up",)  # no reply this time, while others got theirs
_DECLINED = "the judge declined to reply"


@dataclass(eq=False)
class JudgeQueue:
    """Asks one judge about the trials of one run; replies of equal content are asked for once."""

    judge: Judge
    log: CallLog
    scorer: int  # number in the store
    task: str
    seed: str | None  # that seeds derive from
    problems: Sequence[Problem]
    numbers: Sequence[int]  # of the problems in the store
    name: str = "judge"  # of the scorer
    others: Callable[[str, int], str | None] = lambda problem, trial: None
    _under_way: dict[str, asyncio.Future[None]] = field(default_factory=dict)
    _attempts: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def problem(self, position: int) -> JudgedProblem:
        """Return the name and the question of a problem."""
        problem = self.problems[position]
        return JudgedProblem(problem.key, question_of(problem))

    def other(self, problem: str, trial: int) -> str | None:
        """Return the answer of the other run to the same problem; None if it has none."""
        return self.others(problem, trial)

    async def ask(self, call: JudgeCall) -> RecordedReply:
        """Return the reply of the same content, or ask; either is on disk before it counts."""
        if call.key in self._under_way:
            await asyncio.shield(self._under_way[call.key])
            return await self._heard(call)  # which is recorded now
        under_way = asyncio.get_running_loop().create_future()
        under_way.add_done_callback(_retrieve)
        self._under_way[call.key] = under_way
        try:
            heard = await self._heard(call)
        except BaseException as error:
            is_cancelled = isinstance(error, asyncio.CancelledError)
            under_way.set_exception(NotScoredYet() if is_cancelled else error)
            raise
        else:
            under_way.set_result(None)
            return heard
        finally:
            del self._under_way[call.key]

    async def _heard(self, call: JudgeCall) -> RecordedReply:
        place, key = self._place(call), bytes.fromhex(call.key)
        recorded = await self._kept(self.log.look(self.scorer, *place, key))
        if recorded.reply is not None:
            return await self._taken(call, recorded, recorded.reply)
        first = max(recorded.attempts, self._attempts.get(place, 0))
        problem = self.problems[call.problem].key
        notes: list[asyncio.Future[None]] = []
        try:
            row, attempt = await self.judge.ask(
                call,
                problem,
                self._seed(call, problem),
                first,
                lambda attempt: notes.append(self._noted(call, attempt)),
            )
        except NotScoredYet:
            await self._all_kept(notes)
            raise
        await self._all_kept(notes)
        self._attempts[place] = attempt
        if row.status in _FOR_LATER:
            raise NotScoredYet
        if row.status not in _REPLIED:
            raise CallFailed(f"the judge gave no reply ({row.status}).")
        return await self._record(call, row, attempt)

    async def _record(self, call: JudgeCall, row: TrialRow, attempt: int) -> RecordedReply:
        reply = Reply(row.text, row.status != "truncated")
        status = _REPLIED[row.status]
        verdict = _verdict(call, reply, status)
        kept = CallRow(
            self.scorer, *self._place(call), attempt, bytes.fromhex(call.key), _now(),
            "no_verdict" if status == "ok" and verdict.word is None else status,
            None if verdict.word is None else call.scale[verdict.word], row.text,
            row.prompt_tokens, row.completion_tokens, self.judge.costs.price_of(row),
            row.latency_ms, row.seed, detail=verdict.reason,
        )  # fmt: skip
        await self._kept(self.log.add(kept))
        return RecordedReply(reply, verdict)

    async def _taken(self, call: JudgeCall, recorded: RecordedCall, row: CallRow) -> RecordedReply:
        """Return a reply that is recorded; one of another trial is recorded for this one too."""
        place, heard = self._place(call), _heard(call, row)
        known = max(recorded.attempts, self._attempts.get(place, 0))
        if (row.scorer, row.problem, row.trial, row.call) == (self.scorer, *place):
            self._attempts[place] = known
            return heard
        self.judge.reused += 1
        if not recorded.has_copy:
            self._attempts[place] = known + 1
            await self._kept(
                self.log.add(
                    CallRow(
                        self.scorer, *place, known + 1, row.key, _now(), row.status, row.value,
                        is_cached=True, detail=row.detail,
                    )
                )
            )  # fmt: skip
        return heard

    async def _all_kept(self, notes: Sequence[asyncio.Future[None]]) -> None:
        """Wait until failed attempts are on disk: nothing is written while scores are."""
        for note in notes:
            await self._kept(note)

    def _noted(self, call: JudgeCall, attempt: AttemptRow) -> asyncio.Future[None]:
        """Record an attempt that got no reply."""
        return self.log.add(
            CallRow(
                self.scorer, *self._place(call), attempt.attempt, bytes.fromhex(call.key),
                attempt.at_ms, "failed", outcome=attempt.outcome, http=attempt.http,
                detail=attempt.detail,
            )
        )  # fmt: skip

    async def _kept(self, work: Awaitable[Result]) -> Result:
        """Return what the store says; where it cannot be used, the run ends."""
        try:
            return await work
        except PassbandError as error:
            self.judge.fail(error)
            raise NotScoredYet from None

    def _place(self, call: JudgeCall) -> tuple[int, int, int]:
        return self.numbers[call.problem], call.trial, call.number

    def _seed(self, call: JudgeCall, problem: str) -> int | None:
        """Return the seed of a call: a hash of its place in the run, another one for each vote."""
        if self.seed is None:
            return None
        place = f"{self.name} {call.trial} {call.number} {call.attempt}"
        return trial_seed(self.seed, f"{self.task}\0{problem}", place, call.trial)


def question_of(problem: Problem) -> str:
    """Return what a model was asked, as one text; of several turns each has its role."""
    if len(problem.messages) == 1:
        return problem.messages[0].content
    return "\n\n".join(f"[{turn.role}]\n{turn.content}" for turn in problem.messages)


def _verdict(call: JudgeCall, reply: Reply, status: CallStatus) -> JudgeVerdict:
    if status == "refused":
        return JudgeVerdict(None, _DECLINED)
    return call.read(reply.text, is_complete=reply.is_complete)


def _heard(call: JudgeCall, row: CallRow) -> RecordedReply:
    """Return a recorded reply as if it had come now."""
    reply = Reply(row.reply, row.status != "truncated", is_reused=True)
    return RecordedReply(reply, _verdict(call, reply, row.status))


def _now() -> int:
    return int(1000 * time.time())

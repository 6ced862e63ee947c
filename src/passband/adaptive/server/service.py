"""Serve clients, apart from HTTP: test runs, replays and grades.

All test runs are on disk. Those in use are in memory too, rebuilt from their rows when needed.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from passband.adaptive.design import Design
from passband.adaptive.item import BankItem
from passband.adaptive.server.body import Fields, conflict, invalid, to_json, unknown
from passband.adaptive.server.catalogue import Catalogue, Split, item_json
from passband.adaptive.server.state import AnswerRow, RunRow, ServerState
from passband.adaptive.test import AdaptiveTest
from passband.errors import InvalidInput, nearest
from passband.generate import JsonObject
from passband.score import NeedsWorker, Score, quickly
from passband.stats.irt import AbilityPosterior, ItemEvidence, check_evidence, kl_information

_STATE = ("responses", "thetas", "std_error_history", "kl_info_history", "effective_difficulties")
_KL_WIDTH = 3.0  # information is about abilities within 3 / sqrt(n) of the estimate


class LiveRun:
    """A test run and its answers; a replay has the items of another run and asks nothing."""

    def __init__(self, row: RunRow, split: Split, answers: Sequence[AnswerRow] = ()) -> None:
        self.row, self.split = row, split
        self.answers: list[AnswerRow] = []
        self.item: BankItem | None = None  # that waits for an answer
        self.lock = asyncio.Lock()
        self.is_stale = False  # whether the disk may hold more than this
        self._told: dict[str, list[str]] = {name: [] for name in _STATE}  # as JSON
        self._path = _Fixed(split, answers) if row.replay_of else _Chosen(row, split)
        self._ask()
        for answer in answers:
            self.take(answer)

    @property
    def is_replay(self) -> bool:
        """Return whether the items were those of another run."""
        return self.row.replay_of is not None

    def take(self, answer: AnswerRow) -> None:
        """Take the answer to the item that waits, and choose the next."""
        if self.item is None or answer.item != self.item.key:
            raise conflict(
                f"Run {self.row.id} was recorded with another bank or another version of passband, "
                "and cannot go on: its items would be others now."
            )
        theta, error = self._path.answer(answer)
        self.answers.append(answer)
        self._tell(responses=answer.item, thetas=theta, std_error_history=error)
        self._ask()

    def state(self) -> str:
        """Return the run so far as the protocol tells it, as JSON.

        Numbers are written once, not with every reply. The last two lists have an entry for the
        item that waits, too.
        """
        lists = (f'"{name}":[{",".join(texts)}]' for name, texts in self._told.items())
        return "{" + ",".join(lists) + "}"

    def _tell(self, **values: str | float) -> None:
        for name, value in values.items():
            self._told[name].append(to_json(value))

    def _ask(self) -> None:
        place = self._path.next()
        bank = self.split.bank
        self.item = None if place is None else bank.items[place]
        if place is not None:
            one = bank.parameters.take(np.array([place]))
            delta = _KL_WIDTH / np.sqrt(len(self.answers) + 1)
            self._tell(
                kl_info_history=float(kl_information(one, self._path.theta, delta)[0]),
                effective_difficulties=float(bank.parameters.b[place]),
            )


class _Chosen:
    """A path that the answers decide."""

    def __init__(self, row: RunRow, split: Split) -> None:
        design = Design.of(json.loads(row.design))
        self._test = AdaptiveTest(split.bank, design, row.seed, grid=split.grid)
        self._position = split.bank.position

    @property
    def theta(self) -> float:
        return self._test.theta

    def next(self) -> int | None:
        choices = self._test.next()
        return self._position[choices[0].key] if choices else None

    def answer(self, answer: AnswerRow) -> tuple[float, float]:
        self._test.answer(answer.item, answer.score)
        return self._test.theta, self._test.se


class _Fixed:
    """The path of a replay: the items in the order in which they were answered."""

    def __init__(self, split: Split, answers: Sequence[AnswerRow]) -> None:
        self._places = iter([split.bank.position[answer.item] for answer in answers])
        self._position = split.bank.position
        self._posterior = AbilityPosterior(split.grid)

    @property
    def theta(self) -> float:
        return self._posterior.theta

    def next(self) -> int | None:
        return next(self._places, None)

    def answer(self, answer: AnswerRow) -> tuple[float, float]:
        if answer.score is not None:
            self._posterior.add(ItemEvidence(self._position[answer.item], answer.score))
        return self._posterior.theta, self._posterior.se


MOST_TEXT = 1_000_000  # characters in an answer
_SHORT = 20_000  # characters of an answer that is scored between two requests
_SCORING = ThreadPoolExecutor(4, "scoring")  # for scorers that may take long; starts when used


class Graded(NamedTuple):
    """A score in [0, 1]; None where the scorer failed, and the detail says why."""

    score: float | None
    detail: str | None = None


def given_answer(item: BankItem, fields: Fields) -> str:
    """Return the choice or the text that answers an item; refuse what cannot be its answer."""
    wanted, other = ("itemChoiceId", "textResponse")[:: 1 if item.choices else -1]
    answer = fields.optional_text(wanted, MOST_TEXT)
    if answer is None or fields.value(other) is not None:
        kind = "has choices" if item.choices else "has no choices"
        raise invalid(f"Item {item.key!r} {kind}: answer it with {wanted}, and nothing else.")
    ids = [choice.id for choice in item.choices or ()]
    if ids and answer not in ids:
        raise invalid(
            f"Item {item.key!r} has no choice {answer!r:.100}.{nearest(answer[:100], ids)} "
            f"It has {', '.join(ids)}."
        )
    return answer


async def grade(split: Split, item: BankItem, answer: str) -> Graded:
    """Score an answer: a choice by its id, a text by the scorer of the bank."""
    if item.choices is not None:
        return Graded(1.0 if answer in item.targets else 0.0)
    score = await _scored(split, item, answer)
    if score.value is None:
        return Graded(None, f"{score.status}: {score.detail}"[:500])
    try:
        check_evidence(
            split.bank.parameters, ItemEvidence(split.bank.position[item.key], score.value)
        )
    except InvalidInput as error:  # it would be refused by every test that is rebuilt from it
        return Graded(None, f"error: {error}"[:500])
    return Graded(score.value)


async def _scored(split: Split, item: BankItem, answer: str) -> Score:
    scorer, reference = split.scorer, item.problem({}).reference
    assert scorer is not None  # the catalogue has made it for items without choices
    if scorer.is_async:
        return await scorer.score_async(answer, reference)
    if not scorer.slow and len(answer) <= _SHORT:
        with suppress(NeedsWorker):
            return quickly(scorer.score, answer, reference)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_SCORING, scorer.score, answer, reference)


class Runs:
    """Runs by id; those used last stay in memory, others are rebuilt from their answers.

    There is never more than one `LiveRun` of a run, so that its lock keeps requests apart.
    """

    def __init__(self, state: ServerState, catalogue: Catalogue, most: int) -> None:
        self._state, self._catalogue, self._most = state, catalogue, most
        self._recent: OrderedDict[str, LiveRun] = OrderedDict()
        self._alive: WeakValueDictionary[str, LiveRun] = WeakValueDictionary()
        self._loading: dict[str, asyncio.Task[LiveRun]] = {}

    async def get(self, id: str) -> LiveRun:
        """Return a run; refuse an id that is none, and a run whose bank is not here any more."""
        run = self._alive.get(id)
        if run is None or run.is_stale:
            run = await self._loaded(id)
        self._keep(run)
        return run

    def add(self, run: LiveRun) -> None:
        """Keep a run that has been recorded just now."""
        self._alive[run.row.id] = run
        self._keep(run)

    def forget(self, run: LiveRun) -> None:
        """Let a run be rebuilt from the disk when it is used next."""
        run.is_stale = True
        self._recent.pop(run.row.id, None)

    async def _loaded(self, id: str) -> LiveRun:
        task = self._loading.get(id)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._load(id))
            self._loading[id] = task
            task.add_done_callback(lambda _: self._loading.pop(id, None))
        return await asyncio.shield(task)

    async def _load(self, id: str) -> LiveRun:
        row = self._state.run(id)
        if row is None:
            raise unknown(f"There is no run {id!r:.100}.")
        answers = self._state.answers(id)
        # In a thread, since a long run takes a while; the answers of others need not wait for it.
        run = await asyncio.to_thread(self._rebuilt, row, answers)
        self._alive[id] = run
        return run

    def _rebuilt(self, row: RunRow, answers: list[AnswerRow]) -> LiveRun:
        dataset = self._catalogue.find(row.dataset)
        if dataset is None or dataset.bank.hash != row.bank:
            why = "is not served any more" if dataset is None else "has changed since"
            raise conflict(
                f"Run {row.id} is of bank {row.dataset!r}, which {why}; serve the bank as it was "
                "to go on."
            )
        return LiveRun(row, dataset.split(row.split), answers)

    def _keep(self, run: LiveRun) -> None:
        self._recent[run.row.id] = run
        self._recent.move_to_end(run.row.id)
        while len(self._recent) > self._most:
            self._recent.popitem(last=False)


_MOST_RUNS = 1000  # in memory; others are rebuilt when they are used
_LONGEST_TOKEN = 200  # characters in an Idempotency-Key
Json = JsonObject


class Service:
    """Test runs over the banks of a catalogue, kept in a state directory."""

    def __init__(
        self,
        state: ServerState,
        catalogue: Catalogue,
        *,
        new_id: Callable[[], str],
        now: Callable[[], str],
        most_runs: int = _MOST_RUNS,
    ) -> None:
        self.state, self.catalogue = state, catalogue
        self.new_id, self.now = new_id, now
        self._runs = Runs(state, catalogue, most_runs)

    async def start(self, fields: Fields) -> str:
        """Start a test run; the first item is in the reply, which is JSON."""
        dataset = self.catalogue.dataset(fields.text("datasetId"))
        split = fields.text("split")
        part = dataset.split(split)
        seed = fields.optional_integer("seed")
        row = RunRow(
            id=self.new_id(),
            dataset=dataset.bank.name,
            split=split,
            bank=dataset.bank.hash,
            design=to_json(self.catalogue.design.as_json()),
            seed=secrets.token_hex(8) if seed is None else str(seed),
            project=fields.optional_text("projectId") or "",
            experiment=fields.optional_text("experiment") or "",
            metadata=to_json(fields.metadata()),
            created=self.now(),
        )
        run = LiveRun(row, part)
        await self.state.add_run(row)
        self._runs.add(run)
        return _reply(run)

    async def answer(self, id: str, fields: Fields, token: str | None = None) -> str:
        """Take the answer to the item that waits, and reply with the next, as JSON.

        An answer that says what it belongs to, by `itemId` or by a token of its own, may be sent
        again: if it is the last one, it is not taken a second time.
        """
        if token is not None and not 0 < len(token) <= _LONGEST_TOKEN:
            raise invalid(f"An Idempotency-Key has 1 to {_LONGEST_TOKEN} characters.")
        item_id = fields.optional_text("itemId")
        while True:
            run = await self._runs.get(id)
            if run.lock.locked() and item_id is None and token is None:
                raise conflict(
                    f"Another answer to run {id} is being recorded. To send one again safely, say "
                    "which item it is for (itemId), or send an Idempotency-Key."
                )
            async with run.lock:
                if run.is_stale:
                    continue
                if not _is_repeated(run, fields, item_id, token):
                    await self._take(run, fields, token)
                return _reply(run)

    async def _take(self, run: LiveRun, fields: Fields, token: str | None) -> None:
        item = run.item
        if item is None:
            raise conflict(f"Run {run.row.id} is complete; it takes no more answers.")
        value = given_answer(item, fields)
        score, detail = await grade(run.split, item, value)
        row = AnswerRow(item.key, value, score, detail, token, self.now())
        try:
            await self.state.add_answer(run.row.id, len(run.answers), row)
        except BaseException as error:  # it may be on disk or not: only the disk knows
            self._runs.forget(run)
            if isinstance(error, sqlite3.IntegrityError):
                raise conflict(f"Item {item.key!r} has been answered meanwhile.") from None
            raise
        run.take(row)

    async def summary(self, id: str) -> Json:
        """Return everything about a run or a replay."""
        run = await self._runs.get(id)
        items = [run.split.bank.item(answer.item) for answer in run.answers]
        kinds = {"open_ended" if item.choices is None else "multiple_choice" for item in items}
        return {
            "id": run.row.id,
            "datasetId": f"{run.row.dataset}:adaptive",
            "split": run.row.split,
            "projectId": run.row.project,
            "experiment": run.row.experiment,
            "seed": run.row.seed,
            "createdAt": run.row.created,
            "completedAt": _ended(run),
            "completed": run.item is None,
            "replayOfRun": run.row.replay_of,
            "state": json.loads(run.state()),
            "dataset": [item_json(item) for item in items],
            "responses": [_response(answer) for answer in run.answers],
            "metadata": json.loads(run.row.metadata),
            "datasetItemType": kinds.pop() if len(kinds) == 1 else None,
        }

    async def replay(self, id: str, fields: Fields) -> Json:
        """Score new answers to the items of a run, in the order of that run."""
        old = await self._runs.get(id)
        metadata = to_json(fields.metadata())
        given = _given_by_item(old, fields)
        answers = []
        for before in old.answers:
            item = old.split.bank.item(before.item)
            value = given_answer(item, given[item.key])
            score, detail = await grade(old.split, item, value)
            answers.append(AnswerRow(item.key, value, score, detail, None, self.now()))
        row = RunRow(
            self.new_id(), old.row.dataset, old.row.split, old.row.bank, old.row.design,
            old.row.seed, old.row.project, old.row.experiment, metadata, self.now(), id,
        )  # fmt: skip
        run = LiveRun(row, old.split, answers)
        await self.state.add_run(row, answers)
        self._runs.add(run)
        return await self.summary(row.id)


def _is_repeated(run: LiveRun, fields: Fields, item_id: str | None, token: str | None) -> bool:
    """Return whether the request is the last answer once more; refuse one that cannot be taken."""
    if run.is_replay:
        raise conflict(f"Run {run.row.id} is a replay; it takes no answers.")
    known = [answer for answer in run.answers if token is not None and answer.token == token]
    if known and known[0] is not run.answers[-1]:
        raise conflict("This Idempotency-Key belongs to an earlier answer of the run.")
    if not known and item_id is None:
        return False
    if not known and run.item is not None and item_id == run.item.key:
        return False
    last = run.answers[-1] if run.answers else None
    if last is None or item_id not in (None, last.item):
        waiting = "is complete" if run.item is None else f"waits for item {run.item.key!r}"
        raise conflict(f"Run {run.row.id} {waiting}; it takes no answer to {item_id!r:.100}.")
    if given_answer(run.split.bank.item(last.item), fields) != last.value:
        raise conflict(f"Item {last.item!r} has another answer already, which stands.")
    return True


def _given_by_item(old: LiveRun, fields: Fields) -> dict[str, Fields]:
    """Return the answers of a replay by item: one for each item of the run, and no other."""
    wanted = {answer.item for answer in old.answers}
    if not wanted:
        raise invalid(f"Run {old.row.id} has no answers; there is nothing to replay.")
    given: dict[str, Fields] = {}
    for entry in fields.objects("responses"):
        key = entry.text("itemId")
        if key in given:
            raise invalid(f"Duplicate item id {key!r:.100}.")
        if key not in wanted:
            raise invalid(f"Unknown item id {key!r:.100}: not in the run.{nearest(key, wanted)}")
        given[key] = entry
    missing = [answer.item for answer in old.answers if answer.item not in given]
    if missing:
        raise invalid(f"{len(missing)} items of the run have no response, such as {missing[0]!r}.")
    return given


def _reply(run: LiveRun) -> str:
    item = "null" if run.item is None else to_json(item_json(run.item))
    return (
        f'{{"runInfo":{{"id":{to_json(run.row.id)}}},"state":{run.state()},'
        f'"nextItem":{item},"completed":{to_json(run.item is None)}}}'
    )


def _response(answer: AnswerRow) -> Json:
    return {
        "datasetItemId": answer.item,
        "value": answer.value,
        "correct": answer.score == 1.0,
        "score": answer.score,
        "detail": answer.detail,
    }


def _ended(run: LiveRun) -> str | None:
    return run.answers[-1].at if run.item is None and run.answers else None

"""The client: every request of the Trismik protocol, and a test from start to end.

async with create_trismik_async_client() as client:
    info = await client.get_dataset_info("mmlu:adaptive")
    results = await client.run("mmlu:adaptive", split="test", item_processor=answer)
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Literal, overload
from urllib.parse import quote

from passband.adaptive.remote.records import (
    Account,
    ClassicEval,
    DatasetInfo,
    DatasetList,
    Item,
    Project,
    Replay,
    RunReply,
    RunSummary,
    State,
    read_record,
)
from passband.adaptive.remote.service import OtherProtocol, RemoteService
from passband.errors import InvalidInput, UnknownName, WrongType, nearest
from passband.generate import JsonMapping, JsonObject

ItemProcessor = Callable[[Item], "str | Awaitable[str]"]
"""Answers an item: with the id of a choice, or with a text where there are no choices."""
OnStep = Callable[[Item, str, State], None]
_METADATA = ("model_metadata", "test_configuration", "inference_setup")
_TESTS = "/adaptive-testing"


@dataclass(frozen=True)
class AdaptiveScore:
    """The ability that a test ended with."""

    theta: float
    std_error: float


@dataclass(frozen=True)
class RunResults:
    """A finished test: its name, its score, and its path."""

    run_id: str
    score: AdaptiveScore
    state: State

    @property
    def responses(self) -> tuple[str, ...]:
        """The ids of the items, in the order in which they were asked."""
        return self.state.responses

    def as_dict(self) -> JsonObject:
        """Return the results as plain values."""
        score = asdict(self.score)
        return {"run_id": self.run_id, "score": score, "state": self.state.model_dump(mode="json")}


class TrismikClient:
    """A client of one server; use it in `async with`, which closes its connections."""

    def __init__(
        self,
        service_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        pause: float = 0.5,
    ) -> None:
        self._service = RemoteService(service_url, api_key, timeout=timeout, pause=pause)

    @property
    def address(self) -> str:
        """Scheme, host and path of the server."""
        return self._service.address

    async def __aenter__(self) -> TrismikClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._service.close()

    # -- data sets -------------------------------------------------------------------------

    async def list_datasets(self) -> list[DatasetInfo]:
        """Return all data sets of the server."""
        answer = await self._service.get(f"{_TESTS}/datasets")
        return list(read_record(DatasetList, answer.raw, answer.where).data)

    async def get_dataset_info(self, dataset_id: str) -> DatasetInfo:
        """Return a data set, with its splits; an adaptive one is named "x:adaptive"."""
        answer = await self._service.post(
            f"{_TESTS}/datasets/get-dataset", {"datasetId": dataset_id}, safe=True
        )
        return read_record(DatasetInfo, answer.raw, answer.where)

    # -- a test, step by step --------------------------------------------------------------

    async def start_run(
        self,
        dataset_id: str,
        split: str,
        project_id: str | None = None,
        experiment: str | None = None,
        metadata: JsonMapping | None = None,
        seed: int | None = None,
    ) -> RunReply:
        """Start a test; the reply has its first item."""
        return (await self._started(dataset_id, split, project_id, experiment, metadata, seed))[0]

    async def continue_run(
        self, run_id: str, answer: str, *, item: Item | None = None, number: int | None = None
    ) -> RunReply:
        """Answer the current item of a test; the reply has the next one.

        The answer is the id of a choice, or a text if `item` has no choices. With the `number` of
        answers given before, a server that echoes idempotency keys receives it at most once.
        """
        return await self._continued(run_id, item, answer, number, safe=False)

    async def run_summary(self, run_id: str) -> RunSummary:
        """Return the items, answers and path of a test."""
        answer = await self._service.get(f"{_TESTS}/runs/adaptive/{_part(run_id)}")
        return read_record(RunSummary, answer.raw, answer.where)

    async def submit_replay(
        self,
        run_id: str,
        responses: Sequence[Mapping[str, str]],
        metadata: JsonMapping | None = None,
    ) -> Replay:
        """Answer the items of an earlier test again, all at once.

        Each response has `itemId`, and `itemChoiceId` or `textResponse`.
        """
        body = {"responses": [dict(one) for one in responses], "metadata": _complete(metadata)}
        answer = await self._service.post(f"/runs/{_part(run_id)}/replay", body)
        return read_record(Replay, answer.raw, answer.where)

    # -- accounts and uploads --------------------------------------------------------------

    async def me(self) -> Account:
        """Return the owner of the key."""
        answer = await self._service.get("/admin/api-keys/me")
        return read_record(Account, answer.raw, answer.where)

    async def create_project(
        self, name: str, team_id: str | None = None, description: str | None = None
    ) -> Project:
        """Create a project."""
        optional = {"teamId": team_id, "description": description}
        given = {key: value for key, value in optional.items() if value is not None}
        answer = await self._service.post("/admin/public/projects", {"name": name, **given})
        return read_record(Project, answer.raw, answer.where)

    async def submit_classic_eval(
        self,
        *,
        project_id: str,
        experiment: str,
        dataset_id: str,
        model_name: str,
        items: Sequence[JsonMapping],
        metrics: Mapping[str, float],
        hyperparameters: JsonMapping | None = None,
    ) -> ClassicEval:
        """Upload an evaluation of all items.

        Each item has `datasetItemId`, `modelInput`, `modelOutput`, `goldOutput` and `metrics`.
        """
        body = {
            "projectId": project_id,
            "experimentName": experiment,
            "datasetId": dataset_id,
            "modelName": model_name,
            "hyperparameters": dict(hyperparameters or {}),
            "items": [dict(item) for item in items],
            "metrics": [
                {"metricId": name, "valueType": "Float", "value": value}
                for name, value in metrics.items()
            ],
        }
        answer = await self._service.post(f"{_TESTS}/runs/classic", body)
        return read_record(ClassicEval, answer.raw, answer.where)

    # -- a test from start to end ----------------------------------------------------------

    @overload
    async def run(
        self,
        test_id: str,
        split: str,
        project_id: str | None = None,
        experiment: str | None = None,
        run_metadata: JsonMapping | None = None,
        item_processor: ItemProcessor | None = None,
        return_dict: Literal[False] = False,
        seed: int | None = None,
        *,
        on_step: OnStep | None = None,
    ) -> RunResults: ...

    @overload
    async def run(
        self,
        test_id: str,
        split: str,
        project_id: str | None = None,
        experiment: str | None = None,
        run_metadata: JsonMapping | None = None,
        item_processor: ItemProcessor | None = None,
        *,
        return_dict: Literal[True],
        seed: int | None = None,
        on_step: OnStep | None = None,
    ) -> JsonObject: ...

    @overload
    async def run(
        self,
        test_id: str,
        split: str,
        project_id: str | None = None,
        experiment: str | None = None,
        run_metadata: JsonMapping | None = None,
        item_processor: ItemProcessor | None = None,
        return_dict: bool = False,
        seed: int | None = None,
        *,
        on_step: OnStep | None = None,
    ) -> RunResults | JsonObject: ...

    async def run(
        self,
        test_id: str,
        split: str,
        project_id: str | None = None,
        experiment: str | None = None,
        run_metadata: JsonMapping | None = None,
        item_processor: ItemProcessor | None = None,
        return_dict: bool = False,
        seed: int | None = None,
        *,
        on_step: OnStep | None = None,
    ) -> RunResults | JsonObject:
        """Answer items by `item_processor`, plain or async, until the server ends the test.

        `on_step` is called with each item, its answer and the state after it.
        """
        if item_processor is None:
            raise InvalidInput("item_processor is missing: the function that answers an item.")
        started = (test_id, split, project_id, experiment, run_metadata, seed)
        reply, is_repeatable = await self._started(*started)
        run_id, number = reply.run_info.id, 0
        while not reply.completed and reply.next_item is not None:
            item = reply.next_item
            answer = item_processor(item)
            text = await answer if inspect.isawaitable(answer) else answer
            reply = await self._continued(run_id, item, text, number, safe=is_repeatable)
            number += 1
            if on_step is not None:
                on_step(item, text, reply.state)
        results = RunResults(run_id, self._score(reply), reply.state)
        return results.as_dict() if return_dict else results

    async def _started(
        self,
        dataset_id: str,
        split: str,
        project_id: str | None,
        experiment: str | None,
        metadata: JsonMapping | None,
        seed: int | None,
    ) -> tuple[RunReply, bool]:
        """Start a test; return the reply, and whether answers may be sent twice."""
        body: JsonObject = {
            "datasetId": dataset_id,
            "split": split,
            "projectId": project_id or "",
            "experiment": experiment or "",
            "metadata": _complete(metadata),
        }
        if seed is not None:
            body["seed"] = seed
        answer = await self._service.post(f"{_TESTS}/runs/start", body)
        return read_record(RunReply, answer.raw, answer.where), answer.is_repeatable

    async def _continued(
        self, run_id: str, item: Item | None, answer: str, number: int | None, *, safe: bool
    ) -> RunReply:
        body = _response(item, answer)
        key = None if number is None else str(number)
        path = f"{_TESTS}/runs/{_part(run_id)}/continue"
        got = await self._service.post(path, body, safe=safe and key is not None, key=key)
        return read_record(RunReply, got.raw, got.where)

    def _score(self, reply: RunReply) -> AdaptiveScore:
        state = reply.state
        if not state.thetas or not state.std_error_history:
            raise OtherProtocol(
                f"{self.address} ended run {reply.run_info.id} without an ability: its state has "
                f"{len(state.thetas)} thetas and {len(state.std_error_history)} standard errors."
            )
        return AdaptiveScore(state.thetas[-1], state.std_error_history[-1])


def create_trismik_async_client(
    service_url: str | None = None, api_key: str | None = None, *, timeout: float = 30.0
) -> TrismikClient:
    """Return a client of the server that TRISMIK_SERVICE_URL and TRISMIK_API_KEY name."""
    return TrismikClient(service_url, api_key, timeout=timeout)


def _response(item: Item | None, answer: object) -> dict[str, str]:
    """Return an answer as it is sent; refuse one that the item does not offer."""
    if not isinstance(answer, str):
        kind = "nothing" if answer is None else type(answer).__name__
        where = "" if item is None else f"item {item.id!r}: "
        raise WrongType(f"{where}an answer is the id of a choice, or a text; got {kind}.")
    if item is not None and item.choices is None:
        return {"textResponse": answer}
    ids = [] if item is None or item.choices is None else [choice.id for choice in item.choices]
    if item is not None and answer not in ids:
        hint = nearest(answer, ids) or f" Its choices are {', '.join(ids)}."
        raise UnknownName(f"item {item.id!r} has no choice {answer!r:.60}.{hint}")
    return {"itemChoiceId": answer}


def _complete(metadata: JsonMapping | None) -> JsonObject:
    """Return the metadata of a run with the three parts that the protocol has."""
    parts: JsonObject = {name: {} for name in _METADATA} | dict(metadata or {})
    parts["model_metadata"] = {"name": "unknown", **parts["model_metadata"]}
    return parts


def _part(text: str) -> str:
    """Return a name as one part of a path."""
    return quote(text, safe="")

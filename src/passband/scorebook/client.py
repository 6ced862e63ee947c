"""The client that answers for local banks too, as if a server had them."""

from __future__ import annotations

import inspect
import uuid
from functools import cached_property
from types import TracebackType
from typing import Any

from passband.adaptive import (
    ADAPTIVE,
    AdaptiveScore,
    AdaptiveTest,
    Bank,
    BankItem,
    DatasetInfo,
    Design,
    Item,
    ItemChoice,
    ItemProcessor,
    RunResults,
    State,
    TrismikClient,
    find_bank,
    list_banks,
    parse_dataset,
    resolve_split,
)
from passband.errors import InvalidInput
from passband.generate import JsonMapping, JsonObject
from passband.score import make_scorer


class BankClient:
    """Knows the banks here, and asks the server about all else.

    `get_dataset_info`, `list_datasets` and `run` work on banks; every other request is one of the
    `server`, which needs TRISMIK_API_KEY. Tests that are to be recorded go through `evaluate`.
    """

    def __init__(self, service_url: str | None = None, api_key: str | None = None) -> None:
        self._url, self._key = service_url, api_key

    @cached_property
    def server(self) -> TrismikClient:
        """The client of the server."""
        return TrismikClient(self._url, self._key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.server, name)

    async def __aenter__(self) -> BankClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections, if there are any."""
        if "server" in self.__dict__:
            await self.server.close()

    async def list_datasets(self) -> list[DatasetInfo]:
        """Return the local banks; `server.list_datasets()` has the server's."""
        banks = [find_bank(entry.path) for entry in list_banks()]
        return [_info(bank) for bank in banks if bank is not None]

    async def get_dataset_info(self, dataset_id: str) -> DatasetInfo:
        """Return a bank of that name, or else a data set of the server."""
        bank = _bank(dataset_id)
        return await self.server.get_dataset_info(dataset_id) if bank is None else _info(bank)

    async def run(
        self,
        test_id: str,
        split: str | None = None,
        project_id: str | None = None,
        experiment: str | None = None,
        run_metadata: JsonMapping | None = None,
        item_processor: ItemProcessor | None = None,
        return_dict: bool = False,
        seed: int | None = None,
    ) -> RunResults | JsonObject:
        """Run a test of a bank here, or else on the server; the first is not recorded."""
        bank = _bank(test_id)
        if bank is None:
            given = (test_id, str(split), project_id, experiment, run_metadata, item_processor)
            return await self.server.run(*given, return_dict=return_dict, seed=seed)
        if item_processor is None:
            raise InvalidInput("item_processor is missing: the function that answers an item.")
        part = bank.of_split(resolve_split(test_id, split, bank.splits))
        test = AdaptiveTest(part, Design(), "" if seed is None else str(seed))
        await _answer_all(test, item_processor)
        results = RunResults(str(uuid.uuid4()), AdaptiveScore(test.theta, test.se), _state(test))
        return results.as_dict() if return_dict else results


def create_trismik_async_client(
    service_url: str | None = None, api_key: str | None = None
) -> BankClient:
    """Return a client of the banks here, and of the server that the environment names."""
    return BankClient(service_url, api_key)


def item_record(item: BankItem) -> Item:
    """Return an item of a bank as a server would send it."""
    choices = None if item.choices is None else tuple(
        ItemChoice(id=choice.id, text=choice.text) for choice in item.choices
    )  # fmt: skip
    return Item(id=item.key, question=item.question, choices=choices)


async def _answer_all(test: AdaptiveTest, processor: ItemProcessor) -> None:
    scorer = make_scorer(**test.bank.scorer_spec)
    while choices := test.next():
        for choice in choices:
            item = test.bank.item(choice.key)
            answer = processor(item_record(item))
            text = str(await answer if inspect.isawaitable(answer) else answer)
            reference = item.problem({}).reference
            score = await scorer.score_async(item.letter(text) or text, reference)
            test.answer(choice.key, score.value)


def _state(test: AdaptiveTest) -> State:
    steps = test.history
    return State(
        responses=tuple(step.key for step in steps),
        thetas=tuple(step.theta for step in steps),
        std_error_history=tuple(step.se for step in steps),
        effective_difficulties=tuple(step.difficulty for step in steps),
    )


def _bank(dataset: str) -> Bank | None:
    name = parse_dataset(dataset)
    return find_bank(name.id) if name.is_adaptive and "/" not in name.id else None


def _info(bank: Bank) -> DatasetInfo:
    name = f"{bank.name}:{ADAPTIVE}"
    return DatasetInfo(
        id=name, name=bank.name, splits=bank.splits, datacard={"itemsCount": len(bank.items)}
    )

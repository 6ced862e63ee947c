"""Which split is used: `resolve_split_async` and `resolve_split_sync`, by any client."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from passband.errors import ScoreBookError
from passband.scorebook.client import create_trismik_async_client
from passband.scorebook.splits import resolve_split_async, resolve_split_sync
from passband.system.event_loop import complete
from support.samples.item_banks import write_banks
from support.servers.trismik_server import TrismikServer

Resolve = Callable[..., str]


@dataclass
class Info:
    splits: list[str]


class Client:
    """A client of another package, which answers at once or when awaited."""

    def __init__(self, splits: list[str], *, is_async: bool) -> None:
        self.info, self.is_async, self.asked = Info(splits), is_async, ""

    def get_dataset_info(self, dataset_id: str) -> Any:
        self.asked = dataset_id

        async def later() -> Info:
            return self.info

        return later() if self.is_async else self.info


def resolved_async(*arguments: Any) -> str:
    return complete(resolve_split_async(*arguments))


def resolved_inside_a_loop(*arguments: Any) -> str:
    async def main() -> str:
        return resolve_split_sync(*arguments)

    return complete(main())


@pytest.fixture(params=[resolved_async, resolve_split_sync, resolved_inside_a_loop])
def resolve(request: pytest.FixtureRequest) -> Resolve:
    made: Resolve = request.param
    return made


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("dataset", "split", "splits", "chosen"),
    [
        ("x:adaptive", "train", ["train", "test"], "train"),
        ("x:adaptive:train", None, ["train", "test"], "train"),
        ("x:adaptive", None, ["train", "test", "validation"], "validation"),
        ("x:adaptive", None, ["train", "test"], "test"),
    ],
)
def test_the_split_that_is_used(
    resolve: Resolve, is_async: bool, dataset: str, split: str | None, splits: Any, chosen: str
) -> None:
    client = Client(splits, is_async=is_async)
    assert resolve(dataset, split, client) == chosen
    assert client.asked == "x:adaptive"


def test_splits_that_do_not_exist(resolve: Resolve) -> None:
    with pytest.raises(ScoreBookError) as caught:
        resolve("x:adaptive", "dev", Client(["validation", "test"], is_async=True))
    assert str(caught.value) == (
        "Specified split 'dev' not found for dataset 'x:adaptive'. "
        "Available splits: ['validation', 'test']"
    )
    for splits in (["train"], []):
        with pytest.raises(ScoreBookError) as caught:
            resolve("x:adaptive", None, Client(splits, is_async=True))
        assert str(caught.value) == (
            "No suitable split found for dataset 'x:adaptive'. "
            f"Expected 'validation' or 'test' split. Available splits: {splits}"
        )


def test_the_order_can_be_chosen_and_is_logged(
    resolve: Resolve, caplog: pytest.LogCaptureFixture
) -> None:
    client = Client(["validation", "train"], is_async=True)
    with caplog.at_level(logging.INFO):
        assert resolve("x:adaptive", None, client, ["test", "train"]) == "train"
    assert caplog.messages == ["Using 'train' split for x:adaptive"]


def test_a_client_can_be_used_again_in_another_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    with TrismikServer({"x:adaptive": ["test"]}) as server:
        monkeypatch.setenv("TRISMIK_SERVICE_URL", server.url)
        monkeypatch.setenv("TRISMIK_API_KEY", server.key)
        client = create_trismik_async_client()
        for _ in range(2):
            assert resolve_split_sync("x:adaptive", None, client) == "test"


def test_the_client_runs_tests_of_banks(folder: Path) -> None:
    write_banks(folder, {"x": ("validation", "test")})

    async def main() -> Any:
        async with create_trismik_async_client() as client:
            (info,) = [one for one in await client.list_datasets() if one.name == "x"]
            assert (await client.get_dataset_info("x:adaptive")) == info
            right = await client.run("x:adaptive", item_processor=lambda item: "B", seed=1)
            wrong = await client.run(
                "x:adaptive", "test", item_processor=lambda item: "A", return_dict=True
            )
            return info, right, wrong

    info, right, wrong = complete(main())
    assert info.splits == ("validation", "test")
    assert right.score.theta > 1 > -1 > wrong["score"]["theta"]
    assert all(key.startswith("validation") for key in right.responses)

"""Scorebook and Trismik as they are installed, talking to the server in TRISMIK_SERVICE_URL.

    python tests/support/servers/unmodified_clients.py ADDRESS

Run as a process of its own, since Scorebook reads the address when it is imported; prints what
every call returned or raised, as JSON. The variable has the address that Scorebook would use, with
a prefix; Trismik's own clients are given ADDRESS, without it.
"""

# mypy takes tests/scorebook for the package of that name.
# mypy: disable-error-code="attr-defined"

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import scorebook
import trismik
from scorebook import EvalDataset
from trismik.types import TrismikReplayRequest, TrismikReplayRequestItem

IDS = {"experiment_id": "exp", "project_id": "proj"}
METADATA = trismik.TrismikRunMetadata(
    model_metadata=trismik.TrismikRunMetadata.ModelMetadata(name="m"),
    test_configuration={},
    inference_setup={},
)


def choose(items: list[Any], **hyperparameters: Any) -> list[Any]:
    """Answer right, or wrong where the hyperparameter says so."""
    return ["A" if hyperparameters.get("bad") else "B" for _ in items]


async def choose_async(items: list[Any], **hyperparameters: Any) -> list[Any]:
    return choose(items, **hyperparameters)


def add(items: list[Any], **_: Any) -> list[Any]:
    """Answer an item without choices."""
    return [str(sum(map(int, re.findall(r"\d+", item["question"])))) for item in items]


def evaluated(inference: Any, datasets: Any, **options: Any) -> Any:
    settings = {**IDS, "split": "test", "seed": 1, "show_progress": False, **options}
    return scorebook.evaluate(inference, datasets, **settings)


def evaluated_async(inference: Any, datasets: Any, **options: Any) -> Any:
    settings = {**IDS, "split": "test", "seed": 1, "show_progress": False, **options}
    return asyncio.run(scorebook.evaluate_async(inference, datasets, **settings))


def classic() -> Any:
    rows = [{"q": "1", "a": "B"}, {"q": "2", "a": "A"}]
    data = EvalDataset.from_list("rows", "accuracy", rows, input="q", label="a")
    return evaluated(choose, data, split=None, upload_results=True)


def logged_in() -> Any:
    """Log in for all that follows."""
    try:
        scorebook.evaluate(choose, "sums:adaptive", **IDS)
        before = "not refused"
    except Exception as error:
        before = type(error).__name__
    scorebook.login("a-key-of-mine")
    return before, scorebook.whoami()


def replayed() -> Any:
    with trismik.TrismikClient(sys.argv[1], "any") as client:
        first = client.run("sums:adaptive", "test", "p", "e", METADATA, lambda item: "B", seed=4)
        same = client.run_replay(first["run_id"], METADATA, lambda item: "B", with_responses=True)
        worse = client.run_replay(first["run_id"], METADATA, lambda item: "A")
        summary = client.run_summary(first["run_id"])
        return first, same, worse, dataclasses.asdict(summary)


def in_both_clients() -> Any:
    async def ask() -> Any:
        async with trismik.TrismikAsyncClient(sys.argv[1], "any") as client:
            listed = await client.list_datasets()
            info = await client.get_dataset_info(listed[0].id)
            run = await client.run(
                listed[0].id, "test", "p", "e", METADATA, lambda item: item.choices[1].id, seed=4
            )
            return listed[0].splits, info.datacard.itemsCount, run["score"]

    return asyncio.run(ask())


def refused(call: Callable[[trismik.TrismikClient], Any]) -> str:
    with trismik.TrismikClient(api_key="any") as client:
        try:
            return f"not refused: {call(client)}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def refusals() -> Any:
    large = trismik.TrismikRunMetadata(METADATA.model_metadata, {"x": "x" * 10_240}, {})
    replay = TrismikReplayRequest([TrismikReplayRequestItem(itemId="test-x", itemChoiceId="B")])

    def replay_of_unknown_item(client: trismik.TrismikClient) -> Any:
        run = client.start_run("sums:adaptive", "test", "p", "e", METADATA).run_info.id
        client.continue_run(run, item_choice_id="B")
        return client.submit_replay(run, replay)

    def unknown_choice(client: trismik.TrismikClient) -> Any:
        run = client.start_run("sums:adaptive", "test", "p", "e", METADATA).run_info.id
        return client.continue_run(run, item_choice_id="Z")

    return [
        refused(lambda client: client.start_run("none:adaptive", "test", "p", "e", METADATA)),
        refused(lambda client: client.start_run("sums:adaptive", "none", "p", "e", METADATA)),
        refused(lambda client: client.start_run("sums:adaptive", "test", "p", "e", large)),
        refused(replay_of_unknown_item),
        refused(unknown_choice),
        refused(lambda client: client.run_summary("none")),
        refused(lambda client: client.create_project("")),
    ]


def split_error(split: str | None) -> Any:
    try:
        return evaluated(choose, "sums:adaptive", split=split)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main() -> None:
    grid = {"bad": [False, True]}
    results = {
        "login": logged_in(),
        "sync": evaluated(choose, "sums:adaptive"),
        "async": evaluated_async(choose_async, "sums:adaptive"),
        "validation": evaluated(choose, "sums:adaptive", split="validation"),
        "grid": evaluated(choose, "sums:adaptive", hyperparameters=grid),
        "grid async": evaluated_async(choose_async, "sums:adaptive", hyperparameters=grid),
        "several": evaluated_async(choose_async, ["sums:adaptive", "more:adaptive"]),
        "other seed": evaluated(choose, "sums:adaptive", seed=2),
        "open": evaluated(add, "texts:adaptive"),
        "splits": [split_error("none"), split_error(None)],
        "classic": classic(),
        "project": dataclasses.asdict(scorebook.create_project("name", description="d")),
        "replay": replayed(),
        "trismik": in_both_clients(),
        "refusals": refusals(),
        "logout": [scorebook.logout(), scorebook.whoami()],
    }
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

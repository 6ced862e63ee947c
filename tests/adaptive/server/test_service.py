"""Test runs: the path is that of AdaptiveTest, an answer counts once, restarts change nothing."""

import asyncio
import gc
import json
import sqlite3
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from passband.adaptive.bank import Bank
from passband.adaptive.design import Design
from passband.adaptive.server.body import Fields, Refusal
from passband.adaptive.server.service import Service
from passband.adaptive.server.state import ServerState
from passband.adaptive.test import AdaptiveTest
from passband.system.event_loop import complete
from support.servers.serving import DESIGN, make_service, sums

Json = dict[str, Any]


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Bank:
    return sums(tmp_path_factory.mktemp("banks"))


def served(
    folder: Path, bank: Bank, main: Callable[[Service], Coroutine[Any, Any, Any]], **options: Any
) -> Any:
    """Return what a coroutine returns that is given a service with this state and bank."""

    async def run() -> Any:
        state = ServerState(folder)
        try:
            return await main(make_service(state, bank, **options))
        finally:
            await state.close()

    return complete(run())


async def started(service: Service, seed: int | None = 3, **fields: Any) -> Json:
    body = {"datasetId": "sums:adaptive", "split": "test", "seed": seed, **fields}
    return json.loads(await service.start(Fields(body)))


async def answer(service: Service, run: str, choice: str = "B", **more: Any) -> Json:
    token = more.pop("token", None)
    reply = await service.answer(run, Fields({"itemChoiceId": choice, **more}), token)
    return json.loads(reply)


def choice_for(item: Json) -> str:
    """Answer by the item alone: right for some, wrong for others."""
    return "ABC"[len(item["id"]) % 2 + (int(item["id"][-1]) % 3 == 0)]


async def finished(service: Service, reply: Json) -> Json:
    while reply["nextItem"] is not None:
        reply = await answer(service, reply["runInfo"]["id"], choice_for(reply["nextItem"]))
    return reply


async def refused(call: Coroutine[Any, Any, Any]) -> tuple[int, str]:
    with pytest.raises(Refusal) as error:
        await call
    return error.value.status, error.value.detail


def expected_path(bank: Bank, seed: str, design: Design = DESIGN) -> list[tuple[str, float, float]]:
    """Return the path of an adaptive test that is answered the same way."""
    test = AdaptiveTest(bank.of_split("test"), design, seed)
    while choices := test.next():
        test.answer(choices[0].key, float(choice_for({"id": choices[0].key}) == "B"))
    return [(step.key, step.theta, step.se) for step in test.history]


def test_the_path_is_that_of_an_adaptive_test(tmp_path: Path, bank: Bank) -> None:
    async def main(service: Service) -> Json:
        return await finished(service, await started(service))

    reply = served(tmp_path, bank, main)
    state = reply["state"]
    path = zip(state["responses"], state["thetas"], state["std_error_history"], strict=True)
    assert list(path) == expected_path(bank, "3")
    assert reply["completed"]
    assert len(state["kl_info_history"]) == len(state["responses"])
    of_item = bank.position
    difficulties = [float(bank.parameters.b[of_item[key]]) for key in state["responses"]]
    assert state["effective_difficulties"] == difficulties


def test_a_seed_decides_the_items_and_none_is_a_new_one(tmp_path: Path, bank: Bank) -> None:
    async def main(service: Service) -> list[list[str]]:
        seeds = (1, 1, 2, None, None)
        replies = [await finished(service, await started(service, seed)) for seed in seeds]
        return [reply["state"]["responses"] for reply in replies]

    first, same, *others = served(tmp_path, bank, main)
    assert first == same
    assert len({tuple(path) for path in (first, *others)}) == 4


def test_runs_at_once_are_not_mixed_up(tmp_path: Path, bank: Bank) -> None:
    async def main(service: Service) -> list[Json]:
        async def one(seed: int) -> Json:
            return await finished(service, await started(service, seed))

        return await asyncio.gather(*(one(seed) for seed in range(30)))

    for seed, reply in enumerate(served(tmp_path, bank, main, most_runs=4)):
        assert reply["state"]["responses"] == [key for key, *_ in expected_path(bank, str(seed))]


def test_a_restart_after_every_answer_changes_nothing(tmp_path: Path, bank: Bank) -> None:
    straight = served(tmp_path / "a", bank, lambda s: _whole(s))
    reply = served(tmp_path / "b", bank, started)
    while reply["nextItem"] is not None:
        run, choice = reply["runInfo"]["id"], choice_for(reply["nextItem"])
        reply = served(tmp_path / "b", bank, lambda s, r=run, c=choice: answer(s, r, c))
    assert reply["state"] == straight["state"]


async def _whole(service: Service) -> Json:
    return await finished(service, await started(service))


def test_runs_that_are_not_in_use_leave_the_memory(tmp_path: Path, bank: Bank) -> None:
    async def main(service: Service) -> int:
        for seed in range(10):
            await started(service, seed)
        gc.collect()
        return len(service._runs._alive)

    assert served(tmp_path, bank, main, most_runs=3) == 3


def test_an_answer_that_names_its_item_counts_once(tmp_path: Path, bank: Bank) -> None:
    async def main(service: Service) -> None:
        reply = await started(service)
        run, item = reply["runInfo"]["id"], reply["nextItem"]["id"]
        after = await answer(service, run, itemId=item)
        assert await answer(service, run, itemId=item) == after
        assert after["state"]["responses"] == [item]
        status, detail = await refused(answer(service, run, "A", itemId=item))
        assert (status, "another answer already" in detail) == (409, True)
        waiting = after["nextItem"]["id"]
        status, detail = await refused(answer(service, run, itemId="test-none"))
        assert (status, f"waits for item '{waiting}'" in detail) == (409, True)
        assert (await answer(service, run, itemId=waiting))["state"]["responses"] == [item, waiting]

    served(tmp_path, bank, main)


def test_an_answer_with_a_token_counts_once(tmp_path: Path, bank: Bank) -> None:
    async def main(service: Service) -> None:
        run = (await started(service))["runInfo"]["id"]
        first = await answer(service, run, token="0")
        assert await answer(service, run, token="0") == first
        status, _ = await refused(answer(service, run, "A", token="0"))
        assert status == 409
        second = await answer(service, run, token="1")
        assert len(second["state"]["responses"]) == 2
        status, detail = await refused(answer(service, run, token="0"))
        assert (status, "earlier answer" in detail) == (409, True)
        assert (await refused(answer(service, run, token="")))[0] == 422
        assert (await refused(answer(service, run, token="x" * 1000)))[0] == 422

    served(tmp_path, bank, main)


def test_the_last_answer_may_be_repeated_after_a_restart(tmp_path: Path, bank: Bank) -> None:
    async def end(service: Service) -> tuple[Json, str]:
        reply = await started(service)
        while reply["nextItem"] is not None:
            item = reply["nextItem"]["id"]
            reply = await answer(service, reply["runInfo"]["id"], itemId=item)
        return reply, item

    reply, item = served(tmp_path, bank, end)
    run = reply["runInfo"]["id"]
    assert served(tmp_path, bank, lambda s: answer(s, run, itemId=item)) == reply
    status, detail = served(tmp_path, bank, lambda s: refused(answer(s, run)))
    assert (status, "is complete" in detail) == (409, True)


def test_two_answers_at_once_are_told_apart(tmp_path: Path, bank: Bank) -> None:
    async def main(service: Service) -> None:
        reply = await started(service)
        run, item = reply["runInfo"]["id"], reply["nextItem"]["id"]
        one, other = await asyncio.gather(
            answer(service, run), answer(service, run), return_exceptions=True
        )
        assert isinstance(one, dict)
        assert isinstance(other, Refusal)
        assert other.status == 409
        item = one["nextItem"]["id"]
        pair = await asyncio.gather(*(answer(service, run, itemId=item) for _ in range(2)))
        assert pair[0] == pair[1]
        assert len(pair[0]["state"]["responses"]) == 2

    served(tmp_path, bank, main)


def test_an_answer_that_is_not_on_disk_does_not_count(
    tmp_path: Path, bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main(service: Service) -> None:
        reply = await started(service)
        run = reply["runInfo"]["id"]

        async def failing(*_: object) -> None:
            raise sqlite3.OperationalError("disk I/O error")

        with monkeypatch.context() as patch:
            patch.setattr(service.state, "add_answer", failing)
            with pytest.raises(sqlite3.OperationalError):
                await answer(service, run)
        assert (await service.summary(run))["responses"] == []
        after = await answer(service, run)
        assert after["state"]["responses"] == [reply["nextItem"]["id"]]

    served(tmp_path, bank, main)


def test_what_cannot_be_started_or_answered_is_refused(tmp_path: Path, bank: Bank) -> None:
    async def main(service: Service) -> None:
        status, detail = await refused(started(service, datasetId="sum:adaptive"))
        assert (status, "Did you mean 'sums'?" in detail) == (404, True)
        assert (await refused(started(service, datasetId="a:b:adaptive")))[0] == 422
        assert (await refused(started(service, datasetId="sums:adaptive:test")))[0] == 422
        status, detail = await refused(started(service, split="tset"))
        assert (status, "Did you mean 'test'? It has validation, test." in detail) == (422, True)
        assert (await refused(started(service, seed="x")))[0] == 422  # type: ignore[arg-type]
        assert (await refused(started(service, seed=True)))[0] == 422
        assert (await refused(answer(service, "none")))[0] == 404
        run = (await started(service))["runInfo"]["id"]
        status, detail = await refused(answer(service, run, "D"))
        assert (status, "has no choice 'D'" in detail) == (422, True)
        assert (await refused(service.answer(run, Fields({"textResponse": "B"}))))[0] == 422
        assert (await refused(service.answer(run, Fields({}))))[0] == 422
        assert (await refused(answer(service, run, textResponse="B")))[0] == 422
        assert (await service.summary(run))["responses"] == []

    served(tmp_path, bank, main)


def test_a_changed_bank_stops_its_runs(tmp_path: Path, bank: Bank) -> None:
    run = served(tmp_path, bank, started)["runInfo"]["id"]
    (tmp_path / "other").mkdir()
    changed = sums(tmp_path / "other", items=41)
    status, detail = served(tmp_path, changed, lambda s: refused(answer(s, run)))
    assert (status, "has changed since" in detail) == (409, True)
    other = sums(tmp_path, "other")
    status, detail = served(tmp_path, other, lambda s: refused(s.summary(run)))
    assert (status, "not served any more" in detail) == (409, True)
    assert served(tmp_path, bank, lambda s: answer(s, run))["state"]["responses"]


# -- replays -------------------------------------------------------------------------------


def responses(items: list[str], choice: str = "B") -> list[Json]:
    return [{"itemId": item, "itemChoiceId": choice} for item in items]


def test_a_replay_scores_the_same_items(tmp_path: Path, bank: Bank) -> None:
    async def main(service: Service) -> tuple[Json, Json]:
        run = await finished(service, await started(service))
        given = [
            {"itemId": key, "itemChoiceId": choice_for({"id": key})}
            for key in reversed(run["state"]["responses"])
        ]
        fields = Fields({"responses": given, "metadata": {"model": "m"}})
        return run, await service.replay(run["runInfo"]["id"], fields)

    run, replay = served(tmp_path, bank, main)
    assert replay["state"] == run["state"]  # in the order of the run, whatever that of the request
    assert replay["replayOfRun"] == run["runInfo"]["id"] != replay["id"]
    assert replay["metadata"] == {"model": "m"}
    again = served(tmp_path, bank, lambda s: s.summary(replay["id"]))
    assert again == replay
    assert served(tmp_path, bank, lambda s: refused(answer(s, replay["id"])))[0] == 409


def test_a_replay_has_each_item_of_the_run_once(tmp_path: Path, bank: Bank) -> None:
    async def main(service: Service) -> None:
        run = (await started(service))["runInfo"]["id"]

        async def replayed(given: Any) -> tuple[int, str]:
            return await refused(service.replay(run, Fields({"responses": given})))

        assert "has no answers" in (await replayed([]))[1]
        items = (await answer(service, run))["state"]["responses"]
        items = (await answer(service, run))["state"]["responses"]
        for given, words in (
            (responses([*items, items[0]]), "Duplicate item id"),
            (responses([*items, "test-x"]), "Unknown item id"),
            (responses(items[:1]), "1 items of the run have no response"),
            (responses(items, "Z"), "has no choice 'Z'"),
            (None, "responses must be a list"),
            ([*responses(items), 3], "must be an object"),
        ):
            status, detail = await replayed(given)
            assert (status, words in detail) == (422, True)
        unknown = service.replay("none", Fields({"responses": []}))
        assert (await refused(unknown))[0] == 404

    served(tmp_path, bank, main)


# -- items without choices -----------------------------------------------------------------


def test_texts_are_scored_by_the_scorer_of_the_bank(tmp_path: Path) -> None:
    bank = sums(tmp_path, open_ended=True, scorer={"name": "exact_match", "steps": ["extract"]})

    async def main(service: Service) -> None:
        reply = await started(service)
        run, item = reply["runInfo"]["id"], reply["nextItem"]
        assert item["choices"] is None
        right = bank.item(item["id"]).targets[0]
        await service.answer(run, Fields({"textResponse": f"I say \\boxed{{{right}}}."}))
        await service.answer(run, Fields({"textResponse": ""}))
        summary = await service.summary(run)
        assert [response["score"] for response in summary["responses"]] == [1.0, 0.0]
        assert [response["correct"] for response in summary["responses"]] == [True, False]
        assert summary["datasetItemType"] == "open_ended"
        assert (await refused(service.answer(run, Fields({"itemChoiceId": "B"}))))[0] == 422
        assert all("target" not in str(entry) for entry in summary["dataset"])

    served(tmp_path / "state", bank, main)


def test_all_right_and_all_wrong_end_with_a_finite_ability(tmp_path: Path, bank: Bank) -> None:
    async def main(service: Service, choice: str) -> Json:
        reply = await started(service)
        while reply["nextItem"] is not None:
            reply = await answer(service, reply["runInfo"]["id"], choice)
        return reply

    for folder, choice, sign in (("right", "B", 1), ("wrong", "A", -1)):
        reply = served(tmp_path / folder, bank, lambda s, c=choice: main(s, c))
        assert 0 < sign * reply["state"]["thetas"][-1] < 4
        assert 0 < reply["state"]["std_error_history"][-1] < 1


def test_a_bank_of_one_item_is_a_test_of_one_answer(tmp_path: Path) -> None:
    bank = sums(tmp_path, items=1)
    reply = served(tmp_path / "state", bank, _whole)
    assert reply["completed"]
    assert len(reply["state"]["thetas"]) == 1

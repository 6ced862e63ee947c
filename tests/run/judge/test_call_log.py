"""Calls on their way to disk: each is waited for alone, and a refused one costs only itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.run.judge.queue import CallLog
from passband.trials.store import Store
from support.samples.stores import begin, call, writing


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with writing(tmp_path) as store:
        begin(store, scorers=[("judge", "1")])
        yield store


def test_who_is_cancelled_leaves_the_others_of_its_batch_alone(store: Store) -> None:
    async def cancel_one() -> list[BaseException | None]:
        errors: list[object] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: errors.append(context))
        log = CallLog(store)
        waiting = [asyncio.ensure_future(_wait(log, trial)) for trial in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await log.close()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert errors == []
        return results

    cancelled, *others = asyncio.run(cancel_one())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert others == [None, None]
    assert [len(store.calls(1, 1, trial)) for trial in range(3)] == [1, 1, 1]


def test_a_refused_call_does_not_take_paid_replies_with_it(store: Store) -> None:
    store.add_calls([call(1, 1, 1)])

    async def add_three() -> list[BaseException | None]:
        log = CallLog(store)
        waiting = [asyncio.ensure_future(_wait(log, trial)) for trial in range(3)]
        return await asyncio.gather(*waiting, return_exceptions=True)

    first, refused, last = asyncio.run(add_three())
    assert first is last is None
    assert isinstance(refused, InvalidInput)
    assert [len(store.calls(1, 1, trial)) for trial in range(3)] == [1, 1, 1]


async def _wait(log: CallLog, trial: int) -> None:
    await log.add(call(1, 1, trial))

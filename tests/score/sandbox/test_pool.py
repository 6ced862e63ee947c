"""The pool of zygotes: seeds, slots, trials that run alone."""

import threading

import pytest

from passband.score.sandbox import zygotes
from passband.score.sandbox.find import unconfined
from passband.score.sandbox.protocol import Limits, SandboxFailed
from passband.score.sandbox.verdicts import Starved
from support.sandboxes.sandboxes import AMPLE, square

pytestmark = pytest.mark.process


def test_a_zygote_of_another_seed_takes_the_place_of_an_idle_one() -> None:
    sandbox = unconfined(size=1)
    for seed in (0, 1, 1, 0):
        assert sandbox.check(square(), AMPLE, seed).passed
    assert sandbox.pool.started == 3
    assert len(sandbox.pool._idle) == 1
    sandbox.close()
    assert sandbox.check(square(), AMPLE).passed  # closing is no end
    sandbox.close()


def test_all_slots_at_once() -> None:
    sandbox = unconfined(size=3)
    with sandbox.pool._slot(3):
        assert not sandbox.pool._slots.acquire(blocking=False)
    done = []
    threads = [
        threading.Thread(target=lambda n=n: done.append(_held(sandbox.pool, 1 + 2 * (n % 2))))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 8


def _held(pool: object, count: int) -> int:
    with pool._slot(count):  # type: ignore[attr-defined]
        return count


def test_starved_trials_are_tried_alone_and_never_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = unconfined(size=2)
    asked = []
    ask = sandbox.pool.ask

    def note(job: dict[str, object], hash_seed: int = 0, alone: bool = False) -> object:
        asked.append((alone, job["limits"]["wall"]))  # type: ignore[index]
        return ask(job, hash_seed, alone)

    def starved(report: object, limits: Limits) -> None:
        raise Starved("it waited")

    monkeypatch.setattr(sandbox.pool, "ask", note)
    monkeypatch.setattr(zygotes, "verdict", starved)
    with pytest.raises(SandboxFailed, match="too busy: it waited"):
        sandbox.check(square(), AMPLE)
    assert asked == [(False, 60), (True, 300), (True, 1500)]
    sandbox.close()

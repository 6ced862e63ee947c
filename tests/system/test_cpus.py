"""The number of processors that pools and threads are made for."""

import os

import pytest

from passband.errors import InvalidInput
from passband.run.loop.grader import slow_threads
from passband.score.sandbox.pool import ZygotePool
from passband.score.workers.worker_pool import WorkerPool
from passband.system.cpus import CPUS_VARIABLE, available_cpus


def test_the_setting_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CPUS_VARIABLE, " 3 ")
    assert available_cpus() == 3


def test_without_a_setting_the_system_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CPUS_VARIABLE, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 5, 7}, raising=False)
    assert available_cpus() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cpus() == 1


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "²", "+1"])
def test_a_setting_that_is_no_number_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(CPUS_VARIABLE, value)
    with pytest.raises(InvalidInput, match="PASSBAND_CPUS must be a whole number"):
        available_cpus()


def test_pools_and_threads_follow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = WorkerPool()  # made before its process knows its share, as the one of scorers is
    monkeypatch.setenv(CPUS_VARIABLE, "1")
    assert pool.size == 1
    assert ZygotePool(lambda seed: None).size == 2
    assert slow_threads() == 4
    monkeypatch.setenv(CPUS_VARIABLE, "16")
    assert pool.size == 1  # it has been asked
    assert WorkerPool().size == 4
    assert slow_threads() == 18

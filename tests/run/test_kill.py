"""Two kills -9 of a real run; `make kill` does 200."""

import importlib
import random
from pathlib import Path

import pytest

pytestmark = pytest.mark.process
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def test_nothing_is_lost_when_a_run_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    kill = importlib.import_module("kill")
    count = kill.measured(kill.SETTINGS[0], 2, random.Random(0))
    assert count.kills == 2
    assert count.acknowledged > 100
    assert count.series >= 1
    assert count.is_clean, count

"""Run directories with judges."""

from pathlib import Path

import pytest

from support.runs.judges import JudgedBench


@pytest.fixture
def bench(tmp_path: Path) -> JudgedBench:
    return JudgedBench(tmp_path / "run")


@pytest.fixture(autouse=True)
def no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "PASSBAND_PRICES"):
        monkeypatch.delenv(name, raising=False)

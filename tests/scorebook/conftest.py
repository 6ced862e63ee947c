"""A working folder of its own, and no server, for every test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("TRISMIK_API_KEY", "TRISMIK_SERVICE_URL", "PASSBAND_BANKS", "PASSBAND_TASKS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path

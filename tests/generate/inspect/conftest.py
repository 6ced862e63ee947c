"""A folder of its own for each test, without keys and without logs of Inspect."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.samples import inspect_tasks


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PASSBAND_PRICES", "INSPECT_EVAL_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SVC_API_KEY", "none")
    monkeypatch.chdir(tmp_path)
    inspect_tasks.JUDGED.clear()
    yield
    assert not (tmp_path / "logs").exists()  # Inspect's own logs are none of the user's

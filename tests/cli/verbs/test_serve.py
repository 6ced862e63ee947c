"""`passband serve`: what is refused before anything listens."""

from pathlib import Path

import pytest

from support.runs.commands import run
from support.servers.serving import write_bank_file


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PASSBAND_SERVE_KEYS", raising=False)
    return write_bank_file(tmp_path / "sums.jsonl")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "without keys anybody may use it"),
        (["--se", "0"], "se must be above 0"),
        (["--max-items", "0"], "max_items must be a whole number"),
        (["--rate", "-1"], "rate must be 0 or more"),
        (["--key-file", "none"], "none cannot be read"),
        (["--port", "1", "--host", "127.0.0.1", "--port", "2"], "--port was given twice"),
        (["sums.jsonl"], "two banks are named 'sums'"),
    ],
)
def test_bad_settings_are_refused_with_a_reason(
    bank: Path, arguments: list[str], words: str
) -> None:
    done = run("serve", bank, *arguments)
    assert done.code == 2
    assert words in done.err
    assert not Path("serve-state").exists()


def test_an_unknown_bank_is_refused(bank: Path) -> None:
    done = run("serve", "none-such")
    assert done.code == 2
    assert "there is no bank named 'none-such'" in done.err


def test_a_port_that_cannot_be_had_is_said(bank: Path) -> None:
    done = run("serve", bank, "--port", "70000")
    assert done.code == 1
    assert "cannot listen on port 70000 of 127.0.0.1" in done.err

"""The server as a process: starting, stopping, being killed, and who may reach it."""

import signal
from pathlib import Path

import pytest

from passband.adaptive.server.listen import ServeSettings
from passband.errors import InvalidInput
from support.servers.serving import serving, write_bank_file

START = {"datasetId": "sums:adaptive", "split": "test", "seed": 1}


def test_other_hosts_need_keys(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", ""):
        with pytest.raises(InvalidInput, match="without keys anybody may use it"):
            ServeSettings(tmp_path, host)
    settings = ServeSettings(tmp_path, "0.0.0.0", keys=["0123456789abcdef"])
    assert "0123456789abcdef" not in repr(settings)
    with pytest.raises(InvalidInput, match="rate must be 0 or more"):
        ServeSettings(tmp_path, rate=-1.0)


@pytest.mark.process
def test_a_killed_server_goes_on_where_it_was(tmp_path: Path) -> None:
    bank = write_bank_file(tmp_path / "sums.jsonl")
    arguments = (bank, "--state", tmp_path / "state", "--max-items", 4)
    with serving(*arguments) as server:
        reply = server.ask("/adaptive-testing/runs/start", START)
        path = f"/adaptive-testing/runs/{reply['runInfo']['id']}"
        before = server.ask(f"{path}/continue", {"itemChoiceId": "B"})
        server.process.kill()
        server.process.wait(timeout=60)
    with serving(*arguments) as server:
        items = before["state"]["responses"]
        again = server.ask(f"{path}/continue", {"itemChoiceId": "B", "itemId": items[0]})
        assert again == before
        after = server.ask(f"{path}/continue", {"itemChoiceId": "B"})
        assert after["state"]["responses"] == [*items, before["nextItem"]["id"]]
        assert after["state"]["thetas"][:1] == before["state"]["thetas"]


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_good_order(tmp_path: Path, number: int) -> None:
    bank = write_bank_file(tmp_path / "sums.jsonl")
    with serving(bank, "--state", tmp_path / "state") as server:
        server.ask("/adaptive-testing/runs/start", START)
        assert server.stop(number) == (0, "")
    assert not (tmp_path / "state" / "serve.sqlite-wal").exists()  # all of it is in one file


@pytest.mark.process
def test_a_directory_or_a_port_in_use_is_said(tmp_path: Path) -> None:
    bank = write_bank_file(tmp_path / "sums.jsonl")
    with serving(bank, "--state", tmp_path / "state") as server:
        with serving(bank, "--state", tmp_path / "state") as other:
            said = other.process.stderr
            assert said is not None
            assert b"is in use by process" in said.read()
            assert other.process.wait(timeout=60) == 5
        assert server.ask("/adaptive-testing/datasets")["data"]


@pytest.mark.process
def test_no_key_is_in_what_it_says(tmp_path: Path) -> None:
    bank = write_bank_file(tmp_path / "sums.jsonl")
    secret = "secret-0123456789"
    with serving(bank, "--state", tmp_path / "s", PASSBAND_SERVE_KEYS=secret) as server:
        with pytest.raises(OSError, match="401"):
            server.ask("/adaptive-testing/datasets")
        code, said = server.stop(signal.SIGTERM)
        assert (code, secret in said) == (0, False)
    assert not any(secret.encode() in path.read_bytes() for path in (tmp_path / "s").iterdir())

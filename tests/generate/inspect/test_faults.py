"""How servers fail a task of Inspect, by passband's own client and by Inspect's."""

from __future__ import annotations

from pathlib import Path

import pytest

from passband.generate.inspect.subject import final_fault
from passband.generate.provider import (
    Filtered,
    GaveUp,
    Hopeless,
    InvalidReply,
    Rejected,
    TaskError,
    TimedOut,
)
from passband.run.loop.attempts import NothingAnswered
from support.runs.inspect_runs import rows, run, statuses
from support.servers.fault_server import FaultServer, Received, first_time, ok, rate_limit, status

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
CLIENTS = pytest.mark.parametrize("model", ["openai:model", "openai-api/svc/model"])


@CLIENTS
@pytest.mark.parametrize("code", [401, 404])
def test_a_wrong_key_or_name_stops_at_once(model: str, code: int) -> None:
    with FaultServer(status(code)) as server, pytest.raises(Hopeless, match=str(code)):
        run("plain", model=model, base_url=server.url)
    assert len(server.requests) == 1
    assert rows("plain") == []


@CLIENTS
def test_a_prompt_that_is_rejected_is_invalid_and_the_others_are_asked(model: str) -> None:
    def script(request: Received) -> object:
        return status(400) if "10 + 20" in request.prompt else ok

    with FaultServer(script) as server:  # type: ignore[arg-type]
        run("plain", model=model, base_url=server.url)
    assert statuses("plain") == {"ok": 6, "invalid": 2}
    assert len(server.requests) == 8


@CLIENTS
def test_where_every_prompt_is_rejected_the_run_stops(model: str) -> None:
    with FaultServer(status(400)) as server, pytest.raises(NothingAnswered, match="400"):
        run("plain", model=model, base_url=server.url)
    assert rows("plain") == []


def test_a_server_that_fails_and_limits_is_asked_again() -> None:
    with FaultServer(first_time(status(503))) as server:
        run("plain", model="openai:model", base_url=server.url, n=1)
        server.play([rate_limit("0")])
        run("plain", model="openai:model", base_url=server.url, n=2)
    assert statuses("plain") == {"ok": 8}
    assert len(server.requests) == 4 + 4 + 1 + 4


def test_the_clients_get_the_same_answers() -> None:
    texts = []
    with FaultServer(ok) as server:
        for model in ("openai:model", "openai-api/svc/model"):
            out = Path(f"run{len(texts)}")
            run("plain", model=model, base_url=server.url, out=out)
            texts.append([(row.text, row.seed, row.prompt_tokens) for row in rows("plain", out)])
    assert texts[0] == texts[1]


class Api:
    """An API that would try again after any error but a ValueError."""

    def should_retry(self, error: Exception) -> bool:
        return not isinstance(error, ValueError)


class StatusError(Exception):
    def __init__(self, status_code: int) -> None:
        self.status_code = status_code


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (StatusError(401), Hopeless),
        (StatusError(500), GaveUp),
        (ConnectionError("reset"), GaveUp),
        (ValueError("no"), TaskError),
        (TimedOut("late"), GaveUp),
        (InvalidReply("not JSON"), Rejected),
        (Filtered("no"), Filtered),
    ],
)
def test_every_error_of_a_model_is_final(error: Exception, kind: type[Exception]) -> None:
    assert type(final_fault(error, Api())) is kind

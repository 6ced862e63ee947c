"""Every fault of a server that was thought of, and what a run makes of it.

Of four problems two get the fault at every request, the other two are answered. The table says
what becomes of the trials of the first, and after how many requests each. The other two must not
notice: their trials are ok and have their own answers, whatever was on the wire before.
"""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from passband.errors import PassbandError
from passband.generate.provider import Hopeless
from passband.run.loop.endpoint import Outage
from passband.trials.rows import TrialRow
from support.runs.runs import HURRIED, Bench, sums
from support.sandboxes.canary import canary
from support.servers import fault_server as faults
from support.servers.fault_server import (
    Behaviour,
    FaultServer,
    Received,
    Script,
    first_time,
    http_date,
    text_of,
)
from support.servers.raw_replies import (
    JSON,
    body,
    bomb,
    choice,
    chunks,
    echo,
    edited,
    escaped,
    head,
    in_chunks,
    message,
    whole,
    wire,
)

pytestmark = pytest.mark.process
PROMPTS = [f"What is {17 + at} + {25 + at}?" for at in range(4)]
FAULTY = (1, 3)
HEALTHY = (0, 2)
PATIENCE = replace(HURRIED, outage=0.3)
OWN = "the answer that the request should get"


@dataclass(frozen=True)
class Row:
    """A fault, and what each trial of a faulty problem becomes."""

    name: str
    fault: Behaviour
    status: str
    requests: int = 1  # for each trial
    text: str | None = None  # that is recorded
    told: str = ""  # in the detail of its failed attempts
    http: int | None = None  # the status that they are recorded with, if looked at
    tokens: tuple[int | None, int | None] | None = None  # of prompt and completion, if looked at
    timeout: float = 30.0
    n: int = 2

    def __str__(self) -> str:
        return self.name


def is_faulty(request: Received) -> bool:
    return PROMPTS.index(request.prompt) in FAULTY


def script_of(fault: Script) -> Script:
    """A fault for half of the problems."""
    return lambda request: faults.chosen(fault, request, 0) if is_faulty(request) else faults.ok


def rows_of(bench: Bench, problems: Sequence[int]) -> list[TrialRow]:
    return [row for row in bench.rows if row.problem in problems]


def own_text(row: TrialRow) -> str:
    return text_of(PROMPTS[row.problem], row.seed, 0)


def require_healthy(bench: Bench, n: int = 2) -> None:
    """Every healthy trial is there, once and with its own answer; the key is nowhere."""
    healthy = rows_of(bench, HEALTHY)
    assert [(row.problem, row.trial) for row in healthy] == [
        (p, t) for p in HEALTHY for t in range(n)
    ]
    assert {row.status for row in healthy} == {"ok"}
    assert [row.text for row in healthy] == [own_text(row) for row in healthy]
    for path in bench.directory.iterdir():
        assert canary().encode() not in path.read_bytes()


# --- how it travels --------------------------------------------------------------------------

LATE = [
    Row(name, fault, "gave_up", 3, told="no complete answer within", timeout=0.3)
    for name, fault in {
        "body dripping": faults.drip(every=0.02),
        "headers dripping": faults.drip_headers,
        "half-closed and hanging": wire(lambda data: whole(data)[:-20], "deaf"),
        "events that hang": wire(
            lambda data: (
                head("Content-Type: text/event-stream", "Transfer-Encoding: chunked")
                + chunks(b"data: " + data + b"\n\n", end=b"")
            ),
            "hang",
        ),
    }.items()
]
BROKEN = [
    Row(name, fault, "gave_up", 5)
    for name, fault in {
        "half-closed with its end": wire(lambda data: whole(data)[:-20], "eof"),
        "reset": wire(lambda data: b"", "reset"),
        "reset in the body": faults.reset_mid_body,
        "chunks without end": wire(lambda data: in_chunks(data, end=b""), "close"),
        "chunk of a bad size": wire(lambda data: in_chunks(data, end=b"zz\r\n{}\r\n")),
        "HTTP/0.9": wire(lambda data: data, "close"),
        "garbage behind chunks": wire(lambda data: in_chunks(data) + b"garbage"),
        "length too short": wire(
            lambda data: head(JSON, f"Content-Length: {len(data) - 9}") + data
        ),
        "length too long": wire(
            lambda data: head(JSON, f"Content-Length: {len(data) + 9}") + data, "close"
        ),
        "length negative": wire(lambda data: head(JSON, "Content-Length: -1") + data),
        "length abc": wire(lambda data: head(JSON, "Content-Length: abc") + data),
        "length twice": wire(lambda data: whole(data, "Content-Length: 5")),
        "length and chunks": wire(
            lambda data: (
                head(JSON, "Content-Length: 5", "Transfer-Encoding: chunked") + chunks(data)
            )
        ),
        "gzip broken": body(b"this is not gzip", "Content-Encoding: gzip"),
        "br": body(b"this is not br", "Content-Encoding: br"),
        "zstd": body(b"this is not zstd", "Content-Encoding: zstd"),
        "header of 200 KB": wire(lambda data: whole(data, "X-Long: " + "x" * 200_000)),
        "bad header": wire(lambda data: whole(data, "no colon here")),
        "NUL in a header": wire(lambda data: whole(data, "X-Nul: a\x00b")),
    }.items()
]
SOUND = [
    Row(name, fault, "ok", text=OWN)
    for name, fault in {
        "HTTP/1.0 until close": wire(lambda data: head(JSON, version="HTTP/1.0") + data, "close"),
        "trailers behind chunks": wire(lambda data: in_chunks(data, b"0\r\nX-Sum: 1\r\n\r\n")),
        "LF only": wire(lambda data: b"HTTP/1.1 200 OK\nContent-Length: %d\n\n" % len(data) + data),
        "100 before": wire(lambda data: head(status="100 Continue") + whole(data)),
        "103 before": wire(
            lambda data: head("Link: </x>; rel=preload", status="103 Early Hints") + whole(data)
        ),
        "no content type": faults.labelled(None),
        "Connection: close": wire(lambda data: whole(data, "Connection: close"), "close"),
        "gzip": wire(lambda data: whole(gzip.compress(data), "Content-Encoding: gzip")),
        "byte order mark": wire(lambda data: whole(b"\xef\xbb\xbf" + data)),
        "second reply behind the first": wire(
            lambda data: whole(data) + whole(data.replace(b"The answer is", b"Smuggled:"))
        ),
    }.items()
]


# --- what it says ----------------------------------------------------------------------------


def choices(value: object) -> Behaviour:
    return edited(lambda reply: reply.update(choices=value))


def status(line: str, *lines: str, data: bytes = b"{}") -> Behaviour:
    return body(data, *lines, status=line)


NO_ANSWER = [
    Row(name, fault, "invalid", 3)
    for name, fault in {
        "HTTP/1.0 cut short": wire(
            lambda data: head(JSON, version="HTTP/1.0") + data[:-20], "close"
        ),
        "gzip cut": wire(lambda data: whole(gzip.compress(data)[:-20], "Content-Encoding: gzip")),
        "HTML": faults.html_200,
        "events": body(b'data: {"choices": []}\n\ndata: [DONE]\n\n'),
        "empty": body(b""),
        "null": body(b"null"),
        "UTF-16": wire(lambda data: whole(data.decode().encode("utf-16"))),
        "bad UTF-8": wire(lambda data: whole(data.replace(b"The answer", b"The \xff answer"))),
        "number of 5,000 digits": body(b'{"choices": ' + b"9" * 5000 + b"}"),
        "nesting 100,000 deep": body(b"[" * 100_000 + b"]" * 100_000),
        "content a number": message(content=42),
        "content an object": message(content={"text": "42"}),
        "choices an object": choices({"0": {"message": {"content": "42"}}}),
        "choices null": choices(None),
        "finish error": message("error", content="42"),
        "error beside choices": edited(lambda reply: reply.update(error={"message": "broken"})),
        "no content key": message(),
    }.items()
]


def exploding(line: str) -> Behaviour:
    return wire(lambda _: whole(bomb(), "Content-Encoding: gzip", status=line))


BOMBS = [
    Row("gzip bomb in a 200", exploding("200 OK"), "invalid", 3, told="than 32 MB", http=200, n=1),
    Row("gzip bomb in a 500", exploding("500 Odd"), "invalid", 3, told="than 32 MB", http=500, n=1),
]
STATUSES = [
    Row(
        "301",
        status("301 Moved", "Location: http://a.test/v1"),
        "invalid",
        told="to http://a.test/v1",
    ),
    Row(
        "307", status("307 Temporary Redirect", "Location: /v2"), "invalid", told="redirects to /v2"
    ),
    Row("101", status("101 Switching Protocols", data=b""), "invalid", http=101),
    Row("202", wire(lambda data: whole(data, status="202 Accepted")), "invalid", http=202),
    Row("204", wire(lambda data: head(status="204 No Content")), "invalid", http=204),
    Row("413", status("413 Content Too Large"), "invalid", http=413),
    Row("422", status("422 Unprocessable Content"), "invalid", http=422),
    Row("000", status("000 Nothing"), "invalid", http=0),
    Row("999", status("999 Odd"), "gave_up", 5, http=999),
]
CALL = {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}
ENDINGS = [
    Row("content in parts", message(content=[{"type": "text", "text": "The answer"},
        {"type": "text", "text": " is 44."}]), "ok", text="The answer is 44."),
    Row("reasoning only", message(content=None, reasoning_content="Hm."), "ok"),
    Row("reasoning only, length", message("length", content=None, reasoning="Hm."), "truncated"),
    Row("tool calls only", message("tool_calls", content=None, tool_calls=[CALL]), "tool_call"),
    Row("refusal field", message(content=None, refusal="No."), "refused", text="No."),
    Row("finish SAFETY", message("SAFETY", content=None), "refused"),
    Row("finish refusal", message("refusal", content=None), "refused"),
    *[
        Row(f"finish {word}", message(word, content="It is 44"), "truncated", text="It is 44")
        for word in ("max_tokens", "LENGTH", "model_length")
    ],
]  # fmt: skip
TEXTS = [
    Row(name, message(content=text), "ok", text=text)
    for name, text in {
        "NUL": "a\x00b 44",
        "half surrogate": "a\ud800b 44",
        "ANSI": "\x1b[31m\x1b[2J 44",
        "OSC": "\x1b]52;c;cm0gLXJmIH4=\x07 44",
        "bidi": "\u202eexe.txt\u2066 44",
    }.items()
]
MOST = 2**40 - 1


def usage(value: Any) -> Behaviour:
    return edited(lambda reply: reply.update(usage=value))


def tokens(value: Any) -> Behaviour:
    return usage({"prompt_tokens": value, "completion_tokens": value})


USAGE = [
    *[
        Row(f"usage {value!r:.9}", tokens(value), "ok", text=OWN, tokens=(None, None))
        for value in (-1, 1e30, 10**30, 7.5, "seven", [7])
    ],
    Row("usage a list", usage([7, 7]), "ok", text=OWN, tokens=(None, None)),
    Row("usage 2^40-1", tokens(MOST), "ok", text=OWN, tokens=(MOST, MOST)),
]


def said(text: str) -> bytes:
    """A reply whose content stands in JSON as it is here."""
    return whole(json.dumps({"choices": [choice(0, "<here>")]}).replace("<here>", text).encode())


ECHOES = [
    Row("key in a 400", echo(lambda key: whole(
        json.dumps({"error": {"message": f"bad: {key}"}}).encode(), status="400 Bad Request"
    )), "invalid", told="bad: [redacted]"),
    Row("key in a 200", echo(lambda key: said(f"{key} 44")), "ok", text="[redacted] 44"),
    Row("key in escapes", echo(lambda key: said(f"{escaped(key)} 44")), "ok", text="[redacted] 44"),
]  # fmt: skip
TABLE = [
    *LATE, *BROKEN, *SOUND, *NO_ANSWER, *BOMBS, *STATUSES, *ENDINGS, *TEXTS, *USAGE, *ECHOES,
]  # fmt: skip


@pytest.mark.parametrize("row", TABLE, ids=str)
def test_a_fault_costs_its_own_trials_only(bench: Bench, row: Row) -> None:
    settings = {"n": row.n, "timeout": row.timeout, "patience": PATIENCE}
    server = bench.play(script_of(row.fault), sums(4), **settings)
    require_healthy(bench, row.n)
    faulty = rows_of(bench, FAULTY)
    assert {trial.status for trial in faulty} == {row.status}
    assert len(faulty) == 2 * row.n
    assert sum(map(is_faulty, server.requests)) == row.requests * len(faulty)
    wanted = [own_text(trial) if row.text is OWN else row.text for trial in faulty]
    assert [trial.text for trial in faulty] == wanted
    assert {bool(trial.scores) for trial in faulty} == {row.status == "ok"}
    assert all(row.told in attempt["detail"] for attempt in bench.attempts)
    assert bool(bench.attempts) is (row.status in ("invalid", "gave_up"))
    if row.http is not None:
        assert {attempt["http"] for attempt in bench.attempts} == {row.http}
    if row.tokens is not None:
        assert {(trial.prompt_tokens, trial.completion_tokens) for trial in faulty} == {row.tokens}


def test_a_connection_that_closes_silently_costs_no_trial(bench: Bench) -> None:
    """A request that meets the end of its connection is sent again, also a healthy one."""
    bench.play(script_of(wire(whole, "close")), sums(4), n=2, patience=PATIENCE)
    require_healthy(bench)
    assert bench.statuses == {"ok": 8}
    assert set(bench.outcomes) <= {"unavailable"}


# --- what passes -----------------------------------------------------------------------------

WAITS = {
    "-5": "-5", "nan": "nan", "inf": "inf", "0.5": "0.5", "soon": "soon", "empty": "", "0": "0",
    "2s": "2s", "500ms": "500ms", "past date": http_date(-3600), "two": "1, 2",
    "RFC 850 date": "Sunday, 06-Nov-94 08:49:37 GMT",
}  # fmt: skip
INSIDE = {"error": {"code": 429, "message": "Slow down."}}
PASSING = {
    **{f"Retry-After {name}": faults.rate_limit(value) for name, value in WAITS.items()},
    "429 inside a 200": body(json.dumps(INSIDE).encode()),
    "529": status("529 Overloaded"),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_waited_for(bench: Bench, name: str) -> None:
    patience = replace(PATIENCE, outage=30.0)
    fault = first_time(PASSING[name])
    server = bench.play(script_of(fault), sums(4), n=2, patience=patience)
    require_healthy(bench)
    faulty = rows_of(bench, FAULTY)
    assert {row.status for row in faulty} == {"ok"}
    assert [row.text for row in faulty] == [own_text(row) for row in faulty]
    assert sum(map(is_faulty, server.requests)) == 2 * 4
    assert len(bench.attempts) == 4


# --- what does not ---------------------------------------------------------------------------

WITHOUT_END: dict[str, tuple[Behaviour, type[PassbandError], str]] = {
    "429 for ever": (faults.rate_limit(None), Outage, "turned every request away"),
    "429 for ever, Retry-After 0": (faults.rate_limit("0"), Outage, "turned every request away"),
    "Retry-After 1e300": (faults.rate_limit("1e300"), Outage, "longer than --max-outage"),
    "Retry-After a Unix time": (faults.rate_limit("1790000000"), Outage, "than --max-outage"),
    "529 for ever": (status("529 Overloaded"), Outage, "down for"),
    "401 inside a 200": (
        body(json.dumps({"error": {"code": 401, "message": "No such key."}}).encode()),
        Hopeless,
        "No such key",
    ),
}


@pytest.mark.parametrize("name", WITHOUT_END)
def test_what_does_not_pass_ends_the_run_which_can_go_on(bench: Bench, name: str) -> None:
    fault, ending, told = WITHOUT_END[name]
    with FaultServer(script_of(fault)) as server:
        with pytest.raises(ending, match=told):
            bench.run(server, sums(4), n=2, patience=PATIENCE)
        assert rows_of(bench, FAULTY) == []
        assert {row.status for row in bench.rows} == {"ok"}
        server.play(faults.ok)
        bench.run(server, sums(4), n=2, patience=PATIENCE)
    require_healthy(bench)
    assert {row.status for row in rows_of(bench, FAULTY)} == {"ok"}
    assert len(bench.rows) == 8


# --- several at a time -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "texts", "requests", "warns"),
    [
        (choices([choice(0, "one 44")]), ["one 44", "one 44"], 2, True),
        (choices([choice(at, f"{at} 44") for at in range(5)]), ["0 44", "1 44"], 1, False),
        (choices([choice(0, "b 44"), choice(0, "a 44")]), ["b 44", "a 44"], 1, False),
    ],
    ids=["n ignored", "more than n", "an index twice"],
)
def test_several_completions(
    bench: Bench, fault: Behaviour, texts: list[str], requests: int, warns: bool
) -> None:
    server = bench.play(script_of(fault), sums(4), n=2, batch=2, concurrency=1)
    assert bench.statuses == {"ok": 8}
    assert [row.text for row in rows_of(bench, FAULTY)] == texts * 2
    assert sum(map(is_faulty, server.requests)) == requests * 2
    assert any("with 1 of 2 completions" in text for text in bench.notes.warnings) is warns

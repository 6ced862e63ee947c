"""What a run makes of a server that fails: which rows, after how many requests."""

import asyncio
import time
from dataclasses import replace
from itertools import pairwise

import pytest

from passband.errors import InvalidInput
from passband.generate.provider import Hopeless
from passband.run.loop import loop
from passband.run.loop.attempts import NothingAnswered
from passband.run.loop.endpoint import Outage
from passband.run.loop.loop import Runner
from passband.run.settings import Patience
from passband.score.pipeline import make_scorer
from passband.score.scorer import Scorer
from support.runs.runs import HURRIED, Bench, sums
from support.servers import fault_server as faults
from support.servers.fault_server import (
    HOSTILE,
    Behaviour,
    Exchange,
    FaultServer,
    Received,
    behaviour,
    first_time,
)

pytestmark = pytest.mark.process


def for_second(fault: Behaviour) -> faults.Script:
    """A fault whenever the second problem is asked."""
    return lambda request: fault if "18 + 26" in request.prompt else faults.ok


def gap(server: FaultServer, one: int = 0, other: int = 1) -> float:
    """Seconds between two requests."""
    return server.requests[other].arrived - server.requests[one].arrived


# --- it works --------------------------------------------------------------------------------


def test_a_run_without_faults_records_everything_once(bench: Bench) -> None:
    server = bench.play(n=4)
    assert len(server.requests) == 12
    assert bench.keys == [(problem, trial) for problem in range(3) for trial in range(4)]
    assert bench.statuses == {"ok": 12}
    assert bench.attempts == []
    assert all(row.attempts == 1 for row in bench.rows)
    assert all(row.latency_ms is not None for row in bench.rows)
    assert all(row.scores[0].value in (0.0, 1.0) for row in bench.rows)
    assert bench.notes.warnings == []


def test_the_first_request_goes_alone(bench: Bench) -> None:
    server = bench.play(faults.after(0.1), n=8)
    assert all(
        request.arrived - server.requests[0].arrived > 0.05 for request in server.requests[1:]
    )
    assert server.max_in_flight > 1


def test_a_slow_first_answer_does_not_keep_the_others_waiting(bench: Bench) -> None:
    with FaultServer([faults.held(), faults.ok]) as server:
        server.play(lambda request: faults.held() if request.number == 0 else faults.ok)

        def free(runner: object) -> None:
            if len(server.requests) == 6:
                server.release()

        bench.notes.on_tick = free
        bench.run(server, patience=replace(HURRIED, preflight=0.01))
    assert bench.statuses == {"ok": 6}


# --- too fast --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limit",
    [
        faults.rate_limit("0.3"),
        faults.rate_limit("9", retry_after_ms="300"),
        faults.rate_limit(None, retry_after_ms="300"),
    ],
    ids=["seconds", "milliseconds first", "milliseconds"],
)
def test_a_rate_limit_is_waited_for_by_all(bench: Bench, limit: Behaviour) -> None:
    server = bench.play([limit])
    assert len(server.requests) == 7
    assert all(gap(server, 0, other) >= 0.3 for other in range(1, 7))
    assert bench.outcomes == ["rate_limited"]
    assert bench.attempts[0]["http"] == 429


def test_a_date_to_come_back_at_is_kept(bench: Bench) -> None:
    server = bench.play([faults.rate_limit(faults.http_date(2.0))])  # whole seconds: 1 to 2
    assert gap(server) >= 0.9


def test_a_rate_limit_is_no_draw(bench: Bench) -> None:
    bench.play(first_time(faults.rate_limit("0")), n=1)
    assert {row.attempts for row in bench.rows} == {1}
    assert bench.outcomes == ["rate_limited"] * 3


def test_a_rate_limit_does_not_use_up_patience(bench: Bench) -> None:
    script = [faults.rate_limit("0.01")] * 8
    server = bench.play(script, n=1, concurrency=1)
    assert len(server.requests) == 11
    assert bench.statuses == {"ok": 3}


@pytest.mark.parametrize(
    "asked", ["0", faults.http_date(-60), None], ids=["at once", "in the past", "unsaid"]
)
def test_no_rate_limit_makes_it_hammer(bench: Bench, asked: str | None) -> None:
    patience = replace(HURRIED, first_pause=0.03)
    server = bench.play([faults.rate_limit(asked)] * 5, patience=patience, concurrency=4, n=1)
    assert gap(server, 0, 5) >= 0.03 * (1 + 2 + 4)
    assert bench.statuses == {"ok": 3}


def test_a_limit_that_hits_all_at_once_pauses_all(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "_TICK", 0.01)

    def script(request: Received) -> Behaviour:
        return faults.held(faults.rate_limit("0.3")) if 1 <= request.number < 9 else faults.ok

    with FaultServer(script) as server:
        released: list[float] = []

        def limit(runner: Runner) -> None:
            if server.in_flight == 8 and not released:
                released.append(time.monotonic())
                server.release()

        bench.notes.on_tick = limit
        bench.run(server, sums(8), n=2)
    assert server.requests[9].arrived - released[0] >= 0.3
    assert bench.statuses == {"ok": 16}


# --- down ------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [500, 502, 503, 504, 529, 409])
def test_an_error_of_the_server_is_asked_again(bench: Bench, code: int) -> None:
    script = first_time(faults.status(code) if code != 529 else odd_status(529))
    server = bench.play(script)
    assert len(server.requests) == 12
    assert bench.statuses == {"ok": 6}
    assert bench.outcomes == ["unavailable"] * 6
    assert {attempt["http"] for attempt in bench.attempts} == {code}
    assert {row.attempts for row in bench.rows} == {2}


def odd_status(code: int) -> Behaviour:
    async def play(exchange: Exchange) -> None:
        await exchange.write(b"HTTP/1.1 %d Odd\r\nContent-Length: 0\r\n\r\n" % code)

    return Behaviour(f"status {code}", play)


@pytest.mark.parametrize(
    "fault", [faults.reset_mid_body, faults.close_mid_body, faults.no_reply], ids=str
)
def test_a_broken_connection_is_asked_again(bench: Bench, fault: Behaviour) -> None:
    server = bench.play(first_time(fault))
    assert len(server.requests) == 12
    assert bench.statuses == {"ok": 6}
    assert bench.outcomes == ["unavailable"] * 6
    assert {attempt["http"] for attempt in bench.attempts} == {None}


def test_a_question_that_always_fails_is_given_up_while_others_are_answered(bench: Bench) -> None:
    server = bench.play(for_second(faults.status(500)), n=1)
    assert bench.row(1).status == "gave_up"
    assert bench.row(1).attempts == HURRIED.attempts == 5
    assert bench.row(1).text is None
    assert bench.row(1).scores == []
    assert bench.statuses == {"ok": 2, "gave_up": 1}
    assert len(server.requests) == 2 + 5


def test_pauses_grow(bench: Bench) -> None:
    patience = replace(HURRIED, first_pause=0.02, longest_pause=60.0)
    server = bench.play(for_second(faults.status(500)), n=1, patience=patience)
    times = [r.arrived for r in server.requests if "18 + 26" in r.prompt]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    for count, pause in enumerate(pauses, 1):
        assert pause >= 0.5 * 0.02 * 2**count


def test_many_failures_in_a_row_send_one_probe_at_a_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "_TICK", 0.01)
    patience = replace(HURRIED, first_pause=0.02, longest_pause=1.0)
    burst = 30  # requests that fail together

    def script(request: Received) -> Behaviour:
        if 1 <= request.number <= burst:
            return faults.held(faults.status(503))
        return faults.status(503) if burst < request.number <= burst + 4 else faults.ok

    with FaultServer(script) as server:

        def fail(runner: Runner) -> None:
            if server.in_flight == burst:
                server.release()

        bench.notes.on_tick = fail
        bench.run(server, sums(31), n=1, patience=patience, concurrency=burst)
    assert bench.statuses == {"ok": 31}
    probes = [request.arrived for request in server.requests[burst + 1 : burst + 6]]
    for count, (earlier, later) in enumerate(pairwise(probes), 1):
        assert 0.02 * 2**count <= later - earlier


def test_a_server_that_restarts_costs_no_trial(bench: Bench) -> None:
    """Also with few requests at a time, whose failures do not soon open the breaker."""
    patience = replace(HURRIED, first_pause=0.02, longest_pause=0.05)

    def script(request: Received) -> Behaviour:
        return faults.restart(0.7) if request.number == 9 else faults.after(0.01)

    server = bench.play(script, sums(12), n=1, patience=patience, concurrency=3)
    assert bench.statuses == {"ok": 12}
    assert len(server.requests) <= 12 + 3


def test_an_outage_that_is_too_long_stops_the_run_which_can_go_on(bench: Bench) -> None:
    patience = replace(HURRIED, outage=0.3, failures=4, first_pause=0.01)
    with FaultServer() as server:

        def script(request: Received) -> Behaviour:
            return faults.ok if request.number < 5 else faults.status(502)

        server.play(script)
        with pytest.raises(Outage, match=r"down for .* run the same command again"):
            bench.run(server, n=4, patience=patience)
        recorded = bench.keys
        assert len(recorded) == 5
        assert bench.statuses == {"ok": 5}
        server.play(faults.ok)
        before = len(server.requests)
        bench.run(server, n=4)
        assert len(server.requests) == before + 12 - 5
    assert bench.statuses == {"ok": 12}


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "http://no-such-host.invalid/v1"])
def test_a_server_that_is_not_there_is_told_at_once(bench: Bench, url: str) -> None:
    with pytest.raises(NothingAnswered, match="cannot be reached"):
        bench.run(url, patience=Patience())
    assert bench.statuses == {}


# --- too late --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault", [faults.hang, faults.hang_mid_body, faults.drip(every=0.02)], ids=str
)
def test_what_does_not_end_is_given_up_while_others_are_answered(
    bench: Bench, fault: Behaviour
) -> None:
    server = bench.play(for_second(fault), n=1, timeout=0.25)
    assert bench.statuses == {"ok": 2, "gave_up": 1}
    assert bench.row(1).attempts == HURRIED.replies == 3
    assert bench.outcomes == ["timed_out"] * 3
    assert len(server.requests) == 2 + 3
    assert len(server.abandoned) == 3


def test_a_timeout_once_is_asked_again(bench: Bench) -> None:
    bench.play(first_time(faults.hang), n=1, timeout=0.25)
    assert bench.statuses == {"ok": 3}
    assert {row.attempts for row in bench.rows} == {2}


# --- no answers ------------------------------------------------------------------------------

NO_ANSWERS = [
    faults.truncated_json,
    faults.html_200,
    faults.html_labelled_json,
    faults.no_choices,
    faults.error_in_200,
]


@pytest.mark.parametrize("fault", NO_ANSWERS, ids=str)
def test_what_is_no_answer_is_invalid_after_three_tries(bench: Bench, fault: Behaviour) -> None:
    server = bench.play(for_second(fault), n=1)
    assert bench.statuses == {"ok": 2, "invalid": 1}
    assert bench.row(1).attempts == 3
    assert bench.row(1).scores == []
    assert bench.outcomes == ["invalid_reply"] * 3
    assert len(server.requests) == 2 + 3


@pytest.mark.parametrize("fault", NO_ANSWERS, ids=str)
def test_what_is_no_answer_once_is_asked_again(bench: Bench, fault: Behaviour) -> None:
    bench.play(first_time(fault), n=1)
    assert bench.statuses == {"ok": 3}


def test_a_reply_that_is_too_long_is_invalid(bench: Bench) -> None:
    server = bench.play(for_second(faults.huge_over_cap), n=1)
    assert bench.statuses == {"ok": 2, "invalid": 1}
    assert len(server.requests) == 5
    assert "32 MB" in bench.attempts[0]["detail"]


def test_a_prompt_that_is_refused_is_asked_once(bench: Bench) -> None:
    server = bench.play(for_second(faults.bad_request_400), n=1)
    assert bench.statuses == {"ok": 2, "invalid": 1}
    assert len(server.requests) == 3
    assert "maximum context length" in bench.attempts[0]["detail"]


# --- from the beginning ----------------------------------------------------------------------


@pytest.mark.parametrize("fault", [*NO_ANSWERS, faults.status(500), faults.no_reply], ids=str)
def test_if_nothing_is_ever_answered_the_run_stops_and_records_nothing(
    bench: Bench, fault: Behaviour
) -> None:
    with FaultServer(fault) as server:
        with pytest.raises(NothingAnswered, match="no request has been answered"):
            bench.run(server, sums(20))
        assert bench.statuses == {}
        assert server.max_in_flight == 1
        assert len(server.requests) <= 3 * 5
        server.play(faults.ok)
        bench.run(server, sums(20))
    assert bench.statuses == {"ok": 40}


def test_a_server_that_refuses_every_prompt_is_asked_three_times(bench: Bench) -> None:
    with FaultServer(faults.odd_request_400) as server:
        with pytest.raises(NothingAnswered, match="last message must be of the user"):
            bench.run(server, sums(20))
        assert len(server.requests) == 3
    assert bench.statuses == {}


@pytest.mark.parametrize(
    "fault", [faults.bad_request_400, faults.status(500), faults.html_200], ids=str
)
def test_a_bad_first_prompt_does_not_stop_the_run(bench: Bench, fault: Behaviour) -> None:
    script = lambda request: fault if "17 + 25" in request.prompt else faults.ok  # noqa: E731
    bench.play(script, sums(5), n=1)
    assert bench.statuses["ok"] == 4
    assert bench.row(0).status in ("invalid", "gave_up")


@pytest.mark.parametrize("batch", [1, 4])
def test_a_first_problem_that_fails_in_every_trial_does_not_stop_the_run(
    bench: Bench, batch: int
) -> None:
    prompts: list[str] = []

    def script(request: Received) -> Behaviour:
        prompts.append(request.prompt)
        return faults.odd_request_400 if request.prompt == prompts[0] else faults.ok

    bench.play(script, sums(5), n=4, batch=batch)
    assert bench.statuses == {"ok": 16, "invalid": 4}
    assert len({row.problem for row in bench.rows if row.status == "invalid"}) == 1


def test_a_single_problem_that_fails_in_every_trial_stops_the_run(bench: Bench) -> None:
    with FaultServer(faults.odd_request_400) as server:
        with pytest.raises(NothingAnswered, match="no request has been answered"):
            bench.run(server, sums(1), n=8)
        assert len(server.requests) == 3
    assert bench.statuses == {}


@pytest.mark.parametrize("fault", [faults.status(500), faults.html_200], ids=str)
def test_a_bad_last_prompt_does_not_stop_a_later_run(bench: Bench, fault: Behaviour) -> None:
    bench.play(n=1, limit=2)
    bench.play(for_third(fault), n=1)
    assert bench.statuses["ok"] == 2
    assert bench.row(2).status in ("invalid", "gave_up")


def for_third(fault: Behaviour) -> faults.Script:
    return lambda request: fault if "19 + 27" in request.prompt else faults.ok


def test_a_server_that_still_starts_is_waited_for_by_one(bench: Bench) -> None:
    server = bench.play([faults.status(503)] * 8, n=4)
    assert bench.statuses == {"ok": 12}
    assert len(server.requests) == 8 + 12
    times = [request.arrived for request in server.requests[:9]]
    assert times == sorted(times)


@pytest.mark.parametrize(
    "fault",
    [faults.unauthorized_401, faults.forbidden_403, faults.model_404, faults.insufficient_quota],
    ids=str,
)
def test_what_cannot_get_better_stops_after_one_request(bench: Bench, fault: Behaviour) -> None:
    with FaultServer(fault) as server, pytest.raises(Hopeless):
        bench.run(server, patience=Patience())
    assert len(server.requests) == 1
    assert bench.statuses == {}


def test_money_that_runs_out_stops_the_run_which_can_go_on(bench: Bench) -> None:
    def script(request: Received) -> Behaviour:
        return faults.ok if request.number < 6 else faults.insufficient_quota

    with FaultServer(script) as server:
        with pytest.raises(Hopeless, match="quota"):
            bench.run(server, sums(40), concurrency=4)
        assert len(server.requests) <= 6 + 4
        assert bench.statuses == {"ok": 6}
        server.play(faults.ok)
        bench.run(server, sums(40), concurrency=4)
    assert bench.statuses == {"ok": 80}


def test_what_is_under_way_when_it_becomes_hopeless_is_still_recorded(bench: Bench) -> None:
    def script(request: Received) -> Behaviour:
        if request.number == 4:
            return faults.unauthorized_401
        return faults.ok if request.number == 0 else faults.after(0.1)

    with FaultServer(script) as server, pytest.raises(Hopeless):
        bench.run(server, sums(40), concurrency=5)
    assert bench.statuses == {"ok": len(server.requests) - 1}


# --- answers that are odd --------------------------------------------------------------------


def test_an_answer_without_content_is_one_that_scores_nothing(bench: Bench) -> None:
    server = bench.play(for_second(faults.null_content), n=1)
    row = bench.row(1)
    assert (row.status, row.text) == ("ok", None)
    assert (row.scores[0].value, row.scores[0].status) == (0.0, "no_answer")
    assert len(server.requests) == 3


def test_empty_text_is_kept_as_such(bench: Bench) -> None:
    bench.play(faults.says(""), n=1)
    assert bench.row(1).text == ""
    assert bench.row(1).scores[0].value == 0.0


@pytest.mark.parametrize("fault", [faults.content_filter, faults.content_filter_400], ids=str)
def test_what_is_filtered_is_asked_once_and_not_scored(bench: Bench, fault: Behaviour) -> None:
    server = bench.play(for_second(fault), n=3)
    assert bench.statuses == {"ok": 6, "refused": 3}
    assert len(server.requests) == 9
    assert bench.row(1).scores == []


def test_a_filtered_first_prompt_is_an_answer(bench: Bench) -> None:
    bench.play(faults.content_filter_400)
    assert bench.statuses == {"refused": 6}


def test_what_is_cut_off_is_asked_once_and_not_scored(bench: Bench) -> None:
    server = bench.play(for_second(faults.length), n=2)
    assert bench.statuses == {"ok": 4, "truncated": 2}
    assert len(server.requests) == 6
    assert bench.row(1).text == "I add the two numbers and"
    assert bench.row(1).scores == []


def test_what_is_cut_off_is_scored_if_wanted(bench: Bench) -> None:
    bench.play(faults.says("It is 42", finish="length"), n=1, truncated="score")
    assert [row.scores[0].value for row in bench.rows] == [1.0, 0.0, 0.0]
    assert bench.statuses == {"truncated": 3}


def test_reasoning_is_stored_apart(bench: Bench) -> None:
    bench.play(faults.reasoning, n=1)
    assert bench.row(0).reasoning == "Seven and five make twelve."


def test_hostile_text_is_stored_exactly(bench: Bench) -> None:
    bench.play(faults.hostile_text, n=1)
    assert {row.text for row in bench.rows} == {HOSTILE}
    assert bench.row(0).scores[0].value == 1.0


@behaviour
async def hostile_everything(exchange: Exchange) -> None:
    """Odd names and counts, where the answer itself is good."""
    body = faults.completion(exchange.request, ["The answer is 42."])
    usage = {"prompt_tokens": 10**30, "completion_tokens": -1}
    await exchange.reply(200, body | {"id": "\ud800\x00" * 10, "usage": usage})


def test_hostile_fields_do_no_harm(bench: Bench) -> None:
    bench.play(hostile_everything, n=1)
    assert bench.statuses == {"ok": 3}
    assert bench.row(0).prompt_tokens is None


def test_hostile_errors_do_no_harm(bench: Bench) -> None:
    said = "half \ud800, none \x00, red \x1b[31m"
    bench.play(first_time(faults.refusal("odd", 500, faults.error(said))), n=1)
    assert bench.statuses == {"ok": 3}
    assert bench.outcomes == ["unavailable"] * 3
    assert all("none \x00" in attempt["detail"] for attempt in bench.attempts)


def test_ten_million_characters_are_an_answer(bench: Bench) -> None:
    bench.play(for_second(faults.huge), n=1)
    assert len(bench.row(1).text or "") == 10_000_000
    assert bench.statuses == {"ok": 3}


# --- several at a time -----------------------------------------------------------------------


def test_several_completions_of_one_request_are_several_trials(bench: Bench) -> None:
    server = bench.play(n=10, batch=4)
    assert len(server.requests) == 3 * 3
    assert sorted(request.n for request in server.requests) == [2] * 3 + [4] * 6
    assert len({row.text for row in bench.rows}) == 30
    assert bench.notes.warnings == []


def test_fewer_completions_than_asked_are_requested_one_by_one_from_then_on(bench: Bench) -> None:
    server = bench.play(faults.short_n, n=4, batch=4, concurrency=1)
    assert [request.n for request in server.requests] == [4] + [1] * 11
    assert bench.statuses == {"ok": 12}
    assert bench.notes.warnings == [
        "the server answered a request with n=4 with 1 of 4 completions; requesting one "
        "completion at a time instead."
    ]


def test_a_server_that_knows_no_n_is_asked_one_by_one_from_then_on(bench: Bench) -> None:
    server = bench.play(faults.reject_n, sums(20), n=4, batch=4)
    assert [request.n for request in server.requests] == [4] + [1] * 80
    assert bench.statuses == {"ok": 80}
    assert bench.notes.warnings == [
        "the server answered a request with n=4 with an error; requesting one completion at a "
        "time instead."
    ]


def test_one_bad_prompt_does_not_end_asking_for_several(bench: Bench) -> None:
    server = bench.play(for_second(faults.odd_request_400), sums(6), n=4, batch=4)
    assert sorted(request.n for request in server.requests) == [1] * 4 + [4] * 6
    assert bench.statuses == {"ok": 20, "invalid": 4}
    assert bench.notes.warnings == []


def test_more_completions_than_asked_are_not_taken(bench: Bench) -> None:
    @behaviour
    async def generous(exchange: Exchange) -> None:
        await exchange.reply(200, faults.completion(exchange.request, ["1", "2", "3"]))

    bench.play(generous, n=2)
    assert len(bench.rows) == 6


# --- scores ----------------------------------------------------------------------------------


def test_a_score_that_is_no_number_is_an_error(bench: Bench) -> None:
    from passband.score.registry import register_scorer, scorers

    if "test-nan" not in scorers:
        register_scorer("test-nan")(lambda answer, target: float("nan"))
    bench.play(task=sums(scorers=[make_scorer("test-nan")]), n=1)
    assert bench.statuses == {"ok": 3}
    assert {(row.scores[0].value, row.scores[0].status) for row in bench.rows} == {(None, "error")}


class Raises(Scorer):
    """A scorer that does what it must not."""

    name = identity = "raises"

    def __init__(self, *, slow: bool = False) -> None:
        self.slow = slow

    def score(self, text: object, reference: object) -> object:
        raise RuntimeError(f"cannot score {text}")


@pytest.mark.parametrize("slow", [False, True])
def test_a_scorer_that_raises_costs_a_score_and_no_trial(bench: Bench, slow: bool) -> None:
    bench.play(faults.hostile_text, sums(scorers=[Raises(slow=slow)]), n=1)
    assert bench.statuses == {"ok": 3}
    assert {row.scores[0].status for row in bench.rows} == {"error"}
    assert (bench.row(0).scores[0].detail or "").startswith("RuntimeError: cannot score a\x00b")


# --- many ------------------------------------------------------------------------------------


def test_faults_of_all_kinds_at_once(bench: Bench) -> None:
    """Every kind of passing fault, at a fixed mixture; nothing is lost and nothing comes twice."""
    kinds = [
        faults.status(500),
        faults.reset_mid_body,
        faults.truncated_json,
        faults.rate_limit("0.01"),
        faults.no_reply,
    ]

    def script(request: Received) -> Behaviour:
        return kinds[request.number % 5] if request.number % 3 == 1 else faults.ok

    patience = replace(HURRIED, attempts=50, replies=50)
    bench.play(script, sums(50), n=4, concurrency=16, patience=patience)
    assert bench.statuses == {"ok": 200}
    assert len(set(bench.keys)) == 200


def test_a_thousand_problems(bench: Bench) -> None:
    server = bench.play(task=sums(1000), n=1, concurrency=64)
    assert len(server.requests) == len(bench.rows) == 1000


def test_prompts_of_every_kind(bench: Bench) -> None:
    prompts = [
        "",
        " ",
        "\x00",
        "half \ud800 a character",
        "\x1b[2J",
        "\u202eexe.txt",
        "\U0010ffff" * 10,
        '"}], "model": "other',
        "a" * 1_000_000,
        "\r\n\r\nGET / HTTP/1.1",
        "".join(map(chr, range(0, 0x3000))),
    ]
    server = bench.play(task=sums(prompts=prompts), n=1, concurrency=2)
    assert sorted(request.prompt for request in server.requests) == sorted(prompts)
    assert server.strays == []
    assert bench.statuses == {"ok": len(prompts)}


def test_nothing_is_left_in_the_event_loop(bench: Bench) -> None:
    complaints: list[dict[str, object]] = []

    class Loop(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self) -> asyncio.AbstractEventLoop:
            loop = super().new_event_loop()
            loop.set_exception_handler(lambda loop, context: complaints.append(context))
            return loop

    before = asyncio.get_event_loop_policy()
    with FaultServer(lambda r: faults.ok if r.number < 5 else faults.unauthorized_401) as server:
        asyncio.set_event_loop_policy(Loop())
        try:
            with pytest.raises(Hopeless):
                bench.run(server, sums(40), concurrency=16)
        finally:
            asyncio.set_event_loop_policy(before)
    assert complaints == []


# --- how much may fail -----------------------------------------------------------------------


@pytest.mark.parametrize(("most", "code"), [(None, 0), (0.34, 0), (0.33, 1), (0.0, 1)])
def test_failed_trials_fail_the_run_if_they_are_too_many(
    bench: Bench, most: float | None, code: int
) -> None:
    with FaultServer(for_second(faults.odd_request_400)) as server:
        finished = bench.run(server, n=1, max_failed=most)
    assert bench.statuses == {"ok": 2, "invalid": 1}
    assert finished.exit_code == code
    said = [text for text in bench.notes.warnings if "--max-failed" in text]
    assert len(said) == code
    assert all("1 of 3 trials got no answer" in text for text in said)


def test_a_share_is_from_0_to_1(bench: Bench) -> None:
    with FaultServer() as server, pytest.raises(InvalidInput, match="share from 0 to 1"):
        bench.run(server, max_failed=5)
    assert not server.requests

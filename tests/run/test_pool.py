"""Runs against several addresses of one model: the trials are those of one address."""

from dataclasses import replace

import pytest

from passband.errors import InvalidInput
from passband.run.loop.attempts import NothingAnswered
from passband.trials.reader import Trials
from passband.trials.settings import SettingsChanged, servers_in
from support.runs.runs import HURRIED, NAME, Bench, sums
from support.servers import fault_server as faults
from support.servers.fault_server import FaultServer, Received, serving

pytestmark = pytest.mark.process


def addresses(bench: Bench) -> tuple[list[str], list[str]]:
    """Return the addresses of the run, and those of its last session."""
    with Trials(bench.directory) as trials:
        return trials.run(NAME).addresses, servers_in(trials.sessions()[-1].address)


def test_trials_are_the_same_whichever_address_answers(bench: Bench, another: Bench) -> None:
    another.play(task=sums(8), n=4)
    with FaultServer(latency=0.01) as one, FaultServer(latency=0.02) as two:
        bench.run([one.url, two.url], sums(8), n=4)
        assert one.requests
        assert two.requests
        assert bench.content == another.content
        assert addresses(bench) == ([one.url, two.url], [one.url, two.url])


def test_an_address_that_dies_costs_no_trial(bench: Bench, another: Bench) -> None:
    another.play(task=sums(10), n=4)
    with FaultServer(latency=0.01) as one, FaultServer(faults.held()) as two:

        def kill(runner: object) -> None:
            if two.in_flight:
                two.down()

        bench.notes.on_tick = kill
        bench.run([one.url, two.url], sums(10), n=4)
    assert bench.content == another.content
    assert bench.statuses == {"ok": 40}
    assert set(bench.outcomes) == {"unavailable"}
    assert all(attempt["detail"].startswith(two.url) for attempt in bench.attempts)
    assert any("go to the other addresses" in note for note in bench.notes.notes)


def test_a_failed_request_is_not_held_up(bench: Bench) -> None:
    with FaultServer() as one, FaultServer(faults.status(500)) as two:
        patience = replace(HURRIED, first_pause=600.0, longest_pause=600.0)
        bench.run([two.url, one.url], sums(3), n=2, patience=patience)
    assert bench.statuses == {"ok": 6}
    assert set(bench.outcomes) == {"unavailable"}


def test_rate_limits_of_one_address_pause_nothing(bench: Bench) -> None:
    with FaultServer(faults.rate_limit("500")) as one, FaultServer() as two:
        bench.run([one.url, two.url], sums(3), n=2)
    assert bench.statuses == {"ok": 6}
    assert len(one.requests) == 1
    assert {row.attempts for row in bench.rows} == {1}  # a rate limit is no draw


def test_a_prompt_that_fails_everywhere_is_given_up(bench: Bench) -> None:
    def script(request: Received) -> faults.Behaviour:
        return faults.status(500) if "18 + 26" in request.prompt else faults.ok

    with FaultServer(script) as one, FaultServer(script) as two:
        bench.run([one.url, two.url], sums(3), n=1, concurrency=1)
    assert bench.statuses == {"ok": 2, "gave_up": 1}
    assert len(bench.attempts) == 5


def test_no_address_answers(bench: Bench) -> None:
    with FaultServer() as one, FaultServer() as two:
        urls = [one.url, two.url]
    with pytest.raises(NothingAnswered, match="cannot be reached"):
        bench.run(urls)


def test_different_models_are_refused_and_nothing_is_recorded(bench: Bench) -> None:
    with FaultServer() as one, FaultServer() as two:
        one.models, two.models = serving("model"), serving("other")
        with pytest.raises(InvalidInput, match="serve different models"):
            bench.run([one.url, two.url])
    assert not one.requests
    assert not two.requests


def test_going_on_with_some_of_the_addresses(bench: Bench) -> None:
    with FaultServer() as one, FaultServer() as two, FaultServer() as three:
        bench.run([one.url, two.url], n=2, moved_server=False)
        bench.run([two.url], n=3, moved_server=False)
        bench.run([two.url, one.url], n=4, moved_server=False)
        with pytest.raises(SettingsChanged, match="address") as refused:
            bench.run([one.url, three.url], n=5, moved_server=False)
        assert f'"{three.url}" now' in str(refused.value)
        bench.run([one.url, three.url], n=5, moved_server=True)
        assert addresses(bench) == ([one.url, two.url, three.url], [one.url, three.url])
    assert bench.statuses == {"ok": 15}

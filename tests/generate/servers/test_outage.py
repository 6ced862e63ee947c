"""When a server that does not answer is waited for no longer."""

from passband.generate.provider import RateLimited, Unavailable
from passband.generate.servers.outage import Silence


def silence(longest: float = 10.0) -> tuple[Silence, list[float]]:
    now = [0.0]
    return Silence(longest, lambda: now[0]), now


def test_it_begins_with_the_first_failure_and_ends_with_an_answer() -> None:
    server, now = silence()
    now[0] = 50.0
    assert server.is_over(Unavailable("down")) is None
    now[0] = 60.0
    assert server.is_over(Unavailable("down")) is None
    server.end()
    now[0] = 61.0
    assert server.is_over(Unavailable("down")) is None
    now[0] = 72.0
    assert "down for 11 s. Last: down. " in str(server.is_over(Unavailable("down.")))


def test_our_own_pauses_fit_into_what_is_left() -> None:
    server, now = silence()
    assert server.bounded(30.0) == 10.0
    now[0] = 8.0
    assert server.bounded(30.0) == 2.0
    now[0] = 20.0
    assert server.bounded(30.0) == 0.5  # one more attempt, which then ends it


def test_a_wait_that_the_server_names_fits_or_ends_it() -> None:
    server, _ = silence()
    assert server.is_over(RateLimited("slow", retry_after=10.0)) is None
    assert "(10 s), longer than" in str(server.is_over(RateLimited("slow", retry_after=10.4)))

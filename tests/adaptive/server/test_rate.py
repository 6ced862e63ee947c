"""The limit on requests: what flows in, and what memory it takes."""

from passband.adaptive.server.app import RateLimit


def test_a_burst_is_followed_by_the_rate() -> None:
    now = 0.0
    limit = RateLimit(10.0, burst=20, clock=lambda: now)
    assert [limit.wait("a") for _ in range(20)] == [0.0] * 20
    assert 0 < limit.wait("a") <= 0.1
    now = 1.0
    assert [limit.wait("a") > 0 for _ in range(11)] == [False] * 10 + [True]
    now = 100.0  # a bucket holds no more than the burst
    assert [limit.wait("a") > 0 for _ in range(21)] == [False] * 20 + [True]


def test_no_rate_is_no_limit() -> None:
    limit = RateLimit(0.0, burst=1, clock=lambda: 0.0)
    assert not any(limit.wait("a") for _ in range(100))


def test_the_number_of_clients_that_are_remembered_is_bounded() -> None:
    limit = RateLimit(1.0, burst=1, clock=lambda: 0.0, most=3)
    assert [limit.wait(client) for client in "abc"] == [0, 0, 0]
    assert limit.wait("a") > 0
    limit.wait("d")  # b was away for longest, and is forgotten
    assert limit.wait("b") == 0

"""Numbers as words."""

import pytest

from passband.report.words import counted, duration, money, pace


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599.6, "1 h 0 min"),
     (90_061, "25 h 1 min")],
)  # fmt: skip
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0"), (1e-6, "0.000001"), (0.00004567, "0.000046"), (0.5, "0.5"), (0.99, "0.99"),
     (0.999, "1.00"), (1, "1.00"), (1234.567, "1234.57")],
)  # fmt: skip
def test_money(amount: float, text: str) -> None:
    assert money(amount) == text


def test_paces() -> None:
    assert [pace(rate) for rate in (0.01234, 9.999, 99.99, 1234.5)] == [
        "0.0123/s", "10/s", "100/s", "1234/s",
    ]  # fmt: skip


def test_a_number_and_its_noun() -> None:
    assert [counted(n, "problem") for n in (0, 1, 2)] == ["0 problems", "1 problem", "2 problems"]

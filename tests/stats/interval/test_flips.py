"""Changed verdicts by hand, by property and exactly; coverage: benchmarks/changed_verdicts.py."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import Outcomes, estimate
from passband.stats.interval.flips import RerunFlip, Reruns, shift_of, with_reruns
from passband.stats.metric.registry import parse_metric

METRICS = ("avg", "pass@1", "pass@2", "pass^2", "maj@3", "g-pass@4:0.75")


def shift(flips: list[RerunFlip], metric: str, problems: int = 10):
    found = shift_of(Reruns(100, 50, tuple(flips)), parse_metric(metric, 8), problems)
    assert found is not None
    return found


def test_one_change_by_hand() -> None:
    # A verdict of 20 speaks for 40: weight 2. One more success of 8 is 1/8 of one of 10 problems.
    up = shift([RerunFlip(8, 3, +1, 2.0)], "avg")
    assert up.value == pytest.approx(2 * (1 / 8) / 10)
    # Jeffreys' limits of a count of 1: the gamma quantiles of 3/2, 0.1079 and 4.6742.
    assert up.low == pytest.approx(up.value * 0.10790, abs=1e-5)
    assert up.high == pytest.approx(up.value * 4.67420, abs=1e-4)
    down = shift([RerunFlip(8, 3, -1, 2.0)], "avg")
    assert (down.value, down.low, down.high) == (-up.value, -up.high, -up.low)


def test_pass_at_k_by_hand() -> None:
    # pass@2 of 0 in 4 is 0, of 1 in 4 is 1 - C(3,2)/C(4,2) = 1/2; of 4 and of 3 it is 1.
    assert shift([RerunFlip(4, 0, +1, 1.0)], "pass@2").value == pytest.approx(0.5 / 10)
    assert shift([RerunFlip(4, 4, -1, 1.0)], "pass@2").value == 0.0
    assert shift([RerunFlip(1, 0, +1, 1.0)], "pass@2").value == 0.0  # a problem that does not count


def test_changes_both_ways_cancel() -> None:
    both = shift([RerunFlip(8, 3, +1, 2.0), RerunFlip(8, 5, -1, 2.0)], "avg")
    assert both.value == pytest.approx(0.0, abs=1e-15)
    assert both.low == pytest.approx(-both.high)


def test_the_interval_by_hand() -> None:
    outcomes = Outcomes.from_counts([4, 6] * 20, 8)
    plain = estimate(outcomes, "avg")
    reruns = Reruns(320, 160, (RerunFlip(8, 4, +1, 2.0),) * 4)
    wide = with_reruns(plain, reruns, parse_metric("avg", 8))
    d = shift_of(reruns, parse_metric("avg", 8), 40)
    assert d is not None
    assert d.value == pytest.approx(4 * 2 / 8 / 40)
    low = plain.value + d.value - math.hypot(plain.value - plain.low, d.value - d.low)
    high = plain.value + d.value + math.hypot(plain.high - plain.value, d.high - d.value)
    assert wide.low == pytest.approx(min(plain.low, low))
    assert wide.high == pytest.approx(high)
    assert wide.value == plain.value
    assert wide.notes[-1].code == "flaky-interval"
    assert with_reruns(plain, Reruns(320, 160), parse_metric("avg", 8)) is plain


@st.composite
def changes(draw: st.DrawFn) -> list[RerunFlip]:
    def flip() -> RerunFlip:
        trials = draw(st.integers(4, 8))
        step = draw(st.sampled_from([-1, 1]))
        successes = draw(st.integers(max(0, -step), trials - max(0, step)))
        return RerunFlip(trials, successes, step, draw(st.floats(1.0, 20.0)))

    return [flip() for _ in range(draw(st.integers(0, 6)))]


@given(changes(), st.sampled_from(METRICS), st.integers(5, 40))
def test_an_interval_never_shrinks_and_stays_in_range(
    flips: list[RerunFlip], metric: str, problems: int
) -> None:
    plain = estimate(Outcomes.from_counts([n % 9 for n in range(problems)], 8), metric)
    wide = with_reruns(plain, Reruns(400, 100, tuple(flips)), parse_metric(metric, 8))
    assert None not in (plain.low, plain.high, wide.low, wide.high)
    assert 0.0 <= wide.low <= plain.low <= plain.value <= plain.high <= wide.high <= 1.0
    moves = [shift([flip], metric, problems).value for flip in flips]
    if not any(moves):
        assert (wide.low, wide.high) == (plain.low, plain.high)


@given(changes(), st.sampled_from(METRICS))
def test_the_shift_is_that_of_exact_arithmetic(flips: list[RerunFlip], metric: str) -> None:
    k = parse_metric(metric, 8).k
    credit = [Fraction(c).limit_denominator(1000) for c in _credits(metric)]
    exact = sum(
        Fraction(f.weight) * (_worth(f, f.step, k, credit) - _worth(f, 0, k, credit)) / 10
        for f in flips
    )
    found = shift(flips, metric)
    assert found.value == pytest.approx(float(exact), abs=1e-12)
    assert found.low <= found.value <= found.high


def _credits(metric: str) -> list[float]:
    part = parse_metric(metric, 8).parts[0]
    return [0.0, 1.0] if metric == "avg" else list(part.credit)  # type: ignore[attr-defined]


def _worth(flip: RerunFlip, step: int, k: int, credit: list[Fraction]) -> Fraction:
    """Return the mean credit over all subsets of k trials, one by one."""
    n, c = flip.trials, flip.successes + step
    if n < k:
        return Fraction(0)
    ways = math.comb(n, k)
    return sum(
        (Fraction(math.comb(c, j) * math.comb(n - c, k - j), ways) * credit[j]
         for j in range(max(0, k - n + c), min(k, c) + 1)),
        Fraction(0),
    )  # fmt: skip


def test_exchangeable_verdicts_shift_nothing_in_expectation() -> None:
    """Every pair of first and second verdicts that are alike in law, added up in full."""
    n, rates = 3, (Fraction(1, 4), Fraction(9, 10), Fraction(1, 2))
    for metric in ("avg", "pass@2", "pass^3"):
        credit = [Fraction(c).limit_denominator(1000) for c in _credits(metric)]
        k = parse_metric(metric, 8).k
        total = Fraction(0)
        for first in product((0, 1), repeat=n):
            for trial, second in product(range(n), (0, 1)):
                weight = math.prod(p if y else 1 - p for p, y in zip(rates, first, strict=True))
                weight *= rates[trial] if second else 1 - rates[trial]
                flip = RerunFlip(n, sum(first), 1, 1.0)
                step = second - first[trial]
                total += weight * (_worth(flip, step, k, credit) - _worth(flip, 0, k, credit))
        assert total == 0


def test_metrics_that_are_no_mean_of_problems_stay_as_they_are() -> None:
    assert (
        shift_of(Reruns(9, 9, (RerunFlip(8, 3, 1, 1.0),)), parse_metric("geom-ds@4", 8), 10) is None
    )


@pytest.mark.parametrize(("flips", "again"), [(0, 131), (2, 131), (5, 5), (1, 1000)])
def test_limits_of_the_share(flips: int, again: int) -> None:
    from scipy.stats import beta

    low, high = Reruns(again, again, (RerunFlip(8, 3, 1, 1.0),) * flips).limits()
    law = beta(flips + 0.5, again - flips + 0.5)
    assert low == pytest.approx(law.ppf(0.025) if flips else 0.0)
    assert high == pytest.approx(law.ppf(0.975) if flips < again else 1.0)


def test_gains_and_losses_are_counted() -> None:
    reruns = Reruns(
        100, 50, (RerunFlip(8, 3, 1, 1.0), RerunFlip(8, 3, -1, 1.0), RerunFlip(8, 3, -1, 1.0))
    )
    assert (reruns.gained, reruns.lost, reruns.share) == (1, 2, 0.06)
    assert np.isclose(Reruns(0, 0).share, 0.0)

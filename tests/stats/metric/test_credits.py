"""The credit kernel against exact rationals, against itself by other routes, and at the limits."""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from passband.stats.data.counts import Histogram
from passband.stats.metric import credits
from passband.stats.metric.credits import (
    elevate,
    expected_credit,
    none_of_first,
    products,
    subset_histograms,
)
from passband.stats.metric.pmf import (
    beta_binomial_pmf,
    factorials,
    inverse_factorials,
    rising,
    subset_pmf,
)
from support.samples import exact
from support.samples.exact import Draws

TOLERANCE = 1e-12
TAUS = [Fraction(1, 4), Fraction(28, 100), Fraction(1, 2), Fraction(7, 10), Fraction(9, 10)]

CREDITS: dict[str, Callable] = {
    "pass": lambda k: credits.at_least(k, 1),
    "pass^": credits.all_of,
    "maj": credits.majority,
    "mg-pass": credits.mean_over_shares,
    "mg-pass-integral": credits.mean_over_shares_integral,
    "auc": credits.auc,
    "share": credits.share,
    **{f"g-pass:{tau}": lambda k, tau=tau: credits.at_least_share(k, float(tau)) for tau in TAUS},
    "spectrum": lambda k: credits.spectrum([float(w) for w in rising_weights(k)]),
}


def rising_weights(k: int) -> list[Fraction]:
    """Weights r / (1 + ... + k): every threshold counts, and differently."""
    return [Fraction(2 * r, k * (k + 1)) for r in range(1, k + 1)]


def every_count(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full(n + 1, n), np.arange(n + 1)


def earned(n: int, credit: np.ndarray) -> np.ndarray:
    return expected_credit(*every_count(n), credit)


def relative_error(found: np.ndarray, wanted: list[Fraction]) -> float:
    """The largest relative error; where the exact value is 0, or the top, nothing is forgiven."""
    right = np.array([float(value) for value in wanted])
    wrong = np.abs(found - right)
    unmet = np.where(wrong > 0, np.inf, 0.0)
    return float(np.divide(wrong, right, out=unmet, where=right > 0).max())


# -- exact values ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n", [*range(1, 33), 40, 47, 60])
def test_every_metric_is_exact_for_all_counts_and_draws(n: int) -> None:
    areas = list(zip(*[exact.auc_curve(n, c) for c in range(n + 1)], strict=True))
    for k in range(1, n + 1):
        draws = [Draws(n, c, k) for c in range(n + 1)]
        weights = rising_weights(k)
        wanted = {
            "pass": [exact.pass_at(d) for d in draws],
            "pass^": [exact.pass_hat(d) for d in draws],
            "maj": [exact.maj(d) for d in draws],
            "mg-pass": [exact.mg_pass(d) for d in draws],
            "mg-pass-integral": [exact.mg_pass_integral(d) for d in draws],
            "auc": areas[k - 1],
            "share": [Fraction(c, n) for c in range(n + 1)],
            "spectrum": [exact.spectrum(d, weights) for d in draws],
            **{f"g-pass:{tau}": [exact.g_pass(d, tau) for d in draws] for tau in TAUS},
        }
        assert wanted.keys() == CREDITS.keys()
        for name, values in wanted.items():
            error = relative_error(earned(n, CREDITS[name](k)), values)  # type: ignore[arg-type]
            assert error <= TOLERANCE, (name, n, k, error)


@pytest.mark.parametrize(("n", "k"), [(256, 8), (256, 128), (1000, 1), (1000, 500), (1000, 1000)])
def test_pass_and_majority_stay_exact_for_long_rows(n: int, k: int) -> None:
    counts = np.unique(np.r_[0, 1, 2, n // 3, n // 2, n - 2, n - 1, n])
    trials = np.full(len(counts), n)
    draws = [Draws(n, int(c), k) for c in counts]
    for credit, twin in [
        (credits.at_least(k, 1), exact.pass_at),
        (credits.all_of(k), exact.pass_hat),
        (credits.majority(k), exact.maj),
        (credits.mean_over_shares_integral(k), exact.mg_pass_integral),
    ]:
        found = expected_credit(trials, counts, credit)
        representable = [value if value > Fraction(1, 10**300) else 0 for value in map(twin, draws)]
        found = np.where(found > 1e-300, found, 0.0)
        assert relative_error(found, representable) <= 1e-11  # type: ignore[arg-type]


def test_law_of_the_subset_is_exact() -> None:
    for n in range(1, 25):
        for k in range(n + 1):
            found = subset_pmf(*every_count(n), k)
            for c in range(n + 1):
                draws = Draws(n, c, k)
                wanted = [Fraction(ways, draws.total) for ways in draws.ways]
                assert relative_error(found[c], wanted) <= 1e-14


def test_law_of_new_draws_is_exact() -> None:
    for n, c, m, alpha, beta in [(0, 0, 3, 1.0, 1.0), (5, 2, 7, 0.5, 0.25), (9, 9, 4, 3.0, 1.5)]:
        found = beta_binomial_pmf(np.array([n]), np.array([c]), m, alpha, beta)[0]
        a, b = Fraction(alpha) + c, Fraction(beta) + n - c
        wanted = [
            math.comb(m, j) * rises(a, j) * rises(b, m - j) / rises(a + b, m) for j in range(m + 1)
        ]
        assert sum(wanted) == 1
        assert relative_error(found, wanted) <= 1e-14


def rises(start: Fraction, length: int) -> Fraction:
    return math.prod((start + i for i in range(length)), start=Fraction(1))


def test_certain_values_are_exact_to_the_last_bit() -> None:
    for n in (1, 2, 7, 64, 200):
        for k in {1, 2, n // 2 or 1, n} & set(range(1, n + 1)):
            for name, credit in CREDITS.items():
                values = earned(n, credit(k))
                assert values[0] == 0.0, name
                assert values[-1] == credit(k).max(), name


# -- other routes to the same number -----------------------------------------------------------


@pytest.mark.parametrize("name", CREDITS)
def test_elevation_agrees_with_the_table(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = np.repeat([3, 9, 17, 40], 4)
    counts = np.array([0, 1, 2, 3, 0, 4, 8, 9, 0, 1, 9, 17, 0, 11, 39, 40])
    for k in (1, 2, 3):
        credit = CREDITS[name](k)
        table = expected_credit(trials, counts, credit)
        monkeypatch.setattr(credits, "_LARGEST_TABLE", 0)
        raised = expected_credit(trials, counts, credit)
        monkeypatch.undo()
        np.testing.assert_allclose(raised, table, rtol=1e-13)


def test_a_table_too_large_to_hold_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credits, "_subset_table", None)
    n, k = 2000, 1500
    found = earned(n, credits.at_least(k, 1))
    wanted = [one_minus_none(n, c, k) for c in range(n + 1)]
    assert relative_error(found, wanted) <= 1e-11


@pytest.mark.parametrize("ragged", [False, True])
def test_summed_laws_agree_with_the_law_of_every_problem(ragged: bool) -> None:
    rng = np.random.default_rng(1)
    trials = rng.integers(1, 31, 50) if ragged else np.full(50, 30)
    counts = rng.integers(0, trials + 1)
    histogram = Histogram.of_counts(trials, counts)
    seen = []
    for k, totals, problems in subset_histograms(histogram):
        enough = trials >= k
        assert problems == enough.sum()
        wanted = subset_pmf(trials[enough], counts[enough], k).sum(axis=0)
        np.testing.assert_allclose(totals[: k + 1], wanted, rtol=1e-12, atol=1e-15)
        seen.append(k)
    assert seen == list(range(int(trials.max()), 0, -1))


def test_running_product_is_the_chance_of_no_hit() -> None:
    trials, hits = np.array([7, 4, 4]), np.array([3, 0, 4])
    found = none_of_first(trials, hits)
    for row, (n, c) in enumerate(zip(trials.tolist(), hits.tolist(), strict=True)):
        for k in range(1, n + 1):
            assert found[row, k - 1] == pytest.approx(float(1 - exact.pass_at(Draws(n, c, k))))


def test_elevation_is_one_more_draw_left_out() -> None:
    credit = np.array([0.0, 0.25, 0.5, 2.0])
    np.testing.assert_allclose(elevate(credit), earned(4, credit), rtol=1e-15)
    both = np.stack([credit, credit[::-1]], axis=1)
    np.testing.assert_array_equal(elevate(both)[:, 0], elevate(credit))
    np.testing.assert_array_equal(elevate(both)[:, 1], elevate(credit[::-1]))


@pytest.mark.parametrize("largest", [1 << 21, 7])
def test_products_of_metrics_are_those_of_their_polynomials(
    largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credits, "_LARGEST_TABLE", largest)
    columns = np.array([[0.0, 0.25], [1.0, 0.0], [0.5, 1.0]])
    single, double = products(columns)
    for p in (Fraction(0), Fraction(1, 3), Fraction(4, 5), Fraction(1)):
        values = [bernstein(column, p) for column in columns.T]
        for i, x in enumerate(values):
            assert float(bernstein(single[:, i], p)) == pytest.approx(float(x), rel=1e-14)
            for j, y in enumerate(values):
                found = float(bernstein(double[:, i, j], p))
                assert found == pytest.approx(float(x * y), rel=1e-14)


def bernstein(credit: np.ndarray, p: Fraction) -> Fraction:
    k = len(credit) - 1
    return sum(  # type: ignore[return-value]
        Fraction(s) * math.comb(k, j) * p**j * (1 - p) ** (k - j) for j, s in enumerate(credit)
    )


def one_minus_none(n: int, c: int, k: int) -> Fraction:
    return 1 - Fraction(math.comb(n - c, k), math.comb(n, k))


# -- far out -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 5000, 10000])
@pytest.mark.parametrize("name", CREDITS)
def test_ten_thousand_trials_neither_overflow_nor_leave_the_range(name: str, k: int) -> None:
    n = 10_000
    counts = np.array([0, 1, 2, 100, 4999, 5000, 5001, 9900, 9999, 10000])
    credit = CREDITS[name](k)
    values = expected_credit(np.full(len(counts), n), counts, credit)
    assert np.isfinite(values).all()
    assert (values >= 0).all()
    assert (values <= credit.max() * (1 + 1e-12)).all()
    assert (np.diff(values) >= -1e-12).all()
    assert (values[0], values[-1]) == (0.0, credit.max())


def test_ten_thousand_trials_are_exact() -> None:
    n, counts = 10_000, np.array([1, 2, 5, 5000, 9999])
    for k in (1, 5000, 9999):
        found = expected_credit(np.full(len(counts), n), counts, credits.at_least(k, 1))
        wanted = [one_minus_none(n, int(c), k) for c in counts]
        assert relative_error(found, wanted) <= 1e-11


@pytest.mark.slow
def test_factorials_keep_their_digits() -> None:
    whole, inverse = factorials(2000), inverse_factorials(2000)
    value = 1
    for n in range(2001):
        value *= max(n, 1)
        found = Fraction(float(whole.mantissa[n])) * Fraction(2) ** int(whole.exponent[n])
        assert abs(found / value - 1) <= max(n, 1) * Fraction(1, 2**53)
        flipped = Fraction(float(inverse.mantissa[n])) * Fraction(2) ** int(inverse.exponent[n])
        assert abs(flipped * value - 1) <= (n + 1) * Fraction(1, 2**53)
    assert value == math.factorial(2000)


def test_inverse_factorials_of_negative_numbers_are_zero() -> None:
    table = inverse_factorials(300)
    assert not table.take(-np.arange(1, 301)).value().any()


@pytest.mark.parametrize("start", [1e-300, 0.3, 1.0, 52.5, 1e9])
def test_rising_factorials_keep_their_digits(start: float) -> None:
    table = rising(start, 2000)
    with mpmath.workdps(40):
        for m in (0, 1, 2, 511, 512, 513, 1024, 1999, 2000):
            found = mpmath.ldexp(float(table.mantissa[m]), int(table.exponent[m]))
            assert abs(found / mpmath.rf(mpmath.mpf(start), m) - 1) <= (m + 1) * 2.0**-52


def test_tables_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        factorials(10).mantissa[0] = 2.0

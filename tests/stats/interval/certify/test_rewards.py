"""Laws of graded values: the moments of the data, and the mean that they claim."""

import numpy as np
import pytest

from passband.stats.interval.certify.laws import pooled_residuals, problem_laws

VALUES = np.array([0.0, 0.02, 0.05, 0.1, 0.3, 0.9])


@pytest.mark.parametrize(
    ("low", "high", "shift", "names"),
    [
        (0.0, 1.0, 0.0, ["bootstrap", "beta"]),
        (0.0, np.inf, 0.0, ["bootstrap", "gamma", "lognormal"]),
        (-np.inf, np.inf, -0.4, ["bootstrap", "normal"]),
    ],
)
def test_laws(low: float, high: float, shift: float, names: list[str]) -> None:
    values = VALUES + shift
    laws = problem_laws(values, low, high)
    assert [law.name for law in laws] == names
    for law in laws:
        drawn = law.draw(np.random.default_rng(2), (40, 5000))
        assert drawn.shape == (40, 5000)
        assert low <= drawn.min()
        assert drawn.max() <= high
        assert drawn.mean() == pytest.approx(law.mean, abs=0.01)
        if law.name != "bootstrap":
            assert law.mean == pytest.approx(values.mean())
            assert drawn.var() == pytest.approx(values.var(ddof=1), rel=0.1)


def test_smoothing_reflects_at_the_bounds() -> None:
    (law, _) = problem_laws(np.array([0.0, 0.0, 0.0, 1.0]), 0.0, 1.0)
    drawn = law.draw(np.random.default_rng(2), (10, 100))
    assert len(np.unique(drawn)) > 50
    assert 0.0 <= drawn.min() <= drawn.max() <= 1.0


def test_residuals_are_standardised() -> None:
    rows = np.random.default_rng(3).normal(5.0, 2.0, (400, 4))
    for groups in ([rows], [rows[:30], rows[:20, :2], rows[:5, :1]]):
        residuals = pooled_residuals(groups)
        assert len(residuals) <= 512
        assert (np.diff(residuals) >= 0.0).all()
        assert residuals.mean() == pytest.approx(0.0, abs=1e-9)
        assert residuals.var() == pytest.approx(1.0, abs=0.02)


def test_no_spread_no_residuals() -> None:
    assert len(pooled_residuals([np.full((3, 4), 0.5), np.ones((2, 1))])) == 0

"""Banks of items for the tests of item response theory, and strategies that draw them."""

import mpmath
import numpy as np
from hypothesis import strategies as st

from passband.stats.irt.items import Items

MODELS = ("1pl", "2pl", "3pl", "graded", "continuous")


def bank(model: str, size: int, seed: int = 0) -> Items:
    """Return items with spread parameters."""
    rng = np.random.default_rng(seed)
    a = np.full(size, 1.3) if model == "1pl" else rng.lognormal(0.0, 0.3, size)
    b = rng.normal(size=size)
    if model == "graded":
        steps = np.sort(rng.normal(size=(size, 3)), axis=1) + np.array([-0.5, 0.0, 0.5])
        steps[::4, 2] = np.nan
        return Items("graded", a, steps=steps)
    c = rng.uniform(0.05, 0.3, size) if model == "3pl" else None
    phi = rng.uniform(0.1, 0.6, size) if model == "continuous" else None
    return Items(model, a, b, c, phi=phi)  # type: ignore[arg-type]


def scores(items: Items, theta: float, rng: np.random.Generator) -> np.ndarray:
    """Return one score of every item at an ability."""
    if items.steps is not None:
        chance = 1.0 / (1.0 + np.exp(-items.a[:, None] * (theta - items.steps)))
        return (rng.random((len(items), 1)) < chance).sum(axis=1) / items.grades
    mean = items.expected(theta)
    if items.model == "continuous":  # Beta, whose variance is mean (1 - mean) / (1 + total)
        total = 1.0 / items.phi - 1.0
        return rng.beta(mean * total, (1.0 - mean) * total)
    return (rng.random(len(items)) < mean).astype(float)


def exact_chance(items: Items, item: int, theta: object, grade: int) -> mpmath.mpf:
    """Return the probability of a grade; of wrong (0) and right (1) where there are no grades."""
    a = mpmath.mpf(items.a[item])

    def passed(step: float) -> mpmath.mpf:
        return 1 / (1 + mpmath.exp(-a * (theta - mpmath.mpf(step))))

    if items.steps is not None:
        steps = [s for s in items.steps[item].tolist() if s == s]
        above = [mpmath.mpf(1), *(passed(step) for step in steps), mpmath.mpf(0)]
        return above[grade] - above[grade + 1]
    c = mpmath.mpf(items.c[item])
    right = c + (1 - c) * passed(items.b[item])
    return right if grade else 1 - right


banks = st.builds(bank, st.sampled_from(MODELS), st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
thetas = st.floats(-4.0, 4.0)

"""Calibration: published estimates, a slow twin, missing and repeated trials, items to drop."""

import itertools

import numpy as np
import pytest
from scipy.stats import binomtest

from passband.errors import ConflictingArguments, InvalidInput, NotEnoughData, UnknownName
from passband.stats.irt.calibration import calibrate
from passband.stats.irt.items import Items
from support.samples.irt_banks import bank, scores

# How many of 1000 people gave each pattern 00000, 00001, ... 11111 (Bock and Lieberman 1970).
LSAT6 = [
    3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15, 10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21,
    173, 11, 61, 28, 298,
]  # fmt: skip
LSAT7 = [
    12, 19, 1, 7, 3, 19, 3, 17, 10, 5, 3, 7, 7, 23, 8, 28, 7, 39, 11, 34, 14, 51, 15, 90, 6, 25, 7,
    35, 18, 136, 32, 308,
]  # fmt: skip


def people(counts: list[int]) -> np.ndarray:
    patterns = np.array(list(itertools.product([0, 1], repeat=5)))
    return np.repeat(patterns, counts, axis=0)


def answers(items: Items, theta: np.ndarray, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([scores(items, one, rng) for one in theta])


def rmse(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean((found - truth) ** 2)))


# -- published estimates -----------------------------------------------------------------------


def test_lsat6_2pl_is_that_of_ltm() -> None:
    found = calibrate(people(LSAT6), tolerance=1e-6)
    assert found.log_likelihood == pytest.approx(-2466.653, abs=5e-4)
    assert found.items.a == pytest.approx([0.8254, 0.7229, 0.8905, 0.6886, 0.6575], abs=1e-3)
    published = [-3.3597, -1.3696, -0.2799, -1.8659, -3.1236]  # ltm stops a little early
    assert found.items.b == pytest.approx(published, abs=2.5e-3)
    tight = [-3.3590, -1.3699, -0.2797, -1.8662, -3.1254]  # as the mirt of PyPI finds them
    assert found.items.b == pytest.approx(tight, abs=1e-3)
    assert found.se.a == pytest.approx([0.258, 0.187, 0.233, 0.185, 0.210], abs=1e-3)
    assert found.se.b == pytest.approx([0.867, 0.307, 0.100, 0.434, 0.870], abs=2e-3)
    assert found.converged
    assert not found.notes
    assert not found.dropped


def test_lsat6_1pl_is_that_of_ltm() -> None:
    found = calibrate(people(LSAT6), model="1pl", tolerance=1e-6)
    assert found.log_likelihood == pytest.approx(-2466.938, abs=5e-4)
    assert found.items.a == pytest.approx([0.7551] * 5, abs=1e-4)
    assert found.se.a == pytest.approx([0.0694] * 5, abs=1e-4)
    assert found.items.b == pytest.approx([-3.6153, -1.3224, -0.3176, -1.7301, -2.7802], abs=1e-4)


def test_lsat6_rasch_is_that_of_ltm() -> None:
    found = calibrate(people(LSAT6), model="1pl", discrimination=1.0, tolerance=1e-6)
    assert found.log_likelihood == pytest.approx(-2473.054, abs=5e-4)
    assert found.items.b == pytest.approx([-2.8720, -1.0630, -0.2576, -1.3881, -2.2188], abs=1e-4)
    assert np.isnan(found.se.a).all()


def test_lsat7_is_that_of_mirt() -> None:
    found = calibrate(people(LSAT7), tolerance=1e-6)
    assert found.log_likelihood == pytest.approx(-2658.805, abs=5e-4)
    assert found.items.a == pytest.approx([0.9876, 1.0808, 1.7075, 0.765, 0.7357], abs=1e-4)
    intercepts = -found.items.a * found.items.b
    assert intercepts == pytest.approx([1.8559, 0.808, 1.8052, 0.486, 1.8545], abs=1e-4)
    common = calibrate(people(LSAT7), model="1pl", tolerance=1e-6)
    assert common.items.a[0] == pytest.approx(1.011, abs=5e-4)
    assert -common.items.a * common.items.b == pytest.approx(
        [1.868, 0.791, 1.461, 0.521, 1.993], abs=1e-3
    )


def test_items_that_fit_are_said_to_fit() -> None:
    found = calibrate(people(LSAT7))
    assert found.fit.infit == pytest.approx(np.ones(5), abs=0.01)
    assert (found.fit.p > 0.05).all()


# -- other models ------------------------------------------------------------------------------


def marginal(items: Items, grades: np.ndarray) -> float:
    """Return the log-likelihood of graded responses, written out person by person."""
    nodes = np.linspace(-6, 6, 61)
    prior = np.exp(-nodes * nodes / 2)
    prior /= prior.sum()
    total = 0.0
    for row in grades:
        chance = np.ones(61)
        for item, grade in enumerate(row):
            above = [1.0 / (1.0 + np.exp(-items.a[item] * (nodes - s))) for s in items.steps[item]]
            bounds = [np.ones(61), *above, np.zeros(61)]
            chance = chance * (bounds[grade] - bounds[grade + 1])
        total += np.log(chance @ prior)  # type: ignore[assignment]
    return float(total)


def test_graded_items_have_a_slow_twin() -> None:
    """The likelihood written out is the same, and falls to every side of the estimate."""
    truth = Items(
        "graded",
        a=np.array([1.5, 1.0, 2.0]),
        steps=np.array([[-1.0, 0.5], [-0.3, 0.8], [-0.5, 0.2]]),
    )
    got = answers(truth, np.random.default_rng(1).normal(size=150))
    found = calibrate(got, model="graded", tolerance=1e-7)
    grades = np.rint(2 * got).astype(int)
    best = marginal(found.items, grades)
    assert found.log_likelihood == pytest.approx(best, abs=1e-6)
    for item, column, step in itertools.product(range(3), range(3), (-1e-2, 1e-2)):
        a, steps = found.items.a.copy(), found.items.steps.copy()
        if column == 2:
            a[item] += step
        else:
            steps[item, column] += step
        assert marginal(Items("graded", a, steps=steps), grades) < best


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "worst_a", "worst_b"),
    [("3pl", 0.6, 0.5), ("graded", 0.2, 0.25), ("continuous", 0.12, 0.15)],
)
def test_parameters_come_back(model: str, worst_a: float, worst_b: float) -> None:
    truth = bank(model, 12, 3)
    if model == "graded":
        truth = truth.take(np.flatnonzero(truth.grades == 3))
    theta = np.random.default_rng(2).normal(size=1500)
    found = calibrate(answers(truth, theta), model=model)  # type: ignore[arg-type]
    assert found.converged
    assert rmse(found.items.a, truth.a[found.kept]) < worst_a
    assert rmse(found.items.b, truth.b[found.kept]) < worst_b
    off = (found.items.a - truth.a[found.kept]) / found.se.a
    assert np.abs(off).max() < 4
    assert rmse(found.abilities.theta, theta) == pytest.approx(found.abilities.se.mean(), rel=0.2)
    if model == "continuous":
        assert found.items.phi == pytest.approx(truth.phi, rel=0.25)


# -- repeats, gaps, anchors --------------------------------------------------------------------


def test_repeats_are_trials() -> None:
    """Sums over three trials are the evidence of three columns with the same parameters."""
    truth = bank("2pl", 8, 1)
    theta = np.random.default_rng(3).normal(size=400)
    got = np.array([answers(truth, theta, seed) for seed in range(3)])
    found = calibrate(got.sum(axis=0), np.full((400, 8), 3), rho=0.0)
    assert rmse(found.items.a, truth.a) < 0.25
    assert found.rho == 0.0
    assert found.abilities.se.mean() < calibrate(got[0]).abilities.se.mean()


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_correlation_of_repeats_is_estimated(rho: float) -> None:
    truth = bank("2pl", 20, 4)
    rng = np.random.default_rng(5)
    chance = truth.expected(rng.normal(size=300)).T
    if rho:
        total = 1 / rho - 1
        chance = rng.beta(chance * total, (1 - chance) * total)
    found = calibrate(rng.binomial(8, chance), np.full(chance.shape, 8))
    assert found.rho == pytest.approx(rho, abs=0.03)


def test_gaps_are_not_failures() -> None:
    truth = bank("2pl", 15, 6)
    got = answers(truth, np.random.default_rng(7).normal(size=1500))
    whole = calibrate(got)
    got[np.random.default_rng(8).random(got.shape) < 0.4] = np.nan
    found = calibrate(got)
    assert rmse(found.items.b, truth.b) < 0.25
    assert (found.se.b > whole.se.b).all()
    counts = np.where(np.isnan(got), 0, 1)
    same = calibrate(np.nan_to_num(got), counts)
    assert same.items.a == pytest.approx(found.items.a)


def test_anchors_hold_the_scale() -> None:
    truth = bank("2pl", 15, 9)
    theta = np.random.default_rng(10).normal(0.8, 1.4, size=1500)
    found = calibrate(answers(truth, theta), anchors=truth.take(slice(0, 6)), anchored=range(6))
    assert found.items.a[:6] == pytest.approx(truth.a[:6])
    assert found.items.b[:6] == pytest.approx(truth.b[:6])
    assert (found.mean, found.sd) == pytest.approx((theta.mean(), theta.std()), abs=0.1)
    assert rmse(found.items.b[6:], truth.b[6:]) < 0.15
    assert np.isnan(found.se.a[:6]).all()


# -- what is dropped and refused ---------------------------------------------------------------


def test_errors_of_anchored_items_allow_for_the_abilities_that_were_estimated() -> None:
    """By a numerical Hessian in the items' slopes and places, and in mean and log spread."""
    truth = Items(
        "2pl", a=np.array([1.0, 1.4, 0.8, 1.3, 1.7]), b=np.array([-0.8, 0.3, 1.0, 0.6, 1.3])
    )
    theta = np.random.default_rng(2).normal(1.0, 0.7, 800)
    right = answers(truth, theta)
    found = calibrate(right, anchors=truth.take([0, 1, 2]), anchored=range(3), tolerance=1e-7)
    z = np.linspace(-6, 6, 121)
    prior = np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()

    def height(x: np.ndarray) -> float:
        a, b = np.append(truth.a[:3], x[2:4]), np.append(truth.b[:3], x[4:])
        logits = a[:, None] * (x[0] + np.exp(x[1]) * z - b[:, None])
        log = right @ -np.logaddexp(0, -logits) + (1 - right) @ -np.logaddexp(0, logits)
        return float(np.log(np.exp(log) @ prior).sum())

    at = np.r_[found.mean, np.log(found.sd), found.items.a[3:], found.items.b[3:]]
    steps = 1e-3 * np.eye(6)
    hessian = [
        [
            (height(at + i + j) - height(at + i - j) - height(at - i + j) + height(at - i - j))
            / 4e-6
            for j in steps
        ]
        for i in steps
    ]
    errors = np.sqrt(np.diag(np.linalg.inv(-np.array(hessian))))[2:]
    assert np.r_[found.se.a[3:], found.se.b[3:]] == pytest.approx(errors, rel=0.01)


def test_anchors_of_1pl_items_give_the_slope() -> None:
    truth = Items("1pl", a=np.array([1.5] * 8), b=np.linspace(-1, 2, 8))
    theta = np.random.default_rng(3).normal(1.0, 0.7, 2000)
    anchors = truth.take([0, 1, 2, 3])
    found = calibrate(answers(truth, theta), model="1pl", anchors=anchors, anchored=range(4))
    assert found.items.a.tolist() == [1.5] * 8
    assert found.items.b == pytest.approx(truth.b, abs=0.2)
    assert (found.mean, found.sd) == pytest.approx((1.0, 0.7), abs=0.1)


def test_bad_items_are_dropped_with_the_reason() -> None:
    got = answers(bank("2pl", 20, 5), np.random.default_rng(11).normal(size=600))
    got[:, 0], got[:, 1], got[:, 2] = 1.0, 0.0, np.nan
    got[:, 3] = 1.0 - got[:, 4]
    rest = np.nansum(got[:, 5:], axis=1)
    got[:, 4] = rest > np.median(rest)
    found = calibrate(got)
    assert found.dropped[0] == "all scores are 1"
    assert found.dropped[1] == "all scores are 0"
    assert found.dropped[2] == "no trial has a score"
    assert "better models fail it" in found.dropped[3]
    assert "repeats what the others say" in found.dropped[4]
    assert found.kept.tolist() == list(range(5, 20))
    assert found.notes[0].code == "dropped-items"


def test_a_grade_that_nobody_got_drops_the_item() -> None:
    truth = Items("graded", a=np.array([1.5] * 4), steps=np.array([[-1.0, 1.0]] * 4))
    got = answers(truth, np.random.default_rng(12).normal(size=300))
    got[got[:, 1] == 0.5, 1] = 1.0
    found = calibrate(got, model="graded")
    assert list(found.dropped) == [1]
    assert "no score is 0.5" in found.dropped[1]


def test_a_handful_of_models_is_noted() -> None:
    found = calibrate(answers(bank("2pl", 12), np.linspace(-2, 2, 14)))
    assert "few-people" in [note.code for note in found.notes]
    assert np.isfinite(found.items.a).all()
    assert (found.items.a < 8).all()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"successes": [[1, 0]]}, NotEnoughData, "several models and items"),
        ({"successes": [1, 0]}, InvalidInput, "must be a matrix"),
        ({"successes": [[1, 2], [0, 1]]}, InvalidInput, "row 0, item 1: 2 of 1 trials"),
        ({"successes": [[1, 1], [0, 0]], "trials": [[1, 1]]}, InvalidInput, "not the same"),
        ({"successes": [[0.5, 1], [0, 1]]}, InvalidInput, "use 'continuous'"),
        ({"successes": [[1, 1], [1, 1]]}, NotEnoughData, "0 items are left.*all scores are 1"),
        ({"successes": [[1, 0], [0, 1]], "anchored": [0]}, InvalidInput, "belong together"),
        ({"successes": [[1, 0], [0, 1]], "discrimination": 1.0}, ConflictingArguments, "1pl"),
        ({"successes": [[1, 0], [0, 1]], "model": "4pl"}, UnknownName, "Did you mean"),
    ],
)
def test_what_is_refused(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        calibrate(**arguments)


def test_graded_trials_must_be_single() -> None:
    with pytest.raises(InvalidInput, match="give every trial of graded items a row"):
        calibrate([[1, 2], [0, 1]], [[2, 2], [2, 2]], model="graded")
    with pytest.raises(InvalidInput, match="multiples of 1/3"):
        calibrate([[0.5, 1], [0, 1]], model="graded", grades=3)  # type: ignore[arg-type]


@pytest.mark.slow
def test_p_values_of_fit_are_uniform_when_the_model_holds() -> None:
    small = 0
    for seed in range(6):
        truth = bank("2pl", 30, seed)
        found = calibrate(answers(truth, np.random.default_rng(seed).normal(size=300), seed))
        small += int((found.fit.p < 0.05).sum())
    assert binomtest(small, 180, 0.05).pvalue > 0.01


def test_an_item_of_another_shape_does_not_fit() -> None:
    got = answers(bank("2pl", 20, 7), np.random.default_rng(13).normal(size=1500))
    theta = np.random.default_rng(13).normal(size=1500)
    got[:, 3] = np.random.default_rng(14).random(1500) < 0.3 + 0.5 * (np.abs(theta) < 0.7)
    got[:, 3] = np.maximum(got[:, 3], theta > 1.5)
    found = calibrate(got)
    where = {column: place for place, column in enumerate(found.kept.tolist())}
    assert 3 in found.dropped or found.fit.p[where[3]] < 1e-6

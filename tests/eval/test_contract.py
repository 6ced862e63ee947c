"""Names, signatures, return types, what is accepted, what is refused, and what is warned about."""

import functools
import inspect
import math
import warnings
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from passband import InvalidInput, Outcomes, PassbandWarning, measure
from passband import eval as ev
from passband.errors import ConflictingArguments, WrongType

pytestmark = pytest.mark.slow  # by their number; names and values change rarely

R = np.array([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]])
GRADED = np.array([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]])
W = [0.0, 0.5, 1.0]

NAMES = [
    "auc_at_k",
    "auc_at_k_ci",
    "avg",
    "avg_ci",
    "bayes",
    "bayes_ci",
    "g_pass_at_k",
    "g_pass_at_k_ci",
    "g_pass_at_k_tau",
    "g_pass_at_k_tau_ci",
    "geo_spectrum_at_k",
    "geo_spectrum_at_k_ci",
    "geo_spectrum_star_at_k",
    "geo_spectrum_star_at_k_ci",
    "geom_at_k",
    "geom_at_k_ci",
    "geom_ds_at_k",
    "geom_ds_at_k_ci",
    "maj_at_k",
    "maj_at_k_ci",
    "max_at_k",
    "max_at_k_ci",
    "mg_pass_at_k",
    "mg_pass_at_k_ci",
    "pass_at_k",
    "pass_at_k_ci",
    "pass_hat_k",
    "pass_hat_k_ci",
    "threshold_spectrum_at_k",
    "threshold_spectrum_at_k_ci",
    "unanimous_at_k",
    "unanimous_at_k_ci",
]

PROFILES = ["tailpass", "tailpass_empirical"]  # tested in test_tailpass.py
NEEDED = inspect.Parameter.empty
DRAWN = {"R": NEEDED, "k": NEEDED}
BELIEF = {"confidence": 0.95, "bounds": (0.0, 1.0), "alpha0": 1.0, "beta0": 1.0}
FREE_BELIEF = {"confidence": 0.95, "bounds": None}
TAU = {"tau": NEEDED}
WEIGHTS = {"weights": NEEDED}
POWERS = {"pass_power": 0.5, "unanimous_power": 0.5}
COUPLING = {"lam": 0.5, "weights": None, "lambda_": None}
REWARDS = {"R": NEEDED, "w": None}

SIGNATURES: dict[str, dict[str, Any]] = {
    "bayes": {**REWARDS, "R0": None},
    "bayes_ci": {**REWARDS, "R0": None, **FREE_BELIEF},
    "avg": REWARDS,
    "avg_ci": {**REWARDS, **FREE_BELIEF},
    "max_at_k": {**DRAWN, "w": None},
    "max_at_k_ci": {**DRAWN, "w": None, "R0": None, **FREE_BELIEF},
    **{
        f"{name}{ending}": {**DRAWN, **extra, **(BELIEF if ending else {})}  # type: ignore[dict-item]
        for name, extra in {
            "pass_at_k": {},
            "pass_hat_k": {},
            "unanimous_at_k": {},
            "auc_at_k": {},
            "maj_at_k": {},
            "g_pass_at_k": {},
            "g_pass_at_k_tau": TAU,
            "mg_pass_at_k": {},
            "threshold_spectrum_at_k": WEIGHTS,
            "geom_at_k": POWERS,
            "geom_ds_at_k": POWERS,
            "geo_spectrum_at_k": COUPLING,
            "geo_spectrum_star_at_k": {},
        }.items()
        for ending in ("", "_ci")
    },
}

# Posteriors that are defined for more draws than trials, and take them.
BEYOND = {
    "max_at_k_ci",
    "threshold_spectrum_at_k_ci",
    "geom_at_k_ci",
    "geom_ds_at_k_ci",
    "geo_spectrum_at_k_ci",
    "geo_spectrum_star_at_k_ci",
}
BY_CATEGORY = ["avg", "avg_ci", "bayes", "bayes_ci", "max_at_k", "max_at_k_ci"]
BINARY = [name for name in NAMES if name not in BY_CATEGORY]
WITH_K = [name for name in NAMES if "k" in SIGNATURES[name]]
SPECTRA = [name for name in NAMES if "weights" in SIGNATURES[name]]
HALVES = [name for name in NAMES if name.startswith(("mg_pass", "geo_spectrum"))]
INTERVALS = [name for name in NAMES if name.endswith("_ci")]


def call(name: str, given: Any = R, k: Any = 2, **options: Any):
    arguments: dict[str, Any] = {"R": given}
    if "k" in SIGNATURES[name]:
        arguments["k"] = k
    if "tau" in SIGNATURES[name]:
        arguments["tau"] = 0.5
    if SIGNATURES[name].get("weights") is NEEDED:
        count = int(k) if isinstance(k, (int, np.integer)) and k > 0 else 1
        arguments["weights"] = [1 / count] * count
    return getattr(ev, name)(**arguments | options)


def for_each(names: Iterable[str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Check all these functions in one test; as tests of their own they would be thousands."""

    def fold(check: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(check)
        def test(**arguments: Any) -> None:
            for name in names:
                try:
                    check(name=name, **arguments)
                except (Exception, pytest.fail.Exception) as error:
                    raise AssertionError(f"{name}: {error}") from error

        signature = inspect.signature(check)
        others = [each for each in signature.parameters.values() if each.name != "name"]
        test.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return test

    return fold


# -- shape of the interface --------------------------------------------------------------------


def test_names() -> None:
    assert len(NAMES) == 32
    assert sorted([*NAMES, *PROFILES]) == ev.__all__
    assert sorted(SIGNATURES) == NAMES


@for_each(NAMES)
def test_parameters_and_defaults(name: str) -> None:
    signature = inspect.signature(getattr(ev, name))
    found = {parameter.name: parameter.default for parameter in signature.parameters.values()}
    assert list(found.items()) == list(SIGNATURES[name].items())
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD}


def test_aliases() -> None:
    assert ev.unanimous_at_k is ev.pass_hat_k
    assert ev.unanimous_at_k_ci is ev.pass_hat_k_ci


@for_each(NAMES)
def test_plain_floats_come_back(name: str) -> None:
    found = call(name)
    if name in INTERVALS or name in ("avg", "bayes"):
        assert type(found) is tuple
        assert len(found) == (4 if name in INTERVALS else 2)
        assert [type(number) for number in found] == [float] * len(found)
    else:
        assert type(found) is float


@for_each(INTERVALS)
def test_interval_is_the_normal_one(name: str) -> None:
    mu, sigma, lo, hi = call(name, bounds=(-9.0, 9.0))
    assert (lo, hi) == pytest.approx((mu - 1.959964 * sigma, mu + 1.959964 * sigma), rel=1e-6)
    narrow = call(name, bounds=(-9.0, 9.0), confidence=0.5)
    assert narrow[3] - narrow[0] == pytest.approx(0.6744898 * sigma, rel=1e-6)
    assert call(name, bounds=(0.5, 0.625))[2:] == (
        min(max(lo, 0.5), 0.625),
        max(min(hi, 0.625), 0.5),
    )


@for_each(INTERVALS)
def test_default_bounds(name: str) -> None:
    _, _, lo, hi = call(name, np.ones((1, 3), int))
    assert hi == 1.0 if name not in ("avg_ci", "bayes_ci") else hi > 1.0
    assert lo <= hi


# -- what is accepted --------------------------------------------------------------------------


@for_each(NAMES)
@pytest.mark.parametrize(
    "convert",
    [
        lambda r: r.astype(bool),
        lambda r: r.astype(np.uint8),
        lambda r: r.astype(np.int8),
        lambda r: r.astype(float),
        lambda r: r.astype(np.float16),
        lambda r: r.astype(np.float32),
        lambda r: r.astype(">i4"),
        np.asfortranarray,
        lambda r: np.repeat(r, 2, axis=1)[:, ::2],
        lambda r: np.ma.masked_array(r),
        lambda r: np.ma.masked_invalid(np.c_[r, [np.nan, np.nan]]),
        lambda r: r.tolist(),
        lambda r: tuple(map(tuple, r.tolist())),
    ],
    ids=["bool", "uint8", "int8", "float64", "float16", "float32", "big-endian", "Fortran",
         "strided", "unmasked", "masked", "lists", "tuples"],
)  # fmt: skip
def test_any_array_of_0_and_1(name: str, convert: Callable) -> None:
    assert call(name, convert(R)) == pytest.approx(call(name, R), rel=1e-14)


@for_each(NAMES)
def test_one_dimension_is_one_question(name: str) -> None:
    assert call(name, [0, 1, 1]) == call(name, [[0, 1, 1]])


@for_each(WITH_K)
def test_numpy_integers_are_integers(name: str) -> None:
    for k in (np.int8(2), np.int64(2), np.uint16(2)):
        assert call(name, k=k) == call(name, k=2)


def test_the_given_matrix_is_not_changed() -> None:
    for given in (R.astype(np.uint8), R.astype(float), np.ma.masked_array(R, R > 1)):
        before = given.copy()
        for name in NAMES:
            call(name, given)
        np.testing.assert_array_equal(given, before)


# -- what is refused ---------------------------------------------------------------------------

BAD_MATRICES = [
    (np.array([[0, "a"]], dtype=object), "R must contain only numeric or boolean values"),
    ([[0, None]], "R must contain only numeric or boolean values"),
    ([["0", "1"]], "R must contain only numeric or boolean values"),
    ([[0, np.nan]], "R must contain only finite values"),
    ([[0, np.inf]], "R must contain only finite values"),
    ([[0, 0.5]], "R must contain only integer-valued entries"),
    ([[0, 1], [1]], "R must be a rectangular numeric or boolean array"),
    ([], r"R must contain at least one trial \(N >= 1\)"),
    (np.zeros((0, 5)), r"R must contain at least one question \(M >= 1\)"),
    (np.zeros((5, 0)), r"R must contain at least one trial \(N >= 1\)"),
    (1, "R must be a 1D or 2D array; got 0 dimensions"),
    (np.zeros((2, 2, 2)), "R must be a 1D or 2D array; got 3 dimensions"),
    ([[0, 1j]], "R must contain real values, not complex values"),
    (
        np.ma.masked_array([[0, np.nan, 1]], np.array([[0, 0, 1]], bool)),
        "R must contain only finite values",
    ),
]


def refused(reason: str, kind: type[Exception] = InvalidInput):
    return pytest.raises(kind, match=reason)


@for_each(NAMES)
@pytest.mark.parametrize(("given", "reason"), BAD_MATRICES)
def test_bad_matrix(name: str, given: Any, reason: str) -> None:
    with refused(reason) as caught:
        call(name, given, 1)
    assert isinstance(caught.value, ValueError)


@for_each(BINARY)
@pytest.mark.parametrize("stray", [-1, 2, 255, 1 << 40])
@pytest.mark.parametrize("dtype", [int, float])
def test_not_binary(name: str, stray: int, dtype: type) -> None:
    with refused(r"Entries of R must be integers in \[0, 1\]"):
        call(name, np.array([[0, 1, stray]], dtype), 1)


@for_each(["bayes", "bayes_ci", "max_at_k", "max_at_k_ci"])
def test_categories_need_weights(name: str) -> None:
    with refused(r"R is not binary \(observed: 0, 1, 2\), so weight vector 'w' must be provided"):
        call(name, GRADED)


@for_each(["avg", "avg_ci"])
def test_mean_of_categories_needs_weights(name: str) -> None:
    with refused("R"):
        call(name, GRADED)


@for_each(BY_CATEGORY)
@pytest.mark.parametrize(
    ("w", "reason"),
    [
        ([0.0, 1.0], r"Entries of R must be integers in \[0, 1\]"),
        ([], r"w must be a non-empty 1D array; got shape \(0,\)"),
        ([[0.0, 0.5, 1.0]], r"w must be a non-empty 1D array; got shape \(1, 3\)"),
        (1.0, r"w must be a non-empty 1D array; got shape \(\)"),
        ([0.0, np.nan, 1.0], "w must contain only finite values"),
        ([0.0, 10**400, 1.0], "w must contain only"),
        ([0.0, 1j, 1.0], "w must contain real values"),
        (["0", "1", "2"], "w must contain only numeric values"),
        ([[0.0], [0.5, 1.0]], "w must be a finite, non-empty 1D numeric array"),
    ],
)
def test_bad_weights_of_categories(name: str, w: Any, reason: str) -> None:
    with refused(reason):
        call(name, GRADED, w=w)


@for_each(WITH_K)
@pytest.mark.parametrize("k", [2.0, True, np.True_, "2", None, [1, 2], np.array([2]), 1.5])
def test_k_is_an_integer(name: str, k: Any) -> None:
    with refused("k must be an integer; got", WrongType) as caught:
        call(name, k=k)
    assert isinstance(caught.value, (ValueError, TypeError))


@for_each(WITH_K)
@pytest.mark.parametrize("k", [0, -1])
def test_k_is_at_least_1(name: str, k: int) -> None:
    with refused(f"got k={k}"):
        call(name, k=k)


@for_each(sorted(set(WITH_K) - BEYOND))
def test_k_is_at_most_the_trials(name: str) -> None:
    with refused(r"k must satisfy 1 <= k <= N \(N=5\); got k=6"):
        call(name, k=6)
    ragged = np.ma.masked_array(R, np.array([[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]], bool))
    with refused(r"k must satisfy 1 <= k <= N \(N=3\); got k=4"):
        call(name, ragged, k=4)


@for_each(sorted(BEYOND))
def test_posterior_may_draw_more_than_the_trials(name: str) -> None:
    mu, sigma, lo, hi = call(name, k=12)
    assert 0 < sigma < 0.5
    assert 0 <= lo <= mu <= hi <= 1


@for_each(INTERVALS)
@pytest.mark.parametrize("confidence", [0, 0.0, 1, 1.0, 95, -0.5, math.nan, math.inf, True])
def test_bad_confidence(name: str, confidence: Any) -> None:
    with refused(rf"confidence must be in \(0,1\); got {confidence}"):
        call(name, confidence=confidence)


@for_each(INTERVALS)
@pytest.mark.parametrize("confidence", ["0.95", None, [0.9], 1j])
def test_confidence_is_a_number(name: str, confidence: Any) -> None:
    with refused("confidence must be a number; got", WrongType):
        call(name, confidence=confidence)


@for_each(INTERVALS)
@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        ((1.0, 0.0), r"bounds must satisfy bounds\[0\] <= bounds\[1\]; got \(1\.0, 0\.0\)"),
        ((math.nan, 1.0), "bounds must not be NaN"),
        ((0.0, math.nan), "bounds must not be NaN"),
        ((0.0,), "bounds must be a pair of numbers"),
        ((0.0, 0.5, 1.0), "bounds must be a pair of numbers"),
        (1.0, "bounds must be a pair of numbers"),
        (("0", "1"), r"bounds\[0\] must be a number"),
        ((0.0, None), r"bounds\[1\] must be a number"),
    ],
)
def test_bad_bounds(name: str, bounds: Any, reason: str) -> None:
    with refused(reason):
        call(name, bounds=bounds)


@for_each([name for name in INTERVALS if "alpha0" in SIGNATURES[name]])
@pytest.mark.parametrize("parameter", ["alpha0", "beta0"])
@pytest.mark.parametrize("given", [0, -1.0, math.nan, math.inf, True, "1", None, [1.0]])
def test_bad_prior(name: str, parameter: str, given: Any) -> None:
    with refused(f"{parameter} must be a finite positive scalar; got "):
        call(name, **{parameter: given})


@for_each(["g_pass_at_k_tau", "g_pass_at_k_tau_ci"])
@pytest.mark.parametrize("tau", [math.nan, 1.0000001, -1e-9, 2, Fraction(9, 8)])
def test_tau_outside_its_range(name: str, tau: float) -> None:
    with refused(r"tau must be in \[0, 1\]; got "):
        call(name, tau=tau)


@for_each(["g_pass_at_k_tau", "g_pass_at_k_tau_ci"])
@pytest.mark.parametrize("tau", [None, "0.5", [0.5], np.array([0.5, 0.6]), 1j])
def test_tau_is_a_number(name: str, tau: Any) -> None:
    with refused("tau must be a number; got ", WrongType) as caught:
        call(name, tau=tau)
    assert isinstance(caught.value, TypeError)


@for_each(SPECTRA)
@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ([1.0], r"weights must be a length-2 1D array; got shape \(1,\)"),
        ([[0.5, 0.5]], r"weights must be a length-2 1D array; got shape \(1, 2\)"),
        ([[0.5], [0.5, 0.1]], "weights must be a length-2 1D array"),
        ([0.5, math.nan], "weights must be finite"),
        ([0.5, -0.1], r"weights must be non-negative; got \[0\.5, -0\.1\]"),
        ([0.5, 0.6], r"weights must satisfy sum\(weights\) <= 1; got sum=1\.1"),
        ([0.5, 0.5j], "weights must contain real values"),
        (["0.5", "0.5"], "weights must contain only numeric values"),
    ],
)
def test_bad_spectrum(name: str, weights: Any, reason: str) -> None:
    with refused(reason):
        call(name, weights=weights)
    if name.startswith("geo"):
        with refused(reason):
            call(name, weights=weights, lam=1.0)


@for_each(["geom_at_k", "geom_at_k_ci", "geom_ds_at_k", "geom_ds_at_k_ci"])
def test_bad_powers(name: str) -> None:
    for power in ("pass_power", "unanimous_power"):
        for given in (math.nan, math.inf, -math.inf):
            with refused(f"{power} must be finite; got {given}"):
                call(name, **{power: given})
        with refused(f"{power} must be a number; got '1'", WrongType):
            call(name, **{power: "1"})
    with refused("at least one power must be non-zero"):
        call(name, pass_power=0, unanimous_power=0)


@for_each(["geom_at_k", "geom_ds_at_k"])
def test_zero_to_a_negative_power(name: str) -> None:
    with refused(r"powers must not be negative where a value is 0; got \[0\.5, -0\.5\]"):
        call(name, np.zeros((2, 4)), pass_power=0.5, unanimous_power=-0.5)
    assert call(name, np.ones((2, 4)), pass_power=-1.0, unanimous_power=-2.0) == 1.0


@for_each(["geo_spectrum_at_k", "geo_spectrum_at_k_ci"])
def test_coupling_is_given_once(name: str) -> None:
    assert call(name, lambda_=0.3) == call(name, lam=0.3) != call(name)
    assert call(name, lambda_=None) == call(name, lam=0.5) == call(name)
    for lam, lambda_ in [(0.5, 0.3), (0.4, 0.4), (0.5, 0.5), (1.0, 0.0)]:
        with refused("Specify at most one of 'lam' and 'lambda_'", ConflictingArguments) as caught:
            call(name, lam=lam, lambda_=lambda_)
        assert f"lam={lam!r} and lambda_={lambda_!r}" in str(caught.value)
        assert isinstance(caught.value, (TypeError, ValueError))
    for given in (-0.1, 1.1, math.nan):
        with refused(rf"lam must be in \[0, 1\]; got {given}"):
            call(name, lam=given)
        with refused(rf"\[0, 1\]; got {given}"):
            call(name, lambda_=given)


# -- missing trials ----------------------------------------------------------------------------


def test_masked_trials_are_not_there() -> None:
    given = np.ma.masked_array([[0, 1, 1], [0, 0, 1]], mask=np.array([[0, 0, 1], [0, 0, 1]], bool))
    assert ev.pass_at_k(given, 1) == 0.25
    assert ev.avg(given)[0] == 0.25
    assert ev.max_at_k(given, 1) == 0.25
    assert ev.bayes(given) == pytest.approx(ev.bayes([[0, 1], [0, 0]]), rel=1e-14)


@pytest.mark.parametrize("hidden", [np.nan, np.inf, 7.0, -1.0, 0.5])
@for_each(NAMES)
def test_what_is_under_the_mask_does_not_matter(name: str, hidden: float) -> None:
    given = np.ma.masked_array(
        [[0, 1, 1, hidden], [hidden, 0, 1, 1]], np.array([[0, 0, 0, 1], [1, 0, 0, 0]], bool)
    )
    assert call(name, given) == pytest.approx(call(name, [[0, 1, 1], [0, 1, 1]]), rel=1e-14)


@for_each(BINARY)
def test_a_question_without_trials_is_refused(name: str) -> None:
    given = np.ma.masked_array([[0, 1], [1, 1]], mask=np.array([[0, 0], [1, 1]], bool))
    with refused("R must contain at least one trial of every question; row 1 is masked"):
        call(name, given, 1)


# -- earlier outcomes --------------------------------------------------------------------------


def test_earlier_outcomes_are_added() -> None:
    assert ev.bayes(R, R0=[[1, 1], [0, 0]]) == ev.bayes(np.c_[R, [[1, 1], [0, 0]]])
    assert ev.bayes(R, R0=np.zeros((2, 0))) == ev.bayes(R, R0=[]) == ev.bayes(R)
    assert ev.bayes([1, 0], R0=[1, 1]) == ev.bayes([1, 0, 1, 1])
    together = ev.max_at_k_ci(np.c_[GRADED, [2, 0]], 3, W)
    assert ev.max_at_k_ci(GRADED, 3, W, R0=[[2], [0]]) == together


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, float])
def test_earlier_outcomes_keep_their_category(dtype: type) -> None:
    earlier = [[2, 0], [2, 1]]
    assert ev.bayes(R.astype(dtype), W, earlier) == ev.bayes(np.c_[R, earlier], W)


@for_each(["bayes", "bayes_ci", "max_at_k_ci"])
def test_flat_earlier_outcomes_of_several_questions_are_read_question_by_question(
    name: str,
) -> None:
    with pytest.warns(PassbandWarning, match="R0 has one dimension and R has 2 rows"):
        found = call(name, R0=[0, 1, 1, 1])
    assert found == call(name, R0=[[0, 1], [1, 1]])


@for_each(["bayes", "bayes_ci", "max_at_k_ci"])
@pytest.mark.parametrize(
    ("earlier", "reason"),
    [
        ([0, 1, 1], "A 1D R0 must contain a multiple of M entries .* got 3 entries and M=2"),
        ([[0, 1]], r"R0 must have the same number of rows \(M\) as R\. R has 2, R0 has 1"),
        ([[0], [1], [1]], "R has 2, R0 has 3"),
        ([[0], [2]], r"Entries of R0 must be integers in \[0, 1\]"),
        ([[0], [-1]], r"Entries of R0 must be integers in \[0, 1\]"),
        ([[0], [0.5]], "R0 must contain only integer-valued entries"),
        ([[0], [np.nan]], "R0 must contain only finite values"),
        ([["0"], ["1"]], "R0 must contain only numeric or boolean values"),
        (np.zeros((2, 1, 1)), "R0 must be a 1D or 2D array; got 3 dimensions"),
        ([[0], [0, 1]], "R0 must be a rectangular numeric or boolean array"),
    ],
)
def test_bad_earlier_outcomes(name: str, earlier: Any, reason: str) -> None:
    with refused(reason):
        call(name, R0=earlier)


# -- what is warned about ----------------------------------------------------------------------


def test_unused_category() -> None:
    assert ev.bayes(GRADED, W)[0] == 0.5625
    with pytest.warns(PassbandWarning, match="no outcome fell into category 3 of w"):
        assert round(ev.bayes(GRADED, [*W, 7.0])[0], 3) == 1.278
    with pytest.warns(PassbandWarning, match="no outcome fell into category 3 of w"):
        ev.max_at_k_ci(GRADED, 2, [*W, 7.0])


def test_categories_of_equal_weight() -> None:
    with pytest.warns(PassbandWarning, match="several categories the weight 0"):
        assert ev.bayes(GRADED, [0.0, 0.0, 1.0])[0] == 0.375
    assert round(ev.bayes(GRADED == 2)[0], 4) == 0.4286


def test_observed_best_has_no_prior_to_warn_about() -> None:
    assert ev.max_at_k(GRADED, 5, [*W, 7.0]) == 1.0
    assert ev.max_at_k(GRADED, 1, [0.0, 0.0, 1.0]) == pytest.approx(0.4)


def test_binary_data_without_a_success_is_no_reason_to_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ev.bayes(np.zeros((2, 3)))
        ev.max_at_k_ci(np.ones((2, 3)), 2)


@for_each(HALVES)
def test_no_threshold_above_one_half_of_one_draw(name: str) -> None:
    with pytest.warns(PassbandWarning, match="at k = 1 there is no threshold above one half"):
        found = call(name, k=1)
    assert found == (0.0 if isinstance(found, float) else (0.0, 0.0, 0.0, 0.0))


def test_spectrum_that_does_not_count_is_no_reason_to_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ev.geo_spectrum_at_k(R, 1, lam=1.0) == ev.pass_at_k(R, 1)
        assert ev.geo_spectrum_at_k(R, 1, weights=[1.0]) == pytest.approx(0.7)


# -- values that are easy to get wrong ---------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "discrete", "blended"),
    [(2, 1.0, 1.0), (3, 0.6667, 0.816), (4, 1.0, 1.0), (5, 0.8, 0.894), (7, 0.857, 0.926),
     (9, 0.889, 0.943), (10, 1.0, 1.0)],
)  # fmt: skip
def test_perfect_model_at_odd_k(k: int, discrete: float, blended: float) -> None:
    perfect = np.ones((3, 10))
    assert ev.mg_pass_at_k(perfect, k) == pytest.approx(discrete, abs=5e-4)
    assert ev.geo_spectrum_star_at_k(perfect, k) == pytest.approx(blended, abs=5e-4)
    assert measure(Outcomes.from_array(perfect), f"mg-pass-integral@{k}").value == 1.0


@pytest.mark.parametrize(
    ("k", "discrete", "integral"),
    [(2, 0.45, 0.45), (3, 0.1667, 0.45), (4, 0.4, 0.4), (5, 0.2, 0.4)],
)
def test_discrete_sum_and_integral(k: int, discrete: float, integral: float) -> None:
    assert round(ev.mg_pass_at_k(R, k), 4) == discrete
    found = measure(Outcomes.from_array(R), f"mg-pass-integral@{k}").value
    assert round(found, 4) == integral


def test_threshold_is_the_share_a_person_means() -> None:
    given = np.arange(64)[None] < 20
    for tau in (0.28, Fraction(7, 25), np.float32(0.28), np.float64(0.28)):
        assert round(ev.g_pass_at_k_tau(given, 25, tau), 4) == 0.7644  # type: ignore[arg-type]
    assert ev.g_pass_at_k_tau(given, 25, 0) == ev.pass_at_k(given, 25)
    assert ev.g_pass_at_k_tau(given, 25, 1) == ev.pass_hat_k(given, 25)


def test_uniform_prior_against_nothing_but_failures() -> None:
    mu, _, lo, hi = ev.pass_at_k_ci(np.zeros((30, 8), int), 8)
    assert (round(mu, 4), round(lo, 4), round(hi, 4)) == (0.4706, 0.3696, 0.5716)
    assert ev.pass_at_k(np.zeros((30, 8), int), 8) == 0.0


def test_mean_is_not_clipped_unless_asked() -> None:
    found = ev.avg_ci(np.ones((5, 1)))
    assert tuple(round(number, 3) for number in found) == (1.0, 0.316, 0.38, 1.62)


def test_confidence_next_to_certainty() -> None:
    mu, _, lo, hi = ev.pass_at_k_ci(R, 2, confidence=math.nextafter(1.0, 0.0))
    assert (lo, hi) == (0.0, 1.0)
    assert ev.pass_at_k_ci(R, 2, confidence=1e-300)[2:] == (mu, mu)


def test_best_of_k_is_clipped_to_the_rewards_from_two_draws_on() -> None:
    assert ev.max_at_k_ci([[1, 1, 1]], 2)[3] == 1.0
    assert ev.max_at_k_ci([[1, 1, 1]], 1)[3] > 1.0
    assert ev.max_at_k_ci(R, 1) == pytest.approx(ev.bayes_ci(R), rel=1e-14)


def test_extreme_weights() -> None:
    assert ev.max_at_k(R, 2, [-1.7e308, 1.7e308]) == pytest.approx(0.9 * 1.7e308, rel=1e-12)
    assert ev.max_at_k(R, 1, [0.0, 5e-324]) == 5e-324
    assert all(map(math.isfinite, ev.bayes(R, [-1.7e308, 1.7e308])))

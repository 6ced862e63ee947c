"""EVA's bootstrap: the same numbers, in every process, and a seed that cannot be forgotten."""

import inspect
import os
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput
from passband.summary.eva import bootstrap
from passband.summary.eva.bootstrap import (
    ALPHA,
    N_BOOT,
    bootstrap_ci,
    bootstrap_ci_fields,
    bootstrap_resample,
    mean_ci_fields,
    named_ci_fields,
    run_seed,
)

scores = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_the_constants() -> None:
    assert (N_BOOT, ALPHA) == (2000, 0.05)


# -- resamples -----------------------------------------------------------------------------


def test_resamples_are_those_of_numpy() -> None:
    values = np.array([0.0, 0.5, 1.0, 0.25, 0.75])
    drawn = np.random.default_rng(42).integers(0, 5, size=(100, 5))
    means = bootstrap_resample(values, n_boot=100, seed=42)
    assert means.shape == (100,)
    assert np.array_equal(means, values[drawn].mean(axis=1))
    assert np.array_equal(means, bootstrap_resample(values.tolist(), 100, 42))


def test_resamples_of_many_values_come_in_blocks() -> None:
    values = np.random.default_rng(1).random(5_000)
    drawn = np.random.default_rng(7).integers(0, 5_000, size=(200, 5_000))
    assert np.array_equal(bootstrap_resample(values, 200, 7), values[drawn].mean(axis=1))


def test_other_seeds_give_other_resamples() -> None:
    values = [0.0, 0.5, 1.0]
    assert not np.array_equal(
        bootstrap_resample(values, 100, 1), bootstrap_resample(values, 100, 2)
    )


def test_constant_values_stay_constant() -> None:
    assert bootstrap_resample(np.full(10, 0.7), 50, 0) == pytest.approx(np.full(50, 0.7))


def test_no_values_no_resamples() -> None:
    assert bootstrap_resample([], n_boot=10, seed=0).shape == (0,)


# -- intervals -----------------------------------------------------------------------------


def test_it_brackets_the_mean() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.1, 100)
    low, high = bootstrap_ci(values, n_boot=2000, seed=42, alpha=0.05)
    assert low is not None
    assert high is not None
    assert low < values.mean() < high
    assert high - low < 0.1


def test_a_smaller_alpha_is_wider() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.1, 100)
    wide, narrow = (bootstrap_ci(values, seed=42, alpha=alpha) for alpha in (0.05, 0.1))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_nothing_and_one_value() -> None:
    assert bootstrap_ci(np.array([]), n_boot=100, seed=0) == (None, None)
    assert bootstrap_ci([0.42], n_boot=100, seed=0) == (0.42, 0.42)


def test_defaults_are_the_constants() -> None:
    values = [0.1, 0.2, 0.3, 0.4, 0.5]
    assert bootstrap_ci(values, seed=0) == bootstrap_ci(values, n_boot=N_BOOT, seed=0, alpha=ALPHA)


def test_by_hand() -> None:
    """Of the 27 resamples of 0, 0, 1 the means 0, 1/3, 2/3, 1 have 8, 12, 6 and 1 parts of 27.

    So 2.5 % lies within the zeros, and 97.5 % beyond 26/27 = 96.3 %: the ends are 0 and 1.
    """
    sums = [sum(draw) for draw in product((0, 0, 1), repeat=3)]
    shares = [Fraction(sums.count(total), 27) for total in range(4)]
    assert shares == [Fraction(8, 27), Fraction(12, 27), Fraction(6, 27), Fraction(1, 27)]
    assert shares[0] > Fraction(25, 1000)
    assert sum(shares[:3]) < Fraction(975, 1000)
    assert bootstrap_ci([0.0, 0.0, 1.0], seed=3) == (0.0, 1.0)


@given(values=scores, seed=st.integers(0, 2**31 - 1))
def test_ends_are_in_order_and_within_the_values(values: list[float], seed: int) -> None:
    low, high = bootstrap_ci(values, n_boot=200, seed=seed)
    assert low is not None
    assert high is not None
    assert min(values) - 1e-12 <= low <= high <= max(values) + 1e-12


@pytest.mark.parametrize(
    "call",
    [
        lambda: bootstrap_ci([0.5, float("nan")], seed=1),
        lambda: bootstrap_ci([0.5, float("inf")], seed=1),
        lambda: bootstrap_ci([[0.5]], seed=1),  # type: ignore[list-item]
        lambda: bootstrap_ci(["a"], seed=1),  # type: ignore[list-item]
        lambda: bootstrap_ci([0.5], 0, seed=1),
        lambda: bootstrap_ci([0.5], seed=-1),
        lambda: bootstrap_ci([0.5], seed=None),
        lambda: bootstrap_ci([0.5], seed=1, alpha=0.0),
        lambda: bootstrap_ci([0.5], seed=1, alpha=1.0),
        lambda: run_seed(3),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments(call) -> None:
    with pytest.raises(InvalidInput):
        call()


# -- fields --------------------------------------------------------------------------------


def test_fields() -> None:
    values = [0.0, 1 / 3, 1.0]
    low, high = bootstrap_ci(values, seed=5)
    assert low is not None
    assert high is not None
    assert mean_ci_fields(values, seed=5) == {
        "mean_ci_lower": round(low, 4),
        "mean_ci_upper": round(high, 4),
        "mean_ci_n_scenarios": 3,
    }
    fields = named_ci_fields({"a": values, "b": [], "c": [1.0]}, seed=5, decimals=2)
    assert fields == {
        "a_ci_lower": round(low, 2),
        "a_ci_upper": round(high, 2),
        "b_ci_lower": None,
        "b_ci_upper": None,
        "c_ci_lower": 1.0,
        "c_ci_upper": 1.0,
    }
    assert bootstrap_ci_fields is named_ci_fields


@pytest.mark.parametrize(
    "name", ["bootstrap_ci", "bootstrap_ci_fields", "mean_ci_fields", "named_ci_fields"]
)
def test_the_seed_is_required_by_name(name: str) -> None:
    seed = inspect.signature(getattr(bootstrap, name)).parameters["seed"]
    assert seed.kind is inspect.Parameter.KEYWORD_ONLY
    assert seed.default is inspect.Parameter.empty


# -- seeds ---------------------------------------------------------------------------------


def test_seeds_of_runs() -> None:
    assert run_seed("abc") == run_seed("abc") != run_seed("def")
    assert run_seed("run_2026-06-01_example") == 1906410363
    # the first four bytes of sha256("abc") are ba 78 16 bf
    assert run_seed("abc") == 0xBA7816BF % 2**31


@given(name=st.text(max_size=20))
def test_a_seed_fits_31_bits(name: str) -> None:
    seed = run_seed(name)
    assert type(seed) is int
    assert 0 <= seed < 2**31


@pytest.mark.process
@pytest.mark.parametrize("salt", ["0", "1", "random"])
def test_a_seed_is_the_same_in_every_process(salt: str) -> None:
    script = (
        "from passband.summary.eva.bootstrap import run_seed; print(run_seed('across processes'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONHASHSEED": salt},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == run_seed("across processes")

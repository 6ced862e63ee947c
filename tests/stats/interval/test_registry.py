"""The table of interval methods, and the request that each gets."""

import gc
import math
import weakref

import numpy as np
import pytest

from passband import Outcomes, estimate
from passband.errors import InvalidInput, UnknownName, WrongType
from passband.notes import Note
from passband.stats.checks import Over
from passband.stats.interval.registry import Interval, interval_for, methods, register_method
from passband.stats.interval.request import IntervalRequest, mixture_of
from passband.stats.metric.registry import parse_metric

OUTCOMES = Outcomes.from_counts([0, 4, 2, 1, 3], 4)


def question(name: str, over: Over = "problems") -> IntervalRequest:
    metric = parse_metric(name)
    pairs = OUTCOMES.histogram
    means = tuple(
        pairs.mean(part.at(pairs.trials, pairs.successes, metric.k)) for part in metric.parts
    )
    return IntervalRequest(OUTCOMES, metric, means, metric.combine(means), over, 0.9, None)


def test_a_method_of_one_s_own() -> None:
    @register_method("always", over=("problems",), summary="everything")
    def always(request: IntervalRequest) -> Interval:
        note = Note("always", f"tail {request.tail:.3f}")
        return Interval(*request.range(), se=None, notes=(note,))

    try:
        found = estimate(OUTCOMES, "pass@2", method="always")
        assert (found.low, found.high, found.method) == (0.0, 1.0, "always")
        assert found.notes == (Note("always", "tail 0.025"),)
        with pytest.raises(InvalidInput, match="method 'always' is for over='problems'"):
            estimate(OUTCOMES, "pass@2", method="always", over="trials")
    finally:
        methods.remove("always")
    with pytest.raises(UnknownName, match="no interval method named 'always'"):
        interval_for("always", question("pass@2"))


def test_every_method_says_what_it_is() -> None:
    for name in methods:
        each = methods.get(name)
        assert each.summary
        assert set(each.over) <= {"problems", "trials"}


def test_the_expected_value_at_a_success_probability() -> None:
    p = np.array([0.0, 0.2, 0.5, 1.0])
    assert question("pass@3").latent(p) == pytest.approx(1 - (1 - p) ** 3)
    assert question("pass^2").latent(p) == pytest.approx(p**2)
    assert question("geom-ds@2").latent(p) == pytest.approx(np.sqrt((1 - (1 - p) ** 2) * p**2))


def test_a_blend_is_replaced_by_its_linear_part() -> None:
    asked = question("geom-ds@2")
    mixture = asked.mixture()
    values = asked.values(mixture)
    assert mixture.counts @ values / 5 == pytest.approx(asked.value)
    # moving the problems a little moves the linear part as much as the blend, to first order
    c = mixture.grid.successes
    passes, hats = 1 - (4 - c) * (3 - c) / 12, c * (c - 1) / 12
    step = np.array([1, -1, 0, 0, 0]) * 1e-6
    law = mixture.counts / 5 + step
    assert step @ values == pytest.approx(
        math.sqrt((law @ passes) * (law @ hats)) - asked.value, rel=1e-4
    )


def test_ranges_and_parts() -> None:
    assert question("pass@2").range() == (0.0, 1.0)
    assert question("geom-ds@2").range() == (0.0, 1.0)
    part = question("geom-ds@2").of_part(1)
    assert part.value == question("pass^2").value
    assert part.metric.is_mean
    assert not question("geom-ds@2").metric.is_mean


@pytest.mark.slow
def test_the_fit_is_made_once_and_goes_with_its_outcomes() -> None:
    outcomes = Outcomes.from_counts([0, 1, 2, 3], [1, 2, 2, 4])
    assert mixture_of(outcomes, 1) is mixture_of(outcomes, 1)
    assert mixture_of(outcomes, 3) is mixture_of(outcomes, 4)  # the same problems count
    assert mixture_of(outcomes, 1) is not mixture_of(outcomes, 2)
    twin = Outcomes.from_counts([0, 1, 2, 3], [1, 2, 2, 4])
    assert twin == outcomes
    assert mixture_of(twin, 1) is not mixture_of(outcomes, 1)  # kept by each for itself
    fit = weakref.ref(mixture_of(outcomes, 1))
    del outcomes
    gc.collect()
    assert fit() is None


def test_notes_are_added() -> None:
    a, b, c = (Note(code, code) for code in "abc")
    assert Interval(0.0, 1.0, 0.1, (a,), 3).with_notes(b, c) == Interval(
        0.0, 1.0, 0.1, (a, b, c), 3
    )
    with pytest.raises(WrongType, match="a note must be a Note"):
        Interval(0.0, 1.0, 0.1, ("a",))  # type: ignore[arg-type]


def test_what_a_method_must_be() -> None:
    with pytest.raises(InvalidInput, match="over must be 'problems' or 'trials'; got 'runs'"):
        register_method("wrong", over=("runs",), summary="never")  # type: ignore[arg-type]
    with pytest.raises(WrongType, match="the name of a method must be text"):
        register_method(3, over=("trials",), summary="never")  # type: ignore[arg-type]

    @register_method("pair", over=("problems",), summary="a bare pair")  # type: ignore[arg-type]
    def pair(request: IntervalRequest) -> tuple[float, float]:
        return 0.0, 1.0

    try:
        with pytest.raises(WrongType, match="method 'pair' must return an Interval; got"):
            estimate(OUTCOMES, "pass@2", method="pair")
    finally:
        methods.remove("pair")

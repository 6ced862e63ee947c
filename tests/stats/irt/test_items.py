"""Items: what they hold, expect and refuse."""

import math

import numpy as np
import pytest
from hypothesis import given

from passband.errors import InvalidInput, UnknownName, WrongType
from passband.stats.irt.items import Items
from support.samples.irt_banks import bank, banks, thetas


def test_expected_scores_by_hand() -> None:
    half = 1 / (1 + math.exp(-1.0))  # σ(1)
    assert Items("2pl", a=np.array([2.0]), b=np.array([0.5])).expected(1.0) == pytest.approx([half])
    assert Items("3pl", a=np.array([2.0]), b=np.array([0.5]), c=np.array([0.2])).expected(
        1.0
    ) == pytest.approx([0.2 + 0.8 * half])
    graded = Items("graded", a=np.array([1.0, 1.0]), steps=np.array([[-1.0, 1.0], [0.0, math.nan]]))
    assert graded.expected(0.0) == pytest.approx([0.5, 0.5])  # (σ(1) + σ(-1)) / 2, and σ(0)
    assert graded.b.tolist() == [0.0, 0.0]
    assert graded.grades.tolist() == [2, 1]


@given(banks, thetas)
def test_expected_scores_rise_within_bounds(items: Items, theta: float) -> None:
    values = items.expected([theta, theta + 0.5])
    assert values.shape == (len(items), 2)
    assert (values[:, 0] < values[:, 1]).all()
    assert ((values > 0.0) & (values < 1.0)).all()


def test_take_keeps_the_parameters() -> None:
    for model in ("3pl", "graded", "continuous"):
        items = bank(model, 6)
        some = items.take([4, 1])
        assert some.a.tolist() == items.a[[4, 1]].tolist()
        assert some.expected(0.3).tolist() == items.expected(0.3)[[4, 1]].tolist()
        assert len(items.take(slice(0, 2))) == 2


def test_arrays_are_own_and_read_only() -> None:
    a = np.array([1.0, 2.0])
    items = Items("2pl", a, np.zeros(2))
    a[0] = 7.0
    assert items.a.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        items.a[0] = 3.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "2pl", "a": [], "b": []}, "no items"),
        ({"model": "2pl", "a": [1.0]}, "b, the difficulty, is needed"),
        ({"model": "2pl", "a": [1.0, -0.4], "b": [0, 0]}, "a of item 1 must be above 0.*-0.4"),
        ({"model": "2pl", "a": [1.0], "b": [math.nan]}, "b of item 0 is nan"),
        ({"model": "2pl", "a": [1.0], "b": [0, 1]}, "b must be 1 numbers, as a has"),
        ({"model": "2pl", "a": [1.0], "b": [0], "c": [0.2]}, "only 3pl has guessing"),
        ({"model": "3pl", "a": [1.0], "b": [0], "c": [1.0]}, "c of item 0 must be at least 0"),
        ({"model": "1pl", "a": [1.0, 2.0], "b": [0, 0]}, "the same for all 1pl items"),
        ({"model": "2pl", "a": [1.0], "b": [0], "phi": [0.5]}, "phi of item 0 must be 1"),
        ({"model": "graded", "a": [1.0]}, "need steps"),
        ({"model": "graded", "a": [1.0], "steps": [[1.0, 0.0]]}, "steps of item 0 must rise"),
        ({"model": "graded", "a": [1.0], "steps": [[math.nan, 0.0]]}, "steps of item 0"),
        ({"model": "2pl", "a": [1.0], "b": [0], "steps": [[0.0]]}, "belong to graded"),
    ],
)
def test_what_is_refused(arguments: dict, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Items(**arguments)


def test_a_misspelt_model_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'graded'"):
        Items("grade", a=[1.0], b=[0.0])  # type: ignore[arg-type]
    with pytest.raises(WrongType, match="must be one of"):
        Items(2, a=[1.0], b=[0.0])  # type: ignore[arg-type]

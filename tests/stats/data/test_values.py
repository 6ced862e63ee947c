"""Frozen arrays and dicts, and dataclasses that compare array by array."""

import copy
import json
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from passband.stats.data.values import ArrayValue, FrozenDict, frozen, owned
from passband.types import Floats


@dataclass(frozen=True, eq=False)
class Measured(ArrayValue):
    name: str
    values: Floats


def test_arrays_are_compared_entry_by_entry() -> None:
    one = Measured("a", np.array([0.0, 1.0]))
    assert one == Measured("a", np.array([-0.0, 1.0]))
    assert hash(one) == hash(Measured("a", np.array([-0.0, 1.0])))
    assert one != Measured("a", np.array([0.0, 1.0, 2.0]))
    assert one != Measured("b", np.array([0.0, 1.0]))
    assert one != ("a", [0.0, 1.0])


def test_a_copy_is_read_only() -> None:
    travelled = pickle.loads(pickle.dumps(Measured("a", np.zeros(2))))
    assert not travelled.values.flags.writeable
    assert not copy.deepcopy(travelled).values.flags.writeable


def test_an_array_is_owned_without_a_copy_if_it_is_read_only() -> None:
    ours = frozen(np.zeros(3))
    assert owned(ours) is ours
    theirs = np.zeros(3)
    assert owned(theirs) is not theirs
    assert theirs.flags.writeable


def test_a_frozen_dict_is_a_dict_that_stays() -> None:
    one = FrozenDict({"a": 1})
    for change in (
        lambda: one.__setitem__("b", 2),
        lambda: one.update(b=2),
        lambda: one.pop("a"),
        lambda: one.clear(),
        lambda: one.setdefault("b", 2),
        lambda: one.__delitem__("a"),
        lambda: one.__ior__({"b": 2}),
    ):
        with pytest.raises(TypeError, match="read-only"):
            change()
    assert one == {"a": 1}
    assert json.dumps(one) == '{"a": 1}'
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one

"""Values that cross between a program and its tests."""

import contextlib
import datetime
import decimal
import enum
import json
import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.score.sandbox.box.plain import NotPlain, Opaque, decode, encode

leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.binary() | st.complex_numbers(allow_nan=False) | st.fractions()
    | st.integers(-9, 9).map(range) | st.sampled_from([1 << 5000, -(1 << 4096)])
)  # fmt: skip
hashable = st.recursive(
    leaves.filter(lambda value: value.__hash__ is not None),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=3,
)
values = st.recursive(
    leaves | hashable,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hashable, inner, max_size=2)
    | st.lists(inner, max_size=3).map(tuple) | st.sets(hashable, max_size=2),
    max_leaves=6,
)  # fmt: skip


def crossed(value: Any) -> Any:
    return decode(json.loads(json.dumps(encode(value))))


def kinds(value: Any) -> Any:
    """Return the types in a value: 1, 1.0 and True are equal."""
    if isinstance(value, (list, tuple)):
        return [type(value), *map(kinds, value)]
    return type(value)


@given(values)
def test_plain_values_stay_what_they_are(value: Any) -> None:
    assert crossed(value) == value
    assert kinds(crossed(value)) == kinds(value)
    assert encode(value, strict=True) == encode(value)


@pytest.mark.parametrize("value", [-0.0, math.inf, -math.inf, decimal.Decimal("1.10")])
def test_numbers_at_the_edge(value: Any) -> None:
    assert repr(type(value)) == repr(type(crossed(value)))
    assert crossed(value) == value
    assert not isinstance(value, float) or math.copysign(1, value) == math.copysign(
        1, crossed(value)
    )


def test_not_a_number() -> None:
    assert math.isnan(crossed(math.nan))


def test_subclasses_become_plain() -> None:
    class Liar(int):
        def __eq__(self, other: object) -> bool:
            return True

        def __index__(self) -> int:
            return 4

        __hash__ = int.__hash__

    assert crossed(Liar(5)) == 5
    assert type(crossed(Liar(5))) is int
    point = namedtuple("point", "x y")
    for value, plain in [
        (defaultdict(int, a=1), {"a": 1}),
        (point(1, 2), (1, 2)),
        (np.float64(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
    ]:
        assert crossed(value) == plain
        assert type(crossed(value)) is type(plain)


def test_containers_of_the_standard_library() -> None:
    numbers = {"b": 1, "a": 2}
    for value in (
        OrderedDict(b=1, a=[2]),
        Counter("aab"),
        deque([1, (2,)], maxlen=3),
        datetime.date(2020, 2, 29),
        datetime.datetime(2020, 2, 29, 1, 2, 3, 4),
        datetime.time(1, 2),
        datetime.timedelta(days=-1, microseconds=5),
        int,
        ValueError,
    ):
        assert crossed(value) == value
        assert type(crossed(value)) is type(value)
        assert encode(value, strict=True) == encode(value)
    assert crossed(OrderedDict(b=1, a=2)) != OrderedDict(a=2, b=1)
    assert crossed(numbers.keys()) == {"a", "b"}
    assert list(crossed(numbers.values())) == [1, 2]
    assert list(crossed(numbers.items())) == [("b", 1), ("a", 2)]


@pytest.mark.parametrize(
    "value",
    [
        namedtuple("point", "x y")(1, 2),  # type: ignore[arg-type, call-arg]
        defaultdict(list),
        enum.IntEnum("Kind", "one").one,  # type: ignore[attr-defined]
        enum.Enum,
        datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),
    ],
)
def test_arguments_that_would_lose_their_methods_are_refused(value: Any) -> None:
    with pytest.raises(NotPlain):
        encode([value], strict=True)


def test_what_a_program_returned_may_be_an_argument() -> None:
    for value in (map(str, [1, 2]), np.arange(2), np.float64(0.5)):
        encode(crossed(value), strict=True)


def test_arrays_and_iterators() -> None:
    array = crossed(np.arange(4, dtype=np.int32).reshape(2, 2))
    assert array.dtype == np.int32
    assert array.tolist() == [[0, 1], [2, 3]]
    assert list(crossed(map(str, [1, 2]))) == ["1", "2"]


def test_whatever_else_equals_nothing() -> None:
    value = crossed(object())
    assert isinstance(value, Opaque)
    assert value != value
    assert not value == value  # noqa: SIM201
    assert bool(value)
    assert repr(value) == "<a object>"
    with pytest.raises(NotPlain, match="function"):
        encode([kinds], strict=True)
    assert crossed(value) != value  # it may go back, and stays what it is


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "int",
                        "set",
                        "dict",
                        "range",
                        "complex",
                        "opaque",
                        "array",
                        "deque",
                        "type",
                        "keys",
                        "items",
                        "Counter",
                        "date",
                        "timedelta",
                        "no",
                    ]
                )
                | st.text(),
                inner,
                max_size=2,
            )
        ),
    )
)
def test_anything_is_read_or_refused(message: Any) -> None:
    """A program can send whatever it wants."""
    with contextlib.suppress(ValueError):
        decode(message)

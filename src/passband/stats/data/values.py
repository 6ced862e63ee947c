"""Value objects with arrays in them: frozen, comparable, hashable, and fit to travel."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import fields
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

A = TypeVar("A", bound=NDArray[Any])
K = TypeVar("K")
V = TypeVar("V")


def frozen(array: A) -> A:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


def owned(array: A) -> A:
    """Return an array that its caller cannot change: itself if it is read-only, else a copy.

    >>> given = np.zeros(3)
    >>> kept = owned(given)
    >>> given[0] = 1.0
    >>> kept.tolist(), kept.flags.writeable
    ([0.0, 0.0, 0.0], False)
    """
    return frozen(array.copy()) if array.flags.writeable else array


class FrozenDict(dict[K, V]):
    """A dict that cannot be changed; unlike a mapping proxy it pickles, copies and is a dict.

    >>> FrozenDict(a=1)["b"] = 2
    Traceback (most recent call last):
    ...
    TypeError: this mapping is read-only
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping is read-only")

    __setitem__ = __delitem__ = update = setdefault = pop = popitem = clear = _refuse
    __ior__ = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


class ArrayValue:
    """Equality, hashing, pickling and copying of a frozen dataclass, some fields being arrays.

    To be used with ``@dataclass(frozen=True, eq=False)``. Arrays are compared element by element,
    and fields with ``compare=False`` not at all. Only the fields travel: what is computed from
    them, and kept, is computed again elsewhere.
    """

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        names = self._compared()
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        values = (getattr(self, name) for name in self._compared())
        return hash((type(self).__name__, *map(_key, values)))

    def _compared(self) -> list[str]:
        return [field.name for field in fields(self) if field.compare]  # type: ignore[arg-type]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, _refrozen(value))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        is_float = all(np.asarray(each).dtype.kind == "f" for each in (a, b))
        return np.array_equal(a, b, equal_nan=is_float)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(value, b[key]) for key, value in a.items())
    return bool(a == b)


def _key(value: Any) -> Any:
    """Return something hashable that is equal for equal values."""
    if isinstance(value, np.ndarray):
        return (np.asarray(value, dtype=np.float64) + 0.0).tobytes()  # -0.0 equals 0.0
    if isinstance(value, Sized) and not isinstance(value, str):
        return len(value)
    return value


def _refrozen(value: Any) -> Any:
    """Make arrays read-only again, which pickling and copying forget."""
    for array in value.values() if isinstance(value, Mapping) else (value,):
        if isinstance(array, np.ndarray):
            frozen(array)
    return value

"""Arrow arrays as arrays of numpy.

`pyarrow.Array.to_numpy` imports pandas where it is installed, which takes longer than counting a
million rows; these functions do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["encoded", "flags", "numbers", "picked", "usual"]

_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}


def usual(array: Any) -> Any:
    """Return an array in a type for which Arrow has functions: no views of text, no small floats.

    >>> import pyarrow as pa
    >>> usual(pa.array([1.5], pa.float16())).type
    DataType(float)
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        values = usual(array.dictionary)
        if values is array.dictionary:
            return array
        return pa.DictionaryArray.from_arrays(array.indices, values)
    name = {"string_view": "large_string", "binary_view": "large_binary", "halffloat": "float"}.get(
        str(array.type)
    )
    return array if name is None else array.cast(name)


def numbers(array: Any) -> Any:
    """Return integers or floats without nulls, in general without a copy.

    >>> import pyarrow as pa
    >>> numbers(pa.array([1, 2, 3], pa.int16()).slice(1))
    array([2, 3], dtype=int16)
    """
    name = str(array.type)
    kind = np.dtype(_FLOATS.get(name, name))
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array), dtype=kind)
    return np.frombuffer(data, dtype=kind, count=len(array), offset=array.offset * kind.itemsize)


def flags(array: Any) -> Any:
    """Return booleans without nulls.

    >>> import pyarrow as pa
    >>> flags(pa.array([True, False]))
    array([ True, False])
    """
    import pyarrow as pa

    return numbers(array.cast(pa.uint8())).view(np.bool_)


def picked(array: Any, places: Any) -> Any:
    """Return the values at a few places.

    >>> import pyarrow as pa
    >>> picked(pa.array(["a", "b", "c"]), [2, 0]).to_pylist()
    ['c', 'a']
    """
    import pyarrow as pa

    if not len(places):
        return array.slice(0, 0)
    return pa.concat_arrays([array.slice(int(at), 1) for at in places])


def encoded(array: Any) -> tuple[Any, Any]:
    """Return values that occur, perhaps with others, and the place of each row's among them.

    The place of null is behind the last.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        try:
            array = array.dictionary_encode()
        except pa.ArrowNotImplementedError:  # a type that is rare
            distinct = dict.fromkeys(array.to_pylist())
            distinct.pop(None, None)
            place_of = {value: place for place, value in enumerate(distinct)}
            places = [place_of.get(value, len(place_of)) for value in array.to_pylist()]
            return pa.array(list(distinct), array.type), np.array(places, dtype=np.int64)
    values = array.dictionary
    return values, numbers(array.indices.cast(pa.int64()).fill_null(len(values)))

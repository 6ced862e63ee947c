"""Data frames: objects that are tables become frames of polars, pandas or Arrow, when asked to.

None of the three is needed otherwise, and none is imported before.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from passband.errors import InvalidInput

Kind: TypeAlias = Literal["text", "whole", "number", "yes or no"]
_ARROW = {"text": "string", "whole": "int64", "number": "float64", "yes or no": "bool_"}
_PANDAS = {"text": "object", "whole": "Int64", "number": "Float64", "yes or no": "boolean"}
_POLARS = {"text": "String", "whole": "Int64", "number": "Float64", "yes or no": "Boolean"}


class Framed(ABC):
    """A table of rows, each a mapping, whose columns have names and kinds."""

    @abstractmethod
    def frame_kinds(self) -> Mapping[str, Kind]:
        """Return the kind of each column, in order."""

    @abstractmethod
    def frame_rows(self) -> Iterable[Mapping[str, Any]]:
        """Yield the rows; a cell that is None is empty."""

    def to_arrow(self) -> Any:
        """Return a `pyarrow.Table`; needs pyarrow."""
        arrow = _package("pyarrow")
        kinds = self.frame_kinds()
        schema = arrow.schema(
            [(name, getattr(arrow, _ARROW[kind])()) for name, kind in kinds.items()]
        )
        return arrow.table(self._columns(kinds), schema=schema)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`, with an empty cell as NA or None; needs pandas."""
        pandas = _package("pandas")
        kinds = self.frame_kinds()
        columns = self._columns(kinds)
        series = {n: pandas.Series(columns[n], dtype=_PANDAS[kind]) for n, kind in kinds.items()}
        return pandas.DataFrame(series, columns=list(kinds))

    def to_polars(self) -> Any:
        """Return a `polars.DataFrame`; needs polars."""
        polars = _package("polars")
        kinds = self.frame_kinds()
        schema = {name: getattr(polars, _POLARS[kind]) for name, kind in kinds.items()}
        return polars.DataFrame(self._columns(kinds), schema=schema)

    def _columns(self, kinds: Mapping[str, Kind]) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {name: [] for name in kinds}
        for row in self.frame_rows():
            for name, column in columns.items():
                column.append(_valid(row[name]))
        return columns


def _valid(value: Any) -> Any:
    """Return a cell without half characters, which no frame can hold."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InvalidInput(f"this needs {name}: pip install {name}") from None

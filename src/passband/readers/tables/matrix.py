"""Bare matrices of scores, a row per problem: .npy and .npz files, numbers in CSV or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from passband.errors import InvalidInput, Place
from passband.files import require_file
from passband.readers.groups import Group, Groups, Remark
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.tables.table import groups_of_table, is_number_or_nothing
from passband.stats.data import ROLES, Outcomes, Table, error_prefix

if TYPE_CHECKING:
    from _csv import Reader as CsvReader


def groups_of_matrix(outcomes: Outcomes, options: Options, source: str) -> Groups:
    """Return the outcomes of a matrix as a single group; it has no columns to choose."""
    if names := options.names():
        raise InvalidInput(f"{source}: a matrix without column names; there is no {names[0]!r}.")
    if options.first is not None:
        with error_prefix([source]):
            outcomes = outcomes.first(options.first)
    read_as = Remark("read as a matrix, a row per problem")
    return Groups(source, (), (Group((), outcomes),), (read_as,))


@register_reader("numpy")
class NumpyFile:
    """Reads a matrix, or arrays by name, from a .npy or .npz file."""

    def sniff(self, path: Path) -> bool:
        return path.suffix.lower() in (".npy", ".npz")

    def read(self, path: Path, options: Options) -> Groups:
        """Return the only array as a matrix, or arrays of counts or of columns by their names."""
        require_file(path)
        with error_prefix([str(path)]):
            arrays = _arrays(path)
            outcomes = _outcomes(arrays)
            table = None if outcomes is not None else Table.of(arrays)
        if table is not None:
            return groups_of_table(table, options, str(path))
        assert outcomes is not None
        return groups_of_matrix(outcomes, options, str(path))


def _outcomes(arrays: dict[str, Any]) -> Outcomes | None:
    if len(arrays) == 1:
        return Outcomes.from_array(next(iter(arrays.values())))
    if {"successes", "trials"} <= set(arrays):
        extra = {name: arrays[name] for name in ("problems", "clusters") if name in arrays}
        return Outcomes.from_counts(arrays["successes"], arrays["trials"], **extra)
    return None


def _arrays(path: Path) -> dict[str, Any]:
    """Load the arrays of a file by name, and nothing that would have to be unpickled."""
    try:
        with path.open("rb") as file:
            content = np.load(file, allow_pickle=False)
            return {"": content} if isinstance(content, np.ndarray) else dict(content)
    except Exception as error:  # a broken file can raise anything
        if "pickle" in str(error):
            raise InvalidInput(
                "not a numpy array of numbers; pickled objects are not loaded."
            ) from None
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InvalidInput(f"not a numpy file: {reason}") from None


# -- matrices as text ----------------------------------------------------------------------


def number_rows(path: Path, lines: CsvReader) -> Iterator[list[str]]:
    """Yield the rows of a matrix of numbers; raise `InvalidInput` at any other cell."""
    for row in filter(None, lines):
        for cell in row:
            if not is_number_or_nothing(cell):
                place = Place(path, lines.line_num)
                raise InvalidInput(f"{cell!r} in a matrix of numbers.", place=place)
        yield [cell.strip() for cell in row]


def scores_in(content: Any) -> Outcomes | None:
    """Return the outcomes of a JSON matrix, or of lists of scores by problem; else None."""
    if isinstance(content, list) and content and isinstance(content[0], list):
        return Outcomes.from_array(content)
    if isinstance(content, dict) and content and _is_scores_by_problem(content):
        return Outcomes.from_array(list(content.values()), problems=list(content))
    return None


def _is_scores_by_problem(content: dict[str, Any]) -> bool:
    """Tell {"problem 1": [1, 0], "problem 2": [1]} from columns by name."""
    usual: Sequence[str] = [name for names in ROLES.values() for name in names]
    return not Table(content).matching(usual) and all(
        isinstance(row, list) and all(isinstance(score, int | float | None) for score in row)
        for row in content.values()
    )

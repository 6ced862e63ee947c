"""Plain tables: CSV, TSV, JSON, JSON lines and Parquet files with one row per trial.

The last reader: it takes every file that no other one knows.

Large CSV files become columns of codes, by numpy, where a cell is whatever is between two
delimiters: ASCII without quotes, blank lines, spaces before cells or carriage returns. All others,
and small ones, are left to Python's csv.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from passband.errors import InvalidInput, UnknownName, nearest
from passband.files import (
    ENDINGS,
    check_header,
    form_of,
    joined_cells,
    matching,
    open_delimited,
    read_json,
    read_parquet,
    reading,
    require_file,
)
from passband.readers.groups import Group, Groups, Remark
from passband.readers.options import Options
from passband.readers.tables.texts import PROMPT_NAMES, texts_of
from passband.stats.data import (
    CodedColumn,
    Layout,
    Outcomes,
    Roles,
    Table,
    TableGroup,
    error_prefix,
    number,
)
from passband.types import Ints

if TYPE_CHECKING:
    from _csv import Reader as CsvReader

_WORTHWHILE = 1 << 20  # bytes; smaller files are read in no time
_LARGEST = 1 << 30
_WIDEST = 64  # characters of a cell
_WORD = 8  # characters that are compared together
_KEPT = np.array([(1 << 8 * count) - 1 for count in range(_WORD + 1)], dtype=np.uint64)
_NEWLINE, _SPACE = 10, 32


def coded_columns(
    path: Path, delimiter: str | None, *, least: int = _WORTHWHILE
) -> dict[str, CodedColumn] | None:
    """Return the columns of a file by name; None where it is not as plain as it must be."""
    if path.suffix.lower() == ".gz" or not least <= path.stat().st_size <= _LARGEST:
        return None
    raw = path.read_bytes()
    raw += b"" if raw.endswith(b"\n") else b"\n"
    if not raw.isascii() or any(character in raw for character in (b"\0", b"\r", b'"')):
        return None
    first = raw[: raw.index(b"\n")].decode("ascii")
    mark = delimiter or next((mark for mark in ",;\t" if mark in first), ",")
    header = [name.strip() for name in first.split(mark)]
    data = np.frombuffer(raw + bytes(_WORD), np.uint8)  # so that a word begins at every character
    cells = _cells(data[:-_WORD], ord(mark), len(header))
    if cells is None or not _are_names(header):
        return None
    starts, ends = cells
    return {
        name: _column(data, starts[1:, place], ends[1:, place]) for place, name in enumerate(header)
    }


def is_number_or_nothing(cell: str) -> bool:
    """Return whether a cell could belong to a matrix of numbers."""
    if not cell.strip():
        return True
    try:
        number(cell)
    except ValueError:
        return False
    return True


def _are_names(header: Sequence[str]) -> bool:
    """Return whether a header names columns; one that csv would have to judge does not."""
    return len(set(header)) == len(header) and not any(map(is_number_or_nothing, header))


def _cells(data: NDArray[np.uint8], mark: int, width: int) -> tuple[Ints, Ints] | None:
    """Return where each cell begins and ends, by row and column; None where rows differ."""
    ends = np.flatnonzero((data == mark) | (data == _NEWLINE))
    if len(ends) % width or len(ends) < 2 * width:
        return None
    is_last = (data[ends] == _NEWLINE).reshape(-1, width)
    if not is_last[:, -1].all() or is_last[:, :-1].any():
        return None
    starts = np.concatenate([[0], ends[:-1] + 1])
    if (data[np.minimum(starts, len(data) - 1)] == _SPACE).any():
        return None
    if (ends - starts).max() > _WIDEST or (width == 1 and (ends == starts).any()):
        return None
    return starts.reshape(-1, width), ends.reshape(-1, width)


def _column(data: NDArray[np.uint8], starts: Ints, ends: Ints) -> CodedColumn:
    """Number the distinct cells of a column, eight characters at a time."""
    lengths = ends - starts
    words = -(-int(lengths.max()) // _WORD)
    codes: Ints = np.zeros(len(starts), dtype=np.int64)
    texts = [b""]
    for word in range(words):
        distinct, numbers = _numbered(_words(data, starts + _WORD * word, lengths - _WORD * word))
        together = codes * len(distinct) + numbers
        pairs, codes = _numbered(together)
        parts = [part.tobytes() for part in distinct.astype("<u8")]
        texts = [texts[pair // len(parts)] + parts[pair % len(parts)] for pair in pairs.tolist()]
    return CodedColumn.of_codes([text.rstrip(b"\0").decode("ascii") for text in texts], codes)


def _words(data: NDArray[np.uint8], starts: Ints, lengths: Ints) -> NDArray[np.uint64]:
    """Return up to eight characters from each start on as a number; zeros follow the last."""
    words = np.ndarray(len(data) - _WORD + 1, "<u8", data, strides=(1,))
    last = len(words) - 1
    kept = _KEPT[np.clip(lengths, 0, _WORD)]
    return np.asarray(words[np.minimum(starts, last)] & kept)


def _numbered(values: NDArray[np.uint64 | np.int64]) -> tuple[Ints, Ints]:
    """Return the distinct values, and the number of each row's among them."""
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    if 4 * len(changes) < len(values):  # long runs of one value
        heads = np.concatenate([[0], changes])
        distinct, numbers = _numbered_all(values[heads])
        return distinct, np.repeat(numbers, np.diff(np.append(heads, len(values))))
    return _numbered_all(values)


def _numbered_all(values: NDArray[np.uint64 | np.int64]) -> tuple[Ints, Ints]:
    distinct = np.unique(values)  # sorting alone is several times as fast as with the inverse
    return distinct, np.searchsorted(distinct, values)


MODEL_NAMES = ("model", "model_name", "model_id")
TASK_NAMES = ("task", "task_name", "dataset", "benchmark")


class TableReader:
    """Reads any table, and bare matrices in the same formats."""

    def sniff(self, path: Path) -> bool:
        return form_of(path.name) is not None

    def read(self, path: Path, options: Options) -> Groups:
        """Return the groups of a table, split where it holds several models or tasks."""
        if form_of(path.name) == "parquet" and path.is_file():
            from passband.readers.dataset.reader import count_large_file

            if (groups := count_large_file(path, options)) is not None:
                return groups
        content = read_table(path)
        if isinstance(content, Outcomes):
            from passband.readers.tables.matrix import groups_of_matrix

            return groups_of_matrix(content, options, str(path))
        return groups_of_table(content, options, str(path))


def groups_of_table(table: Table, options: Options, source: str = "") -> Groups:
    """Lay out a table as the options say, and return the outcomes of its groups."""
    with error_prefix([source] if source else []):
        options = _by_prompt(table, options)
        layout = _layout(table, options)
        groups = tuple(_group(layout, group, options) for group in layout.groups())
    return Groups(source or "table", layout.by, groups, tuple(remarks_of(layout)), layout.roles)


def _by_prompt(table: Table, options: Options) -> Options:
    """Return options that cluster by the column of prompts, whatever its name, as `prompt` does."""
    if options.columns.get("cluster") != "prompt" or "prompt" in table.columns:
        return options
    names = table.matching(PROMPT_NAMES)
    return options.choosing("cluster", names[0]) if names else options


def layout_of(path: Path, options: Options) -> Layout | None:
    """Return the layout of a file's table; None for a matrix."""
    content = read_table(path)
    if isinstance(content, Outcomes):
        return None
    with error_prefix([str(path)]):
        return _layout(content, options)


def _layout(table: Table, options: Options) -> Layout:
    return table.layout(
        by=options.by, answers=options.answers, scales=options.scales, first=options.first,
        **options.columns,
    )  # fmt: skip


def names_of(group: TableGroup) -> tuple[str | None, str | None]:
    """Return the task and the model of a group, where columns name them."""
    return names_of_labels(group.labels)


def names_of_labels(labels: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return the task and the model among the labels of columns, where there are some."""
    tasks, models = (matching(labels, names) for names in (TASK_NAMES, MODEL_NAMES))
    return labels[tasks[0]] if tasks else None, labels[models[0]] if models else None


def _group(layout: Layout, group: TableGroup, options: Options) -> Group:
    task, model = names_of(group)
    roles, outcomes, targets, judged = layout.roles, group.outcomes, {}, None
    if texts_of(layout).columns:  # what texts show takes half of the reader, and most have none
        from passband.readers.evidence.table import table_outcomes, table_targets

        outcomes = table_outcomes(layout, group)
        targets = table_targets(layout, group) if options.targets else {}
    if roles.judge is not None or roles.label is not None:
        from passband.readers.judged import judged_rows

        judged = judged_rows(layout, group, options.threshold)
    return Group(group.key, outcomes, task, model, roles.score, targets=targets, judged=judged)


def column_remarks(
    roles: Roles,
    names: Iterable[str],
    by: Sequence[str],
    rivals: Sequence[str],
    unfolded: str = "",
) -> Iterator[Remark]:
    """Yield how the columns were understood, and which others there were to choose."""
    yield Remark(f"columns: {roles}")
    if unfolded:
        yield Remark(unfolded)
    if rivals:
        yield Remark(f"not used as score: {', '.join(rivals)} (choose with --score)")
    runs = [name for name in matching(names, ("run", "run_id")) if name in by]
    if runs and roles.trial is None:
        yield Remark(f"if {runs[0]} numbers the trials of a problem, say --trial {runs[0]}")
    if by:
        yield Remark(f"split by: {', '.join(by)}")


def remarks_of(layout: Layout) -> Iterator[Remark]:
    """Yield how the columns were understood, and what else they could have meant."""
    yield from column_remarks(
        layout.roles, layout.columns, layout.by, layout.rivals, layout.unfolded
    )
    for condition in layout.conditions:
        yield Remark(str(condition), important=True)
    for doubt in layout.doubts:
        yield Remark(doubt, important=True)
    if layout.order.remark:
        yield Remark(layout.order.remark)
    if layout.lone_responses:
        yield Remark(
            f"column resps holds {layout.lone_responses + 1} responses per problem, but column "
            f"{layout.roles.score} one score: a trial each needs {layout.roles.score}_repeats",
            important=True,
        )


# -- files ---------------------------------------------------------------------------------


def read_table(path: Path) -> Table | Outcomes:
    """Read a file of records or columns as a table, and one without column names as a matrix."""
    require_file(path)
    form = form_of(path.name)
    if form is None:
        raise _unknown_ending(path)
    if form in ("csv", "tsv"):
        delimiter = "\t" if form == "tsv" else None
        with reading(path):
            columns = coded_columns(path, delimiter)
        if columns is not None:
            return Table(columns)
        with open_delimited(path, delimiter, strip=True) as lines:
            return _of_lines(path, lines)
    if form == "parquet":
        with _about(path):
            return Table.of(read_parquet(path))
    from passband.readers.tables.matrix import scores_in

    content = read_json(path)
    with _about(path):
        scores = scores_in(content)
        if scores is not None:
            return scores
        if isinstance(content, (list, dict)) and content:
            return Table.of(content)
        got = json.dumps(content)[:60]
        raise InvalidInput(f"need records, columns or rows of scores; got {got}.")


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Prefix the path to an error that does not name it."""
    try:
        yield
    except InvalidInput as error:
        if error.place is not None or str(error).startswith(str(path)):
            raise
        raise type(error)(f"{path}: {error}") from None


def _of_lines(path: Path, lines: CsvReader) -> Table | Outcomes:
    header = [name.strip() for name in next(filter(None, lines), [])]
    if not header:
        raise InvalidInput(f"{path}: the file is empty.")
    if not all(map(is_number_or_nothing, header)):
        check_header(path, lines.line_num, header)
        return _table(path, header, joined_cells(path, lines, len(header)))
    from passband.readers.tables.matrix import number_rows

    rows = [header, *number_rows(path, lines)]
    if _is_written_frame(rows):
        return _table(path, header, [cell for row in rows[1:] for cell in row])
    with _about(path):
        return Outcomes.from_array(
            [[float(cell) if cell else None for cell in row] for row in rows]
        )


def _table(path: Path, header: list[str], cells: list[str]) -> Table:
    """Take the cells of all rows, one row after the other."""
    if not cells:
        raise InvalidInput(f"{path}: there are columns ({', '.join(header)}) but no rows.")
    return Table({name: cells[at :: len(header)] for at, name in enumerate(header)})


def _is_written_frame(rows: list[list[str]]) -> bool:
    """Recognize numbers above the columns and beside the rows, as data frames are written."""
    header, *rest = rows
    return (
        len(header) > 2
        and header == ["", *map(str, range(len(header) - 1))]
        and [row[0] for row in rest] == [str(number) for number in range(len(rest))]
        and all(len(row) == len(header) for row in rest)
    )


def _unknown_ending(path: Path) -> UnknownName:
    ending = path.suffix.lower()
    known = sorted((*ENDINGS, ".npy", ".npz"))
    return UnknownName(
        f"{path}: cannot tell the file type from "
        f"{repr(ending) if ending else 'a name without an ending'}; "
        f"known: {', '.join(known)}.{nearest(ending, known)}"
    )

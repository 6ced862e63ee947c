"""Plain tables: CSV, TSV, JSON, JSON lines and Parquet files with one row per trial.

The last reader: it takes every file that no other one knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

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
from passband.readers.evidence.table import table_outcomes, table_targets
from passband.readers.groups import Group, Groups, Remark
from passband.readers.judged import judged_rows
from passband.readers.options import Options
from passband.readers.tables.csv_codes import coded_columns
from passband.readers.tables.matrix import (
    groups_of_matrix,
    is_number_or_nothing,
    number_rows,
    scores_in,
)
from passband.readers.tables.texts import PROMPT_NAMES
from passband.stats.data import Layout, Outcomes, Roles, Table, TableGroup, error_prefix

if TYPE_CHECKING:
    from _csv import Reader as CsvReader


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
    judged = judged_rows(layout, group, options.threshold)
    outcomes = table_outcomes(layout, group)
    targets = table_targets(layout, group) if options.targets else {}
    return Group(
        group.key, outcomes, task, model, layout.roles.score, targets=targets, judged=judged
    )


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
    """Put the path in front of an error that does not name it."""
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

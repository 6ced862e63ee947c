"""`read_dataset`: the Parquet files of a glob, a folder or an address as one source of trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.readers.dataset.address import DataFile, find_files, masked, require_key
from passband.readers.dataset.batches import DataPart
from passband.readers.dataset.checks import check_trials, condition_remarks
from passband.readers.dataset.counting import Map, count_files
from passband.readers.dataset.outcomes import groups_of_tallies, split_of
from passband.readers.dataset.schema import (
    CountPlan,
    NotCounted,
    Schema,
    plan_of,
    read_schema,
    reason_against,
    refuse_mixed_settings,
    shard_remarks,
)
from passband.readers.dataset.session import DatasetSession, current_session
from passband.readers.groups import Groups, Remark
from passband.readers.options import Options
from passband.readers.tables.table import column_remarks, groups_of_table
from passband.stats.data import Table, error_prefix, score_columns

DATASET = "dataset"
_UNCHECKED = "without a column of trials, rows that are there twice cannot be found"
SMALL = 5_000_000  # rows that are read whole where they cannot be counted


def read_dataset(address: str, options: Options, map: Map | None = None) -> Groups:
    """Return the groups of a data set, counted in memory bounded by its problems.

    The same groups as those of one table with the rows of all files. `map` is called like the
    built-in one, to count files elsewhere; by default it is that of the session.
    """
    session = current_session() or DatasetSession()
    known = session.known(address, options)
    if known is None:
        known = _read(address, options, map or session.map)
        session.read.append((address, options, known))
    return known


def count_large_file(path: Path, options: Options) -> Groups | None:
    """Return the groups of a Parquet file that is too large to be read whole without need.

    None if it is small, or has to be read whole.
    """
    schema = read_schema([DataFile(str(path))])
    if schema.rows <= SMALL or reason_against(schema, options) is not None:
        return None
    with error_prefix([str(path)]):
        try:
            groups = _counted(schema, plan_of(schema, options), options, None)
        except NotCounted:
            return None
    return replace(groups, source=str(path))


def _read(address: str, options: Options, map: Map | None) -> Groups:
    files = find_files(address)
    with error_prefix([masked(address)]):
        schema = read_schema(files)
        if not schema.rows:
            raise InvalidInput("the table is empty.")
        groups = _counted_or_whole(schema, options, map)
        refuse_mixed_settings(schema, groups.by)
        remarks = (*shard_remarks(schema), *groups.remarks)
    return replace(groups, source=masked(address), reader=DATASET, remarks=remarks)


def _counted_or_whole(schema: Schema, options: Options, map: Map | None) -> Groups:
    reason = _of_export(schema, options) or reason_against(schema, options)
    if reason is None:
        try:
            return _counted(schema, plan_of(schema, options), options, map)
        except NotCounted as error:
            reason = str(error)
    if schema.rows > SMALL:
        raise InvalidInput(
            f"{reason}, and {schema.rows:,} rows are too many to be read whole (at most "
            f"{SMALL:,}). {_advice(reason)}"
        )
    return _whole(schema, options)


def _advice(reason: str) -> str:
    if "other than 0 and 1" in reason:
        return "Say which score is a success with --threshold, or give fewer of the files."
    return "Give fewer of the files, or columns with one score of 0 or 1 per row."


def _counted(schema: Schema, plan: CountPlan, options: Options, map: Map | None) -> Groups:
    parts = list(_parts(schema))
    tallies = count_files(parts, plan, map)
    split = split_of(tallies, plan, options.by)
    gaps = check_trials(parts, plan, tallies, split)
    groups = groups_of_tallies(tallies, plan, split)
    remarks = [
        *column_remarks(plan.roles, schema.names, split, _rivals(schema, plan, options)),
        *condition_remarks(parts, schema, plan, tallies, split),
        *_own_remarks(schema, gaps),
    ]
    if plan.roles.trial is None and len(parts) > 1:
        remarks.append(Remark(_UNCHECKED))
    return Groups("", split, tuple(groups), tuple(remarks), plan.roles, is_cut=True)


def _parts(schema: Schema) -> Iterator[DataPart]:
    row = 0
    for footer in schema.footers:
        yield DataPart(footer.file, row, footer.rows, footer.coded)
        row += footer.rows


def _rivals(schema: Schema, plan: CountPlan, options: Options) -> list[str]:
    names = score_columns(dict.fromkeys(schema.names, ()))
    chosen = options.columns.get("score")
    return [] if chosen else [name for name in names if name != plan.roles.score]


def _own_remarks(schema: Schema, gaps: Remark | None) -> Iterator[Remark]:
    count = len(schema.footers)
    empty = sum(not footer.rows for footer in schema.footers)
    without = f", {empty} of them without rows" if empty else ""
    yield Remark(
        f"{count} file{'s' * (count != 1)}{without}, {schema.rows:,} row{'s' * (schema.rows != 1)}"
    )
    if gaps is not None:
        yield gaps


# -- read whole ----------------------------------------------------------------------------


def _of_export(schema: Schema, options: Options) -> str | None:
    """Return why an export of passband that is small is read whole: scorers, statuses, answers."""
    from passband.readers.tables.export import is_export

    if schema.rows <= SMALL and is_export(schema.names):
        return "the trials of an export are read with every scorer"
    return None


def _whole(schema: Schema, options: Options) -> Groups:
    """Read all rows, as one table."""
    from passband.readers.log import Source
    from passband.readers.runs import groups_of_runs
    from passband.readers.tables.export import content_of_export, is_export

    names = [name for name in schema.names if not schema.is_key(name)]
    used = {*options.columns.values(), *options.by}
    score = options.columns.get("score") or next(iter(score_columns(dict.fromkeys(names, ()))), "")
    schema.require_same((name for name in names if _matters(name) or name in used), score)
    table = Table.of(_joined([footer.file for footer in schema.footers], names))
    remarks = tuple(_own_remarks(schema, None))
    if is_export(schema.names):
        content = content_of_export(table, options, Source("export", "", ""))
        if not isinstance(content, Groups):
            content = groups_of_runs(content, options, source="", kind="a log (export)")
    else:
        content = groups_of_table(table, options)
    return replace(content, remarks=(*content.remarks, *remarks))


def _matters(name: str) -> bool:
    """Return whether a column may be given a role, or split, by its name."""
    from passband.files import matching
    from passband.stats.data import ROLES, SPLIT_BY

    return bool(matching([name], [*SPLIT_BY, *(n for names in ROLES.values() for n in names)]))


def _joined(files: Sequence[DataFile], names: Sequence[str]) -> Any:
    import pyarrow as pa

    tables = []
    for file in files:
        with file.opened() as parquet:
            table = parquet.read()
        for name, value in file.keys:
            if name in table.column_names:
                require_key(file, name, value, table[name].unique())
            else:
                table = table.append_column(name, pa.array([value] * len(table), pa.string()))
        tables.append(_decoded(table))
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise InvalidInput(
            f"the files have columns of different types: {str(error).splitlines()[0]}."
        ) from None


def _decoded(table: Any) -> Any:
    """Return a table with plain values for dictionaries and views, which files may have in part."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        kind = {"string_view": pa.large_string(), "halffloat": pa.float32()}.get(str(kind), kind)
        if kind != field.type:
            table = table.set_column(at, field.name, table.column(at).cast(kind))
    return table

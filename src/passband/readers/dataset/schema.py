"""The columns of a data set, and the plan of which of them to count.

Every footer is read and compared before any row is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from passband.errors import InvalidInput
from passband.files import matching
from passband.readers.dataset.address import DataFile, is_address
from passband.readers.groups import Remark
from passband.readers.options import Options
from passband.stats.data import (
    CHOSEN,
    ERROR_NAMES,
    ROLES,
    SPLIT_BY,
    Roles,
    find_roles,
    may_count,
    require_column,
    score_columns,
)
from passband.trials import (
    LOWER_IS_BETTER,
    SETTINGS_KEY,
    RunSettings,
    Shards,
    decode_settings,
    identity_changes,
    join_shards,
)

#: What a column holds, by which files are compared: "integer", "text", "nested", or Arrow's name.
ColumnKind = str
_NUMBERS = frozenset({"integer", "float"})
_REQUESTS = 8
_CODED = 4  # bytes per value, below which texts are not written out


@dataclass(frozen=True)
class Footer:
    """What the end of a file says: its rows, and for each column its kind and smallest values."""

    file: DataFile
    rows: int
    kinds: Mapping[str, ColumnKind]
    types: Mapping[str, str]  #: Arrow's names of the types, for messages
    ranges: Mapping[str, tuple[int, int]]  #: least and greatest integer, where every part has both
    empty: frozenset[str]  #: columns without any value
    coded: frozenset[str]  #: columns of text that are written as dictionaries
    settings: RunSettings = field(default_factory=dict)  #: of the runs that it is an export of


@dataclass(frozen=True)
class Schema:
    """The footers of all files."""

    footers: tuple[Footer, ...]

    @property
    def rows(self) -> int:
        return sum(footer.rows for footer in self.footers)

    @property
    def names(self) -> list[str]:
        """The columns of any file, folders named key=value included."""
        keys = [name for name, _ in self.footers[0].file.keys]
        return list(dict.fromkeys([*(n for f in self.footers for n in f.kinds), *keys]))

    def kind(self, name: str) -> ColumnKind:
        """Return what a column holds; "null" where no file has a value."""
        kinds = {footer.kinds.get(name, "text") for footer in self.footers} - {"null"}
        return "float" if kinds == _NUMBERS else next(iter(kinds), "null")

    def is_key(self, name: str) -> bool:
        """Return whether a column is the name of a folder and of no column."""
        return all(name not in footer.kinds for footer in self.footers)

    def is_empty(self, name: str) -> bool:
        """Return whether a column has no value in any file."""
        return all(f.kinds.get(name) == "null" or name in f.empty for f in self.footers)

    def bounds(self, name: str) -> tuple[int, int] | None:
        """Return the least and the greatest integer of a column, where footers say so."""
        ranges = [f.ranges.get(name) for f in self.footers if f.rows and name not in f.empty]
        known = [pair for pair in ranges if pair is not None]
        if not known or len(known) < len(ranges):
            return None
        return min(low for low, _ in known), max(high for _, high in known)

    def require_same(self, names: Iterable[str], score: str) -> None:
        """Raise `InvalidInput` unless every file has these columns, of the same types.

        Integers of any width are the same, and so are text and dictionaries of text. A score may
        be an integer in one file and a float in another, as data frames write where one is missing.
        """
        for name in names:
            if self.is_key(name):
                continue
            first: Footer | None = None
            for footer in self.footers:
                if name not in footer.kinds:
                    raise InvalidInput(self._lacking(name, footer))
                if footer.kinds[name] == "null":
                    continue
                first = first or footer
                kinds = {first.kinds[name], footer.kinds[name]}
                if len(kinds) > 1 and not (name == score and kinds == _NUMBERS):
                    raise InvalidInput(
                        f"column {name} must have one type in all files; it is "
                        f"{first.types[name]} in {first.file} and {footer.types[name]} in "
                        f"{footer.file}. Write the files again with one type."
                    )

    def refuse_nested(self, names: Iterable[str]) -> None:
        """Raise `InvalidInput` if one of the columns holds lists or records."""
        for name in names:
            for footer in self.footers:
                if footer.kinds.get(name) == "nested":
                    raise InvalidInput(
                        f"column {name} of {footer.file} is nested ({footer.types[name]}); a "
                        "column of names or scores must hold single values."
                    )

    def _lacking(self, name: str, footer: Footer) -> str:
        other = next(each for each in self.footers if name in each.kinds)
        return (
            f"{footer.file} has no column {name}, which {other.file} has; every file of a data "
            "set needs it."
        )


def read_schema(files: Sequence[DataFile]) -> Schema:
    """Read the footers of all files; several at a time where each takes a request."""
    if not is_address(files[0].address):
        return Schema(tuple(map(_footer, files)))
    with ThreadPoolExecutor(_REQUESTS) as pool:
        return Schema(tuple(pool.map(_footer, files)))


def _footer(file: DataFile) -> Footer:
    with file.opened() as parquet:
        schema, metadata = parquet.schema_arrow, parquet.metadata
        if len(set(schema.names)) < len(schema.names):
            raise InvalidInput(f"{file}: column names must be distinct.")
        kinds = {field.name: _kind(field.type) for field in schema}
        types = {field.name: str(field.type) for field in schema}
        ranges, empty = _statistics(metadata, kinds)
        coded = _coded(metadata, [one.name for one in schema if str(one.type) == "string"])
        settings = decode_settings((schema.metadata or {}).get(SETTINGS_KEY))
        rows, absent = metadata.num_rows, frozenset(empty)
        return Footer(file, rows, kinds, types, ranges, absent, coded, settings)


def _statistics(
    metadata: Any, kinds: Mapping[str, ColumnKind]
) -> tuple[dict[str, tuple[int, int]], set[str]]:
    ranges: dict[str, tuple[int, int]] = {}
    flat, groups = _flat(metadata), _row_groups(metadata)
    empty = {name for name in flat if name in kinds}
    for name in list(empty):
        parts = [(group.column(flat[name]).statistics, group.num_rows) for group in groups]
        if not all(s is not None and s.null_count == rows for s, rows in parts):
            empty.remove(name)
        own = [s for s, rows in parts if s is None or s.null_count != rows]
        known = kinds[name] == "integer" and all(s is not None and s.has_min_max for s in own)
        if own and known and all(type(s.min) is int and s.min <= s.max for s in own):
            ranges[name] = min(s.min for s in own), max(s.max for s in own)
    return ranges, empty


def _flat(metadata: Any) -> dict[str, int]:
    """Return the number of each column that has no others in it."""
    return {metadata.schema.column(i).path: i for i in range(metadata.num_columns)}


def _row_groups(metadata: Any) -> list[Any]:
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return [group for group in groups if group.num_rows]


def _coded(metadata: Any, names: Iterable[str]) -> frozenset[str]:
    """Return those of the columns whose pages are, by their size, places in a dictionary."""
    flat, groups = _flat(metadata), _row_groups(metadata)
    coded = set()
    for name in names:
        chunks = [group.column(flat[name]) for group in groups]
        sizes = [chunk.total_uncompressed_size <= _CODED * chunk.num_values for chunk in chunks]
        if all(sizes) and all(chunk.has_dictionary_page for chunk in chunks):
            coded.add(name)
    return frozenset(coded)


def _kind(kind: Any) -> ColumnKind:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return _kind(kind.value_type)
    if types.is_nested(kind):
        return "nested"
    for name, tests in {
        "integer": (types.is_integer,),
        "float": (types.is_floating,),
        "text": (types.is_string, types.is_large_string, *_views(types)),
        "boolean": (types.is_boolean,),
        "null": (types.is_null,),
    }.items():
        if any(test(kind) for test in tests):
            return name
    return str(kind)


def _views(types: Any) -> list[Any]:
    """Return the test of views of text, which older versions of pyarrow do not have."""
    return [types.is_string_view] if hasattr(types, "is_string_view") else []


# -- what exports say of their runs ---------------------------------------------------------


def refuse_mixed_settings(schema: Schema, split: Sequence[str]) -> None:
    """Raise `InvalidInput` if files of one group say that their trials were drawn differently.

    Only files that passband wrote say so. `split` are the columns that set groups apart; those that
    are names of folders set files apart too.
    """
    first: dict[tuple[object, ...], Footer] = {}
    for footer in schema.footers:
        keys = dict(footer.file.keys)
        apart = tuple(keys[name] for name in split if schema.is_key(name))
        for run in footer.settings:
            earlier = first.setdefault((*run, *apart), footer)
            _compare(run, earlier, footer)


def _compare(run: tuple[str, str], earlier: Footer, footer: Footer) -> None:
    old, new = earlier.settings[run].spec, footer.settings[run].spec
    if earlier is footer or old == new:
        return
    if identity_changes(new, old) and (changed := identity_changes(old, new)):
        name, there, here = changed[0]
        folder = name.rpartition(".")[2]
        raise InvalidInput(
            f"{footer.file}: its trials of {run[0]} by {run[1]} were drawn with other settings "
            f"than those in {earlier.file}: {name} is {here} here, {there} there. To count them "
            f"apart, put the files into folders such as {folder}=.../ and give --by {folder}."
        )


def shard_remarks(schema: Schema) -> Iterator[Remark]:
    """Yield a remark on each run of which the files hold some shards and not the others."""
    held: dict[tuple[str, str], Shards | None] = {}
    for footer in schema.footers:
        for run, exported in footer.settings.items():
            try:
                held[run] = (
                    join_shards(held[run], exported.shards) if run in held else exported.shards
                )
            except InvalidInput as error:
                raise InvalidInput(
                    f"{footer.file}: its trials of {run[0]} by {run[1]} are not a shard of the "
                    f"same run: {error}."
                ) from None
    for (task, model), shards in held.items():
        if shards is not None and (words := shards.remark("among these files")):
            yield Remark(f"{task} by {model} is part of a run: {words}", important=True)


# -- what to count -------------------------------------------------------------------------


class NotCounted(Exception):
    """Why the rows of a data set cannot be counted file by file; says what is not possible."""


@dataclass(frozen=True)
class CountPlan:
    """The columns to read, and what their footers say of them; it can be pickled."""

    roles: Roles
    keys: tuple[str, ...]  #: columns that may split the data set, those that were asked for first
    kinds: Mapping[str, str]
    bounds: Mapping[str, tuple[int, int] | None]
    threshold: float | None
    rows: int

    @property
    def columns(self) -> list[str]:
        """The columns of the files that are read."""
        roles = self.roles
        named = [roles.problem, roles.score, roles.trial, roles.status, *self.keys]
        return [name for name in dict.fromkeys(named) if name is not None and name in self.kinds]


def plan_of(schema: Schema, options: Options) -> CountPlan:
    """Find roles and columns to split by from names, and compare all files in these columns."""
    columns: Mapping[str, Sequence[object]] = dict.fromkeys(schema.names, ())
    chosen = {role: name for role, name in options.columns.items() if role != "cluster"}
    roles = find_roles(columns, chosen)
    named = dict.fromkeys(require_column(columns, "--by", name) for name in options.by)
    taken = {*vars(roles).values(), *named}
    keys = (*named, *(name for name in matching(columns, SPLIT_BY) if name not in taken))
    used = [name for name in (*vars(roles).values(), *keys) if name is not None]
    schema.require_same(used, roles.score)
    schema.refuse_nested(name for name in used if name != roles.score)
    real = [name for name in used if not schema.is_key(name)]
    if any(schema.is_key(n) for n in (roles.problem, roles.score, roles.trial, roles.status) if n):
        raise InvalidInput("a folder named key=value can only split a data set, not hold a role.")
    return CountPlan(
        roles,
        keys,
        {name: schema.kind(name) for name in real},
        {name: schema.bounds(name) for name in real},
        options.threshold,
        schema.rows,
    )


def reason_against(schema: Schema, options: Options) -> str | None:
    """Return why a data set cannot be counted, though it may be read whole; None if it can."""
    names = schema.names
    score = options.columns.get("score") or next(
        iter(score_columns(dict.fromkeys(names, ()))), None
    )
    clusters = [options.columns.get("cluster"), *matching(names, ROLES["cluster"])]
    reasons = {
        "votes need the answer of every trial": options.answers,
        "the first trials of each problem are chosen row by row": options.first is not None,
        "a judge's scores are corrected trial by trial": "judge" in options.columns
        or "label" in options.columns,
        "clusters of problems are read row by row": "cluster" in options.columns
        or any(name in names and not schema.is_empty(name) for name in clusters if name),
        "scores of which lower ones are better are cut row by row": options.threshold is not None
        and any(scale.lower_is_better for scale in options.scales.values()),
        "there is no column of scores with one row per trial": score is None,
        "columns may hold counts": score is not None and may_count(names, score),
        "errors keep failures apart row by row": any(
            not schema.is_empty(name) for name in matching(names, ERROR_NAMES)
        ),
        f"column {LOWER_IS_BETTER} says which scores are better": LOWER_IS_BETTER in names,
        "the responses of a sample log (column resps) are read row by row": "resps" in names,
        f"column {CHOSEN} marks an adaptive test": CHOSEN in names and not schema.is_empty(CHOSEN),
    }
    if score is not None:
        reasons["lists of scores are unfolded row by row"] = bool(
            matching(names, (f"{score}_repeats",))
        ) or (score in names and not schema.is_key(score) and schema.kind(score) == "nested")
    return next((reason for reason, holds in reasons.items() if holds), None)

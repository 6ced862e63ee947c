"""The rows of a task's data set: local files (`passband.files.records`) or the Hugging Face hub.

An empty cell of a CSV file is empty text, not a missing value. Only as many rows are read as are
asked for, where the format allows it.

`where`: a condition on the columns of a row, as in ``where: category == "math"``.

A hash of a text and of files, by which a task knows that its data are what they were.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, get_args

from passband.errors import InvalidInput, Place, nearest
from passband.files import Form, form_of, read_records
from passband.tasks.data.disk_list import spooled
from passband.tasks.file.file_access import FileAccess
from passband.tasks.prompt.rendering import Renderer
from passband.tasks.prompt.template import Template

_FORMS: tuple[Form, ...] = get_args(Form)
_OPTIONS = ("data_files", "data_dir", "field", "delimiter", "sep", "column_names", "names")
_HUB_ONLY = ("trust_remote_code", "revision", "cache_dir", "download_mode", "streaming", "token")


@dataclass(frozen=True)
class DataSource:
    """The source of rows: dataset_path, dataset_name and dataset_kwargs of a task."""

    path: str
    place: Place  # of dataset_path, for errors
    folder: Path  # files are looked for relative to it
    name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    is_trusted: bool = False  # whether the task may read any file

    @property
    def reach(self) -> FileAccess:
        """The files that the task may name."""
        return FileAccess(self.folder, self.is_trusted)

    def error(self, message: str) -> InvalidInput:
        return InvalidInput(message, place=self.place)


def read_rows(
    source: DataSource, split: str | None, limit: int | None = None
) -> Sequence[dict[str, Any]]:
    """Read the first `limit` rows of a split, or all; without a split, of the test split.

    A long file is read in blocks, so that its rows are never all in memory.
    """
    with _within_reach(source):
        form, files = _files(source)
    if form is None or any("://" in str(name) for names in files.values() for name in names):
        return _hub_rows(source, split, limit)
    _check_options(source)
    records = _rows(source, form, _of_split(source, files, split))
    rows = spooled(_plain_row(record) for record in islice(records, limit))
    if not rows:
        raise source.error(f"the data set has no rows{f' in split {split!r}' if split else ''}.")
    return rows


def data_files(source: DataSource, split: str | None) -> list[Path] | None:
    """Return the files that the rows of a split are read from; None if they are not files here."""
    with _within_reach(source):
        form, files = _files(source)
        if form is None or any("://" in str(name) for names in files.values() for name in names):
            return None
        names = _of_split(source, files, split)
        return [path for name in names for path in _paths(source, name)]


def plain_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of plain values alone: text, numbers, true and false, null, lists, mappings."""
    return [_plain_row(row) for row in rows]


def _plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        str(name): plain for name, value in row.items() if (plain := _plain(value)) is not _NONE
    }


# -- which files ---------------------------------------------------------------------------

Files = Mapping[str | None, list[str]]  # by split; None means every split


def _files(source: DataSource) -> tuple[Form | None, Files]:
    """Return the form of the data and the files that hold them; no form means the hub."""
    for form in _FORMS:
        if source.path == form:
            return form, _by_split(source, source.options.get("data_files"))
    path = source.folder / source.path
    named = form_of(source.path)
    if named is not None:
        return named, {None: [source.path]}
    if source.path and path.is_dir():
        return _folder(source, path)
    if source.path.startswith((".", "/", "~")):
        raise source.error(f"there is no data file {path}.")
    return None, {}


def _by_split(source: DataSource, data_files: Any) -> Files:
    if data_files is None:
        raise source.error(f"dataset_path {source.path} needs dataset_kwargs.data_files.")
    if isinstance(data_files, Mapping):
        return {str(split): _names(source, names) for split, names in data_files.items()}
    return {None: _names(source, data_files)}


def _names(source: DataSource, data_files: Any) -> list[str]:
    names = data_files if isinstance(data_files, list) else [data_files]
    if not names or not all(isinstance(name, str) for name in names):
        raise source.error(
            "data_files must be a file, a list of files, or files by split; "
            f"got {data_files!r:.60}."
        )
    return names


def _folder(source: DataSource, path: Path) -> tuple[Form | None, Files]:
    """Take a folder's files for its splits: test.jsonl, train.csv, ..."""
    source.reach.resolved(path / "any")
    files = [file for file in sorted(path.iterdir()) if file.is_file() and form_of(file.name)]
    forms = {form_of(file.name) for file in files}
    if len(forms) != 1:
        raise source.error(f"{path} must hold files of one format, such as test.jsonl.")
    splits: Files = {f.name.split(".")[0]: [str(Path(source.path) / f.name)] for f in files}
    return forms.pop(), splits


def _of_split(source: DataSource, files: Files, split: str | None) -> list[str]:
    if None in files:
        return files[None]
    if split is None:
        split = next((name for name in ("test", "validation", "train") if name in files), None)
    if split not in files:
        known = [str(name) for name in files]
        wanted = f"split {split!r}" if split else "test_split, and no split named test"
        raise source.error(
            f"there is no {wanted} in the data.{nearest(split or '', known)} "
            f"Splits: {', '.join(known)}."
        )
    return files[split]


def _paths(source: DataSource, name: str) -> Iterator[Path]:
    """Yield the file of a name, or the files of a pattern."""
    folder = source.folder / str(source.options.get("data_dir") or "")
    if "*" in name:
        source.reach.refuse_pattern(folder, name)
        paths = sorted(_matching(folder, name))
        if not paths:
            raise source.error(f"no data file matches {folder / name}.")
        yield from map(source.reach.resolved, paths)
        return
    path = folder / Path(name).expanduser()
    real = source.reach.resolved(path)
    if not real.is_file():
        raise source.error(f"there is no data file {path}; paths are relative to the task file.")
    yield real


def _matching(folder: Path, pattern: str) -> Iterator[Path]:
    whole = Path(pattern)
    if not whole.is_absolute():
        return folder.glob(pattern)
    return Path(whole.anchor).glob(str(whole.relative_to(whole.anchor)))


@contextmanager
def _within_reach(source: DataSource) -> Iterator[None]:
    """Turn the refusal of a file into an error of the line that names it."""
    try:
        yield
    except OSError as error:
        raise source.error(f"{error}.") from None


def _check_options(source: DataSource) -> None:
    for name in source.options:
        if name not in _OPTIONS and name not in _HUB_ONLY:
            raise source.error(
                f"unknown key {name!r} in dataset_kwargs.{nearest(str(name), _OPTIONS)}"
            )


# -- rows ----------------------------------------------------------------------------------


def _rows(source: DataSource, form: Form, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    options = source.options
    delimiter = options.get("delimiter") or options.get("sep")
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise source.error(f"delimiter must be one character; got {delimiter!r}.")
    field = options.get("field")
    for name in names:
        with _within_reach(source):
            paths = list(_paths(source, name))
        for path in paths:
            yield from read_records(
                path,
                form,
                delimiter=delimiter,
                columns=options.get("column_names") or options.get("names"),
                field=None if field is None else str(field),
            )


# -- the hub -------------------------------------------------------------------------------


def _hub_rows(source: DataSource, split: str | None, limit: int | None) -> Sequence[dict[str, Any]]:
    try:
        import datasets
    except ImportError:
        raise source.error(
            f"{source.path!r} is not a file here; data sets from the Hugging Face hub need "
            "pip install 'passband[datasets]'. A copy of the data is read with --data FILE."
        ) from None
    with _within_reach(source):
        source.reach.refuse_remote(source.path, dict(source.options))
    # A data set is data: no script of a data set is run, whatever the task says.
    options = {**source.options, "trust_remote_code": False}
    try:
        loaded = datasets.load_dataset(source.path, source.name, split=split or "test", **options)
        rows = loaded.select(range(min(limit, len(loaded)))) if limit is not None else loaded
        return spooled(_plain_row(dict(row)) for row in rows)
    except Exception as error:
        # The library raises dozens of kinds: no network, no such name, no such split, a script.
        hint = nearest(source.path, _FORMS) or " A copy of the data is read with --data FILE."
        reason = str(error).rstrip(".")
        raise source.error(f"data set {source.path!r} cannot be loaded: {reason}.{hint}") from error


# -- plain values --------------------------------------------------------------------------

_NONE = object()  # a value that a template cannot show, such as an image


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        pairs = ((str(key), _plain(inner)) for key, inner in value.items())
        return {key: inner for key, inner in pairs if inner is not _NONE}
    if isinstance(value, list | tuple):
        return [inner for inner in map(_plain, value) if inner is not _NONE]
    if isinstance(value, datetime | date | time | Decimal):
        return str(value)
    if hasattr(value, "tolist"):  # numpy
        return _plain(value.tolist())
    return _NONE


T = TypeVar("T")
Row = Mapping[str, Any]

_CHUNK = 256  # rows that are looked at together, where another process looks at them


class Condition:
    """An expression of Jinja over the columns of a row, which holds or does not.

    >>> hard = Condition("level >= 4 and subject != 'Geometry'")
    >>> hard.holds({"level": 5, "subject": "Algebra"})
    True
    """

    def __init__(
        self,
        expression: str,
        place: Place | None = None,
        *,
        name: str = "where",
        trusted: bool = False,
    ) -> None:
        self._place, self._name = place, name
        if not expression.strip() or "{{" in expression or "{%" in expression:
            raise InvalidInput(
                f"{name} must be an expression without braces, such as level == 5; "
                f"got {expression!r:.60}."
            )
        try:
            template = Template(f"{{% if ({expression}) %}}1{{% endif %}}")
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error}") from None
        self._renderer = Renderer(template, trusted=trusted)

    def kept(self, rows: Iterable[tuple[T, Row]]) -> Iterator[tuple[T, Row]]:
        """Yield the pairs whose row the condition holds for."""
        source = iter(rows)
        while chunk := list(islice(source, _CHUNK)):
            self._renderer.expect([row for _, row in chunk])
            yield from (pair for pair in chunk if self.holds(pair[1]))

    def holds(self, row: Row) -> bool:
        """Return whether the condition holds for a row."""
        try:
            return bool(self._renderer.render(row))
        except InvalidInput as error:
            raise InvalidInput(f"{self._name}: {error}", place=self._place) from None


_PIECE = 1 << 20  # bytes


def digest_of(text: str, files: Iterable[Path]) -> str | None:
    """Hash a text and the names and contents of files; return None if one cannot be read."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    try:
        for path in files:
            # The name says how a file is read, and no name holds a zero byte.
            digest.update(b"\0%b\0%d\0" % (os.fsencode(path.name), path.stat().st_size))
            with path.open("rb") as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()

"""Addresses of data sets: globs, folders of Parquet files, and addresses such as s3://bucket/x."""

from __future__ import annotations

import errno
import glob
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from passband.errors import InvalidInput, nearest
from passband.stats.data import label, shortened

ENDING = ".parquet"
_WILD = re.compile(r"[*?\[]")
_PROTOCOL = re.compile(r"^([a-z][a-z0-9+.-]*)(::|://)", re.IGNORECASE)
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # as Hive and Spark name the folder of null


@dataclass(frozen=True)
class DataFile:
    """One file of a data set; it can be pickled, and opened on another machine."""

    address: str
    keys: tuple[tuple[str, str | None], ...] = ()  #: of folders named key=value

    def __str__(self) -> str:
        return masked(self.address)

    @contextmanager
    def opened(self, coded: Collection[str] = (), metadata: Any = None) -> Iterator[Any]:
        """Open the file with pyarrow; whatever goes wrong is an `InvalidInput` with its name.

        Columns that are `coded` are read as dictionaries. With `metadata`, which an earlier
        reading has given, the footer is not read again.
        """
        parquet = _parquet_module(self.address)
        with _errors(self.address), _bytes(self.address) as source:
            try:
                file = parquet.ParquetFile(
                    source,
                    metadata=metadata,
                    read_dictionary=list(coded) or None,
                    page_checksum_verification=True,
                )
            except OSError:
                raise
            except Exception as error:  # a broken file can raise anything
                reason = (str(error) or type(error).__name__).splitlines()[0]
                raise InvalidInput(f"{self}: is not a Parquet file: {reason}") from None
            with file:
                yield file


def is_address(text: str) -> bool:
    """Return whether a text is an address with a protocol.

    >>> is_address("s3://bucket/a.parquet"), is_address("logs/*.parquet")
    (True, False)
    """
    return _PROTOCOL.match(text) is not None


def is_glob(text: str) -> bool:
    """Return whether a text has wildcards and is not the name of a file or folder itself."""
    return not is_address(text) and bool(_WILD.search(text)) and not os.path.lexists(text)


def names_dataset(source: object) -> bool:
    """Return whether a source is the name of a data set: an address, a glob, such a folder."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    text = os.fspath(source)
    return is_address(text) or is_glob(text) or (os.path.isdir(text) and _is_folder(Path(text)))


def masked(address: str) -> str:
    """Return an address without what may be secret: user, password and query.

    >>> masked("https://me:secret@host/a.parquet?token=1"), masked("s3://b/part-?.parquet")
    ('https://***@host/a.parquet?***', 's3://b/part-?.parquet')
    """
    if not is_address(address):
        return address
    shown = re.sub(r"(?<=://)[^/?#]*@", "***@", address)
    return re.sub(r"\?[^?]*=.*", "?***", shown)


def find_files(address: str) -> list[DataFile]:
    """Return the files of a data set, in the order of their names.

    Names that begin with a dot or an underscore are passed over, as other tools do.
    """
    is_remote = is_address(address)
    paths = _remote_paths(address) if is_remote else _distinct(_local_paths(address))
    named = {*address.split("/")}
    kept = [path for path in sorted(paths) if not _is_hidden(path, named)]
    shown = masked(address)
    if not kept:
        raise InvalidInput(f"{shown}: no file matches.{_hint(address)}")
    for path in kept:
        if not _has_ending(path):
            raise InvalidInput(
                f"{shown}: a data set has only {ENDING} files; {masked(path)} is none. "
                f"End the pattern with *{ENDING}."
            )
    files = [DataFile(path, _keys(path)) for path in kept]
    _refuse_other_keys(files)
    return files


def _without_query(path: str) -> str:
    return path.partition("?")[0] if is_address(path) else path


def _has_ending(path: str) -> bool:
    return _without_query(path).lower().endswith(ENDING)


def _is_hidden(path: str, named: Collection[str]) -> bool:
    """Return whether a file, or a folder above it that was not named itself, is passed over."""
    parts = _without_query(path).split("/")
    return not parts[-1] or any(p[:1] in (".", "_") and p not in named for p in parts if p)


def _keys(path: str) -> tuple[tuple[str, str | None], ...]:
    """Return the columns that folders such as step=100 are.

    >>> _keys("logs/model=A/step=100/part-0.parquet")
    (('model', 'A'), ('step', '100'))
    """
    pairs = [part.partition("=") for part in _without_query(path).split("/")[:-1]]
    found = {unquote(name): unquote(value) for name, mark, value in pairs if name and mark}
    return tuple((name, None if value == _NO_VALUE else value) for name, value in found.items())


def _refuse_other_keys(files: Sequence[DataFile]) -> None:
    names = [name for name, _ in files[0].keys]
    for file in files[1:]:
        if [name for name, _ in file.keys] != names:
            raise InvalidInput(
                f"the folders key=value must be the same for every file of a data set; {files[0]} "
                f"has {', '.join(names) or 'none'}, and {file} has "
                f"{', '.join(name for name, _ in file.keys) or 'none'}."
            )


def require_key(file: DataFile, name: str, value: str | None, values: Any) -> None:
    """Raise `InvalidInput` if a column has other values than the folder of its name says."""
    for other in values.to_pylist():
        if not _is_same_label(value, None if other is None else label(other)):
            raise InvalidInput(
                f"{file}: column {name} has {shortened(str(other))}, but the folder is named "
                f"{name}={value}; leave out one of the two."
            )


def _is_same_label(one: str | None, other: str | None) -> bool:
    """Return whether a folder and a value have one label, 007 being 7."""
    if one is None or other is None or one == other:
        return one == other
    try:
        return float(one) == float(other)
    except ValueError:
        return one.lower() == other.lower() and one.lower() in ("true", "false")


# -- this machine --------------------------------------------------------------------------


def _local_paths(address: str) -> list[str]:
    if os.path.isdir(address):
        return list(_files_below(address))
    if os.path.isfile(address):
        return [address]
    if "**" in address:  # which passes over folders that cannot be read
        for _ in _files_below(os.path.dirname(re.split(_WILD, address)[0]) or "."):
            pass
    paths: list[str] = []
    for path in glob.glob(address, recursive=True):
        if not os.path.isdir(path):
            paths.append(path)
        elif _has_ending(path):
            paths += _files_below(path)
    return paths


def _files_below(folder: str) -> Iterator[str]:
    """Yield the Parquet files in a folder and those below; links are followed."""
    for above, folders, names in os.walk(folder, onerror=_refuse_folder, followlinks=True):
        real = os.path.join(os.path.realpath(above), "")
        folders[:] = [
            name
            for name in folders
            if name[:1] not in (".", "_")
            and not real.startswith(os.path.join(os.path.realpath(f"{above}/{name}"), ""))
        ]
        yield from (os.path.join(above, name) for name in names if _has_ending(name))


def _refuse_folder(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise InvalidInput(f"{error.filename}: cannot be read: {error.strerror}.") from None


def _distinct(paths: Iterable[str]) -> list[str]:
    """Leave out names of files that are there under another name, as links are.

    Not where folders named key=value make them different.
    """
    files: dict[object, str] = {}
    for path in sorted(set(paths)):
        try:
            status = os.stat(path)
        except OSError as error:
            if error.errno != errno.ELOOP:  # opening it says what is wrong
                files[path] = path
        else:
            files.setdefault((status.st_dev, status.st_ino, _keys(path)), path)
    return list(files.values())


def _is_folder(path: Path) -> bool:
    """Return whether a folder has Parquet files in it, or in folders named key=value."""
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.name[:1] in (".", "_"):
                continue
            if entry.name.lower().endswith(ENDING):
                return True
            if "=" in entry.name and entry.is_dir() and _is_folder(path / entry.name):
                return True
    return False


def _hint(address: str) -> str:
    """Return the name that was perhaps meant, or that shells leave out nothing of a pattern."""
    if is_address(address):
        return " Look at its spelling, and whether the credentials may list the folder."
    folder = os.path.dirname(re.split(_WILD, address)[0])
    if folder and not os.path.isdir(folder):
        above = os.path.dirname(folder) or "."
        names = os.listdir(above) if os.path.isdir(above) else []
        return f" There is no folder {folder}.{nearest(os.path.basename(folder), names)}"
    return ""


# -- other places --------------------------------------------------------------------------


def _remote_paths(address: str) -> list[str]:
    with _errors(address):
        system, path = _file_system(address)
        if _WILD.search(path) and not _is_web(address):
            found = system.glob(path, detail=True)
            paths = [name for name, info in found.items() if info["type"] != "directory"]
        elif not (_is_web(address) and _has_ending(address)) and system.isdir(path):
            paths = [name for name in system.find(path) if name.lower().endswith(ENDING)]
        else:
            return [address]
        head = address[: len(address) - len(_suffix(address, path))]
        return [head + _suffix(system.unstrip_protocol(name), name) for name in paths]


def _is_web(address: str) -> bool:
    return address.lower().startswith(("http://", "https://"))


def _suffix(address: str, path: str) -> str:
    """Return the end of an address that is the path in its file system."""
    return path if address.endswith(path) else address.partition("://")[2]


def _file_system(address: str) -> Any:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise InvalidInput(
            f"{masked(address)}: addresses need fsspec and pyarrow: pip install fsspec pyarrow."
        ) from None
    return url_to_fs(address)


@contextmanager
def _bytes(address: str) -> Iterator[Any]:
    if not is_address(address):
        yield address
        return
    system, path = _file_system(address)
    with system.open(path, "rb") as file:
        yield file


@contextmanager
def _errors(address: str) -> Iterator[None]:
    """Turn errors of file systems into `InvalidInput`, without secrets of the address."""
    try:
        yield
    except (InvalidInput, GeneratorExit):
        raise
    except Exception as error:  # file systems raise what their services do
        shown = masked(address)
        protocol = address.partition("://")[0]
        reason = _without_secrets(str(error).splitlines()[0] if str(error) else "", address)
        if isinstance(error, ImportError):
            advice = f"{reason.rstrip('.')}; pip install the package it names."
        elif isinstance(error, ValueError) and "rotocol not known" in str(error):
            advice = f"no file system is known for {protocol}://; install the package that has it."
        elif not is_address(address):
            advice = f"cannot be read: {getattr(error, 'strerror', None) or reason}."
        else:
            advice = (
                f"cannot be read ({type(error).__name__}{': ' if reason else ''}{reason}). If it "
                f"needs credentials, give them as the package of {protocol}:// reads them, such as "
                "in the environment."
            )
        raise InvalidInput(f"{shown}: {advice}") from None


def _without_secrets(text: str, address: str) -> str:
    """Take out of a text the parts of an address that are masked.

    >>> _without_secrets("401 for u:pw at host", "https://u:pw@host/x?key=7")
    '401 for *** at host'
    """
    user = re.search(r"://([^/?#]*)@", address)
    query = re.search(r"\?([^?]*=.*)", address)
    secrets = [found[1] for found in (user, query) if found]
    secrets += [part for secret in secrets for part in re.split(r"[:&=]", secret)]
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        if len(secret) > 2 or secret in (user[1] if user else "",):
            text = text.replace(secret, "***")
    return text


def _parquet_module(address: str) -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise InvalidInput(
            f"{masked(address)}: Parquet files need pyarrow: pip install pyarrow."
        ) from None
    return pyarrow.parquet

"""Readers by name: each knows its own files, and says what trials they hold.

A reader of another tool's log is a class with two methods. It is tried before the plain tables:

    @passband.register_reader("evalplus")
    class EvalPlus:
        def sniff(self, path):
            return path.name.endswith("_eval_results.json")

        def read(self, path, options):
            return [Log(task=..., model=..., ...)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from passband.errors import InvalidInput, PassbandError, describe
from passband.log import INFO, event
from passband.readers.signatures import SIGNATURES, Beginning
from passband.registry import Registry

if TYPE_CHECKING:
    from passband.readers.groups import Groups
    from passband.readers.log import Log
    from passband.readers.options import Options


class Reader(Protocol):
    """Reads one kind of file or directory."""

    def sniff(self, path: Path) -> bool:
        """Return whether this is a file of that kind; reads its beginning at most."""

    def read(self, path: Path, options: Options) -> Groups | Sequence[Log]:
        """Return the logs in it, or the outcomes of each group.

        Logs are turned into groups by the caller, who honours the options. A reader that returns
        groups honours options itself: columns of the roles that it lists in an attribute `roles`,
        and names to split by. Options that it has not honoured are refused by the caller.
        """


#: The readers, in the order in which they are tried; plain tables come after all of them.
readers: Registry[Reader] = Registry(
    "reader", homes={name: signature.home for name, signature in SIGNATURES.items()}
)
TABLE = "table"  # the name of the last reader, which is not sniffed for

R = TypeVar("R", bound=type[Any])


def register_reader(name: str) -> Callable[[R], R]:
    """Register a class of readers under a name.

    >>> @register_reader("nothing")
    ... class Nothing:
    ...     def sniff(self, path):
    ...         return path.suffix == ".nothing"
    ...     def read(self, path, options):
    ...         return []
    >>> find_reader(Path("trials.nothing"))[0]
    'nothing'
    >>> readers.remove("nothing")
    """

    def register(cls: R) -> R:
        missing = [method for method in ("sniff", "read") if not hasattr(cls, method)]
        if missing:
            raise InvalidInput(f"the reader {name!r} has no method {missing[0]!r}.")
        readers.add(name, cls())
        return cls

    return register


@contextmanager
def plugin_errors(name: str, path: Path) -> Iterator[None]:
    """Name the reader of a plug-in in an error that it raises and does not explain."""
    try:
        yield
    except PassbandError:
        raise
    except Exception as error:
        plugin = readers.plugin_of(name) if name in readers else None
        if plugin is None:
            raise
        raise InvalidInput(
            f"{path}: the reader {name!r} of the plug-in {plugin} failed: {describe(error)}"
        ) from error


def find_reader(path: Path) -> tuple[str, Reader]:
    """Return the first reader that knows a file, and its name; for others, that of tables."""
    start = Beginning(path)
    for name in readers:  # plug-ins are loaded only if no built-in reader knows the file
        if name in SIGNATURES and not SIGNATURES[name].fits(start):
            continue
        reader = readers.get(name)
        with plugin_errors(name, path):
            if reader.sniff(path):
                event("reader", INFO, file=path, reader=name)
                return name, reader
    from passband.readers.tables.table import TableReader

    event("reader", INFO, file=path, reader=TABLE)
    return TABLE, TableReader()

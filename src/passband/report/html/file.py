"""Write the file of a report, and protect the files that it must not replace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from passband.errors import InvalidInput
from passband.report.html.document import GENERATOR

NAME = "report.html"  #: in a folder
_HEAD = 4_096  # bytes in which a report says that it is one


def target_of(output: Path, sources: Sequence[Path] = (), *, force: bool = False) -> Path:
    """Return the file to write; raise `InvalidInput` if that would lose something.

    A report that is there is replaced, any other file only with `force`, and what the report is
    made from never.
    """
    target = output / NAME if output.is_dir() else output
    if not target.parent.is_dir():
        raise InvalidInput(f"{target}: there is no folder {target.parent}; create it first.")
    if target.resolve() in {source.resolve() for source in sources} or target.suffix == ".sqlite":
        raise InvalidInput(
            f"{target} is what the report would be made from, and would be lost; choose another "
            "name."
        )
    if target.exists() and not force and not is_report(target):
        raise InvalidInput(
            f"{target} is there already and is no report of passband; choose another name, or add "
            "--force to replace it."
        )
    return target


def is_report(path: Path) -> bool:
    """Return whether a file is a report, by the line in its head that says so."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return f'content="{GENERATOR}'.encode() in file.read(_HEAD)


def write_report(target: Path, page: str) -> int:
    """Write a page beside its place and then put it there, whole; return its size in bytes."""
    content = page.encode()
    final = target.resolve()  # a link stays one
    part = final.with_name(f".{final.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(final)
    finally:
        part.unlink(missing_ok=True)
    return len(content)

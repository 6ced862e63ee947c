"""Read and check the files of a command, which are part of its scorer's options.

Content is a text, or `{"base64": ...}` of what is no text, so that options stay plain values.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from passband.errors import InvalidInput

FileContent = str | dict[str, str]  # a text, or {'base64': ...}
_MOST = 4 << 20  # bytes of all files together: they are recorded with the scorer


def read_files(names: object, folder: Path) -> dict[str, FileContent]:
    """Read files in a folder, by their names relative to it; return the option that holds them."""
    if isinstance(names, Mapping):
        return dict(names)
    if not isinstance(names, Sequence) or isinstance(names, str):
        raise InvalidInput(f"files must be a list of names; got {names!r:.80}.")
    return {str(name): _content(str(name), folder) for name in names}


def _content(name: str, folder: Path) -> FileContent:
    _check_name(name)
    path = (folder / name).resolve()
    if folder.resolve() not in path.parents:
        raise InvalidInput(f"file {name!r} leads out of the folder of the task.")
    try:
        if path.stat().st_size > _MOST:
            raise InvalidInput(f"file {name!r} has more than {_MOST} bytes.")
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"file {name!r} cannot be read: {error.strerror}.") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def check_files(files: object) -> dict[str, FileContent]:
    """Return files by name; raise if one cannot be written where a command runs."""
    if not isinstance(files, Mapping):
        raise InvalidInput(
            "files must be names in the folder of a task, or hold the content of each by its "
            f"name; got {files!r:.80}."
        )
    for name in files:
        _check_name(name)
    if sum(len(file_bytes(content)) for content in files.values()) > _MOST:
        raise InvalidInput(f"the files of a command have more than {_MOST} bytes.")
    return dict(files)


def _check_name(name: object) -> None:
    path = PurePosixPath(name) if isinstance(name, str) and "\0" not in name else None
    if path is None or not path.parts or path.is_absolute() or ".." in path.parts:
        raise InvalidInput(f"a file of a command must have a relative name; got {name!r:.80}.")


def file_bytes(content: object) -> bytes:
    """Return the content of a file.

    >>> file_bytes("a"), file_bytes({"base64": "/w=="})
    (b'a', b'\\xff')
    """
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(content["base64"], validate=True)  # type: ignore[index]
    except (TypeError, KeyError, ValueError, binascii.Error):
        raise InvalidInput("the content of a file must be a text or {'base64': ...}.") from None

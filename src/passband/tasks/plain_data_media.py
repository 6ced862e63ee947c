"""Columns of pictures and sounds, which a prompt of text leaves out.

>>> media_columns([{"question": "How many cats?", "image": "cats.png", "answer": 2}])
['image']
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from passband.errors import InvalidInput, UnknownName, nearest
from passband.tasks.plain_data_fields import is_absent

__all__ = ["media_columns", "refuse_media"]

_NAME = re.compile(
    r"(?:image|img|picture|photo|screenshot|audio|sound|video)s?"
    r"(?:_?(?:[0-9]{1,2}|path|file|url|bytes|data|base64|name))?",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"data:(?:image|audio|video)/.*"
    r"|\S{1,500}\.(?:png|jpe?g|gif|webp|bmp|tiff?|wav|mp3|flac|ogg|m4a|mp4|webm|mov)(?:\?\S*)?",
    re.IGNORECASE | re.DOTALL,
)


def media_columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the columns with the name of a picture or a sound, or with nothing but such."""
    are_media: dict[str, bool] = {}
    for row in rows:
        for name, value in row.items():
            if are_media.get(name, True) and not is_absent(value):
                are_media[name] = _is_medium(value) or _is_named(name, value)
    return [name for name, holds in are_media.items() if holds]


def refuse_media(
    media: Sequence[str], used: Collection[str], columns: Sequence[str], ignored: Sequence[str]
) -> None:
    """Raise `InvalidInput` for pictures and sounds that no prompt shows and none may ignore."""
    for name in ignored:
        if name not in columns:
            hint = nearest(name, columns) or f" The columns are {', '.join(columns)}."
            raise UnknownName(f"--ignore-columns: there is no column {name!r}.{hint}")
    unseen = [name for name in media if name not in used and name not in ignored]
    if unseen:
        raise InvalidInput(
            f"column {unseen[0]} holds pictures or sounds, and prompts are text: the model would "
            "be asked about what it never sees. If the problems can be answered without, give "
            f"--ignore-columns {','.join(unseen)}."
        )


def _is_named(name: str, value: Any) -> bool:
    return _NAME.fullmatch(name) is not None and not isinstance(value, bool | int | float)


def _is_medium(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_medium, value))
    if isinstance(value, Mapping):
        return {"bytes", "path"} <= value.keys() or {"array", "sampling_rate"} <= value.keys()
    if isinstance(value, str):
        return _FILE.fullmatch(value.strip()) is not None
    return isinstance(value, bytes | bytearray)

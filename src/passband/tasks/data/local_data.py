"""A local copy of a task's data, named by the user: `--data FILE`, in place of `dataset_path`.

The user names the file, not the task, so it may be anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from passband.errors import InvalidInput, Place, UnknownName, nearest
from passband.files import Form, form_of
from passband.tasks.data.rows import DataSource

_BY_SPLIT = re.compile(r"(?P<split>[A-Za-z0-9_]+)=(?P<path>.+)")
_SHARD = re.compile(r"(?P<split>.+?)(?:-[0-9]{5}-of-[0-9]{5})?\.")  # as files of the hub are named
_FORMATS = "jsonl, json, csv, tsv or parquet, perhaps .gz"

Files = Mapping[str | None, tuple[Path, ...]]  # by split; None means every split


@dataclass(frozen=True)
class LocalData:
    """Files that hold the rows of a task, by split, all of one format."""

    words: tuple[str, ...]  # as they were given
    files: Files
    form: Form

    @classmethod
    def of(cls, words: Sequence[str | Path]) -> LocalData:
        """Read `--data`: a file, a folder with a file for each split, or SPLIT=FILE, repeated."""
        texts = tuple(map(str, words))
        files: dict[str | None, tuple[Path, ...]] = {}
        for text in texts:
            for split, paths in _named(text):
                if split in files or None in files or (split is None and files):
                    raise InvalidInput(
                        "--data names several files; say which split each is, as in "
                        f"--data test={_path_in(text)}."
                    )
                files[split] = paths
        return cls(texts, files, _form([path for paths in files.values() for path in paths]))

    def source(self) -> DataSource:
        """Return the files as the source of a task's rows."""
        first = next(path for paths in self.files.values() for path in paths)
        names = {split: [str(path) for path in paths] for split, paths in self.files.items()}
        by_split = names.get(None, names)
        options = {"data_files": by_split}
        place = Place(_shown(first), 1)
        return DataSource(self.form, place, Path(), options=options, is_trusted=True)

    def check_split(self, task: str, split: str | None, used: str) -> None:
        """Raise if rows of another split are needed, and one file was given for all."""
        if None in self.files:
            name, file = split or "train", _shown(self.files[None][0])
            raise InvalidInput(
                f"{task} takes {used} from split {name!r}, and --data names one file, {file}. Name "
                f"both, as in --data test=FILE --data {name}=FILE, or a folder that holds them."
            )
        if split not in self.files:
            known = [str(name) for name in self.files]
            raise UnknownName(
                f"{task} takes {used} from split {split!r}, and --data has only "
                f"{', '.join(known)}.{nearest(split or '', known)}"
            )


def local_data(words: Sequence[str | Path], tasks: Sequence[str]) -> LocalData | None:
    """Return the data of `--data` for the one task that they are of; None if none are given."""
    if not words:
        return None
    if len(tasks) != 1:
        raise InvalidInput(
            f"--data is a copy of the data of one task; got {len(tasks)}"
            f"{': ' if tasks else '.'}{', '.join(tasks[:5])}{', ...' if len(tasks) > 5 else ''}"
        )
    return LocalData.of(words)


def _shown(path: Path) -> Path:
    """Return a path as the user would write it."""
    with suppress(OSError):  # the working folder was deleted
        folder = Path.cwd()
        return path.relative_to(folder) if path.is_relative_to(folder) else path
    return path


def _path_in(text: str) -> str:
    split = _BY_SPLIT.fullmatch(text)
    return text if split is None else split["path"]


def _named(text: str) -> Iterator[tuple[str | None, tuple[Path, ...]]]:
    split = None if Path(text).exists() else _BY_SPLIT.fullmatch(text)
    path = Path(text if split is None else split["path"]).expanduser()
    if path.is_dir() and split is None:
        yield from _of_folder(path)
    elif not path.is_file():
        raise InvalidInput(f"--data: there is no file {path}.")
    else:
        yield None if split is None else split["split"], (path.absolute(),)


def _of_folder(folder: Path) -> Iterator[tuple[str, tuple[Path, ...]]]:
    """Yield the files of each split: test.jsonl, or test-00000-of-00002.parquet and so on."""
    splits: dict[str, list[Path]] = {}
    for path in sorted(folder.absolute().iterdir()):
        named = _SHARD.match(path.name)
        if path.is_file() and form_of(path.name) is not None and named is not None:
            splits.setdefault(named["split"], []).append(path)
    if not splits:
        raise InvalidInput(f"--data: {folder} holds no data file ({_FORMATS}).")
    for split, paths in splits.items():
        yield split, tuple(paths)


def _form(paths: Sequence[Path]) -> Form:
    for path in paths:
        if form_of(path.name) is None:
            raise InvalidInput(f"--data: {path} is of no known format ({_FORMATS}).")
    forms = {form: path for path in paths if (form := form_of(path.name)) is not None}
    if len(forms) > 1:
        names = " and ".join(path.name for path in forms.values())
        raise InvalidInput(f"--data: {names} have different formats; give files of one.")
    return next(iter(forms))

"""Tasks by name: the built-in ones, those of PASSBAND_TASKS, and those of the working folder.

A name that none of these has is looked up among the tasks of an installed lm-eval.
Looking for tasks reads their YAML and nothing else: no include, no data, no code.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from passband.errors import InvalidInput, UnknownName, nearest
from passband.tasks.diagnostics import raise_errors
from passband.tasks.entry import TaskEntry, TaskGroup, read_entry
from passband.tasks.file.yaml_file import read_yaml
from passband.tasks.lm_eval_index import LmEvalIndex, lm_eval_index

BUILTIN_TASKS = Path(__file__).parent / "builtin"
_ENDINGS = (".yaml", ".yml")
_DATA_ENDINGS = (".csv", ".gz", ".json", ".jsonl", ".ndjson", ".parquet", ".tsv")
_OF_LM_EVAL = ("lm-eval:", "lm_eval:")
_SKIPPED = {"__pycache__", "node_modules", "site-packages"}


def find_task(name_or_path: str | Path) -> Path:
    """Return the file of exactly one task, by its path or its name."""
    entries = find_tasks(name_or_path)
    if len(entries) > 1:
        paths = ", ".join(str(entry.path) for entry in entries[:5])
        dots = ", ..." if len(entries) > 5 else ""
        raise InvalidInput(f"{str(name_or_path)!r} is {len(entries)} tasks: {paths}{dots}.")
    return entries[0].path


def find_tasks(name_or_path: str | Path) -> tuple[TaskEntry, ...]:
    """Return the entries of a task, of all tasks of a group, a tag, or a folder.

    A file that was read on the way is part of its entry, for `load_task`.
    """
    name, path = str(name_or_path), Path(name_or_path)
    if not name.strip():
        raise InvalidInput("the name of a task is empty; give a name, a YAML file or a folder.")
    if name.startswith("inspect:"):
        raise InvalidInput(
            f"{name} is a task of Inspect, which has no task file: run it with passband run."
        )
    if name.startswith(_OF_LM_EVAL):
        return _of_lm_eval(name)
    if path.is_dir() and (isinstance(name_or_path, Path) or not _is_name(name)):
        return _of_folder(path)
    if path.suffix in _ENDINGS or len(path.parts) > 1:
        return _of_file(path)
    own, installed = _Listed(list_tasks(keep=name)), _Installed()
    if path.is_dir() and not own.named(name):
        return _of_folder(path)
    is_own = own.named(name) or own.tagged(name)
    among = (own, installed) if is_own else (installed, own)  # also of the members of a group
    return merged_entries(_named(name, among, ()))


def merged_entries(entries: Iterable[TaskEntry]) -> tuple[TaskEntry, ...]:
    """Return each entry once, with every group that it was found in."""
    merged: dict[TaskEntry, TaskEntry] = {}
    for entry in entries:
        known = merged.setdefault(entry, entry)
        if known is not entry:
            groups = tuple(dict.fromkeys((*known.groups, *entry.groups)))
            merged[entry] = replace(known, groups=groups)
    return tuple(merged.values())


def list_tasks(
    folders: Iterable[Path] | None = None, *, keep: str | None = None
) -> list[TaskEntry]:
    """List every task that can be run by its name, sorted by name; broken files are among them.

    Entries of the name or tag `keep` keep the file as it was read; those of thousands of other
    tasks would only take memory.
    """
    paths = _all_files() if folders is None else (p for f in folders for p in _yaml_files(f, True))
    unique = {path.resolve(): path for path in paths}
    entries = [
        entry if keep is not None and keep in (entry.name, *entry.tags) else _slim(entry)
        for path in unique.values()
        if (entry := read_entry(path)) is not None
    ]
    return sorted(entries, key=lambda entry: (entry.name.lower(), str(entry.path)))


def list_lm_eval_tasks() -> list[TaskEntry]:
    """List the tasks of an installed lm-eval by its index; what their groups hold is not read."""
    index = _installed_index("--lm-eval")
    groups = {*index.groups}
    entries = [
        TaskEntry(name, path, "group" if name in groups else "task")
        for name in index.names
        for path in index.named(name)
    ]
    return sorted(entries, key=lambda entry: (entry.name.lower(), str(entry.path)))


def _slim(entry: TaskEntry) -> TaskEntry:
    return replace(entry, file=None)


# -- files ---------------------------------------------------------------------------------


def _all_files() -> Iterator[Path]:
    yield from _yaml_files(BUILTIN_TASKS, True)
    for folder in os.environ.get("PASSBAND_TASKS", "").split(os.pathsep):
        if folder:
            yield from _yaml_files(Path(folder).expanduser(), True)
    yield from _yaml_files(Path("tasks"), True)
    yield from _yaml_files(Path(), False)


def _yaml_files(folder: Path, deep: bool) -> Iterator[Path]:
    try:
        inside = sorted(os.scandir(folder), key=lambda item: item.name)
    except OSError:
        return
    for item in inside:
        if item.is_file() and item.name.endswith(_ENDINGS):
            yield folder / item.name
        # Links to folders are not followed: they may lead back.
        elif deep and item.is_dir(follow_symlinks=False) and not _is_skipped(item.name):
            yield from _yaml_files(folder / item.name, True)


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED


def _is_name(text: str) -> bool:
    return not any(mark in text for mark in ("/", os.sep, "\\")) and text not in (".", "..")


def _of_folder(folder: Path) -> tuple[TaskEntry, ...]:
    entries = tuple(entry for entry in list_tasks([folder]) if entry.kind != "group")
    if not entries:
        raise InvalidInput(f"there is no task file in {folder}.{_runs_in(folder)}")
    return entries


def _runs_in(folder: Path) -> str:
    """Return a hint, if what a folder holds are runs."""
    held = any(each.is_file() for at in (".", "*") for each in folder.glob(f"{at}/trials.sqlite"))
    return f" It holds recorded runs: passband stats {folder} shows them." if held else ""


def _of_file(path: Path) -> tuple[TaskEntry, ...]:
    if not path.is_file():
        raise InvalidInput(f"there is no task file {path}.{_near_file(path)}")
    if path.suffix in _DATA_ENDINGS:
        raise InvalidInput(_not_a_task(path))
    file = read_yaml(path)
    entry = read_entry(path, file)
    if entry is None:
        return (TaskEntry(path.stem, path, file=file),)
    if entry.kind != "group":
        return (entry,)
    # Members may be beside the group's own file, wherever that is.
    own = _Listed([*list_tasks([path.parent]), *list_tasks()])
    return merged_entries(_members(entry, (own, _Installed()), (entry.name,)))


# -- names ---------------------------------------------------------------------------------


class _Listed:
    """Tasks that were listed."""

    def __init__(self, entries: list[TaskEntry]) -> None:
        self._entries = entries

    def named(self, name: str) -> list[TaskEntry]:
        return [entry for entry in self._entries if entry.name == name]

    def tagged(self, tag: str) -> list[TaskEntry]:
        return [entry for entry in self._entries if tag in entry.tags]

    @property
    def names(self) -> Iterable[str]:
        return (entry.name for entry in self._entries)


class _Installed:
    """Tasks of an installed lm-eval, none if it is not installed."""

    def named(self, name: str) -> list[TaskEntry]:
        index = lm_eval_index()
        return [] if index is None else self._read(name, index.named(name))

    def tagged(self, tag: str) -> list[TaskEntry]:
        index = lm_eval_index()
        return [] if index is None else self._read(tag, index.tagged(tag))

    def _read(self, name: str, paths: Iterable[Path]) -> list[TaskEntry]:
        entries = (read_entry(path) for path in paths)
        return [one for one in entries if one is not None and name in (one.name, *one.tags)]


_Names = tuple[_Listed | _Installed, ...]  # where names are looked up, in this order


def _of_lm_eval(name: str) -> tuple[TaskEntry, ...]:
    """Return tasks of an installed lm-eval, whether or not others have the same name."""
    _installed_index(name)
    return merged_entries(_named(name.partition(":")[2], (_Installed(),), ()))


def _installed_index(wanted_by: str) -> LmEvalIndex:
    index = lm_eval_index()
    if index is None:
        raise InvalidInput(f"{wanted_by}: lm-eval is not installed; pip install lm-eval.")
    return index


def _named(name: str, among: _Names, above: tuple[str, ...]) -> Iterator[TaskEntry]:
    where = next((names for names in among if names.named(name) or names.tagged(name)), None)
    if where is None:
        raise _unknown(name, among)
    candidates = {entry.path.resolve(): entry for entry in where.named(name)}
    if len(candidates) > 1:
        paths = ", ".join(str(entry.path) for entry in candidates.values())
        raise InvalidInput(f"{name!r} is defined by several files: {paths}; give the path of one.")
    if not candidates:
        yield from where.tagged(name)
        return
    entry = next(iter(candidates.values()))
    if entry.kind == "group":
        yield from _members(entry, among, (*above, name))
    else:
        yield entry


def _members(group: TaskEntry, among: _Names, above: tuple[str, ...]) -> Iterator[TaskEntry]:
    if group.diagnostic is not None:
        raise_errors([group.diagnostic])
    below: list[TaskEntry] = []
    for member in group.members:
        name = member if isinstance(member, str) else member.name
        if name in above:
            raise InvalidInput(f"{group.path}: the group {name!r} contains itself.")
        if isinstance(member, str):
            below += _named(member, among, above)
        else:
            below += _members(member, among, (*above, name))
    tasks = merged_entries(below)
    if not group.metrics:
        yield from tasks
        return
    names = tuple(task.name for task in tasks)
    own = TaskGroup(group.name, names, group.metrics, group.alias)
    yield from (replace(task, groups=(own, *task.groups)) for task in tasks)


def _unknown(name: str, among: _Names) -> InvalidInput:
    if Path(name).is_file():
        return InvalidInput(_not_a_task(Path(name)))
    return UnknownName(f"there is no task named {name!r}.{_hint(name, among)}")


def _hint(name: str, among: _Names) -> str:
    own = sorted({known for names in among if isinstance(names, _Listed) for known in names.names})
    index = lm_eval_index()
    near = _near_file(Path(name)) or nearest(name, own)
    near = near or ("" if index is None else index.near(name))
    more = " Those of lm-eval are found where it is installed." if index is None else ""
    return near or f" Known: {', '.join(own[:20]) or 'none'}.{more}"


def _near_file(path: Path) -> str:
    """Return a hint at a file of tasks or data, where a name looks like that of one."""
    if not path.suffix or not path.parent.is_dir():
        return ""
    beside = [each.name for each in path.parent.iterdir()]
    return nearest(
        path.name, filter(lambda each: each.endswith((*_ENDINGS, *_DATA_ENDINGS)), beside)
    )


def _not_a_task(path: Path) -> str:
    if path.suffix in _DATA_ENDINGS:
        return (
            f"{path} is data, not a task file: passband run takes it as it is, and passband init "
            f"{path} writes a task file for it."
        )
    return (
        f"{path} is not a task: a task is a YAML file (.yaml), or data in a file that ends with "
        f"{', '.join(_DATA_ENDINGS)}."
    )

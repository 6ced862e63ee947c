"""Where the trials of an evaluation go: one directory for each of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

from passband.errors import InvalidInput
from passband.run import default_directory
from passband.scorebook.run_spec import RunSpec, folder_name


def run_directories(
    specs: Sequence[RunSpec], out: str | Path | None, experiment_id: str | None
) -> list[Path]:
    """Return a directory for every run.

    Those under a given `out` are the same for the same data set and hyperparameters, so that a
    call with the same `out` goes on where it stopped. Without, every call has a new folder: the
    function may be another one under the same name.
    """
    parent = _new_folder(experiment_id) if out is None else Path(out)
    names: dict[str, int] = {}
    directories = []
    for spec in specs:
        name = folder_name(spec)
        names[name] = names.get(name, 0) + 1
        directories.append(parent / (name if names[name] == 1 else f"{name}-{names[name]}"))
    return directories


def _new_folder(experiment_id: str | None) -> Path:
    parent = default_directory(experiment_id or "evaluate")
    for number in count():
        folder = parent / f"{number:04d}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if not parent.is_dir():
                raise InvalidInput(
                    f"{parent} is not a directory; give another with out=."
                ) from None
            continue
        except NotADirectoryError:
            raise InvalidInput(f"{parent} cannot be made; give a directory with out=.") from None
        return folder
    raise AssertionError("there is always another number")

"""The folders of an EVA run: which of them are trials, and of what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from passband.errors import InvalidInput

RECORDS = "records"
_ATTEMPT = re.compile(r"_(?:failed_attempt|attempt|extra|unvalidated)_\d+$")
_NESTED = re.compile(r"trial_(\d{1,9})$")
_TRIAL = re.compile(r"(.+)[_/]trial_(\d{1,9})$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TrialFolder:
    """The folder of one trial."""

    path: Path
    scenario: str
    trial: int | None

    @property
    def name(self) -> str:
        return self.scenario if self.trial is None else f"{self.scenario}/trial_{self.trial}"


class Folders:
    """The trials of a run, in the order in which the file system lists their folders.

    EVA resamples the scenarios in that order.
    """

    def __init__(self, run: Path) -> None:
        self.left_out: list[str] = []  # attempts that EVA set aside
        self.trials: list[TrialFolder] = []
        try:
            for folder in (run / RECORDS).iterdir():
                self.trials += self._of_record(folder)
        except OSError as error:
            raise InvalidInput(f"{error.filename}: cannot be read: {error.strerror}.") from None

    def _of_record(self, folder: Path) -> Iterator[TrialFolder]:
        if not folder.is_dir():
            return
        if _ATTEMPT.search(folder.name):
            self.left_out.append(folder.name)
            return
        inner = [path for path in sorted(folder.iterdir()) if path.name.startswith("trial_")]
        nested = [path for path in inner if path.is_dir()]
        if not nested:
            yield TrialFolder(folder, *trial_of(folder.name))
        for path in nested:
            match = _NESTED.match(path.name)
            if match and not _ATTEMPT.search(path.name):
                yield TrialFolder(path, folder.name, int(match.group(1)))
            else:
                self.left_out.append(f"{folder.name}/{path.name}")


def trial_of(name: str) -> tuple[str, int | None]:
    """Return the scenario and the trial number in a name of EVA.

    >>> trial_of("1.2.1/trial_0"), trial_of("1.2.1_trial_12"), trial_of("1.2.1")
    (('1.2.1', 0), ('1.2.1', 12), ('1.2.1', None))
    """
    match = _TRIAL.match(name)
    return (match.group(1), int(match.group(2))) if match else (name, None)

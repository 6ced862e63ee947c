"""A run of EVA: its plan, and the records of its trials."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place
from passband.files import parse_json, read_json
from passband.readers.eva.folders import RECORDS, Folders, TrialFolder, trial_of
from passband.readers.eva.record import Record, metric_score
from passband.readers.groups import Remark
from passband.readers.log import Source
from passband.readers.log_builder import Clash

MOST_TRIALS = 1_000_000  #: of a scenario; more is a mistake in config.json
_LOOKED_AT = 64  # folders in which a metrics.json is looked for
_NAMED = 5  # files that are named in a remark
#: What is tested, by the key of config.json that names it; the last two are those of old runs.
_MODELS = ("s2s", "audio_llm", "llm", "realtime_model", "llm_model")
#: Metrics that EVA has renamed, and reads under their new name.
_RENAMED = {
    "agent_turn_response": "conversation_correctly_finished",
    "conversation_finished": "conversation_valid_end",
}


@dataclass(frozen=True)
class EvaRun:
    """The records of a run directory of EVA, in the order of its folders."""

    name: str  #: that of the folder, from which EVA makes its seed
    task: str
    model: str
    source: Source
    records: tuple[Record, ...]
    planned: int  #: trials of each scenario
    remarks: tuple[Remark, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of all metrics, sorted."""
        return tuple(sorted({name for record in self.records for name in record.scores}))

    @property
    def is_repeated(self) -> bool:
        """Whether the trials have numbers."""
        return any(record.trial is not None for record in self.records)


def is_eva_run(path: Path) -> bool:
    """Return whether a directory holds records of EVA; looks at a few folders at most."""
    records = path / RECORDS
    try:
        if not records.is_dir():
            return False
        if (path / "config.json").is_file():
            return True
        folders = [folder for folder in records.iterdir() if folder.is_dir()][:_LOOKED_AT]
        return any(next(folder.glob("**/metrics.json"), None) for folder in folders)
    except OSError:
        return False


def read_eva_run(path: Path, *, skip_bad: bool = False) -> EvaRun:
    """Read a run directory of EVA; with `skip_bad`, bad files are left out and counted."""
    reading = _Reading(path, skip_bad)
    records = reading.records()
    if not any(record.scores for record in records):
        raise InvalidInput(
            f"{path}: no trial has metrics yet: there is no readable metrics.json in {RECORDS}/."
        )
    name = Path(os.path.abspath(path)).name
    config = _config(path)
    planned, remarks = _planned(records, config, path)
    return EvaRun(
        name=name,
        task=str(config.get("domain") or "eva"),
        model=_model(config) or name,
        source=Source("eva", str(path), reading.digest.hexdigest()),
        records=records,
        planned=planned,
        remarks=(*remarks, *reading.remarks()),
        config=config,
    )


class _Reading:
    """Reads the files of a run one by one, and remembers what it leaves out."""

    def __init__(self, path: Path, skip_bad: bool) -> None:
        self.digest = hashlib.sha256()
        self._path = path
        self._skip_bad = skip_bad
        self._folders = Folders(path)
        self._bad: list[str] = []
        self._without: list[str] = []
        self._hashes: dict[str, bytes] = {}

    def records(self) -> tuple[Record, ...]:
        self._refuse_twins()
        records = [self._record(folder) for folder in self._folders.trials]
        for name in sorted(self._hashes):
            self.digest.update(f"{name}\0".encode("utf-8", "surrogatepass") + self._hashes[name])
        return tuple(record for record in records if record is not None)

    def remarks(self) -> list[Remark]:
        remarks = []
        if self._folders.left_out:
            count = _count(len(self._folders.left_out), "folder")
            remarks.append(Remark(f"left out {count} of attempts that are not trials"))
        if self._without:
            text = f"{_count(len(self._without), 'trial')} without a metrics.json: errored"
            remarks.append(Remark(f"{text} ({_listed(self._without)})", important=True))
        if self._bad:
            text = f"left out {_count(len(self._bad), 'metrics.json file')} that cannot be read"
            remarks.append(Remark(f"{text} ({_listed(self._bad)})", important=True))
        return remarks

    def _refuse_twins(self) -> None:
        counts = Counter((folder.scenario, folder.trial or 0) for folder in self._folders.trials)
        for (scenario, trial), count in counts.items():
            if count > 1:
                raise Clash(
                    f"{self._path}: scenario {scenario!r} has trial {trial} in {count} folders; "
                    "remove all but one."
                )

    def _record(self, folder: TrialFolder) -> Record | None:
        path = folder.path / "metrics.json"
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            self._without.append(folder.name)
            return Record(folder.scenario, folder.trial, {}, _failure(folder.path))
        except OSError as error:
            self._leave_out(folder, InvalidInput(f"cannot be read: {error.strerror}."))
            return None
        self._hashes[folder.name] = hashlib.sha256(data).digest()
        try:
            return _parsed(folder, path, data)
        except InvalidInput as error:
            self._leave_out(folder, error)
            return None

    def _leave_out(self, folder: TrialFolder, error: InvalidInput) -> None:
        """Raise the error with the name of the file, or leave the file out."""
        if not self._skip_bad:
            path, message = folder.path / "metrics.json", str(error)
            raise InvalidInput(message if error.place else f"{path}: {message}") from None
        self._bad.append(folder.name)


def _parsed(folder: TrialFolder, path: Path, data: bytes) -> Record:
    try:
        content = parse_json(data.decode("utf-8-sig"), Place(path, 1))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"is not UTF-8 text ({error.reason}).") from None
    if not isinstance(content, dict) or not isinstance(content.get("metrics"), dict):
        raise InvalidInput("is not a file of EVA: it must be a JSON object with 'metrics'.")
    _check_name(folder, content.get("record_id"))
    metrics = content["metrics"]
    for old, new in _RENAMED.items():
        if old in metrics and new in metrics:
            raise InvalidInput(f"has both {new!r} and {old!r}, its former name; remove one.")
    scores = {_RENAMED.get(name, name): metric_score(name, metrics[name]) for name in metrics}
    return Record(folder.scenario, folder.trial, scores)


def _check_name(folder: TrialFolder, name: Any) -> None:
    """Refuse a file that was copied here from another trial."""
    if name is None:
        return
    scenario, trial = trial_of(str(name))
    if scenario != folder.scenario or (trial is not None and trial != (folder.trial or 0)):
        raise InvalidInput(
            f"holds the metrics of record {str(name)!r:.80}, but its folder is that of "
            f"{folder.name!r:.80}; put it where it belongs."
        )


def _failure(folder: Path) -> str:
    """Return why a trial has no metrics, where its result says so."""
    try:
        result = read_json(folder / "result.json", "json")
    except InvalidInput:
        return "no metrics.json"
    error = result.get("error") if isinstance(result, dict) else None
    return f"no metrics.json: {error}"[:500] if error else "no metrics.json"


def _config(path: Path) -> dict[str, Any]:
    file = path / "config.json"
    config = read_json(file, "json") if file.is_file() else {}
    if not isinstance(config, dict):
        raise InvalidInput(f"{file}: must be a JSON object; got {config!r:.60}.")
    return config


def _model(config: Mapping[str, Any]) -> str | None:
    model = config.get("model")
    if not isinstance(model, Mapping):
        return None
    names = (model.get(key) for key in _MODELS)
    return next((name for name in names if isinstance(name, str) and name), None)


def _planned(
    records: tuple[Record, ...], config: Mapping[str, Any], path: Path
) -> tuple[int, tuple[Remark, ...]]:
    """Return how many trials of each scenario were planned."""
    planned = config.get("num_trials")
    if type(planned) is int and planned > MOST_TRIALS:
        raise InvalidInput(
            f"{path / 'config.json'}: num_trials must be at most {MOST_TRIALS:,}; "
            f"got {planned!s:.20}."
        )
    if type(planned) is int and planned > 0:
        return planned, ()
    most = max(Counter(record.scenario for record in records).values())
    text = "config.json does not say how many trials were planned; taken to be"
    return most, (Remark(f"{text} {most}, the most of any scenario"),)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(names: list[str]) -> str:
    names = sorted(names)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more

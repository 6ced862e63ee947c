"""Read logs of Inspect in its formats `.eval` and `.json`, and folders of them.

Nothing of Inspect is imported. In a folder every file is a log of its own; of several attempts at
one evaluation, which share an id, the one that got furthest is read. Of a document in the format
`.json`, one sample at a time is in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place
from passband.files import JsonStream, form_of, reading, text_chunks
from passband.readers.file_head import head_of
from passband.readers.groups import Remark
from passband.readers.inspect.eval_file import Samples, is_eval, read_eval
from passband.readers.inspect.header import InspectHeader, mapping
from passband.readers.inspect.sample import InspectSample
from passband.readers.inspect.trials import InspectTrials
from passband.readers.log import Log, Source
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import LeftOut


def is_inspect_json(path: Path) -> bool:
    """Return whether a JSON file begins as a log of Inspect does."""
    spec = mapping(mapping(head_of(path)).get("eval"))
    return isinstance(spec.get("task"), str) and ("dataset" in spec or "model" in spec)


def read_inspect_json(path: Path, options: Options) -> Log:
    """Return the log in a file."""
    header = InspectHeader.of(_before_samples(path))
    trials = InspectTrials(header, Source.of("inspect", path), options)
    samples = Samples(path, options)
    rest: dict[str, Any] = {}
    remarks = []
    try:
        for number, record in enumerate(_records(path, rest), start=1):
            with samples.checking(Place(path, number)):
                trials.add(InspectSample(record))
    except _Broken as error:
        if not options.skip_bad or not len(trials):
            raise InvalidInput(error.message) from None
        remarks = [Remark(f"the rest of the file is left out: it {error.message}", important=True)]
        rest = {**header.record, **rest}
    return trials.log(InspectHeader.of(rest), [*samples.remarks(), *remarks])


class _Broken(InvalidInput):
    """The document goes no further."""


def _records(path: Path, rest: dict[str, Any]) -> Iterator[Any]:
    """Yield the samples, and put all other fields into `rest`."""
    text = JsonStream(text_chunks(path))
    number = 0
    try:
        for name in text.names():
            if name != "samples":
                _take(text, name, rest)
                continue
            if number:
                raise InvalidInput("has samples twice.")
            if not text.is_list():
                text.skip()
                continue
            for record in text.items():
                number += 1
                yield record
        text.end()
    except InvalidInput as error:
        after = f", after {number} samples" if number else ""
        raise _Broken(error.message.rstrip(".") + f"{after}.") from None


def _before_samples(path: Path) -> dict[str, Any]:
    """Return the fields in front of the samples; if the header is not there, all fields."""
    header: dict[str, Any] = {}
    text = JsonStream(text_chunks(path))
    for name in text.names():
        if name != "samples":
            _take(text, name, header)
        elif "eval" in header:
            break
        else:
            text.skip()
    return header


def _take(text: JsonStream, name: str, fields: dict[str, Any]) -> None:
    if name == "reductions":  # as long as the samples, and follows from them
        text.skip()
    else:
        fields[name] = text.value()


_SNIFFED = 20  # documents of a folder


@register_reader("inspect")
class InspectLog:
    """Reads a log of Inspect, or a folder of them."""

    def sniff(self, path: Path) -> bool:
        if path.is_dir():
            return _holds_logs(path)
        return path.is_file() and _is_log(path)

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the log of a file, or the logs of a folder."""
        if path.is_dir():
            return _folder(path, options)
        return [_log(path, options)]


def _is_log(path: Path) -> bool:
    return is_inspect_json(path) if form_of(path.name) == "json" else is_eval(path)


def _log(path: Path, options: Options) -> Log:
    with _about(path), reading(path):
        if form_of(path.name) == "json":
            return read_inspect_json(path, options)
        return read_eval(path, options)


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Prefix the path to an error that does not name it."""
    try:
        yield
    except InvalidInput as error:
        if error.place is not None or error.message.startswith(str(path)):
            raise
        raise InvalidInput(f"{path}: {error.message}") from None


# -- folders -------------------------------------------------------------------------------


def _holds_logs(folder: Path) -> bool:
    """Return whether a folder holds a log, judging by few of its documents: it may hold many."""
    paths = sorted(folder.iterdir())
    if any(path.suffix.lower() == ".eval" and path.is_file() for path in paths):
        return True
    documents = [path for path in paths if path.suffix.lower() == ".json"]
    return any(path.is_file() and is_inspect_json(path) for path in documents[:_SNIFFED])


def _files(folder: Path) -> Iterator[Path]:
    """Yield the logs that are directly in a folder, by name."""
    with reading(folder):
        paths = sorted(folder.iterdir())
    for path in paths:
        if path.suffix.lower() in (".eval", ".json") and path.is_file() and _is_log(path):
            yield path


class _Files(LeftOut):
    """The files of a folder, by their number."""

    noun = "file"

    def _placed(self, error: InvalidInput, place: Place) -> InvalidInput:
        return InvalidInput(error.message, place=error.place)


def _folder(folder: Path, options: Options) -> list[Log]:
    files = _Files(folder, options)
    logs = []
    for number, path in enumerate(_files(folder), start=1):
        with files.checking(Place(folder, number)):
            logs.append(replace(_log(path, options), log=path.name))
    kept = _last_attempts(logs)
    remarks = [*files.remarks(), *_earlier(logs, kept)]
    return [replace(log, remarks=(*log.remarks, *remarks * (log is kept[0]))) for log in kept]


def _last_attempts(logs: Sequence[Log]) -> list[Log]:
    """Return one log for each evaluation: of several attempts, the one that got furthest."""
    best: dict[tuple[str, str, str], Log] = {}
    for log in logs:
        about = log.settings["inspect"]
        key = (log.task, log.model, str(about.get("task_id") or log.log))
        if key not in best or _progress(log) > _progress(best[key]):
            best[key] = log
    return list(best.values())


def _progress(log: Log) -> tuple[bool, int, str]:
    about = log.settings["inspect"]
    return about["status"] == "success", len(log.rows), str(about.get("created") or "")


def _earlier(logs: Sequence[Log], kept: Sequence[Log]) -> Iterator[Remark]:
    names = [log.log for log in logs if not any(log is other for other in kept)]
    if names:
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        noun = "1 log is" if len(names) == 1 else f"{len(names)} logs are"
        yield Remark(
            f"{noun} left out, as attempts at an evaluation of which another log got further, or "
            f"copies of it ({shown})",
            important=True,
        )

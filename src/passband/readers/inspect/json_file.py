"""Logs of Inspect in its format `.json`: one document, of which only a sample is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place
from passband.files import JsonStream, text_chunks
from passband.readers.file_head import head_of
from passband.readers.groups import Remark
from passband.readers.inspect.eval_file import Samples
from passband.readers.inspect.header import InspectHeader, mapping
from passband.readers.inspect.sample import InspectSample
from passband.readers.inspect.trials import InspectTrials
from passband.readers.log import Log, Source
from passband.readers.options import Options


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

"""Reports of SWE-bench: which instances of one run are resolved, `MODEL.RUN_ID.json`.

    {"total_instances": 3, "submitted_instances": 2, "resolved_instances": 1, ...,
     "completed_ids": [...], "incomplete_ids": [...], "empty_patch_ids": [...],
     "resolved_ids": [...], "unresolved_ids": [...], "error_ids": [...], "schema_version": 2}

A report is one trial of each instance. A folder of reports is read as repeated trials of each
model, whose name is that of the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from passband.errors import InvalidInput, Place
from passband.files import read_json, reading
from passband.readers.fields import part, texts
from passband.readers.file_head import head_of
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import LogBuilder
from passband.readers.names import UNKNOWN, plain_name
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import LeftOut
from passband.stats.data import UNIT

_NAME = "swe-bench"
_TASK = "SWE-bench"
_SCORER = "resolved"
_KEYS = {"submitted_instances", "resolved_instances", "completed_ids"}
_SNIFFED = 20  # files of a folder that are looked at before it is not recognized
_CLASSES = ("resolved_ids", "unresolved_ids", "empty_patch_ids", "error_ids", "incomplete_ids")


class _Report(NamedTuple):
    path: Path
    digest: str
    ids: Mapping[str, Sequence[str]]  # by class
    infrastructure: frozenset[str]
    ambiguous: int
    reasons: Mapping[str, Any]

    @property
    def model(self) -> str:
        return plain_name(self.path).rpartition(".")[0] or UNKNOWN


class _Reports(LeftOut):
    noun = "report"


@register_reader(_NAME)
class SweBench:
    """Reads a report, or a folder of them."""

    def sniff(self, path: Path) -> bool:
        if path.is_dir():
            return any(map(_is_report, islice(_documents(path), _SNIFFED)))
        return _is_report(path)

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the trials of each model, one per report."""
        files = [file for file in _documents(path) if _is_report(file)] if path.is_dir() else [path]
        bad, by_model = _Reports(path, options), dict[str, list[_Report]]()
        for number, file in enumerate(files, start=1):
            with bad.checking(Place(file, number)):
                report = _report(file)
                by_model.setdefault(report.model, []).append(report)
        return [_log(path, model, found, bad.remarks()) for model, found in by_model.items()]


def _documents(folder: Path) -> Iterator[Path]:
    with reading(folder):
        yield from sorted(file for file in folder.iterdir() if file.suffix.lower() == ".json")


def _is_report(path: Path) -> bool:
    head = head_of(path)
    return isinstance(head, dict) and head.keys() >= _KEYS


def _report(path: Path) -> _Report:
    content = read_json(path, "json")
    try:
        if not isinstance(content, dict):
            raise InvalidInput("is not a report of SWE-bench.")
        ids = {name: texts(content, name) for name in _CLASSES}
        _refuse_twins(ids)
        return _Report(
            path,
            Source.of(_NAME, path).sha256,
            ids,
            frozenset(texts(content, "infra_failure_ids")),
            len(texts(content, "ambiguous_failure_ids")),
            part(content, "failure_reasons"),
        )
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error.message}") from None


def _refuse_twins(ids: Mapping[str, Sequence[str]]) -> None:
    places: dict[str, str] = {}
    for name, instances in ids.items():
        for instance in instances:
            if instance in places:
                both = f"{places[instance]} and in {name}"
                raise InvalidInput(f"{instance!r} is in {both}; an instance has one outcome.")
            places[instance] = name


def _log(path: Path, model: str, reports: Sequence[_Report], bad: Sequence[Remark]) -> Log:
    builder = LogBuilder(_TASK, model, _source(path, reports), (_SCORER,))
    for number, report in enumerate(reports):
        for name, instances in report.ids.items():
            for instance in instances:
                _add(builder, number, report, name, instance)
    remarks = [*bad, *_remarks(reports)]
    return builder.log(remarks=remarks, planned=len(reports), scales={_SCORER: UNIT})


def _add(builder: LogBuilder, number: int, report: _Report, name: str, instance: str) -> None:
    if name == "incomplete_ids":  # no prediction: a trial that is missing
        builder.problem(instance)
    elif name == "error_ids" or (name == "unresolved_ids" and instance in report.infrastructure):
        reason = report.reasons.get(instance)
        error = reason if isinstance(reason, str) else "SWE-bench has recorded no reason"
        builder.add(instance, number, "errored", error=error)
    else:
        builder.add(instance, number, scores={_SCORER: name == "resolved_ids"})


def _source(path: Path, reports: Sequence[_Report]) -> Source:
    if len(reports) == 1:
        return Source(_NAME, str(path), reports[0].digest)
    first: dict[str, str] = {}
    for report in reports:
        if report.digest in first:
            names = f"{first[report.digest]} and {report.path.name}"
            raise InvalidInput(f"{path}: {names} are the same report; remove one of them.")
        first[report.digest] = report.path.name
    return Source(_NAME, str(path), hashlib.sha256("".join(first).encode()).hexdigest())


def _remarks(reports: Sequence[_Report]) -> Iterator[Remark]:
    if len(reports) > 1:
        names = ", ".join(report.path.name for report in reports[:3])
        names += ", ..." if len(reports) > 3 else ""
        yield Remark(
            f"{len(reports)} reports ({names}) are read as {len(reports)} trials of each instance, "
            "which is right if they are runs of one setting",
            important=True,
        )
    yield from _unscored(reports)
    for name, count in (
        ("in ambiguous_failure_ids", sum(report.ambiguous for report in reports)),
        ("with an empty patch", sum(len(report.ids["empty_patch_ids"]) for report in reports)),
    ):
        if count:
            yield Remark(f"counted as unresolved: {_instances(count)} {name}")


def _unscored(reports: Sequence[_Report]) -> Iterator[Remark]:
    errors = sum(len(report.ids["error_ids"]) for report in reports)
    if errors:
        yield Remark(
            f"no score: {_instances(errors)} with an error, which may be a patch that cannot be "
            "applied or a container that failed; SWE-bench counts all as unresolved, as --policy "
            "fail does",
            important=True,
        )
    broken = sum(len(one.infrastructure & set(one.ids["unresolved_ids"])) for one in reports)
    if broken:
        yield Remark(
            f"no score: {_instances(broken)} in infra_failure_ids; SWE-bench counts them as "
            "unresolved",
            important=True,
        )


def _instances(count: int) -> str:
    return "1 instance" if count == 1 else f"{count} instances"

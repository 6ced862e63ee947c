"""Entering labels: what people said of trials becomes an ordinary scorer of the run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place
from passband.readers import BY_HAND, UNKNOWN_DESIGN
from passband.run.label.resolve import ResolvedRow, Resolver
from passband.run.label.sheet import (
    Ticket,
    is_empty,
    label_word,
    parse_label,
    parse_scale,
    read_sheet,
)
from passband.trials import RunRecord, ScorerEntry, ScoreRow, ScorerRecord, Store, Trials

Scale = tuple[float, float]


@dataclass(frozen=True)
class LabelRequest:
    """How labels are read."""

    labeller: str | None = None
    column: str = "label"
    scale: Scale | None = None  #: None: as before, else pass and fail
    by_hand: bool = False  #: whether a person chose the trials
    replace: bool = False  #: whether labels may change
    tasks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class EnteredLabels:
    """What was entered into the runs."""

    scorer: str
    labels: int  #: in the file
    new: int
    changed: int
    empty: int  #: rows without a label yet
    design: str


def label_name(labeller: str | None) -> str:
    """Return the name of the scorer of a labeller.

    >>> label_name(None), label_name("ann")
    ('label', 'label-ann')
    """
    return "label" if labeller is None else f"label-{labeller}"


def enter_labels(
    directories: Sequence[Path], path: Path, request: LabelRequest | None = None
) -> EnteredLabels:
    """Enter the labels of a file; all of them or, if anything is wrong with one, none."""
    request = request or LabelRequest()
    rows = list(read_sheet(path, request.column))
    resolver = Resolver(directories, request.tasks, request.models)
    try:
        found = [resolver.resolve(row) for row in rows]
        entries = [
            _Entry(directory, run, scale, labels, _stored(resolver.trials(run), run, request))
            for directory, run in resolver.runs
            for scale in [_scale(run, request)]
            if (labels := _labels([one for one in found if one.run is run], scale))
        ]
        if not entries:
            raise InvalidInput(
                f"{path}: no row has a label yet; fill in the column {request.column}."
            )
        counts = [_compared(entry, request, path) for entry in entries]
    finally:
        resolver.close()
    for entry in entries:
        _write(entry, request, _file(path))
    count = sum(len(entry.labels) for entry in entries)
    return EnteredLabels(
        label_name(request.labeller),
        count,
        sum(new for new, _ in counts),
        sum(changed for _, changed in counts),
        sum(is_empty(one.label) for one in found),
        _design(next(iter(entries[0].labels.values())).ticket, request),
    )


@dataclass(frozen=True)
class _Labelled:
    """The label of one trial, and where it was read."""

    value: float
    place: Place
    ticket: Ticket | None


@dataclass(frozen=True, eq=False)
class _Entry:
    """The labels of one run."""

    directory: Path
    run: RunRecord
    scale: Scale | None
    labels: Mapping[tuple[int, int], _Labelled]
    stored: Mapping[tuple[int, int], ScoreRow]  # labels that are there


def _stored(
    trials: Trials, run: RunRecord, request: LabelRequest
) -> dict[tuple[int, int], ScoreRow]:
    record = _record(run, request)
    if record is None:
        return {}
    return {(problem, trial): score for problem, trial, score in trials.scores(record.number)}


def _labels(rows: Iterable[ResolvedRow], scale: Scale | None) -> dict[tuple[int, int], _Labelled]:
    """Return the labels of a run by problem and trial; refuse two that differ."""
    labels: dict[tuple[int, int], _Labelled] = {}
    for row in rows:
        try:
            value = parse_label(row.label, scale)
        except InvalidInput as error:
            raise InvalidInput(str(error), place=row.place) from None
        if value is None:
            continue
        first = labels.setdefault(row.number, _Labelled(value, row.place, row.ticket))
        if first.value != value:
            raise InvalidInput(
                f"problem {row.key!r:.60}, trial {row.number[1]} is labelled "
                f"{label_word(value, scale)} here and {label_word(first.value, scale)} in line "
                f"{first.place.line}; remove one of them.",
                place=row.place,
            )
    return labels


def _scale(run: RunRecord, request: LabelRequest) -> Scale | None:
    """Return the scale of a run's labels; one that differs from that of earlier labels is refused.

    A scale from 0 to 1 is that of pass and fail.
    """
    wanted = parse_scale(request.scale)
    record = _record(run, request)
    if record is None:
        return wanted
    before = (record.spec or {}).get("scale")
    known = None if before is None else (float(before[0]), float(before[1]))
    if wanted is not None and wanted != known:
        has = "pass and fail" if known is None else f"numbers from {known[0]:g} to {known[1]:g}"
        raise InvalidInput(
            f"{run.task}: the labels of {record.name} are {has}; labels of another scale need "
            "another name, with --labeller."
        )
    return known


def _record(run: RunRecord, request: LabelRequest) -> ScorerRecord | None:
    name = label_name(request.labeller)
    record = next((scorer for scorer in run.scorers if scorer.name == name), None)
    if record is not None and not record.is_label:
        raise InvalidInput(
            f"{run.task} has a scorer named {name!r} that holds no labels; name these after their "
            "labeller with --labeller."
        )
    return record


def _compared(entry: _Entry, request: LabelRequest, path: Path) -> tuple[int, int]:
    """Return how many labels are new, and how many differ from earlier ones, if that is allowed."""
    changed = 0
    for number, label in entry.labels.items():
        before = entry.stored.get(number)
        if before is None or before.value is None or before.value == label.value:
            continue
        if not request.replace:
            raise InvalidInput(
                f"this trial was labelled {label_word(before.value, entry.scale)} before and is "
                f"{label_word(label.value, entry.scale)} here; {_advice(entry, request, path)}",
                place=label.place,
            )
        changed += 1
    return sum(number not in entry.stored for number in entry.labels), changed


def _advice(entry: _Entry, request: LabelRequest, path: Path) -> str:
    """Return what to do about other labels: a file that was read before is that one, corrected."""
    record = _record(entry.run, request)
    files = [] if record is None else (record.spec or {}).get("files", [])
    if any(file.get("file") == path.name for file in files):
        return "--replace takes the new label."
    by = f"labels by {request.labeller}" if request.labeller else "labels without a name"
    return f"{by} are there already. Another person's need a name: --labeller NAME."


def _write(entry: _Entry, request: LabelRequest, file: Mapping[str, Any]) -> None:
    store = Store(entry.directory)
    try:
        with store.transaction():
            others = [_kept(scorer) for scorer in entry.run.scorers]
            own = _scorer_entry(entry, request, file)
            kept = [one for one in others if one.name != own.name]
            numbers = store.set_scorers(entry.run.number, [*kept, own])
            store.add_scores(
                (*number, _score(numbers[-1], label, entry.stored.get(number), request))
                for number, label in entry.labels.items()
            )
    finally:
        store.close()


def _kept(record: ScorerRecord) -> ScorerEntry:
    return ScorerEntry(record.name, record.identity, record.spec)


def _score(
    scorer: int, label: _Labelled, before: ScoreRow | None, request: LabelRequest
) -> ScoreRow:
    """Return the label as a score; a trial that was drawn once stays one, whoever names it next."""
    design = _design(label.ticket, request)
    chance = None if label.ticket is None else f"p={label.ticket.probability!r}"
    if before is not None and design in (BY_HAND, UNKNOWN_DESIGN) and before.detail is not None:
        design, chance = before.rule or design, before.detail
    return ScoreRow(scorer, label.value, "ok", None, design, chance)


def _design(ticket: Ticket | None, request: LabelRequest) -> str:
    if request.by_hand:
        return BY_HAND
    return UNKNOWN_DESIGN if ticket is None else ticket.design


def _scorer_entry(entry: _Entry, request: LabelRequest, file: Mapping[str, Any]) -> ScorerEntry:
    """Return the scorer of the labels: how they were drawn, and the files that they came from."""
    name = label_name(request.labeller)
    record = _record(entry.run, request)
    before: Mapping[str, Any] = {} if record is None else record.spec or {}
    files = [one for one in before.get("files", ()) if one.get("sha256") != file["sha256"]]
    drawn = {} if request.by_hand else _drawn(entry.labels.values())
    return ScorerEntry(
        name,
        f"label\nby: {request.labeller or ''}",
        {
            **before,
            "function": "label",
            "name": name,
            "options": {},
            "steps": [],
            "labeller": request.labeller,
            "scale": None if entry.scale is None else list(entry.scale),
            "bounds": [0.0, 1.0] if entry.scale is None else list(entry.scale),
            **drawn,
            "files": [*files, {**file, "labels": len(entry.labels)}],
        },
    )


def _drawn(labels: Iterable[_Labelled]) -> dict[str, Any]:
    """Return the draw of the labels: that of the most trials, which the others are part of."""
    tickets = [label.ticket for label in labels if label.ticket is not None]
    if not tickets:
        return {}
    last = max(tickets, key=lambda ticket: ticket.drawn)
    return {
        "design": last.design, "seed": last.seed, "judge": last.judge, "drawn": last.drawn,
        "problems": last.problems, "trials": last.trials,
    }  # fmt: skip


def _file(path: Path) -> dict[str, str]:
    return {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}

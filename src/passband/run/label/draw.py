"""Drawing the trials to label, and keeping those that are labelled when more are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from passband.errors import InvalidInput
from passband.readers import label_scorers
from passband.run.label.enter import label_name
from passband.run.label.frame import SamplingFrame, fingerprint, frame_of
from passband.run.label.sheet import (
    SheetRow,
    Ticket,
    UnlabelledRow,
    digest_of,
    label_word,
    read_sheet,
    write_sheet,
)
from passband.stats.interval import seed_of
from passband.stats.judged import Design, draw_labels
from passband.summary import runs_with_trials
from passband.trials import Trials

_Key = tuple[str, str, int]  # fingerprint of the run, problem, trial


@dataclass(frozen=True)
class DrawRequest:
    """Which trials to draw, and how."""

    count: int = 100  #: of each run, those that are labelled already among them
    design: Design | None = None  #: None: as before, else "spread"
    seed: int | str | None = None  #: None: as before, else from the name of the task
    each: int | None = None  #: labels in each problem of the design "problem"
    scorer: str | None = None  #: that labels are to correct
    labeller: str | None = None
    tasks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class DrawnSheet:
    """What was written for the labeller."""

    path: Path
    rows: int
    labelled: int  #: of them, by earlier labels
    trials: int  #: that they were drawn from
    judges: tuple[str, ...]
    design: str
    seed: int


def draw_sheet(
    directories: Sequence[Path], path: Path, request: DrawRequest | None = None
) -> DrawnSheet:
    """Draw trials of every chosen run, and write the file for their labeller.

    Trials that are labelled, in the store or in the file that is there, stay with their labels.
    """
    request = request or DrawRequest()
    earlier = _earlier(path)
    drawn: list[_Drawn] = []
    for directory in directories:
        with Trials(directory) as trials:
            for run in runs_with_trials(trials, request.tasks, request.models):
                frame = frame_of(trials, run, request.scorer, label_name(request.labeller))
                drawn.append(_draw(frame, request, earlier))
    _refuse_foreign(path, earlier, {one.fingerprint for one in drawn})
    rows = [row for one in drawn for row in one.rows]
    rows.sort(key=lambda row: (row[0], row[1].ticket.answer))  # models take turns, unseen
    write_sheet(path, [row for _, row in rows])
    return DrawnSheet(
        path,
        len(rows),
        sum(bool(row.label) for _, row in rows),
        sum(one.frame_size for one in drawn),
        tuple(dict.fromkeys(one.judge for one in drawn)),
        drawn[0].design,
        drawn[0].seed,
    )


@dataclass(frozen=True)
class _Drawn:
    """The rows of one run, by their place in the draw."""

    fingerprint: str
    judge: str
    design: str
    seed: int
    frame_size: int
    rows: Sequence[tuple[int, UnlabelledRow]]


def _earlier(path: Path) -> dict[_Key, SheetRow]:
    """Return the rows of the file that is there, by trial."""
    if not path.exists():
        return {}
    rows = list(read_sheet(path))
    if any(row.ticket is None for row in rows):
        raise InvalidInput(
            f"{path} is there, and `passband label` did not write it; give another name with -o."
        )
    return {
        (row.ticket.run, row.ticket.problem, row.ticket.trial): row
        for row in rows
        if row.ticket is not None
    }


def _refuse_foreign(path: Path, earlier: Mapping[_Key, SheetRow], known: set[str]) -> None:
    for (run, *_), row in earlier.items():
        if run not in known:
            raise InvalidInput(
                f"{path} holds trials of another run; give another name with -o.", place=row.place
            )


def _draw(frame: SamplingFrame, request: DrawRequest, earlier: Mapping[_Key, SheetRow]) -> _Drawn:
    name = fingerprint(frame.run)
    mine = {key[1:]: row for key, row in earlier.items() if key[0] == name}
    before = _draw_before(frame, mine, request)
    design, seed = _settled(frame, request, before)
    judged = frame.scores.judged
    problems = [judged.problems[at] for at in judged.problem]
    drawn = draw_labels(
        problems,
        judged.trial,
        min(request.count, judged.n_trials),
        seed=seed,
        design=design,
        score=judged.score,
        threshold=judged.threshold,
        each=request.each,
    )
    ticket = Ticket(
        "", 0, name, frame.judge.name, design, seed, len(drawn.rows), judged.n_problems,
        judged.n_trials, 1.0, "",
    )  # fmt: skip
    labels = _labels(frame, mine, request)
    rows: list[tuple[int, UnlabelledRow]] = []
    for order, (at, chance) in enumerate(zip(drawn.rows, drawn.probability, strict=True)):
        place = problems[at], int(judged.trial[at])
        rows.append((order, _row(frame, place, ticket, float(chance), labels.pop(place, ""))))
    kept = [(len(rows), _kept(frame, place, mine, ticket, text)) for place, text in labels.items()]
    return _Drawn(name, frame.judge.name, design, seed, judged.n_trials, [*rows, *kept])


def _row(
    frame: SamplingFrame, place: tuple[str, int], ticket: Ticket, chance: float, label: str
) -> UnlabelledRow:
    reading = frame.reading(*place)
    own = replace(
        ticket,
        problem=place[0],
        trial=place[1],
        probability=chance,
        answer=digest_of(reading.answer),
    )
    return UnlabelledRow(*place, reading.question, reading.answer, label, own)


def _kept(
    frame: SamplingFrame,
    place: tuple[str, int],
    mine: Mapping[tuple[str, int], SheetRow],
    ticket: Ticket,
    label: str,
) -> UnlabelledRow:
    """Return the row of a labelled trial that is not drawn now, as it was drawn then."""
    row = _row(frame, place, ticket, 1.0, label)
    known = mine.get(place)
    if known is not None and known.ticket is not None:
        return replace(row, ticket=known.ticket)
    chances = frame.scores.labels.probabilities if frame.scores.labels else {}
    return replace(row, ticket=replace(row.ticket, probability=chances.get(place, 1.0)))


def _labels(
    frame: SamplingFrame, mine: Mapping[tuple[str, int], SheetRow], request: DrawRequest
) -> dict[tuple[str, int], str]:
    """Return the labels that there are, as they are written: those of the file, then the store's.

    Labels of another labeller, and of trials that were chosen by hand, are not among them.
    """
    texts: dict[tuple[str, int], str] = {}
    stored = frame.scores.labels
    if stored is not None and stored.name == label_name(request.labeller):
        scale = _scale(frame, stored.name)
        if frame.scores.judged.design not in ("chosen", "unknown"):
            texts = {place: label_word(value, scale) for place, value in stored.values.items()}
    written = {place: str(row.label) for place, row in mine.items() if row.label not in (None, "")}
    return texts | written


def _scale(frame: SamplingFrame, name: str) -> tuple[float, float] | None:
    scale = (frame.run.scorer(name).spec or {}).get("scale")
    return None if scale is None else (scale[0], scale[1])


def _draw_before(
    frame: SamplingFrame, mine: Mapping[tuple[str, int], SheetRow], request: DrawRequest
) -> tuple[str, int] | None:
    """Return the design and the seed that trials of this run were drawn with, if any were."""
    for row in mine.values():
        if row.ticket is not None:
            return row.ticket.design, row.ticket.seed
    own = label_name(request.labeller)
    records = sorted(label_scorers(frame.run), key=lambda record: record.name != own)
    for record in records:  # another labeller's draw: both label the same trials
        spec = record.spec or {}
        if spec.get("seed") is not None and spec.get("judge") == frame.judge.name:
            return str(spec["design"]), int(spec["seed"])
    return None


def _settled(
    frame: SamplingFrame, request: DrawRequest, before: tuple[str, int] | None
) -> tuple[Design, int]:
    """Return the design and the seed; other ones than before would mix two draws."""
    seed = seed_of(request.seed)
    if before is None:
        named = seed_of(f"labels of {frame.run.task}")
        assert named is not None
        return request.design or "spread", named if seed is None else seed
    design, known = before
    if request.design not in (None, design) or seed not in (None, known):
        raise InvalidInput(
            f"{frame.name}: labels were drawn by the design {design!r} with the seed {known}; "
            "another draw cannot be added to them. Leave out --design and --seed, or label under "
            "another name with --labeller."
        )
    return design, known  # type: ignore[return-value]

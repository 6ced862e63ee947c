"""The JSON of what a summary says of a judge."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from passband.notes import Note, Severity
from passband.stats import Over
from passband.summary.judged.result import JudgeResult, Labeller


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NoteModel(_Model):
    """A note in the JSON of a summary."""

    code: str
    text: str
    severity: Severity = "remark"

    def note(self) -> Note:
        """Return the note."""
        return Note(self.code, self.text, self.severity)


class PricesModel(_Model):
    """Prices of what makes a judged number better."""

    label: float | None
    vote: float | None
    trial: float | None
    problem: float | None


class _Rate(_Model):
    value: float | None
    low: float
    high: float
    count: int | None
    of: int | None


class _Agreement(_Model):
    n_labels: int
    n_failed: int
    sensitivity: _Rate
    specificity: _Rate
    passed_right: _Rate
    failed_wrong: _Rate
    agree: _Rate
    ac1: _Rate
    kappa: _Rate
    judge_rate: float
    label_rate: float
    level: float
    notes: list[NoteModel]


class _Purchase(_Model):
    kind: Literal["labels", "votes", "trials", "problems"]
    amount: int
    cost: float | None
    variance: float
    se: float
    gain: float | None


class _Split(_Model):
    metric: str
    over: Over
    n_problems: int
    n_trials: int
    n_labels: int
    between: float | None
    within: float | None
    residual: float
    variance: float
    se: float
    share_between: float | None
    share_within: float | None
    share_judge: float
    vote_variance: float | None
    reliability: float | None
    explained: float
    worth: float
    purchases: list[_Purchase]
    notes: list[NoteModel]


class _Labeller(_Model):
    name: str
    n_labels: int
    n_shared: int
    agreement: _Agreement | None


class JudgeModel(_Model):
    """A judge in the JSON of a summary."""

    scorer: str
    model: str | None
    n_trials: int
    n_failed: int
    pass_rate: float | None
    bracket: tuple[float, float] | None
    labels: str | None
    n_labels: int
    n_labelled_problems: int
    n_by_hand: int
    design: str | None
    n_drawn: int | None
    is_corrected: bool
    agreement: _Agreement | None
    split: _Split | None
    labellers: list[_Labeller]


def note_json(note: Note) -> dict[str, str]:
    """Return a note as JSON has it; a severity only where it is more than a remark."""
    values = note._asdict()
    return values if note.severity != "remark" else {k: values[k] for k in ("code", "text")}


def judge_json(judge: JudgeResult) -> dict[str, Any]:
    """Return a judge as JSON-serialisable values."""
    values: dict[str, Any] = _plain(asdict(judge))
    return values


def _plain(value: Any) -> Any:
    """Return notes and tuples as JSON has them, all the way down."""
    if isinstance(value, Note):
        return note_json(value)
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value


def judge_from(model: JudgeModel) -> JudgeResult:
    """Return the judge that a summary was written with."""
    parts: dict[str, Any] = {
        "agreement": _agreement(model.agreement),
        "split": _split(model.split),
        "labellers": tuple(
            Labeller(**dict(one) | {"agreement": _agreement(one.agreement)})
            for one in model.labellers
        ),
    }
    return JudgeResult(**dict(model) | parts)


def _agreement(model: _Agreement | None) -> Any:
    from passband.stats.judged import JudgeAgreement, Rate

    if model is None:
        return None
    values: dict[str, Any] = {
        name: Rate(**dict(value)) if isinstance(value, _Rate) else value
        for name, value in dict(model).items()
    }
    return JudgeAgreement(**values | {"notes": tuple(each.note() for each in model.notes)})


def _split(model: _Split | None) -> Any:
    from passband.stats.judged import JudgedSplit, NextData

    if model is None:
        return None
    purchases = tuple(NextData(**dict(one)) for one in model.purchases)
    return JudgedSplit(
        **dict(model)
        | {"purchases": purchases, "notes": tuple(each.note() for each in model.notes)}
    )

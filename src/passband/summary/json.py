"""The JSON of a summary: its versions, its pydantic models, its schema.

Version 1 has no adaptive tests and no certificates. Version 2 adds `adaptive` to the groups of such
tests and `certificate` to estimates that have one, and is written only where there is one, so that
programs which read version 1 read all others. So are `combined`, `weights`, `population`, and the
`bracket`, `incomplete` and `programs` of groups. Version 3 adds `judge` to groups and to the
request, with `label` and `prices`, and is written only where scores are a judge's. Version 4 adds
`evidence` to groups, `accept` and `first` to the request, `lower_is_better` to lines, and a
`severity` to notes that are more than remarks, and is written only where there are some.

The schema is in the package as schema.json; ``python -m passband.summary.json`` prints it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from passband.errors import InvalidInput
from passband.readers import Remark
from passband.stats import Over
from passband.stats.data import Evidence, Policy
from passband.stats.interval import Certificate, Estimate, LawCoverage
from passband.stats.judged import Prices
from passband.summary.judged.wire import (
    JudgeModel,
    NoteModel,
    PricesModel,
    judge_from,
    judge_json,
    note_json,
)
from passband.summary.program_outcomes import ProgramResult
from passband.summary.summary import (
    AdaptiveResult,
    Combined,
    Group,
    Line,
    Request,
    ScorerCounts,
    Summary,
)
from passband.summary.unscored_range import Bracket
from passband.summary.until import UntilResult

KIND = "summary"
VERSION = 1
EXTENDED_VERSION = 2  # of summaries with keys that version 1 does not have
JUDGED_VERSION = 3  # of those with scores of a judge
EVIDENCE_VERSION = 4  # of those with findings about their data
_OPTIONAL = ("stopped_after", "cap", "certify", "weights", "population")
_OF_JUDGES = ("judge", "label", "prices")
_OF_EVIDENCE = ("accept", "first")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _LawCoverage(_Model):
    law: str
    coverage: float
    sets: int


class _Certificate(_Model):
    level: float
    coverage: float
    low: float
    high: float
    se: float
    sets: int
    laws: list[_LawCoverage]
    seed: int
    unseen: str
    z: float | None
    uncalibrated: float | None


class _Estimate(_Model):
    metric: str
    value: float
    low: float | None
    high: float | None
    se: float | None
    level: float
    over: Over
    method: str
    n_problems: int
    n_trials: int
    left_out: int
    n_unscored: int
    policy: Policy
    seed: int | None
    notes: list[NoteModel]
    certificate: _Certificate | None = None


class _Line(_Model):
    metric: str
    scorer: str | None
    estimate: _Estimate | None
    reason: NoteModel | None
    name: str | None
    filter: str | None
    reduction: str | None
    lower_is_better: bool = False


class _Scorer(_Model):
    name: str
    ok: int
    no_answer: int
    error: int
    timeout: int
    no_verdict: int = 0


class _Step(_Model):
    key: str
    reason: str
    score: float | None
    trials: int
    theta: float
    se: float
    information: float
    difficulty: float
    is_random: bool
    probability: float | None


class _Adaptive(_Model):
    bank: str
    hash: str
    split: str
    model: str
    n_bank: int
    stop: str | None
    path: list[_Step]


class _Until(_Model):
    half_width: float
    most: int
    metric: str
    over: Over
    level: float
    proof: bool
    start: int
    reason: Literal["reached", "most", "floor"] | None
    rounds: int
    n_problems: int
    n_trials: int
    value: float | None
    low: float | None
    high: float | None
    reached: float | None
    needed: int | None
    left_out: int
    against: str = ""


class _Bracket(_Model):
    metric: str
    low: float
    high: float


class _Programs(_Model):
    outcomes: dict[str, int]
    missing: int
    again: int
    gained: int
    lost: int
    low: float | None
    high: float | None
    late: int


class _Group(_Model):
    task: str | None
    model: str | None
    by: dict[str, str]
    n_problems: int
    n_trials: int
    statuses: dict[str, int]
    is_binary: bool
    trials_per_problem: tuple[int, int]
    n_clusters: int | None
    retried: int
    scorers: list[_Scorer]
    notes: list[NoteModel]
    lines: list[_Line]
    adaptive: _Adaptive | None = None
    until: _Until | None = None
    bracket: _Bracket | None = None
    incomplete: dict[str, int] = {}
    judge: JudgeModel | None = None
    programs: _Programs | None = None
    evidence: dict[str, Any] | None = None


class _Combined(_Model):
    name: str
    weighting: Literal["equal", "size", "given"]
    strata: list[str]
    lines: list[_Line]
    by: dict[str, str]
    weights: dict[str, float] | None


class _Remark(_Model):
    text: str
    important: bool


class _Summary(_Model):
    """A summary of recorded trials, as passband writes it."""

    passband: Literal["summary"]
    version: Literal[1, 2, 3, 4]
    source: str
    metrics: list[str]
    over: Over
    method: str
    level: float
    policy: Policy
    seed: int | str | None
    stopped_after: int | None = None
    cap: int | None = None
    certify: bool | None = None
    calibrate: bool = False
    weights: str | dict[str, float] | None = None
    population: int | None = None
    judge: str | None = None
    label: str | None = None
    prices: PricesModel | None = None
    accept: list[str] = []
    first: int | None = None
    columns: dict[str, str | None]
    remarks: list[_Remark]
    groups: list[_Group]
    combined: list[_Combined] = []


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a summary."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_Summary.model_json_schema(),
        "title": "passband summary",
    }


def as_json(summary: Summary) -> dict[str, Any]:
    """Return a summary as JSON-serialisable values."""
    return {
        "passband": KIND,
        "version": _version(summary),
        "source": summary.source,
        **_request_json(summary.request),
        "metrics": list(summary.request.metrics),
        "columns": dict(summary.columns),
        "remarks": [remark._asdict() for remark in summary.remarks],
        "groups": [group_json(group) for group in summary.groups],
        **({"combined": list(map(_combined_json, summary.combined))} if summary.combined else {}),
    }


def _version(summary: Summary) -> int:
    """Return the oldest version that has every key: readers refuse keys that they do not know."""
    request = summary.request
    if _has_evidence(summary):
        return EVIDENCE_VERSION
    if any(getattr(request, name) is not None for name in _OF_JUDGES):
        return JUDGED_VERSION
    if any(group.judge for group in summary.groups):
        return JUDGED_VERSION
    is_extended = any(getattr(request, name) is not None for name in _OPTIONAL) or any(
        group.adaptive
        or group.until
        or group.bracket
        or group.incomplete
        or group.programs
        or any(scorer.no_verdict for scorer in group.scorers)
        for group in summary.groups
    )
    is_extended |= request.calibrate
    is_extended |= any(line.estimate and line.estimate.certificate for _, line in summary.lines())
    is_extended |= bool(summary.combined)
    return EXTENDED_VERSION if is_extended else VERSION


def _has_evidence(summary: Summary) -> bool:
    if any(getattr(summary.request, name) for name in _OF_EVIDENCE):
        return True
    found = [note for group in summary.groups for note in group.notes]
    found += [note for _, line in summary.lines() for note in line.notes]
    found += [
        note for combined in summary.combined for line in combined.lines for note in line.notes
    ]
    if any(line.lower_is_better for _, line in summary.lines()):
        return True
    return any(group.evidence for group in summary.groups) or any(
        note.severity != "remark" for note in found
    )


def _request_json(request: Request) -> dict[str, Any]:
    """Return the request; what version 1 does not have only where it says so."""
    values = asdict(request)
    return {
        key: value
        for key, value in values.items()
        if not (key in (*_OPTIONAL, *_OF_JUDGES) and value is None)
        and not (key in ("calibrate", *_OF_EVIDENCE) and not value)
    }


def to_json(summary: Summary) -> str:
    """Return a summary as JSON text: the same bytes for the same summary."""
    return json.dumps(as_json(summary), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def from_json(text: str | bytes) -> Summary:
    """Read a summary; raise `InvalidInput` for another version or another kind of JSON."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not a passband summary: not JSON ({error}).") from None
    if not isinstance(values, dict) or values.get("passband") != KIND:
        raise InvalidInput("not a passband summary: 'passband' must be 'summary'.")
    if values.get("version") not in (
        VERSION, EXTENDED_VERSION, JUDGED_VERSION, EVIDENCE_VERSION,
    ):  # fmt: skip
        raise InvalidInput(
            f"the summary has version {values.get('version')!r}; this passband reads versions "
            f"{VERSION} to {EVIDENCE_VERSION}. Write it again with `passband stats RUN --json`."
        )
    try:
        model = _Summary.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"not a passband summary: {where}: {first['msg']}.") from None
    return _summary(model)


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON-serialisable values."""
    parts = ("notes", "certificate")
    certificate = estimate.certificate
    return {
        **{name: getattr(estimate, name) for name in _Estimate.model_fields if name not in parts},
        "notes": [note_json(note) for note in estimate.notes],
        **({} if certificate is None else {"certificate": asdict(certificate)}),
    }


def _line_json(line: Line) -> dict[str, Any]:
    return {
        "metric": line.metric,
        "scorer": line.scorer,
        "name": line.name,
        "filter": line.filter,
        "reduction": line.reduction,
        "estimate": None if line.estimate is None else estimate_json(line.estimate),
        "reason": None if line.reason is None else note_json(line.reason),
        **({"lower_is_better": True} if line.lower_is_better else {}),
    }


def group_json(group: Group) -> dict[str, Any]:
    """Return a group as JSON-serialisable values."""
    plain = ("task", "model", "n_problems", "n_trials", "is_binary", "n_clusters", "retried")
    return {
        **{name: getattr(group, name) for name in plain},
        "by": dict(group.by),
        "trials_per_problem": list(group.trials_per_problem),
        "statuses": dict(group.statuses),
        "scorers": [_scorer_json(scorer) for scorer in group.scorers],
        "notes": [note_json(note) for note in group.notes],
        "lines": [_line_json(line) for line in group.lines],
        **({} if group.adaptive is None else {"adaptive": _adaptive_json(group.adaptive)}),
        **({} if group.until is None else {"until": asdict(group.until)}),
        **({} if group.bracket is None else {"bracket": asdict(group.bracket)}),
        **({"incomplete": dict(group.incomplete)} if group.incomplete else {}),
        **({} if group.judge is None else {"judge": judge_json(group.judge)}),
        **({} if group.programs is None else {"programs": asdict(group.programs)}),
        **({} if group.evidence is None else {"evidence": group.evidence.as_json()}),
    }


def _scorer_json(scorer: ScorerCounts) -> dict[str, Any]:
    """Return the counts of a scorer; verdicts that are missing only where some are."""
    values = asdict(scorer)
    return values if scorer.no_verdict else {k: n for k, n in values.items() if k != "no_verdict"}


def _combined_json(combined: Combined) -> dict[str, Any]:
    return {
        "name": combined.name,
        "weighting": combined.weighting,
        "strata": list(combined.strata),
        "by": dict(combined.by),
        "weights": None if combined.weights is None else dict(combined.weights),
        "lines": [_line_json(line) for line in combined.lines],
    }


def _adaptive_json(test: AdaptiveResult) -> dict[str, Any]:
    return {**vars(test), "path": [step._asdict() for step in test.path]}


def _line(model: _Line) -> Line:
    estimate = None
    if model.estimate is not None:
        parts = {
            "notes": tuple(each.note() for each in model.estimate.notes),
            "certificate": _certificate(model.estimate.certificate),
        }
        estimate = Estimate(**dict(model.estimate) | parts)
    reason = None if model.reason is None else model.reason.note()
    return Line(**dict(model) | {"estimate": estimate, "reason": reason})


def _certificate(model: _Certificate | None) -> Certificate | None:
    if model is None:
        return None
    laws = tuple(LawCoverage(**dict(law)) for law in model.laws)
    return Certificate(**dict(model) | {"laws": laws})


def _group(model: _Group) -> Group:
    return Group(
        **dict(model)
        | {
            "scorers": tuple(ScorerCounts(**dict(scorer)) for scorer in model.scorers),
            "notes": tuple(each.note() for each in model.notes),
            "lines": tuple(map(_line, model.lines)),
            "adaptive": None if model.adaptive is None else _adaptive(model.adaptive),
            "until": None if model.until is None else UntilResult(**dict(model.until)),
            "bracket": None if model.bracket is None else Bracket(**dict(model.bracket)),
            "judge": None if model.judge is None else judge_from(model.judge),
            "programs": None if model.programs is None else ProgramResult(**dict(model.programs)),
            "evidence": None if model.evidence is None else Evidence.from_json(model.evidence),
        }
    )


def _adaptive(model: _Adaptive) -> AdaptiveResult:
    from passband.adaptive import Step

    path = tuple(Step(**dict(step)) for step in model.path)
    return AdaptiveResult(**dict(model) | {"path": path})


def _combined(model: _Combined) -> Combined:
    return Combined(
        **dict(model) | {"strata": tuple(model.strata), "lines": tuple(map(_line, model.lines))}
    )


def _summary(model: _Summary) -> Summary:
    request = Request(
        tuple(model.metrics), model.over, model.method, model.level, model.policy, model.seed,
        model.stopped_after, model.cap, model.certify, model.calibrate, model.weights,
        model.population, model.judge, model.label,
        None if model.prices is None else Prices(**dict(model.prices)), tuple(model.accept),
        model.first,
    )  # fmt: skip
    groups = tuple(map(_group, model.groups))
    remarks = tuple(Remark(remark.text, remark.important) for remark in model.remarks)
    combined = tuple(map(_combined, model.combined))
    return Summary(model.source, request, groups, remarks, model.columns, combined)


if __name__ == "__main__":
    print(json.dumps(schema(), indent=2))

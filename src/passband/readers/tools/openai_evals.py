"""Logs of OpenAI evals: one event per line, between a specification and a final report.

    {"spec": {"completion_fns": ["gpt-4"], "eval_name": "sums.dev.v0", "run_id": "2311...", ...}}
    {"run_id": ..., "event_id": 0, "sample_id": "sums.dev.0", "type": "sampling", "data": {...}}
    {"run_id": ..., "event_id": 1, "sample_id": "sums.dev.0", "type": "match", "data": {...}}
    {"final_report": {"accuracy": 0.5}, "run_id": ...}

The trials of a sample are its `match` events, in order; where it has none, its `metrics` events. A
sample with an `error` event and no score has errored. The events of several samples alternate, so
the file is read twice: for the scores, and for the texts beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.readers.file_head import first_record
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import LogBuilder, LogBuilders
from passband.readers.names import plain_name
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Lines
from passband.stats.data import UNIT

_EVENT = {"run_id", "event_id", "sample_id", "type", "data"}
_SPEC = {"completion_fns", "eval_name"}
_LIKELY = ("accuracy", "score", "correct")  # metrics that are the main score, if there is no match
_LARGEST = 1e300  # of a number that can be computed with

SampleKey = tuple[str, str]  # of the run and the sample


@dataclass
class _Sample:
    """The scores, the text and the error in the events of one sample."""

    matches: list[float] = field(default_factory=list)
    metrics: list[dict[str, float]] = field(default_factory=list)
    error: str | None = None
    added: int = 0  # trials that are in the log already
    text: str | None = None  # sampled last

    @property
    def closing(self) -> str:
        """The type of the events that end its trials."""
        return "match" if self.matches else "metrics"

    def scores(self, trial: int) -> dict[str, float]:
        """Return the scores of one trial."""
        scores = dict(self.metrics[trial]) if trial < len(self.metrics) else {}
        return {"match": self.matches[trial], **scores} if trial < len(self.matches) else scores


@register_reader("openai-evals")
class OpenAIEvals:
    """Reads a log that `oaieval` wrote, or several of them in one file."""

    def sniff(self, path: Path) -> bool:
        record = first_record(path)
        spec = record.get("spec")
        return (isinstance(spec, dict) and spec.keys() >= _SPEC) or record.keys() >= _EVENT

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return a log for each eval and model."""
        return _Reading(path, options).logs()


class _Reading:
    """The events of a file, by sample."""

    def __init__(self, path: Path, options: Options) -> None:
        self._path, self._texts = path, options.texts
        self._lines = Lines(path, options)
        self._runs: dict[str, tuple[str, str]] = {}  # eval and model, by the id of the run
        self._reports: dict[str, Any] = {}
        self._samples: dict[SampleKey, _Sample] = {}

    def logs(self) -> list[Log]:
        for place, record in self._lines:
            with self._lines.checking(place):
                self._collect(record)
        source = Source.of("openai-evals", self._path)
        builders = LogBuilders(source, self._scorers(), texts=self._texts)
        for place, record in self._lines:
            with self._lines.checking(place):
                self._add_event(builders, record)
        for key, sample in self._samples.items():
            if not sample.added:
                self._add_unscored(builders, key, sample)
        remarks = [*self._lines.remarks(), *self._remarks()]
        return builders.logs(remarks=remarks, scales={"match": UNIT})

    # -- scores ----------------------------------------------------------------------------

    def _collect(self, record: Mapping[str, Any]) -> None:
        if "spec" in record:
            self._add_run(record["spec"])
        elif "final_report" in record:
            self._reports[str(record.get("run_id"))] = record["final_report"]
        elif record.get("sample_id") is not None:
            self._add_scores(self._sample(record), record)

    def _add_run(self, spec: Any) -> None:
        if not isinstance(spec, dict):
            raise InvalidInput(f"spec must be an object; got {spec!r:.60}.")
        names = spec.get("completion_fns")
        model = ",".join(map(str, names)) if isinstance(names, list) else str(names)
        self._runs[str(spec.get("run_id"))] = str(spec.get("eval_name")), model

    def _sample(self, record: Mapping[str, Any]) -> _Sample:
        sample, run = record.get("sample_id"), record.get("run_id")
        if not isinstance(sample, str) or not isinstance(run, str):
            raise InvalidInput(
                f"run_id and sample_id must be text; got {run!r:.30}, {sample!r:.30}."
            )
        return self._samples.setdefault((run, sample), _Sample())

    def _add_scores(self, sample: _Sample, record: Mapping[str, Any]) -> None:
        kind, data = record.get("type"), record.get("data")
        if kind not in ("match", "metrics", "error"):
            return
        if not isinstance(data, dict):
            raise InvalidInput(f"data of an event of type {kind} must be an object.")
        if kind == "match":
            if not isinstance(data.get("correct"), bool):
                raise InvalidInput(f"correct must be true or false; got {data.get('correct')!r}.")
            sample.matches.append(float(data["correct"]))
        elif kind == "metrics":
            sample.metrics.append(dict(_numbers(data)))
        else:
            sample.error = str(data.get("message") or data.get("type") or "an error")

    def _scorers(self) -> list[str]:
        samples = self._samples.values()
        names = dict.fromkeys(name for one in samples for scores in one.metrics for name in scores)
        likely = [name for name in _LIKELY if name in names]
        matches = ["match"] if any(one.matches for one in samples) else []
        return list(dict.fromkeys([*matches, *likely, *names]))

    # -- trials ----------------------------------------------------------------------------

    def _add_event(self, builders: LogBuilders, record: Mapping[str, Any]) -> None:
        if record.get("sample_id") is None:
            return
        sample, data = self._sample(record), record.get("data")
        if record.get("type") == "sampling" and self._texts and isinstance(data, dict):
            sample.text = _text(data.get("sampled"))
        elif record.get("type") == sample.closing:
            builder = self._builder(builders, record["run_id"])
            scores = sample.scores(sample.added)
            builder.add(record["sample_id"], scores=scores, text=sample.text, **_target(data))
            sample.added += 1

    def _add_unscored(self, builders: LogBuilders, key: SampleKey, sample: _Sample) -> None:
        builder = self._builder(builders, key[0])
        status = "errored" if sample.error is not None else "ok"
        builder.add(key[1], status=status, error=sample.error, text=sample.text)  # type: ignore[arg-type]

    def _builder(self, builders: LogBuilders, run: str) -> LogBuilder:
        return builders.of(*self._runs.get(run, ("openai-evals", plain_name(self._path))))

    # -- remarks ---------------------------------------------------------------------------

    def _remarks(self) -> Iterator[Remark]:
        both = sum(1 for one in self._samples.values() if one.error is not None and one.added)
        if both:
            samples = "1 sample has" if both == 1 else f"{both} samples have"
            text = f"{samples} an error event and a score; the score is kept, though it may be of"
            yield Remark(f"{text} an error", important=True)
        for run, report in self._reports.items():
            yield from self._disagreement(run, report)

    def _disagreement(self, run: str, report: Any) -> Iterator[Remark]:
        """Yield a remark where the final report has another accuracy than the events."""
        stated = report.get("accuracy") if isinstance(report, dict) else None
        matches = [one for (id_, _), sample in self._samples.items() if id_ == run
                   for one in sample.matches]  # fmt: skip
        if not matches or stated is None or not _is_finite(stated):
            return
        mean = sum(matches) / len(matches)
        if not abs(mean - stated) <= 1e-9:
            text = f"the final report has an accuracy of {stated:g}, the events one of {mean:g}"
            yield Remark(f"{text}: it is not the mean of `correct`, or events are missing", True)


def _numbers(data: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the metrics that are numbers; a choice or a text is none."""
    for name, value in data.items():
        if _is_finite(value):
            yield name, float(value)


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) < _LARGEST


def _text(sampled: Any) -> str | None:
    if isinstance(sampled, list) and len(sampled) == 1:
        sampled = sampled[0]
    return sampled if isinstance(sampled, str) else None


def _target(data: Any) -> dict[str, Any]:
    expected = data.get("expected") if isinstance(data, dict) else None
    several = expected if isinstance(expected, list) else [expected]
    return {"targets": [one for one in several if isinstance(one, str)]}

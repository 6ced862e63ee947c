"""The reader of EVA's run directories: one log, in which every metric is a scorer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from passband.readers.eva.record import MetricScore, Record
from passband.readers.eva.run import EvaRun, is_eva_run, read_eva_run
from passband.readers.groups import Remark
from passband.readers.log import Log
from passband.readers.log_builder import LogBuilder, ScoreValue
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.score import Score

_MAIN = "task_completion"


@register_reader("eva")
class Eva:
    """Reads a run directory of EVA: records/RECORD/trial_N/metrics.json."""

    def sniff(self, path: Path) -> bool:
        return path.is_dir() and is_eva_run(path)

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the log of the run, without composites, which only repeat the metrics."""
        run = read_eva_run(path, skip_bad=options.skip_bad)
        builder = LogBuilder(run.task, run.model, run.source, _scorers(run.metrics))
        for record in in_order(run.records):
            failed = record.failure is not None
            builder.add(
                record.scenario,
                record.trial or 0,
                "errored" if failed else "ok",
                {} if failed else {name: _value(score) for name, score in record.scores.items()},
                error=record.failure,
            )
        remarks = (*run.remarks, *_skipped(run))
        settings = {"eva": {key: run.config[key] for key in ("model",) if key in run.config}}
        return [builder.log(remarks=remarks, settings=settings, planned=run.planned)]


def in_order(records: Sequence[Record]) -> list[Record]:
    """Return records by scenario and trial, numbers in names by their value."""
    return sorted(records, key=lambda record: (_natural(record.scenario), record.trial or 0))


def _natural(name: str) -> list[tuple[bool, int, str]]:
    pieces = re.split(r"([0-9]{1,18})", name)
    return [(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in pieces if p]


def _scorers(metrics: Sequence[str]) -> list[str]:
    return sorted(metrics, key=lambda name: (name != _MAIN, name))


def _value(score: MetricScore) -> ScoreValue:
    if score.error is not None:
        return Score(None, "error", detail=score.error)
    return score.value


def _skipped(run: EvaRun) -> list[Remark]:
    counts = Counter(
        name
        for record in run.records
        for name, score in record.scores.items()
        if score.status == "skipped"
    )
    listed = ", ".join(f"{name} in {count}" for name, count in sorted(counts.items()))
    text = f"metrics that had nothing to score, which is not a failure: {listed}"
    return [Remark(text, important=True)] if counts else []

"""Re-scored completions, scorer by scorer: what `passband score` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from passband.report.layout import interval_head
from passband.report.render import Row
from passband.stats.interval.rounding import rounded_interval, rounded_value
from passband.summary.summary import Group, ScorerCounts, Summary

__all__ = ["ScoreReport"]


@dataclass(frozen=True)
class ScoreReport:
    """The number of scores added, and the mean score of every scorer."""

    added: int
    summary: Summary

    def rows(self) -> list[Row]:
        """Return one row per task, model and scorer."""
        return [
            self._row(group, scorer) for group in self.summary.groups for scorer in group.scorers
        ]

    def _row(self, group: Group, scorer: ScorerCounts) -> Row:
        mean = next(line.estimate for line in group.lines if line.scorer == scorer.name)
        models = {"model": group.model} if "model" in group.by else {}
        return {
            "task": group.task,
            **models,
            "scorer": scorer.name,
            "mean": None if mean is None else rounded_value(mean.value, mean.low, mean.high),
            interval_head(self.summary.request.level): (
                None if mean is None else rounded_interval(mean.low, mean.high)
            ),
            "scored": scorer.ok,
            "no answer": scorer.no_answer,
            "error": scorer.error,
            "timeout": scorer.timeout,
        }

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON-serialisable values."""
        return {"added": self.added, "summary": self.summary.as_json()}

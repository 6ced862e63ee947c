"""Render what `passband score` did, scorer by scorer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from passband.report.layout import interval_head
from passband.report.rendering import Row
from passband.report.style import PLAIN, Figure
from passband.stats.interval import Estimate, Rounding
from passband.summary import Group, ScorerCounts, Summary


@dataclass(frozen=True)
class ScoreReport:
    """The number of scores added, and the mean score of every scorer."""

    added: int
    summary: Summary

    def rows(self) -> list[Row]:
        """Return one row per task, model and scorer."""
        scored = [(group, scorer) for group in self.summary.groups for scorer in group.scorers]
        means = [
            next(line.estimate for line in group.lines if line.scorer == scorer.name)
            for group, scorer in scored
        ]
        roundings = PLAIN.roundings(
            [None if mean is None else Figure(mean.value, mean.low, mean.high) for mean in means]
        )
        return [
            self._row(group, scorer, mean, rounding)
            for (group, scorer), mean, rounding in zip(scored, means, roundings, strict=True)
        ]

    def _row(
        self, group: Group, scorer: ScorerCounts, mean: Estimate | None, rounding: Rounding
    ) -> Row:
        models = {"model": group.model} if "model" in group.by else {}
        return {
            "task": group.task,
            **models,
            "scorer": scorer.name,
            "mean": None if mean is None else rounding.value(mean.value),
            interval_head(self.summary.request.level): (
                None if mean is None else rounding.interval(mean.low, mean.high)
            ),
            "scored": scorer.ok,
            "no answer": scorer.no_answer,
            "error": scorer.error,
            "timeout": scorer.timeout,
            **({"no verdict": scorer.no_verdict} if self._has_judges else {}),
        }

    @property
    def _has_judges(self) -> bool:
        """Whether a judge left trials without a verdict."""
        return any(one.no_verdict for group in self.summary.groups for one in group.scorers)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON-serialisable values."""
        return {"added": self.added, "summary": self.summary.as_json()}

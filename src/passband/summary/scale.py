"""The scale of a recorded scorer: which score is the best, and so which trials are right."""

from __future__ import annotations

from dataclasses import dataclass

from passband.trials.records import RunRecord, ScorerRecord

__all__ = ["Scale", "scale_of"]


@dataclass(frozen=True)
class Scale:
    """The best score; a trial is right if it has it, and wrong if its score is worse."""

    best: float = 1.0
    lower_is_better: bool = False

    def is_right(self, value: float) -> bool:
        """Return whether a score is the best.

        >>> Scale().is_right(1.0), Scale(0.0, lower_is_better=True).is_right(0.3)
        (True, False)
        """
        return value <= self.best if self.lower_is_better else value >= self.best


def scale_of(run: RunRecord, scorer: ScorerRecord) -> Scale:
    """Return the scale of a run's scorer, as far as it is recorded; otherwise 1 is the best."""
    from passband.score.registry import scorers

    name = str((scorer.spec or {}).get("function", ""))
    if name in scorers:
        function = scorers.get(name)
        return Scale(function.best, function.best < function.worst)
    low, high = scorer.bounds or (None, None)
    if _falls(run, scorer):
        return Scale(0.0 if low is None else low, lower_is_better=True)
    return Scale(1.0 if high is None else high)


def _falls(run: RunRecord, scorer: ScorerRecord) -> bool:
    """Return whether the task's metric list says that lower scores are better."""
    entries = run.config.get("metrics") or ()
    return any(
        entry.get("scorer") == scorer.name and entry.get("higher_is_better") is False
        for entry in entries
    )

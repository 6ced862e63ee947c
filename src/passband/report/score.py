"""What scoring again came to, scorer by scorer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.report.render import Row
from passband.run.rescore import chosen_scorers, score_again
from passband.run.settings import Truncated
from passband.stats.interval.estimate import Estimate, estimate
from passband.stats.interval.rounding import rounded_interval, rounded_value
from passband.trials.reader import Trials
from passband.trials.store import Store

__all__ = ["ScoreReport", "ScorerReport", "score_run"]


@dataclass(frozen=True)
class ScorerReport:
    """One scorer's view of one task."""

    task: str
    scorer: str
    estimate: Estimate | None  # of its mean score
    counts: dict[str, int]  # scores by status

    def row(self) -> Row:
        """Return it as a line of a table."""
        found = self.estimate
        return {
            "task": self.task,
            "scorer": self.scorer,
            "mean": None if found is None else rounded_value(found.value, found.low, found.high),
            "95% interval": None if found is None else rounded_interval(found.low, found.high),
            "scored": self.counts.get("ok", 0),
            "no answer": self.counts.get("no_answer", 0),
            "error": self.counts.get("error", 0),
            "timeout": self.counts.get("timeout", 0),
        }


@dataclass(frozen=True)
class ScoreReport:
    """Everything `passband score` has to say."""

    added: int
    scorers: list[ScorerReport]

    def rows(self) -> list[Row]:
        """Return one row per task and scorer."""
        return [each.row() for each in self.scorers]

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return asdict(self)


def score_run(
    directory: Path,
    *,
    scorers: Sequence[str] = (),
    rules: Sequence[str] | None = None,
    task_names: Sequence[str] = (),
    main: bool = False,
    truncated: Truncated | None = None,
    trust: bool = False,
) -> ScoreReport:
    """Score the recorded completions of every task of a run."""
    if (rules or main) and not scorers:
        raise InvalidInput("--extract and --main are for a new scorer; name it with --scorer.")
    with Trials(directory) as trials:
        runs = trials.runs()
    if not runs:
        raise InvalidInput(f"{directory} holds no trials yet.")
    once = list(dict.fromkeys(scorers))
    plans = chosen_scorers(runs, once, rules, task_names, trust=trust)
    store = Store(directory)
    try:
        added = sum(score_again(store, plan, main=main, truncated=truncated) for plan in plans)
    finally:
        store.close()
    with Trials(directory) as trials:
        return ScoreReport(added, [each for p in plans for each in _reports(trials, p.run.number)])


def _reports(trials: Trials, number: int) -> list[ScorerReport]:
    run = trials.run_numbered(number)
    found = []
    asked = bool(trials.statuses(run.number))
    for scorer in run.scorers:
        outcomes = trials.outcomes(run, scorer) if asked else None
        value = estimate(outcomes, "avg") if outcomes and outcomes.n_trials else None
        found.append(
            ScorerReport(run.task, scorer.name, value, trials.score_statuses(scorer.number))
        )
    return found

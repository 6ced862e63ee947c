"""Tallies of runs: what their rows say beyond outcomes, for the notes of a summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from passband.trials import RunRecord, ScorerRecord, Status, Trials


@dataclass(frozen=True)
class RunTally:
    """Counts of a run's trials and scores, and the first messages of what failed."""

    scorer: str  #: the one whose scores are measured
    scores: Mapping[str, Mapping[str, int]]  #: of every scorer, how many have each status
    retried: int = 0  #: trials that needed more than one attempt
    first_error: str | None = None  #: of the scorer
    errored: int = 0  #: trials in which the task's own code failed
    first_failure: str | None = None
    #: trials of other statuses than ok that are scored all the same
    incomplete: Mapping[Status, int] = field(default_factory=dict)
    sandboxes: tuple[str, ...] = ()  #: in which programs ran, with their Pythons


def sandbox_words(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sandboxes that a run records, each as one text.

    >>> sandbox_words({"sandboxes": [{"backend": "bubblewrap", "numpy": "none"}]})
    ('backend bubblewrap, numpy none',)
    """
    recorded = config.get("sandboxes", ())
    return tuple(
        ", ".join(f"{name} {value}" for name, value in one.items())
        for one in (recorded if isinstance(recorded, list) else ())
        if isinstance(one, Mapping)
    )


def tally_of(trials: Trials, run: RunRecord, scorer: ScorerRecord) -> RunTally:
    """Count the rows of a run in the trials table."""
    scores = {each.name: trials.score_statuses(each.number) for each in run.scorers}
    has_errors = "error" in scores[scorer.name]
    errored = trials.statuses(run.number).get("errored", 0)
    scored = trials.scored_statuses(scorer.number)
    return RunTally(
        scorer=scorer.name,
        scores=scores,
        retried=trials.retried(run.number),
        first_error=trials.first_error(scorer.number) if has_errors else None,
        errored=errored,
        first_failure=trials.first_failure(run.number, "errored") if errored else None,
        sandboxes=sandbox_words(run.config),
        incomplete={status: count for status, count in scored.items() if status != "ok"},
    )

"""What is to be kept in mind of verdicts once they are given: those missing, those that flipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from passband.run.judge.bench import JudgeBench
from passband.score import count_flips
from passband.trials import Trials


def closing_notes(directory: Path, bench: JudgeBench, *, is_pairwise: bool) -> Iterator[str]:
    """Yield notes on the recorded verdicts of one judge."""
    with Trials(directory, trusted=True) as trials:
        statuses = trials.score_statuses(bench.scorer)
        lost, total = statuses.get("no_verdict", 0), sum(statuses.values())
        if lost:
            yield (
                f"{bench.task}, {bench.name}: {lost} of {total} answers have no verdict, because "
                "the replies of the judge could not be read; they are left out, and are no zeros"
            )
        if is_pairwise:
            pairs, flipped = count_flips(trials.calls(bench.scorer))
            yield (
                f"{bench.task}, {bench.name}: {flipped} of {pairs} pairs were judged the other way "
                "round when they were swapped; each counts as one half"
            )

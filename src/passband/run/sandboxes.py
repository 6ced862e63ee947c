"""The sandbox that scorers of programs need: found before anything is asked, and recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from passband.score import Scorer
from passband.trials import RunRecord, TrialFilter, TrialRow, Trials

_FAILED = "SandboxFailed"  # begins the detail of a score that a sandbox owes
SANDBOXES = "sandboxes"  # the key of a run's config


def open_sandbox(scorers: Iterable[Scorer], *, unsafe: bool) -> None:
    """Find the sandbox of scorers that need one; raise `InvalidInput` where none holds.

    Completions cost money, so this comes before the first request. `unsafe` lets programs run
    without a sandbox where there is none.
    """
    if not any(map(needs_sandbox, scorers)):
        return
    from passband.score import find_sandbox, policy

    policy.is_unsafe_allowed = unsafe
    _ = find_sandbox().identity  # starts it


def used_sandboxes(
    scorers: Iterable[Scorer],
    before: Mapping[str, Any],
    remote: Sequence[dict[str, str]] | None = None,
) -> dict[str, list[dict[str, str]]]:
    """Return the part of a run's config with every sandbox that gave a verdict, the new ones last.

    `remote` are those of other machines, in place of the one of this process.
    """
    earlier = [dict(one) for one in before.get(SANDBOXES, ())]
    now = list(remote or ())
    if any(map(needs_sandbox, scorers)) and remote is None:
        from passband.score import find_sandbox

        now = [dict(find_sandbox().identity)]
    used = [*(one for one in earlier if one not in now), *now]
    return {SANDBOXES: used} if used else {}


def has_failures(trials: Trials, number: int, scorer: Scorer) -> bool:
    """Return whether a scorer may owe a verdict because a sandbox failed."""
    return needs_sandbox(scorer) and trials.score_statuses(number).get("error", 0) > 0


def trials_without_verdict(
    trials: Trials, run: RunRecord, number: int, scorer: Scorer
) -> Iterator[TrialRow]:
    """Yield the trials on which the sandbox failed, which says nothing about their programs."""
    if not has_failures(trials, number, scorer):
        return
    chosen = trials.chosen(run, TrialFilter(statuses=("scorer_error",), scorer=number))
    for problem, trial in list(chosen.places()):
        row = chosen.trial(problem, trial)
        mine = [score for score in row.scores if score.scorer == number]
        if any((score.detail or "").startswith(_FAILED) for score in mine):
            yield replace(row, scores=[])


def needs_sandbox(scorer: Scorer) -> bool:
    """Return whether a scorer runs what a model wrote."""
    return scorer.needs_sandbox

"""Note what a run's own record shows: bad keys, missing shards, equal wrong answers, canaries."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from passband import notes
from passband.errors import InvalidInput
from passband.notes import Note
from passband.readers import stored_outcomes, title_of
from passband.score import PASSED, canary_names
from passband.stats.data import Outcomes
from passband.summary.checks.same_wrong import striking
from passband.trials import RunRecord, ScorerRecord, Shards, Trials, unmerged


def known_bad_notes(trials: Trials, run: RunRecord) -> tuple[Note, ...]:
    """Return a note on problems that the task lists as having a wrong key or text."""
    task = run.config.get("task")
    entries = task.get("known_bad") if isinstance(task, Mapping) else None
    if not isinstance(entries, list) or not entries:
        return ()
    from passband.tasks import KnownBad

    try:
        listed = KnownBad(entries)
    except (InvalidInput, AttributeError, KeyError):  # a store that another program wrote
        return ()
    problems = ((p.key, p.record.get("doc") or {}) for p in trials.each_problem(run.number))
    bad = listed.among(problems)
    return (notes.known_bad([(problem.key, problem.reason) for problem in bad]),) if bad else ()


def shard_notes(run: RunRecord, directory: Path) -> list[Note]:
    """Return notes on missing and on unmerged shards of a run."""
    return [*_parts(run), *unmerged_notes(directory)]


def unmerged_notes(directory: Path) -> list[Note]:
    """Return a note on the shards beside a run directory that are not merged into it."""
    waiting = unmerged(directory)
    return [notes.shards_waiting(waiting)] if waiting else []


def _parts(run: RunRecord) -> list[Note]:
    shards = Shards.in_config(run.config)
    if shards is None or not (remark := shards.remark()):
        return []
    if shards.is_one:
        (index,) = shards.merged
        return [notes.one_shard(index, shards.of)]
    return [notes.shards_missing(remark)]


def answer_notes(trials: Trials, run: RunRecord, scorer: ScorerRecord) -> Iterator[Note]:
    """Yield a note on wrong answers that agree, whose key may be the wrong one.

    A result that looks misread gets none: its wrong answers agree because they are no answers.
    """
    directory = str(trials.directory)
    if run.adaptive is None and _is_misread(stored_outcomes(trials, run, scorer)):
        return
    if striking_answers := striking(trials, run, scorer):
        first = striking_answers[0]
        command = shlex.join(["passband", "show", directory, "--same-wrong"])
        target = " or ".join(first.targets)
        yield notes.same_wrong(
            len(striking_answers),
            first.problem,
            first.answer,
            target,
            first.times,
            first.scored,
            command,
        )


def _is_misread(outcomes: Outcomes) -> bool:
    codes = {finding.code for finding in outcomes.found.findings}
    return bool(codes & {"looks-wrong", "looks-misread"})


def canary_notes(trials: Trials, run: RunRecord) -> Iterator[Note]:
    """Yield a note on how many null answers each judge passes; it should pass none."""
    numbers = {
        (scorer.name, scorer.identity): scorer.number
        for number, _, scorer in trials.all_scorers()
        if number == run.number
    }
    for judge in (scorer for scorer in run.scorers if scorer.is_judge):
        number = numbers.get(canary_names(judge.name, judge.identity))
        votes = () if number is None else trials.votes(number)
        values = [sum(vote.values) / len(vote.values) for vote in votes]
        if values:
            passed = sum(value >= PASSED for value in values)
            yield notes.judge_canaries(_title(judge), passed, len(values))


def _title(judge: ScorerRecord) -> str:
    model = (judge.spec or {}).get("model")
    return title_of(judge.name, model if isinstance(model, str) else None)

"""Note what a run's own record shows: bad keys, missing shards, equal wrong answers, canaries."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from passband.errors import InvalidInput
from passband.notes import Note, plural, tail_of
from passband.readers import stored_outcomes, title_of
from passband.score import PASSED, canary_names
from passband.stats.data import Outcomes
from passband.summary.checks.same_wrong import striking
from passband.trials import RunRecord, ScorerRecord, Shards, Trials, unmerged_shards


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
    return (known_bad([(problem.key, problem.reason) for problem in bad]),) if bad else ()


def shard_notes(run: RunRecord, directory: Path) -> list[Note]:
    """Return notes on missing and on unmerged shards of a run."""
    return [*_parts(run), *unmerged_notes(directory)]


def unmerged_notes(directory: Path) -> list[Note]:
    """Return a note on the shards beside a run directory that are not merged into it."""
    waiting = unmerged_shards(directory)
    return [shards_waiting(waiting)] if waiting else []


def _parts(run: RunRecord) -> list[Note]:
    shards = Shards.in_config(run.config)
    if shards is None or not (remark := shards.remark()):
        return []
    if shards.is_one:
        (index,) = shards.merged
        return [one_shard(index, shards.of)]
    return [shards_missing(remark)]


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
        yield same_wrong(
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
            yield judge_canaries(_title(judge), passed, len(values))


def _title(judge: ScorerRecord) -> str:
    model = (judge.spec or {}).get("model")
    return title_of(judge.name, model if isinstance(model, str) else None)


# -- texts ----------------------------------------------------------------------------------


def known_bad(problems: Sequence[tuple[str, str]]) -> Note:
    """Return the note on problems whose key or text is known to be wrong, with the reasons."""
    listed = "; ".join(f"{key}: {reason.rstrip('.')}" for key, reason in problems[:5])
    dots = "; ..." if len(problems) > 5 else ""
    text = f"{plural(len(problems), 'problem')} known to have a wrong key or text ({listed}{dots})"
    return Note("known-bad", text)


def one_shard(index: int, of: int) -> Note:
    """Return the note on a store that holds one shard of a run.

    >>> print(one_shard(3, 16))
    this is shard 3/16 of a run, not the run; merge all 16 with passband merge
    """
    text = f"this is shard {index}/{of} of a run, not the run; merge all {of} with passband merge"
    return Note("one-shard", text)


def shards_missing(remark: str) -> Note:
    """Return the note on a run that some shards have not been merged into.

    >>> print(shards_missing("shards 2 and 7 of 16 are not merged yet"))
    this is part of a run: shards 2 and 7 of 16 are not merged yet
    """
    return Note("shards-missing", f"this is part of a run: {remark}")


def shards_waiting(count: int) -> Note:
    """Return the note on a run whose shards are being asked, or were when it was cut off.

    >>> print(shards_waiting(3))
    3 shards are not merged yet, and not counted; the run merges each when it ends, and one that \
was cut off does so when it goes on
    """
    shards = "1 shard is" if count == 1 else f"{count} shards are"
    text = (
        f"{shards} not merged yet, and not counted; the run merges each when it ends, and one that "
        "was cut off does so when it goes on"
    )
    return Note("shards-waiting", text)


def same_wrong(
    problems: int, problem: str, answer: str, target: str, times: int, scored: int, command: str
) -> Note:
    """Return the note on problems whose wrong trials agree far more than those of others.

    >>> print(same_wrong(1, "mix-14", "130", "140", 13, 16, "passband show RUN --same-wrong"))
    wrong in the same way: mix-14 is answered 130 in 13 of 16 trials, and 140 is expected; a wrong \
key, or a firm error of the model? passband show RUN --same-wrong
    """
    others = f" (and {plural(problems - 1, 'other problem')})" if problems > 1 else ""
    return Note(
        "same-wrong",
        f"wrong in the same way: {problem}{others} is answered {tail_of(answer)} in {times} of "
        f"{scored} trials, and {tail_of(target)} is expected; a wrong key, or a firm error of the "
        f"model? {command}",
    )


def judge_canaries(judge: str, passed: int, judged: int) -> Note:
    """Return the note on a judge that was shown answers without content.

    >>> print(judge_canaries("openai:large", 5, 9))
    the judge openai:large passes 5 of 9 null answers (empty, a mere claim, the answer to another \
problem): do not trust its rate
    """
    said = f"the judge {judge} passes {passed} of {judged} null answers"
    why = " (empty, a mere claim, the answer to another problem): do not trust its rate"
    return Note("judge-canaries", said + (why if passed else ""))

"""Recorded runs, of a run directory or of a log, as groups of outcomes.

Runs know their task, model, scorers and problems, so they are split by name and not by column:
`--by` takes task, model, scorer, or a name in the problems' data; `--cluster` takes the latter, or
prompt.
Several logs of one task and model, as a folder may hold, are split by `log`, the name of each.
The votes of a run are the answers that its scorer read from the trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from passband.errors import InvalidInput, UnknownName, nearest
from passband.notes import Note
from passband.readers.groups import Group, Groups, Remark
from passband.readers.options import Options
from passband.stats.data import (
    Outcomes,
    Same,
    Votes,
    answer_text,
    error_prefix,
    is_absent,
    label,
    listing,
    number_labels,
    votes_of_rows,
)

if TYPE_CHECKING:
    from passband.readers.judged import JudgeScores
    from passband.readers.run_counts import RunTally
    from passband.trials import RunRecord, ScoreRow, ScorerRecord, TrialRow, Trials

_SHORT = 100  # characters; a longer completion is not an answer but leads to one


@dataclass(frozen=True)
class RecordedVotes:
    """The votes, None where the answers are not known, and notes on how answers were compared."""

    votes: Votes | None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class _Answer:
    """The scored answer of a trial."""

    score: float
    text: str | None  # None for no answer
    is_extracted: bool

    @property
    def is_long(self) -> bool:
        return not self.is_extracted and self.text is not None and len(self.text) > _SHORT


def stored_votes(
    trials: Trials,
    run: RunRecord,
    scorer: ScorerRecord,
    first: int | None = None,
    *,
    rounds: int | None = None,
) -> RecordedVotes:
    """Return the votes of a run of a trials table, by the scorer's own equality of answers.

    With `first`, of only that many scored trials of each problem; with `rounds`, of the first
    trials that were asked, whether they were scored or not.
    """
    rows: dict[int, list[_Answer]] = {problem.number: [] for problem in trials.problems(run.number)}
    rounds = trials.complete_rounds(run) if rounds is None else rounds
    for trial in trials.trials(run):
        if rounds is None or trial.trial < rounds:
            rows[trial.problem] += _scored(trial, scorer.number)
    kept = [row[:first] for row in rows.values()]
    if run.is_imported and _are_whole(kept):
        return RecordedVotes(None)
    from passband.score import recorded_equality

    with recorded_equality(scorer) as equality:
        return RecordedVotes(_votes(kept, equality.same), equality.notes)


def votes_of_log(problems: int, trials: Iterable[TrialRow], scorer: int) -> RecordedVotes:
    """Return the votes of a log, whose answers are compared as text."""
    rows: list[list[_Answer]] = [[] for _ in range(problems)]
    for trial in trials:
        rows[trial.problem] += _scored(trial, scorer)
    if _are_whole(rows) or _are_unknown(rows):
        return RecordedVotes(None)
    from passband.score import ANSWERS_AS_TEXT

    return RecordedVotes(_votes(rows, None), (ANSWERS_AS_TEXT,))


def _scored(trial: TrialRow, scorer: int) -> list[_Answer]:
    """Return the answer that a scorer gave a value; nothing where it gave none."""
    for score in trial.scores:
        if score.scorer == scorer and score.value is not None:
            text = _text(trial, score)
            return [_Answer(score.value, answer_text(text), score.answer is not None)]
    return []


def _text(trial: TrialRow, score: ScoreRow) -> str | None:
    if score.status == "no_answer":
        return None
    return trial.text if score.answer is None else score.answer


def _are_whole(rows: Sequence[Sequence[_Answer]]) -> bool:
    """Return whether what was recorded are long completions, of which no answer was extracted."""
    answers = [answer for row in rows for answer in row]
    return not any(one.is_extracted for one in answers) and any(one.is_long for one in answers)


def _are_unknown(rows: Sequence[Sequence[_Answer]]) -> bool:
    """Return whether no trial has an answer though some are right: they were not recorded."""
    answers = [answer for row in rows for answer in row]
    known = any(one.text is not None for one in answers)
    return not known and any(one.score > 0.0 for one in answers)


def _votes(rows: Sequence[Sequence[_Answer]], same: Same | None) -> Votes:
    return votes_of_rows(
        [[one.text for one in row] for row in rows],
        [[one.score for one in row] for row in rows],
        same,
    )


_OF_RUNS = ("task", "model", "scorer")
_LISTED = 8  # scorers that are named in a remark


class RecordedRun(Protocol):
    """One task asked of one model."""

    @property
    def task(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def scorers(self) -> tuple[str, ...]: ...

    def first(self, n: int) -> RecordedRun: ...

    def outcomes(self, scorer: str | None = None) -> Outcomes: ...

    def votes(self, scorer: str | None = None) -> RecordedVotes: ...

    def tally(self, scorer: str | None = None) -> RunTally: ...

    def targets(self) -> Mapping[str, tuple[str, ...]]: ...

    def judged(
        self, scorer: str | None, label: str | None, *, named: bool, threshold: float | None
    ) -> JudgeScores | None: ...

    def prompts(self) -> Mapping[str, int | None]: ...

    def data_names(self) -> list[str]: ...

    def data(self, name: str) -> Mapping[str, Any]: ...


def groups_of_runs(
    runs: Sequence[RecordedRun], options: Options, *, source: str, kind: str
) -> Groups:
    """Return the outcomes of each run, further split and clustered as the options say."""
    with error_prefix([source]):
        options.refuse(("problem", "trial", "status", "answer"), kind)
    runs = [run for run in runs if _is_wanted(run, options)] or runs  # `read` names what is unknown
    if options.first is not None:
        runs = [_of_first(run, options.first, options.score) for run in runs]
    by = _split(runs, options.by, source)
    if "log" not in by:
        _refuse_twins(runs, source)
    remarks: list[Remark] = []
    groups = [group for run in runs for group in _groups(run, by, options, remarks)]
    if "scorer" not in by:
        score = options.score
        used = [(run.task, _scorer(run, score), run.scorers) for run in runs]
        remarks.append(Remark(f"{kind.partition(' ')[2]}: {scorers_used(used)}"))
    remarks += _remarks(runs, by)
    if by:
        remarks.append(Remark(f"split by: {', '.join(by)}"))
    return Groups(source, by, tuple(groups), tuple(remarks))


def scorers_used(runs: Iterable[tuple[str, str, Sequence[str]]]) -> str:
    """Say for each task which of its scorers is measured, and which others there are.

    >>> scorers_used([("sums", "match", ["match", "includes"])])
    'sums scored by match (choose another with --score: includes)'
    """
    listed = []
    for task, scorer, scorers in runs:
        others = [name for name in scorers if name != scorer]
        shown = ", ".join(others[:_LISTED]) + (", ..." if len(others) > _LISTED else "")
        hint = f" (choose another with --score: {shown})" if others else ""
        listed.append(f"{task} scored by {scorer}{hint}")
    return ", ".join(dict.fromkeys(listed))


def _remarks(runs: Sequence[RecordedRun], by: Sequence[str]) -> Iterator[Remark]:
    """Yield the remarks on each run, with its name; those on all of them, once and without."""
    found: Sequence[tuple[Remark, ...]] = [getattr(run, "remarks", ()) for run in runs]
    common = [one for one in found[0] if all(one in others for others in found)] if found else []
    yield from common
    for run, remarks in zip(runs, found, strict=True):
        labels = _labels(run)
        name = " / ".join(labels[name] for name in by if name in labels)
        for remark in remarks:
            if remark not in common:
                yield remark._replace(text=f"{name}: {remark}") if name else remark


def _is_wanted(run: RecordedRun, options: Options) -> bool:
    """Return whether a run is of the tasks and models that are wanted; its scorers may differ."""
    return (not options.tasks or run.task in options.tasks) and (
        not options.models or run.model in options.models
    )


def _of_first(run: RecordedRun, n: int, score: str | None) -> RecordedRun:
    """Return a run of first trials; refuse one whose order is not that of asking."""
    with error_prefix([run.task]):
        first = run.first(n)
        run.outcomes(score).found.require_first()
        return first


def _split(runs: Sequence[RecordedRun], chosen: Sequence[str], source: str) -> tuple[str, ...]:
    """Return the names to split by: what tells the runs apart, and what was chosen."""
    labels = [_labels(run) for run in runs]
    apart = [name for name in ("task", "model") if len({one[name] for one in labels}) > 1]
    if _are_named_twins(runs):
        apart.append("log")
    of_runs = (*_OF_RUNS, "log") if all("log" in one for one in labels) else _OF_RUNS
    others = [name for name in chosen if name not in of_runs]
    if others:
        _require_data(runs, others, f"{source}: cannot be split by", of_runs)
    return tuple(dict.fromkeys((*apart, *chosen)))


def _require_data(
    runs: Sequence[RecordedRun], names: Sequence[str], refusal: str, more: Sequence[str] = ()
) -> None:
    known = list(dict.fromkeys((*more, *(name for run in runs for name in run.data_names()))))
    for name in names:
        if name not in known:
            hint = nearest(name, known)
            raise UnknownName(f"{refusal} {name!r}.{hint} Known: {listing(known) or 'none'}.")


def _labels(run: RecordedRun) -> dict[str, str]:
    """Return what a run is called; only some logs have names of their own."""
    labels = {"task": run.task, "model": run.model}
    log = getattr(run, "log", "")
    return {**labels, "log": log} if log else labels


def _are_named_twins(runs: Sequence[RecordedRun]) -> bool:
    """Return whether runs of one task and model have names that tell them apart."""
    pairs = {(run.task, run.model) for run in runs}
    names = {getattr(run, "log", "") for run in runs}
    return len(pairs) < len(runs) == len(names) and "" not in names


def _refuse_twins(runs: Sequence[RecordedRun], source: str) -> None:
    seen: set[tuple[str, str]] = set()
    for run in runs:
        if (run.task, run.model) in seen:
            raise InvalidInput(
                f"{source}: holds two logs of {run.task} by {run.model}; read them one by one."
            )
        seen.add((run.task, run.model))


def _scorer(run: RecordedRun, name: str | None) -> str:
    return name or next(iter(run.scorers), "no scorer")


def _groups(
    run: RecordedRun, by: Sequence[str], options: Options, remarks: list[Remark]
) -> Iterator[Group]:
    score, cluster = options.score, options.columns.get("cluster")
    scorers: Sequence[str | None] = [score]
    if "scorer" in by and score is None:
        scorers = run.scorers
    run_labels = _labels(run)
    names = [name for name in by if name not in (*run_labels, "scorer")]
    for scorer in scorers:
        outcomes = run.outcomes(scorer)
        if options.answers:
            recorded = run.votes(scorer)
            outcomes = replace(outcomes, votes=recorded.votes)
            remarks += [Remark(str(note)) for note in recorded.notes]
        if cluster is not None:
            outcomes = _clustered(run, outcomes, cluster)
        labels = {**run_labels, "scorer": _scorer(run, scorer)}
        judged = _judged(run, scorer, options, names)
        for values, part in _parts(run, outcomes, names):
            key = tuple((labels | values)[name] for name in by)
            tally = None if names else run.tally(scorer)
            targets = run.targets() if options.targets else {}
            name = labels["scorer"]
            yield Group(key, part, run.task, run.model, name, tally, targets, judged)


def _judged(
    run: RecordedRun, scorer: str | None, options: Options, names: Sequence[str]
) -> JudgeScores | None:
    """Return the judge's scores beside labels; of parts of a run they would be those of all."""
    named = "judge" in options.columns or "label" in options.columns
    if names and named:
        raise InvalidInput(
            f"{run.task}: labels correct a whole run; leave out the split by {' and '.join(names)}."
        )
    label = options.columns.get("label")
    judged = run.judged(scorer, label, named=named, threshold=options.threshold)
    return None if names else judged


def _clustered(run: RecordedRun, outcomes: Outcomes, name: str) -> Outcomes:
    if name == "prompt" and name not in run.data_names():
        prompts = run.prompts()
        if any(prompts.get(problem) is None for problem in outcomes.problems):
            raise InvalidInput(f"{run.task}: the prompts of its problems are not recorded.")
        return replace(outcomes, clusters=[str(prompts[problem]) for problem in outcomes.problems])
    _require_data([run], [name], f"{run.task}: problems cannot be clustered by")
    data = run.data(name)
    for problem in outcomes.problems:
        if is_absent(data[problem]):
            raise InvalidInput(f"{run.task}: problem {problem!r} has no {name}, its cluster.")
    return replace(outcomes, clusters=[label(data[problem]) for problem in outcomes.problems])


def _parts(
    run: RecordedRun, outcomes: Outcomes, names: Sequence[str]
) -> Iterator[tuple[dict[str, str], Outcomes]]:
    """Yield the problems that agree in all of the named data, with what they agree in."""
    if not names:
        yield {}, outcomes
        return
    data = [run.data(name) for name in names]
    keys = [tuple(label(one.get(problem)) for one in data) for problem in outcomes.problems]
    numbers, _ = number_labels(keys)
    for number in range(int(numbers.max()) + 1):
        where = np.flatnonzero(numbers == number)
        yield dict(zip(names, keys[where[0]], strict=True)), select(outcomes, where.tolist())


def select(outcomes: Outcomes, where: Sequence[int]) -> Outcomes:
    """Return the problems at these positions.

    >>> select(Outcomes.from_array([[1, 0], [1], [0, 0]]), [2, 0])
    Outcomes(2 problems, 2 trials each, 4 scored)
    """
    index = np.asarray(where, dtype=np.int64)
    unscored = {status: counts[index] for status, counts in outcomes.unscored.items()}
    asked = None if outcomes.asked is None else outcomes.asked.take(index)
    return replace(
        outcomes.take(index), unscored=unscored, found=outcomes.found, asked=asked,
        spending=outcomes.spending,
    )  # fmt: skip

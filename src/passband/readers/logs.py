"""Read the trials of any source one by one, with their texts.

`read_logs` turns the rows of a table into trials. Matrices and counts hold no trials, only how many
succeeded: theirs are made up, and a remark says so. `opened_trials` opens a run directory, or
imports a log for as long as its trials are read.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from passband.errors import InvalidInput, UnknownName, nearest
from passband.readers.groups import Group, Groups, Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import LogBuilder
from passband.readers.log_import import import_logs
from passband.readers.options import Options
from passband.readers.reader import TABLE
from passband.readers.sources import read_content
from passband.readers.tables.texts import TableTexts, texts_of
from passband.stats.data import ABSENT, MISSING, Layout, Outcomes, TableGroup
from passband.trials import STATUSES, Status, Trials, is_run_directory

_UNKNOWN = "unknown"  # the model of a file that names none
_SCORE = "score"


def read_logs(path: Path, options: Options) -> list[Log]:
    """Return the logs in a file of the tasks and models that are wanted."""
    if is_run_directory(path):
        raise InvalidInput(f"{path} is a run directory, not a log; passband merge copies it.")
    name, content = read_content(path, options)
    if isinstance(content, Groups):
        options.require_scores(path, [group.scorer for group in content.groups])
        content = _of_groups(path, content, options, Source.of(name, path))
    else:
        options.require_scores(path, [name for log in content for name in log.scorers])
        content = [log.stating(options.scales) for log in content]
    return _chosen(content, options, path)


def _chosen(logs: Sequence[Log], options: Options, path: Path) -> list[Log]:
    _require(path, "task", options.tasks, [log.task for log in logs])
    _require(path, "model", options.models, [log.model for log in logs])
    chosen = [
        log
        for log in logs
        if (not options.tasks or log.task in options.tasks)
        and (not options.models or log.model in options.models)
    ]
    twins = [key for key, n in Counter((log.task, log.model) for log in chosen).items() if n > 1]
    for task, model in twins:
        raise InvalidInput(f"{path}: holds two logs of {task} by {model}.")
    return chosen


def _require(path: Path, noun: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            hint = nearest(name, known) or f" It has {', '.join(dict.fromkeys(known)) or 'none'}."
            raise UnknownName(f"{path} has no {noun} named {name!r}.{hint}")


def _of_groups(path: Path, groups: Groups, options: Options, source: Source) -> list[Log]:
    from passband.readers.tables.table import layout_of

    layout = layout_of(path, options) if source.reader == TABLE else None
    if layout is None:
        stated = groups.stating(options.scales)
        return [_Made(stated, group, source).log() for group in stated.groups]
    texts = texts_of(layout) if options.texts else None
    return [_of_table(layout, group, source, texts) for group in layout.groups()]


def _task(path: str, task: str | None, further: Sequence[str]) -> str:
    return " / ".join([task or Path(path).stem, *further])


# -- tables --------------------------------------------------------------------------------


def _of_table(layout: Layout, group: TableGroup, source: Source, texts: TableTexts | None) -> Log:
    """Return the rows of a table as trials, numbered as the table numbers them if it does."""
    from passband.readers.tables.table import names_of, remarks_of

    task, model = names_of(group)
    further = [value for value in group.key if value not in (task, model)]
    name = _task(source.file, task, further)
    builder = LogBuilder(name, model or _UNKNOWN, source, (_SCORE,), texts=texts is not None)
    trials = list(layout.trials(group))
    planned = _planned(group.outcomes)
    is_numbered = all(trial.trial is not None and trial.trial.isdecimal() for trial in trials)
    statuses = _Statuses()
    for row, trial in zip(group.rows.tolist(), trials, strict=True):
        if planned is not None and trial.score is None and statuses.is_missing(trial.status):
            builder.problem(trial.problem, cluster=trial.cluster)
            continue
        builder.add(
            trial.problem,
            int(trial.trial) if is_numbered and trial.trial is not None else None,
            "ok" if trial.score is not None else statuses.status(trial.status),
            {_SCORE: trial.score if texts is None else texts.score(row, trial.score)},
            cluster=trial.cluster,
            **({} if texts is None else texts.fields(row)),
        )
    remarks = [*remarks_of(layout), *statuses.remarks(), *(texts.remarks() if texts else ())]
    scales = {_SCORE: group.outcomes.scale}
    return builder.log(remarks=remarks, planned=planned, scales=scales)


def _planned(outcomes: Outcomes) -> int | None:
    """Return how many trials each problem should have, where some are missing.

    Where problems differ in this, a trial that is missing is kept as one without a score.
    """
    missing = outcomes.unscored.get(MISSING)
    if missing is None:
        return None
    others = [counts for status, counts in outcomes.unscored.items() if status != MISSING]
    totals = set(sum(others, outcomes.trials + missing).tolist())
    return int(totals.pop()) if len(totals) == 1 else None


class _Statuses:
    """The statuses of a table, in the words of the trials table."""

    def __init__(self) -> None:
        self._others: Counter[str] = Counter()

    @staticmethod
    def is_missing(word: str | None) -> bool:
        """Return whether a row without a score says nothing of why."""
        return word is None or word.strip().lower() in ABSENT | {"ok"}

    def status(self, word: str | None) -> Status:
        """Return the status of a trial without a score."""
        if word is None or self.is_missing(word):
            return "ok"
        for status in STATUSES:
            if status == word:
                return status
        self._others[word] += 1
        return "errored"

    def remarks(self) -> Iterator[Remark]:
        for word, count in self._others.items():
            noun = "trial" if count == 1 else "trials"
            yield Remark(f"{count} {noun} of status {word!r} kept as errored", important=True)


# -- outcomes ------------------------------------------------------------------------------


class _Made:
    """Trials made from the outcomes of a group: as many as it has, in an order of their own."""

    def __init__(self, groups: Groups, group: Group, source: Source) -> None:
        further = [value for value in group.key if value not in (group.task, group.model)]
        task = _task(source.file, group.task, further)
        self._groups, self._group = groups, group
        self._builder = LogBuilder(task, group.model or _UNKNOWN, source, (_SCORE,))
        self._statuses = _Statuses()

    def log(self) -> Log:
        """Return a log with the same outcomes."""
        group, outcomes = self._group, self._group.outcomes
        for position, scores in enumerate(_scores(outcomes)):
            self._add(position, scores)
        made = Remark("read as counts: the order of a problem's trials is made up", important=True)
        return self._builder.log(
            remarks=[*self._groups.remarks, made, *self._statuses.remarks()],
            scales={_SCORE: group.outcomes.scale},
            planned=_planned(outcomes),
        )

    def _add(self, position: int, scores: Sequence[float]) -> None:
        outcomes = self._group.outcomes
        key = outcomes.problems[position]
        cluster = None if outcomes.clusters is None else outcomes.clusters[position]
        self._builder.problem(key, cluster=cluster)
        for score in scores:
            self._builder.add(key, scores={_SCORE: score})
        for word, counts in outcomes.unscored.items():
            is_planned = word == MISSING and _planned(outcomes) is not None
            for _ in range(0 if is_planned else int(counts[position])):
                self._builder.add(key, None, self._statuses.status(word))


def _scores(outcomes: Outcomes) -> Iterator[list[float]]:
    """Yield the scores of each problem; where they are 0 or 1, the successes come first."""
    if outcomes.graded is not None:
        for start, end in pairwise(outcomes.graded.offsets.tolist()):
            yield outcomes.graded.values[start:end].tolist()
        return
    for trials, successes in zip(outcomes.trials, outcomes.required_successes(), strict=True):
        yield [1.0] * int(successes) + [0.0] * int(trials - successes)


@contextmanager
def opened_trials(source: str | Path, options: Options | None = None) -> Iterator[Trials]:
    """Open a run directory, or a log of another tool, to read its trials row by row.

    A log is imported into a temporary directory, which is gone when the block ends.
    """
    path = Path(source)
    if is_run_directory(path):
        with Trials(path, scales=None if options is None else options.scales) as trials:
            yield trials
        return
    logs = read_logs(path, replace(options or Options(), texts=True))
    with tempfile.TemporaryDirectory(prefix="passband-") as folder:
        directory = Path(folder) / (path.stem or "log")
        import_logs(logs, directory)
        with Trials(directory, trusted=True) as trials:
            trials.directory = path  # as messages name it
            yield trials

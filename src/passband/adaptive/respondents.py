"""Respondents: what models scored on the problems of a task, from run directories and logs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from passband.errors import InvalidInput
from passband.generate import JsonMapping
from passband.readers import Log, Options, read_logs
from passband.stats.data import Scale
from passband.trials import RunRecord, Trials, is_run_directory

Record = JsonMapping  # messages, targets, choices, doc


class Tally(NamedTuple):
    """The sum of an item's scores, and how many trials have one."""

    total: float
    trials: int


@dataclass(frozen=True)
class Respondent:
    """One model that was asked a task with one set of settings."""

    name: str
    task: str
    tallies: Mapping[str, Tally]  # by problem; those without a score are left out
    problems: Mapping[str, Record]
    scorer: JsonMapping | None = None  # arguments of `make_scorer`, where they are known
    sampling: JsonMapping | None = None


def read_respondents(
    sources: Sequence[str | Path], *, tasks: Sequence[str] = (), models: Sequence[str] = ()
) -> list[Respondent]:
    """Return every model of the sources; a model of two sources is two respondents."""
    several = [one for source in sources for one in _of_source(Path(source), tasks, models)]
    if not several:
        raise InvalidInput("the sources hold no scored trials.")
    return _named_apart(several)


def _of_source(path: Path, tasks: Sequence[str], models: Sequence[str]) -> list[Respondent]:
    if not is_run_directory(path):
        options = replace(Options.of(None, (), tasks, models), texts=True)
        return [_of_log(log) for log in read_logs(path, options)]
    with Trials(path) as trials:
        runs = [run for run in trials.chosen_runs(tasks, models) if trials.statuses(run.number)]
        return [_of_run(trials, run, path) for run in runs]


def _of_run(trials: Trials, run: RunRecord, path: Path) -> Respondent:
    """Return a run as a respondent; in an adaptive test, the items not asked are missing.

    That a test chose its items by the answers does no harm here: the likelihood is of all the
    answers it chose by.
    """
    _refuse_falling(run.scale(run.scorer()), f"{run.task}: {run.scorer().name}")
    keys = {problem.number: problem for problem in trials.problems(run.number)}
    sums = trials.score_sums(run.scorer().number)
    return Respondent(
        name=f"{run.model} ({path.name})",
        task=run.task if run.adaptive is None else run.adaptive.get("bank", run.task),
        tallies={keys[number].key: Tally(total, count) for number, count, total in sums if count},
        problems={problem.key: problem.record for problem in keys.values()},
        scorer=run.scorer().spec,
        sampling=run.spec.get("sampling"),
    )


def _of_log(log: Log) -> Respondent:
    if log.scorers:
        _refuse_falling(log.scale(), f"{log.source.file}: {log.scorers[0]}")
    totals: dict[int, list[float]] = {}
    for trial in log.trials:
        for score in trial.scores:
            if score.scorer == 0 and score.value is not None:
                totals.setdefault(trial.problem, []).append(score.value)
    return Respondent(
        name=f"{log.model} ({Path(log.source.file).name})",
        task=log.task,
        tallies={log.problems[at].key: Tally(sum(v), len(v)) for at, v in totals.items()},
        problems={problem.key: json.loads(problem.record) for problem in log.problems},
    )


def _refuse_falling(scale: Scale, name: str) -> None:
    if scale.lower_is_better:
        raise InvalidInput(
            f"{name} has scores of which lower ones are better; the curves of a bank rise with "
            "ability, from 0 to 1."
        )


def _named_apart(respondents: Iterable[Respondent]) -> list[Respondent]:
    """Return respondents under names that tell them apart; all must be of one task."""
    several = list(respondents)
    tasks = list(dict.fromkeys(one.task for one in several))
    if len(tasks) > 1:
        raise InvalidInput(
            f"a bank is of one task, and these are {', '.join(tasks[:5])}; choose with --task."
        )
    return [
        one if name == one.name else Respondent(name, *_rest(one))
        for one, name in zip(several, _unique([one.name for one in several]), strict=True)
    ]


def _rest(one: Respondent) -> tuple[Any, ...]:
    return one.task, one.tallies, one.problems, one.scorer, one.sampling


def _unique(names: Sequence[str]) -> Iterator[str]:
    """Yield names, the second "a" as "a #2".

    >>> list(_unique(["a", "b", "a"]))
    ['a', 'b', 'a #2']
    """
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name} #{seen[name]}"

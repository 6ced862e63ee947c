"""The models that sources of trials hold, under names that tell them apart, task by task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from passband.errors import InvalidInput
from passband.readers import Groups, Remark, read
from passband.readers.choice import chosen_sources
from passband.readers.folders import expand_sources, is_several
from passband.readers.judge_scores import JudgeScores
from passband.stats.data.evidence import Finding
from passband.stats.data.outcomes import Outcomes
from passband.stats.data.scale import Scale
from passband.stats.metric.registry import needs_answers
from passband.summary.compare_remarks import (
    different_scorers,
    sandbox_remarks,
    scale_remarks,
    scorer_remarks,
    target_findings,
)
from passband.summary.contest import Contest
from passband.summary.field import Field
from passband.summary.judged.compared import judge_remarks
from passband.trials.reader import Trials, is_run_directory

__all__ = ["Contestants", "contestants_of", "read_contestants", "refuse_same"]


@dataclass(frozen=True)
class Contestants:
    """The outcomes of each model on each task that two models or more were asked."""

    tasks: Mapping[str | None, Mapping[str, Outcomes]] = field(hash=False)
    remarks: tuple[Remark, ...] = ()
    shares: frozenset[str | None] = frozenset()  #: tasks whose scores are from 0 to 1
    #: by model, the source it is read from and its name there
    sources: Mapping[str, tuple[str, str | None]] = field(default_factory=dict, hash=False)
    #: by task and model, where scores are a judge's
    judges: Mapping[str | None, Mapping[str, JudgeScores]] = field(default_factory=dict, hash=False)


def read_contestants(
    sources: Sequence[str | Path],
    contest: Contest,
    *,
    columns: Mapping[str, str | None] | None = None,
    by: str | None = None,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
    threshold: float | None = None,
    skip_bad: bool = False,
    scales: Mapping[str, Scale] | None = None,
) -> Contestants:
    """Read the models that files and run directories hold; see `compare_sources`."""
    refuse_same(sources)
    sources, empty = _with_trials(sources)
    chosen = () if by is None else (by,)
    readings = [
        read(
            source,
            columns=columns,
            by=chosen,
            threshold=threshold,
            tasks=_held(source, tasks),
            skip_bad=skip_bad,
            targets=contest.paired,
            answers=needs_answers(contest.metrics),
            scales=scales,
            first=contest.first,
        )
        for source in sources
    ]
    contestants = contestants_of(readings, contest, by=by, tasks=tasks, models=models)
    return replace(contestants, remarks=(*contestants.remarks, *empty))


def contestants_of(
    readings: Sequence[Groups],
    contest: Contest,
    *,
    by: str | None = None,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
) -> Contestants:
    """Return the models of sources that have been read, and remarks on comparing them."""
    entrants = Field(readings, by, models)
    shared, left_out = entrants.shared_tasks(tasks)
    remarks = [
        Remark(f"{one.source}: {remark}", remark.important)
        for one in readings
        for remark in one.remarks
    ]
    if by != "scorer":
        left_out += scorer_remarks(readings, shared)
    left_out += sandbox_remarks(readings, shared)
    apart = target_findings(readings, shared)
    outcomes = {
        task: _knowing(entrants.models(task), contest, apart.get(task, ())) for task in shared
    }
    scorers = different_scorers(readings, shared)  # whose remark speaks of scales already
    left_out += scale_remarks({t: models for t, models in outcomes.items() if t not in scorers})
    shares = frozenset(
        task for task in shared if all(one.is_share for one in outcomes[task].values())
    )
    judges = {task: found for task in shared if (found := entrants.judges(task))}
    for task, found in judges.items():
        left_out += judge_remarks(task, found)
    return Contestants(outcomes, (*remarks, *left_out), shares, entrants.sources(), judges)


def _knowing(
    models: Mapping[str, Outcomes], contest: Contest, apart: Iterable[Finding]
) -> dict[str, Outcomes]:
    """Return the models of a task with what is accepted, the last also with how targets differ."""
    known = {name: one.accepting(contest.accept) for name, one in models.items()}
    last = list(known)[-1]
    return {**known, last: known[last].knowing(apart)}


def _with_trials(sources: Sequence[str | Path]) -> tuple[Sequence[str | Path], list[Remark]]:
    """Return the sources, folders by the run directories in them; those without trials apart."""
    if not any(is_several(source) for source in sources):
        return sources, []
    chosen = chosen_sources(expand_sources(sources), (), ())
    empty = [Remark(reason) for reason in chosen.values() if isinstance(reason, str)]
    return [path for path, held in chosen.items() if not isinstance(held, str)], empty


def _held(source: str | Path, tasks: Sequence[str]) -> list[str]:
    """Return which of the tasks a run directory holds: others may have other scorers."""
    if not tasks or not is_run_directory(Path(source)):
        return []
    with Trials(source) as trials:
        held = {run.task for run in trials.runs()}
    return [task for task in tasks if task in held]


def refuse_same(sources: Sequence[str | Path]) -> None:
    """Raise `InvalidInput` if a source is given twice, however its path is written."""
    places: dict[Path, str | Path] = {}
    for source in sources:
        place = Path(source).resolve()
        if place in places:
            raise InvalidInput(
                f"{places[place]} and {source} are the same; a model cannot be compared with "
                "itself."
            )
        places[place] = source

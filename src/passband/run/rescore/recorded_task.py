"""Rebuild a task from its trials: recorded problems, settings and scorers, without its file.

A run directory holds every prompt with what its answers are compared with, the settings of the
requests and the specifications of the scorers. That is all that further trials take, so they can be
made where the task file, its data and the options of the first command are gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.generate import Message, Problem, Sampling
from passband.run.loop.grader import identity_of, truncated_of
from passband.run.settings import Settings
from passband.run.task_run import BROUGHT
from passband.score import Reference, Scorer, Truncated, rebuilt_scorer
from passband.tasks import MetricEntry, Task
from passband.trials import BEHIND, ProblemRecord, RunRecord, Trials

_OF_THE_RUN = ("model", "sampling", "seed", "addresses", "uncompared")  # in a spec; not the task's


def recorded_task(trials: Trials, run: RunRecord) -> Task:
    """Return the task of a recorded run; refuse one that cannot be asked again from its record."""
    _refuse(run)
    truncated = _truncated(run)
    problems = [_problem(run, record) for record in trials.problems(run.number)]
    config = run.config
    return Task(
        name=run.task,
        path=Path(config["path"]) if config.get("path") else None,
        sampling=_sampling(run.spec["sampling"]),
        repeats=1,
        scorers=tuple(_scorers(run, truncated)),
        metrics=tuple(MetricEntry(**entry) for entry in config.get("metrics", ())),
        load=lambda limit: problems[:limit],
        truncated=truncated,
        version=str(config.get("version", "1")),
        num_fewshot=int(config.get("num_fewshot", 0)),
        config=config.get("task", {}),
        spec={name: value for name, value in run.spec.items() if name not in _OF_THE_RUN},
    )


def recorded_settings(
    run: RunRecord, n: int, *, concurrency: int = 64, max_cost: float | None = None
) -> Settings:
    """Return the settings under which a run is brought to n trials of each problem."""
    seed: str | None = run.spec.get("seed")
    return Settings(
        n=n,
        concurrency=concurrency,
        seed=seed,
        send_seeds=seed is not None,
        truncated=None,  # as each task has it
        max_cost=max_cost,
    )


def _refuse(run: RunRecord) -> None:
    """Refuse runs whose trials were not made by prompts of a task and a model known here."""
    if run.is_imported:
        raise InvalidInput(
            f"{run.task}: the trials of {run.model} were imported from a log, so there is nothing "
            "here that could be asked for more of them. Make more where they were made, import "
            "them, and gate again."
        )
    if run.adaptive is not None:
        run.refuse_averages()
    if "inspect" in run.config.get("task", {}):
        raise InvalidInput(
            f"{run.task} is a task of Inspect, whose solver is not part of the record; bring it to "
            "more trials with passband run ... -n N, and gate again."
        )


def _truncated(run: RunRecord) -> Truncated:
    if run.scorers:
        return truncated_of(run.scorers[0].identity)
    return "score" if run.config.get("truncated") == "score" else "leave"


def _sampling(spec: Mapping[str, Any]) -> Sampling:
    return Sampling(
        temperature=spec.get("temperature"),
        top_p=spec.get("top_p"),
        max_tokens=spec.get("max_tokens"),
        stop=tuple(spec.get("stop", ())),
        extra=spec.get("extra", {}),
    )


def _scorers(run: RunRecord, truncated: Truncated) -> Sequence[Scorer]:
    scorers = []
    for record in run.scorers:
        if record.identity.startswith(BROUGHT):
            continue
        scorer = rebuilt_scorer(record)
        if scorer is None:
            raise InvalidInput(
                f"{run.task}: the scorer {record.name} is code of the task, which is not part of "
                "the record; bring the run to more trials with passband run ... -n N, and gate "
                "again."
            )
        if identity_of(scorer, truncated) != record.identity:
            raise InvalidInput(
                f"{run.task}: the scorer {record.name} has changed since these trials were scored; "
                "score them again with passband score, or go back to the version that did."
            )
        scorers.append(scorer)
    return scorers


def _problem(run: RunRecord, record: ProblemRecord) -> Problem:
    if record.position >= BEHIND:
        raise InvalidInput(
            f"{run.task}: problem {record.key!r} is no longer among the data of the task, so its "
            "rounds are not complete; use a directory that holds one set of problems."
        )
    content = record.record
    return Problem(
        key=record.key,
        messages=tuple(Message(role, text) for role, text in content["messages"]),
        reference=Reference(
            tuple(content.get("targets", ())),
            tuple(content.get("choices", ())),
            content.get("doc", {}),
        ),
        cluster=record.cluster,
    )

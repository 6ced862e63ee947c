"""Notes before the first request: nothing is missing, another server, trials that will repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from passband.run.progress import Watcher
from passband.run.task_run import TaskRun
from passband.trials.reader import Trials

__all__ = ["Earlier", "nothing_to_ask", "read_earlier", "warn_before_asking"]


@dataclass(frozen=True)
class Earlier:
    """The trials that a directory held of a task and a model before this run."""

    trials: int
    address: str | None  # of the server that the first of them came from


def read_earlier(directory: Path, tasks: Sequence[str], model: str) -> list[Earlier]:
    """Return what is recorded of a model's tasks, those without trials left out."""
    with Trials(directory, trusted=True) as trials:
        runs = [run for run in trials.runs() if run.task in tasks and run.model == model]
        recorded = [Earlier(trials.trial_count(run.number), run.address) for run in runs]
    return [earlier for earlier in recorded if earlier.trials]


def warn_before_asking(
    runs: Sequence[TaskRun], earlier: Sequence[Earlier], address: str | None, watcher: Watcher
) -> None:
    """Warn of another server, of problems that are not asked, of trials that will be the same."""
    others = {e.address for e in earlier if e.address} - {address}
    for other in sorted(others) if address else ():
        count = sum(e.trials for e in earlier if e.address == other)
        watcher.warn(
            f"{'1 trial is' if count == 1 else f'{count} trials are'} recorded, the first from "
            f"{other}, and this run asks {address}; results mix the two. Another model or "
            f"checkpoint needs --out DIR or --name."
        )
    for run in runs:
        if run.unasked:
            problems = "1 problem" if run.unasked == 1 else f"{run.unasked} problems"
            watcher.warn(
                f"{run.task.name}: results include {problems} with recorded trials beyond --limit "
                f"or no longer in the data; another set of problems needs --out DIR or --name."
            )
        is_asking = run.counters.done < run.counters.planned
        if is_asking and run.n > 1 and run.sampling.temperature == 0:
            watcher.warn(
                f"{run.task.name}: temperature 0: {run.n} trials of a problem are likely "
                f"identical, worth one."
            )
    for text in _ignored([run for run in runs if run.counters.done < run.counters.planned]):
        watcher.warn(text)


def _ignored(runs: Sequence[TaskRun]) -> list[str]:
    """Return what is known to have no effect of the settings, each sentence once."""
    sentences = [
        f"{sentence}."
        for run in runs
        if hasattr(run.subject, "ignored")
        for sentence in run.subject.ignored(run.sampling, seeds=run.seed is not None)
    ]
    return list(dict.fromkeys(sentences))


def nothing_to_ask(directory: Path, runs: Sequence[TaskRun]) -> str:
    """Return the note of a run that finds every trial recorded."""
    numbers = {run.number for run in runs}
    with Trials(directory, trusted=True) as trials:
        days = sorted({run.created[:10] for run in trials.runs() if run.number in numbers})
    count = sum(run.counters.done for run in runs)
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    every = "the one trial was" if count == 1 else f"all {count} trials were"
    return (
        f"nothing to ask: {every} recorded on {when}; another model or checkpoint needs "
        f"--out DIR or --name"
    )

"""Warn before the first request: nothing is missing, another server, trials that will repeat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.run.progress import Watcher
from passband.run.task_run import TaskRun
from passband.trials import Trials, is_moved, uncompared

_WORDS = {
    "function": "what the source of the model's function was",
    "task_code": "what the code of the task was",
    "tiny": "which version of tiny answered",
}


@dataclass(frozen=True)
class Earlier:
    """The trials that a directory held of a task and a model before this run."""

    task: str
    trials: int
    spec: Mapping[str, Any]
    addresses: Sequence[str]  # of the servers that they came from
    shares: Mapping[str, int]  # trials by address, of all tasks; empty where that is not known


def read_earlier(directory: Path, tasks: Sequence[str], model: str) -> list[Earlier]:
    """Return what is recorded of a model's tasks, those without trials left out."""
    with Trials(directory, trusted=True) as trials:
        runs = [run for run in trials.runs() if run.task in tasks and run.model == model]
        counts = {run.task: trials.trial_count(run.number) for run in runs}
        shares = _shares(trials, sum(counts.values()))
        recorded = [
            Earlier(run.task, counts[run.task], run.spec, run.addresses, shares) for run in runs
        ]
    return [earlier for earlier in recorded if earlier.trials]


def _shares(trials: Trials, total: int) -> dict[str, int]:
    """Return how many trials came from each address; nothing if sessions do not add up to all.

    Several addresses that shared a session's requests count as one; a killed session has no count.
    """
    shares: Counter[str] = Counter()
    for session in trials.sessions():
        shares[session.address or "no server"] += session.trials or 0
    return dict(shares) if sum(shares.values()) == total else {}


def warn_before_asking(
    runs: Sequence[TaskRun],
    earlier: Sequence[Earlier],
    specs: Mapping[str, Mapping[str, Any]],
    address: str | None,
    watcher: Watcher,
) -> None:
    """Pass on the notes of tasks; warn of another server, problems not asked, trials all the same.

    `specs` is what the trials of each task depend on now.
    """
    for run in runs:
        for text in run.task.notes if getattr(watcher, "shows_guesses", True) else ():
            watcher.note(text)
        for text in run.task.warnings:
            watcher.warn(f"{run.task.name}: {text}")
    _warn_of_servers(earlier, address, watcher)
    for one in earlier:
        _note_unseen(one, specs[one.task], address, watcher)
    for run in runs:
        if run.unasked:
            problems = "1 problem" if run.unasked == 1 else f"{run.unasked} problems"
            watcher.warn(
                f"{run.task.name}: results include {problems} with recorded trials beyond --limit, "
                f"left out by where, or no longer in the data; another set of problems needs --out "
                f"DIR or --name."
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
        for sentence in run.subject.ignored(run.sampling, seeds=run.seed is not None)
    ]
    return list(dict.fromkeys(sentences))


def _warn_of_servers(earlier: Sequence[Earlier], address: str | None, watcher: Watcher) -> None:
    moved = [one for one in earlier if is_moved(one.addresses, address)]
    for others in sorted({tuple(one.addresses) for one in moved}):
        alike = [one for one in moved if tuple(one.addresses) == others]
        count = sum(one.trials for one in alike)
        shares = alike[0].shares if sum(alike[0].shares.values()) == count else {}
        shares = shares or {" and ".join(others): count}
        first, *rest = [(n, where.replace(", ", " and ")) for where, n in shares.items() if n]
        watcher.warn(
            f"{'1 trial is' if first[0] == 1 else f'{first[0]} trials are'} recorded from "
            f"{', '.join([first[1], *(f'{n} from {where}' for n, where in rest)])}, and "
            f"this run asks {address or 'no server'}, taken for the same model (--moved-server)."
        )


def _note_unseen(
    earlier: Earlier, spec: Mapping[str, Any], address: str | None, watcher: Watcher
) -> None:
    """Note what could not be compared: it was not recorded, or it cannot be seen."""
    unknown = [_WORDS[name] for name in uncompared(earlier.spec, spec)]
    if address is not None and not earlier.addresses:
        unknown.append("the address of the server")
    if unknown:
        watcher.note(
            f"{earlier.task}: the {earlier.trials} trials recorded do not say "
            f"{' or '.join(unknown)}, so it was not compared; from now on it is."
        )
    if unseen := spec.get("function", {}).get("unseen"):
        watcher.note(
            f"{earlier.task}: a change of {' or '.join(unseen)} cannot be seen; another model "
            f"needs --out DIR or --name."
        )


def nothing_to_ask(directory: Path, runs: Sequence[TaskRun]) -> str:
    """Return the note of a run, or of one of its shards, that finds every trial recorded."""
    count, shard = sum(run.counters.done for run in runs), runs[0].shard
    if shard is not None:
        if not count:
            return f"nothing to ask: no trial of the run belongs to shard {shard}"
        return f"nothing to ask: what belongs to shard {shard} is recorded, {count} trials"
    numbers = {run.number for run in runs}
    with Trials(directory, trusted=True) as trials:
        days = sorted({run.created[:10] for run in trials.runs() if run.number in numbers})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    every = "the one trial was" if count == 1 else f"all {count} trials were"
    return (
        f"nothing to ask: {every} recorded on {when}; another model or checkpoint needs "
        f"--out DIR or --name"
    )

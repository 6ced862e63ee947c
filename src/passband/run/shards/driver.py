"""Lead a run in shards: prepare, launch, follow, merge, close.

The stores of the shards are the truth. The leading process keeps nothing that they do not hold: if
it is killed, the next one merges the stores that it finds and requests what is missing then, in as
many shards as it likes. The shards are processes of this machine, or actors of a Ray cluster.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from passband.errors import InvalidInput
from passband.run.budget import Budget
from passband.run.judge.prepare import make_judges, seated
from passband.run.loop.loop import Ending
from passband.run.prepare import load_problems
from passband.run.progress import TaskProgress, Watcher
from passband.run.request import RunRequest
from passband.run.session import OnStart, RunResult, make_subjects, prepare_all, run_session
from passband.run.shards.folder import leading, merge_stores
from passband.run.shards.launch import Launch, Launcher
from passband.run.shards.lead import Lead
from passband.run.shards.local import LocalProcesses
from passband.run.task_run import TaskRun
from passband.system import available_cpus
from passband.trials import Store


def make_launcher(launch: Launch, directory: Path) -> Launcher:
    """Return the launcher of shards whose stores are in a directory."""
    if launch.on is None:
        return LocalProcesses(cpus=max(1, available_cpus() // launch.shards))
    from passband.run.shards.ray import RayActors  # heavy, and seldom needed

    return RayActors(launch.on, launch.shards, directory)


def run_shards(
    request: RunRequest,
    launch: Launch,
    watcher: Watcher,
    on_start: OnStart | None = None,
    launcher: Launcher | None = None,
) -> RunResult:
    """Request every missing trial in shards, and return the run as if one process had asked."""
    began = time.monotonic()
    _require_names(request)
    with leading(request.directory) as folder:
        moved_server = request.settings.moved_server
        merge_stores(folder, request.directory, watcher, moved_server=moved_server)
        runs, budget = _prepared(request, watcher)
        tasks = [_before(run, request) for run in runs]
        closing: Ending | None = None  # nothing is missing: an ordinary run, which says so
        if any(task.done < task.planned for task in tasks):
            launcher = launcher or make_launcher(launch, folder)
            try:
                lead = Lead(request, launch, launcher, runs, tasks, watcher, budget)
                closing = lead.run(on_start)
            finally:
                launcher.close()
    finished = run_session(
        request.tasks,
        request.model,
        request.directory,
        settings=request.settings,
        connection=request.connection,
        watcher=watcher,
        price=request.price,
        judge=request.judge,
        closing=closing,
    )
    for run, task in zip(finished.task_runs, tasks, strict=True):
        run.counters.fresh = run.counters.done - task.done
    return replace(finished, seconds=time.monotonic() - began)


def _require_names(request: RunRequest) -> None:
    if request.recipe is None:
        raise InvalidInput(
            "a run in shards needs tasks and a model by name: another process has to make them."
        )


def _prepared(request: RunRequest, watcher: Watcher) -> tuple[list[TaskRun], Budget]:
    """Enter the tasks into the store of the run, which refuses what has to be refused.

    The budget counts what is recorded there, with the replies of judges.
    """
    settings = request.settings
    budget = Budget(request.price, settings.max_cost)
    judges = make_judges(request.judge, budget, settings, request.connection)
    tasks = judges.tasks(request.tasks)
    problems = [load_problems(task, settings) for task in tasks]
    subjects = make_subjects(tasks, request.model, request.connection)
    store = Store(request.directory)
    try:
        runs = prepare_all(store, tasks, problems, subjects, settings, watcher, judges)
        for run in runs:
            seated(judges, store, run)
        budget.begin(runs)
        return runs, budget
    finally:
        store.close()


def _before(run: TaskRun, request: RunRequest) -> TaskProgress:
    """Return a task as it is before any shard asks."""
    counters = run.counters
    return TaskProgress(
        task=run.task.name,
        done=counters.done,
        planned=counters.planned,
        tokens=(counters.prompt_tokens, counters.completion_tokens),
        cost=counters.cost(request.price),
        failed={name: n for name, n in counters.statuses.items() if n and name != "ok"},
        estimate=None,
    )

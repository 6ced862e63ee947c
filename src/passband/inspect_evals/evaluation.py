"""One evaluation: the tasks loaded, every problem asked n times, the logs, the outcomes."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passband.errors import ExitCode, PassbandError, warn
from passband.generate import Connection
from passband.readers import stored_outcomes
from passband.run import RunRequest, Stop, Watcher, load_tasks, make_request
from passband.stats.data import Outcomes
from passband.tasks import Task, inspect_task
from passband.trials import RunRecord, Trials

if TYPE_CHECKING:
    from passband.inspect_evals.inspect_evaluators import InspectEvaluatorBuilder


logger = logging.getLogger(__name__)
_TURN = threading.Lock()  # Inspect runs one evaluation in a process at a time


class Stopped(PassbandError):
    """The run was stopped before it was complete."""

    def __init__(self, ending: str, exit_code: ExitCode = ExitCode.INTERRUPTED) -> None:
        super().__init__(f"the run was {ending} before it was complete.")
        self.exit_code = exit_code


class Evaluation:
    """Tasks of Inspect, the model that they are asked of, and where the trials are kept."""

    def __init__(self, config: InspectEvaluatorBuilder, model: Any, directory: Path) -> None:
        self._config, self._model, self._directory = config, model, directory
        self.failures: dict[str, str] = {}  # tasks without a score, and why

    def run(self, watcher: Watcher, stop: Stop) -> dict[str, Outcomes]:
        """Run the missing trials, and return the outcomes of each task by its name."""
        if not stop.acquire(_TURN):
            raise Stopped("interrupted")
        try:
            request = self._request()
            finished = request.run(watcher, on_start=stop.started)
        finally:
            _TURN.release()
        if finished.ending != "finished":
            raise Stopped(finished.ending, finished.exit_code)
        names = _short_names(request.tasks)
        with Trials(self._directory) as trials:
            runs = {name: trials.run(task.name, finished.model) for name, task in names.items()}
            for run in runs.values():
                self._report(trials, run)
            self.failures = {
                name: why for name, run in runs.items() if (why := _failure(trials, run))
            }
            outcomes = {
                name: stored_outcomes(trials, run, run.scorer())
                for name, run in runs.items()
                if name not in self.failures
            }
        for name, one in outcomes.items():
            for finding in one.found.warned():
                warn(f"{name}: {finding.text}")
        return outcomes

    def _request(self) -> RunRequest:
        config = self._config
        return make_request(
            [self._adapted(task) for task in self._tasks()],
            self._model,
            out=self._directory,
            n=config.num_choices,
            limit=config.limit,
            concurrency=config.max_connections,
            temperature=config.temperature,
            top_p=config.top_p,
            max_tokens=config.max_tokens,
            seed=None if config.seed is None else str(config.seed),
            send_seeds=config.seed is not None,
            base_url=config.base_url,
        )

    def _tasks(self) -> list[Task]:
        """Load the tasks; their code may ask for the model that is evaluated."""
        config = self._config
        connection = Connection(base_url=config.base_url, concurrency=config.max_connections)
        loaded: list[Task] = []
        for task in task_list(config.tasks):
            if isinstance(task, str):
                name = f"inspect:{task}"
                loaded += load_tasks(name, model=self._model, connection=connection)
            else:
                loaded.append(inspect_task(task))
        return loaded

    def _adapted(self, task: Task) -> Task:
        """Return a task with what runs have no option for."""
        if self._config.metadata:
            metadata = dict(self._config.metadata)
            task = replace(task, config={**task.config, "metadata": metadata})
        if self._config.top_k < 0:
            return task
        extra = {**task.sampling.extra, "top_k": self._config.top_k}
        return replace(task, sampling=replace(task.sampling, extra=extra))

    # -- logs ------------------------------------------------------------------------------

    def _report(self, trials: Trials, run: RunRecord) -> None:
        """Log what the configuration asks for, and write the .eval log."""
        keys = {problem.number: problem.key for problem in trials.problems(run.number)}
        if self._config.debug_errors:
            for attempt in trials.attempt_rows(run.number):
                place = run.task, keys.get(attempt.problem), attempt.trial
                logger.warning("%s: problem %s, trial %d: %s: %s", *place, attempt.outcome,
                               attempt.detail)  # fmt: skip
        if self._config.verbose:
            _log_trials(trials, run, keys)
        if self._config.log_dir is not None:
            self._write_log(trials, run, Path(self._config.log_dir))

    def _write_log(self, trials: Trials, run: RunRecord, folder: Path) -> None:
        from passband.writers import write

        folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H-%M-%S-%f")
        name = re.sub(r"[^\w.+-]+", "-", f"{run.task}_{self._directory.name}")
        for loss in write(trials, [run], "eval", folder / f"{now}_{name}.eval", timing=True):
            logger.warning("%s", loss)


def task_list(tasks: Any) -> list[Any]:
    """Return tasks one by one: names that are separated by commas, tasks, or functions of them.

    >>> task_list("inspect_evals/aime2024, tasks.py@sums")
    ['inspect_evals/aime2024', 'tasks.py@sums']
    """
    if isinstance(tasks, str):
        return [name.strip() for name in tasks.split(",") if name.strip()]
    several = tasks if isinstance(tasks, (list, tuple)) else [tasks]
    return [
        one for task in several for one in (task_list(task) if isinstance(task, str) else [task])
    ]


def _failure(trials: Trials, run: RunRecord) -> str | None:
    """Return why no trial of a task has a score, by its last failed attempt; None if one has."""
    if run.scorers and any(count for _, count, _ in trials.score_sums(run.scorer().number)):
        return None
    listed = ", ".join(f"{count} {status}" for status, count in trials.statuses(run.number).items())
    last = max(trials.attempt_rows(run.number), key=lambda row: row.at_ms, default=None)
    why = "" if last is None else f"; the last attempt: {last.outcome}: {last.detail}"
    return f"no trial has a score ({listed or 'none is recorded'}{why})."


def _short_names(tasks: Sequence[Task]) -> dict[str, Task]:
    """Return tasks by their names without the package, unless two would have the same."""
    short = [task.name.rpartition("/")[2] for task in tasks]
    return {
        task.name if short.count(name) > 1 else name: task
        for name, task in zip(short, tasks, strict=True)
    }


def _log_trials(trials: Trials, run: RunRecord, keys: dict[int, str]) -> None:
    prompts = {
        problem.number: "\n".join(f"{role}: {text}" for role, text in problem.record["messages"])
        for problem in trials.problems(run.number)
    }
    for row in trials.trials(run):
        logger.info("%s: problem %s, trial %d (%s)\n[Problem]\n%s\n[Completion]\n%s", run.task,
                    keys[row.problem], row.trial, row.status, prompts[row.problem],
                    row.text)  # fmt: skip

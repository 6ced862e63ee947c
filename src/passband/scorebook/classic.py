"""Classic runs: every problem of a data set is asked, and metrics have their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from passband.errors import warn
from passband.generate import Connection, JsonObject
from passband.run import OnStart, RunResult, Silent, run_session
from passband.scorebook.eval_dataset import EvalDataset
from passband.scorebook.inference import InferenceCalls
from passband.scorebook.options import EvaluationSettings
from passband.scorebook.results import EvalRun
from passband.scorebook.run_spec import ClassicEvalRunSpec
from passband.scorebook.subject import InferenceSubject, prompt_of
from passband.summary import ProblemScores, Request, RunSummary, read_problem_scores
from passband.trials import RunRecord, Trials


class ClassicRun:
    """One data set with one set of hyperparameters."""

    engine = "local"

    def __init__(
        self,
        spec: ClassicEvalRunSpec,
        options: EvaluationSettings,
        directory: Path,
        seed: int | None,
    ) -> None:
        self.spec, self.directory = spec, directory
        self._options, self._seed = options, seed
        dataset = spec.dataset
        self._task = dataset.task() if isinstance(dataset, EvalDataset) else dataset
        self._input_of = dataset.input_of if isinstance(dataset, EvalDataset) else prompt_of

    def run(self, calls: InferenceCalls, model: str, on_start: OnStart) -> RunResult:
        """Run the missing trials in a thread; stop when `on_start`'s function is called."""
        spec = self.spec
        config = {
            "experiment_id": spec.experiment_id,
            "project_id": spec.project_id,
            "metadata": dict(spec.metadata or {}),
        }
        return run_session(
            [self._task],
            InferenceSubject(calls, model, self._input_of, config=config),
            self.directory,
            settings=self._options.settings(spec.label, self._seed, calls.inference.limit),
            connection=Connection(timeout=self._options.timeout),
            watcher=Silent(),
            on_start=on_start,
        )

    def result(self, model: str, *, items: bool) -> EvalRun:
        """Return the numbers of the finished run."""
        with Trials(self.directory) as trials:
            run = trials.run(self._task.name, model)
            request = Request(level=self._options.level)
            values = self._values(trials, run, RunSummary(trials, run, request))
            problems = read_problem_scores(trials, run, texts=True) if items else []
        rows = [self._item(run, problem) for problem in problems]
        return EvalRun(self.spec, self.engine, self.directory, values, rows)

    def _values(self, trials: Trials, run: RunRecord, summary: RunSummary) -> JsonObject:
        group = summary.group({})
        values: JsonObject = {}
        for result in summary.listed:
            name, estimate = result.entry.name, result.estimate
            if estimate is None:
                warn(f"{self.spec.label}: {name} has no value: {result.reason}")
            values[name] = None if estimate is None else estimate.value
            values[f"{name}_std_error"] = None if estimate is None else estimate.se
            ends = None if estimate is None else [estimate.low, estimate.high]
            values[f"{name}_interval"] = ends
        statuses = trials.statuses(run.number)
        if failed := {status: n for status, n in statuses.items() if status != "ok"}:
            listed = ", ".join(f"{n} {status}" for status, n in failed.items())
            warn(f"{self.spec.label}: trials without an answer are left out: {listed}.")
        counts = {"n_items": group.n_problems, "n_trials": sum(statuses.values())}
        return {**values, **counts, "statuses": statuses}

    def _item(self, run: RunRecord, problem: ProblemScores) -> JsonObject:
        record = problem.problem.record
        targets = list(record["targets"])
        row: JsonObject = {
            "id": problem.problem.key,
            "input": "\n\n".join(text for _, text in record["messages"]),
            "label": targets[0] if len(targets) == 1 else targets,
            "status": _one(problem.statuses),
        }
        if self._options.return_output:
            row["output"] = _one(problem.texts)
        return row | {s.name: _one(problem.scores(s.number)) for s in run.scorers}


def _one(values: Any) -> Any:
    """Return the value of the only trial, or the list of all."""
    several = list(values)
    return several[0] if len(several) == 1 else several

"""Adaptive tests on local banks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from passband.adaptive import AdaptiveTask, Bank, Step, task_of_bank
from passband.errors import NotEnoughData, warn
from passband.generate import Connection, JsonMapping, JsonObject, Problem
from passband.run import OnStart, RunResult, Silent, run_session
from passband.scorebook.client import item_record
from passband.scorebook.inference import InferenceCalls
from passband.scorebook.options import EvaluationSettings
from passband.scorebook.results import EvalRun
from passband.scorebook.run_spec import AdaptiveEvalRunSpec
from passband.scorebook.subject import InferenceSubject
from passband.summary import Group, Request, adaptive_group
from passband.trials import RunRecord, TrialRow, Trials


class LocalRun:
    """One split of a bank with one set of hyperparameters."""

    engine = "local"

    def __init__(
        self,
        spec: AdaptiveEvalRunSpec,
        bank: Bank,
        options: EvaluationSettings,
        directory: Path,
        seed: int | None,
    ) -> None:
        self.spec, self.directory = spec, directory
        self._options, self._seed = options, seed
        self._task: AdaptiveTask = task_of_bank(bank, options.test_design())

    def run(self, calls: InferenceCalls, model: str, on_start: OnStart) -> RunResult:
        """Run the missing trials in a thread; stop when `on_start`'s function is called."""
        spec, bank = self.spec, self._task.bank
        subject = InferenceSubject(
            calls,
            model,
            lambda problem: item_record(bank.item(problem.key)).as_input(),
            text_of=lambda problem, output: _answer(bank, problem, output),
            config={
                "experiment_id": spec.experiment_id,
                "project_id": spec.project_id,
                "metadata": dict(spec.metadata or {}),
            },
            is_costly=True,  # the next item waits for the answer, so the answer waits for no other
        )
        return run_session(
            [self._task],
            subject,
            self.directory,
            settings=self._options.settings(
                spec.test, self._seed, calls.inference.limit, of_bank=True
            ),
            connection=Connection(timeout=self._options.timeout),
            watcher=Silent(),
            on_start=on_start,
        )

    def result(self, model: str, *, items: bool) -> EvalRun:
        """Return the ability that the recorded answers give, and the path to it."""
        with Trials(self.directory) as trials:
            run = trials.run(self._task.name, model)
            request = Request(level=self._options.level)
            group = adaptive_group(trials, run, run.scorer(), request, {})
            numbers = trials.numbers(run.number)
            outputs = _outputs(trials.trials(run)) if items else {}
        assert group.adaptive is not None  # the task is one
        path = group.adaptive.path
        if not any(step.score is not None for step in path):
            raise NotEnoughData(f"{self.spec.label}: no item has a score, so ability is unknown.")
        self._warn(group.statuses)
        rows = [self._item(step, outputs[numbers[step.key]]) for step in path] if items else []
        return EvalRun(self.spec, self.engine, self.directory, _values(run, group), rows)

    def _warn(self, statuses: Mapping[str, int]) -> None:
        failed = [f"{n} {status}" for status, n in statuses.items() if n and status != "ok"]
        if failed:
            listed = ", ".join(failed)
            warn(f"{self.spec.label}: trials without a score are no evidence: {listed}.")

    def _item(self, step: Step, outputs: Sequence[str | None]) -> JsonObject:
        item = self._task.bank.item(step.key)
        targets = list(item.targets)
        row = {
            "id": item.key,
            "input": item.question,
            "label": targets[0] if len(targets) == 1 else targets,
            "score": step.score,
            "theta": step.theta,
            "std_error": step.se,
        }
        if not self._options.return_output:
            return row
        return row | {"output": outputs[0] if len(outputs) == 1 else list(outputs)}


def _answer(bank: Bank, problem: Problem, output: str) -> str:
    """Return an output as the bank's scorer reads it: for the id of a choice, its letter."""
    return bank.item(problem.key).letter(output) or output


def _outputs(rows: Iterable[TrialRow]) -> dict[int, list[str | None]]:
    texts: dict[int, list[str | None]] = {}
    for row in rows:
        texts.setdefault(row.problem, []).append(row.text)
    return texts


def _values(run: RunRecord, group: Group) -> JsonObject:
    """Return ability, the accuracy of the bank by each road, and the path of the test."""
    values: JsonObject = {"run_id": run.name}
    for line in group.lines:
        if line.estimate is None:
            continue
        estimate, name = line.estimate, re.sub(r"\W+", "_", line.metric).strip("_")
        values[name] = estimate.value
        values["std_error" if name == "theta" else f"{name}_std_error"] = estimate.se
        values[f"{name}_interval"] = [estimate.low, estimate.high]
    assert group.adaptive is not None
    return {
        "score": {name: values[name] for name in ("theta", "std_error")},
        **values,
        "n_items": group.n_problems,
        "n_trials": group.n_trials,
        "statuses": {status: n for status, n in group.statuses.items() if n},
        "stop_reason": group.adaptive.stop,
        "path": [_path_entry(step) for step in group.adaptive.path],
        "responses": None,
    }


def _path_entry(step: Step) -> JsonMapping:
    return {
        "id": step.key,
        "score": step.score,
        "theta": step.theta,
        "std_error": step.se,
        "reason": step.reason,
    }

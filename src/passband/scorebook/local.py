"""Adaptive tests on local banks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from passband.adaptive.bank import Bank, BankItem
from passband.adaptive.task import AdaptiveTask, task_of_bank
from passband.adaptive.test import AdaptiveTest, Step
from passband.errors import NotEnoughData, warn
from passband.generate.problem import Problem
from passband.generate.providers import Connection
from passband.run.adaptive import AdaptiveSchedule
from passband.run.session import Finished, OnStart, run_session
from passband.scorebook.inference import InferenceCalls
from passband.scorebook.options import Options
from passband.scorebook.results import EvalRun
from passband.scorebook.run_spec import AdaptiveEvalRunSpec
from passband.scorebook.subject import InferenceSubject
from passband.scorebook.watch import Watching
from passband.trials.reader import RunRecord, Trials
from passband.trials.rows import TrialRow

__all__ = ["LocalRun", "item_input"]


class LocalRun:
    """One split of a bank with one set of hyperparameters."""

    engine = "local"

    def __init__(
        self,
        spec: AdaptiveEvalRunSpec,
        bank: Bank,
        options: Options,
        directory: Path,
        seed: int | None,
    ) -> None:
        self.spec, self.directory = spec, directory
        self._options, self._seed = options, seed
        self._task: AdaptiveTask = task_of_bank(bank, options.test_design())

    def run(self, calls: InferenceCalls, model: str, on_start: OnStart) -> Finished:
        """Ask what is missing; runs in a thread, and stops when `on_start`'s function is called."""
        spec, bank = self.spec, self._task.bank
        subject = InferenceSubject(
            calls,
            model,
            lambda problem: item_input(bank.item(problem.key)),
            text_of=lambda problem, output: _answer(bank, problem, output),
            config={
                "experiment_id": spec.experiment_id,
                "project_id": spec.project_id,
                "metadata": dict(spec.metadata or {}),
            },
        )
        return run_session(
            [self._task],
            subject,
            self.directory,
            settings=self._options.settings(spec.test, self._seed, of_bank=True),
            connection=Connection(timeout=self._options.timeout),
            watcher=Watching(),
            on_start=on_start,
        )

    def result(self, model: str, *, items: bool) -> EvalRun:
        """Return the ability that the recorded answers give, and the path to it."""
        with Trials(self.directory) as trials:
            run = trials.run(self._task.name, model)
            rows = self._placed(trials, run)
            statuses = trials.statuses(run.number)
        test = self._replayed(run, rows)
        values = {**self._values(test), "run_id": run.name, "statuses": statuses}
        if failed := {status: n for status, n in statuses.items() if status != "ok"}:
            listed = ", ".join(f"{n} {status}" for status, n in failed.items())
            warn(f"{self.spec.label}: trials without an answer are no evidence: {listed}.")
        made = self._items(test, rows) if items else []
        return EvalRun(self.spec, self.engine, self.directory, values, made)

    def _placed(self, trials: Trials, run: RunRecord) -> list[TrialRow]:
        """Return the trials with the positions of their items in the bank."""
        position = self._task.bank.position
        places = {number: position[key] for key, number in trials.numbers(run.number).items()}
        rows = list(trials.trials(run))
        for row in rows:
            row.problem = places[row.problem]
        return rows

    def _replayed(self, run: RunRecord, rows: Sequence[TrialRow]) -> AdaptiveTest:
        seed = run.spec.get("seed") or ""
        test = AdaptiveTest(self._task.bank, self._task.design, seed)
        return AdaptiveSchedule(test, run.scorer().number, 1, rows).test

    def _values(self, test: AdaptiveTest) -> dict[str, Any]:
        if not test.evidence:
            raise NotEnoughData(f"{self.spec.label}: no item has a score, so ability is unknown.")
        ability, accuracy = test.ability(), test.accuracy()
        return {
            "score": {"theta": ability.theta, "std_error": ability.se},
            "theta": ability.theta,
            "std_error": ability.se,
            "interval": [ability.low, ability.high],
            "bank_accuracy": accuracy.value,
            "bank_accuracy_interval": [accuracy.low, accuracy.high],
            "n_items": test.n_items,
            "n_trials": sum(step.trials for step in test.history),
            "stop_reason": test.stop,
            "path": [_path_entry(step) for step in test.history],
            "responses": None,
        }

    def _items(self, test: AdaptiveTest, rows: Sequence[TrialRow]) -> list[dict[str, Any]]:
        texts: dict[int, list[str | None]] = {}
        for row in rows:
            texts.setdefault(row.problem, []).append(row.text)
        made = []
        for step in test.history:
            item = self._task.bank.item(step.key)
            outputs = texts[self._task.bank.position[step.key]]
            made.append(self._item(item, step, outputs))
        return made

    def _item(self, item: BankItem, step: Step, outputs: Sequence[str | None]) -> dict[str, Any]:
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


def item_input(item: BankItem) -> dict[str, Any]:
    """Return an item as an inference function gets it: as a server would send it."""
    if item.choices is None:
        return {
            "id": item.key,
            "question": item.question,
            "reference": None,
            "response_text": None,
        }
    choices = [{"id": choice.id, "text": choice.text} for choice in item.choices]
    return {"id": item.key, "question": item.question, "choices": choices}


def _answer(bank: Bank, problem: Problem, output: str) -> str:
    """Return an output as the bank's scorer reads it: for the id of a choice, its letter."""
    return bank.item(problem.key).letter(output) or output


def _path_entry(step: Step) -> Mapping[str, Any]:
    return {
        "id": step.key,
        "score": step.score,
        "theta": step.theta,
        "std_error": step.se,
        "reason": step.reason,
    }

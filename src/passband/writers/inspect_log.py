"""Convert a run to a log of Inspect: the header, a sample for each trial, and its summary.

A trial is a sample with its epoch, from 1. What Inspect has no status for becomes an error; a trial
without a score has none there either, or NaN where a scorer failed: never 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from passband.stats.data import Outcomes, Scale
from passband.trials import FAILED, RunRecord, ScoreRow, ScorerRecord, TrialRow, Trials
from passband.version import __version__
from passband.writers.inspect_messages import answer_message, message, messages
from passband.writers.run_rows import Losses, RunRows, TrialOf, clean

_NO_TIME = "1970-01-01T00:00:00+00:00"  # the same trials give the same bytes
_STOPPED = {
    "truncated": "max_tokens",
    "refused": "content_filter",
    "tool_call": "tool_calls",
    "unknown": "unknown",
}
_SHORT = 1_000  # characters of a text in a summary
_AS_ERRORS = "trials of status invalid or gave_up, written as errors: {}"
_SETTINGS = ("temperature", "top_p", "max_tokens", "seed")

Record = dict[str, Any]


@dataclass(frozen=True)
class InspectLogFile:
    """One run, as a log of Inspect."""

    trials: Trials
    run: RunRecord
    timing: bool = False
    losses: Losses = field(default_factory=Losses)

    def head(self) -> Record:
        """Return everything but the samples."""
        created = self.run.created if self.timing else _NO_TIME
        digest = hashlib.sha256(repr((self.run.task, self.run.model)).encode()).hexdigest()
        epochs = self._epochs()
        ids = self._ids(epochs)
        spec: Record = {
            "eval_id": digest[:22],
            "run_id": digest[22:44],
            "created": created,
            "task": self.run.task,
            "task_id": digest[42:],
            "dataset": {"name": self.run.task, "samples": len(ids), "sample_ids": ids},
            "model": self.run.model,
            "model_generate_config": self._generate_config(),
            "config": {"epochs": epochs, "fail_on_error": False},
            "packages": {"passband": __version__},
            "scorers": [
                {"name": scorer.name, **_direction(self.run.scale(scorer))}
                for scorer in self.run.scorers
            ],
        }
        metadata = self.run.config.get("task", {}).get("metadata")
        if isinstance(metadata, Mapping):
            spec["metadata"] = dict(metadata)
        usage = self._usage(
            *self.trials.tokens(self.run.number),
            self.trials.reasoning_tokens(self.run.number) or None,
            self.trials.cached_tokens(self.run.number) or None,
        )
        head: Record = {
            "version": 2,
            "status": "cancelled" if self._is_incomplete(epochs, ids) else "success",
            "eval": spec,
            "plan": {},
            "results": self._results(),
            "stats": {"started_at": created, "completed_at": created, "model_usage": usage},
        }
        return dict(clean(head))

    def samples(self) -> Iterator[Record]:
        """Yield the trials in the order of problems and trials."""
        for trial in RunRows(self.trials, self.run):
            yield clean(self._sample(trial))

    # -- the header ------------------------------------------------------------------------

    def _epochs(self) -> int | None:
        """Return how many trials of each problem were planned; None where problems differ."""
        if self.run.imported.planned is not None:
            return self.run.imported.planned
        asked = self.trials.recorded(self.run.number)
        problems = self.trials.problems(self.run.number)
        masks = {asked.get(problem.number, 0) for problem in problems}
        mask = masks.pop() if len(masks) == 1 else 0
        return mask.bit_length() if mask and mask == (1 << mask.bit_length()) - 1 else None

    def _is_incomplete(self, epochs: int | None, ids: list[str]) -> bool:
        """Return whether trials that were planned are missing, as after a crash."""
        recorded = sum(self.trials.statuses(self.run.number).values())
        return epochs is not None and recorded < epochs * len(ids)

    def _ids(self, epochs: int | None) -> list[str]:
        """Return the ids of the problems: without a number of epochs, of those with trials."""
        asked = self.trials.recorded(self.run.number)
        return [
            problem.key
            for problem in self.trials.problems(self.run.number)
            if epochs is not None or problem.number in asked
        ]

    def _generate_config(self) -> Record:
        """Return the sampling settings that Inspect has a name and a type for."""
        stated = self.run.spec.get("sampling") or self.run.spec.get("settings") or {}
        known = {name: stated.get(name) for name in _SETTINGS}
        return {
            name: value
            for name, value in known.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
            and (name in ("temperature", "top_p") or value == int(value))
        }  # fmt: skip

    def _usage(
        self,
        prompt: int | None,
        completion: int | None,
        reasoning: int | None,
        cached: int | None,
    ) -> Record:
        """Return tokens by their model; Inspect counts cached ones apart."""
        if not prompt and not completion:
            return {}
        prompt, completion = prompt or 0, completion or 0
        usage = {
            "input_tokens": prompt - (cached or 0), "output_tokens": completion,
            "total_tokens": prompt + completion,
        }  # fmt: skip
        if cached is not None:
            usage["input_tokens_cache_read"] = cached
        if reasoning is not None:
            usage["reasoning_tokens"] = reasoning
        return {self.run.model: usage}

    def _usage_of(self, row: TrialRow) -> Record:
        return self._usage(
            row.prompt_tokens, row.completion_tokens, row.reasoning_tokens, row.cached_tokens
        )

    def _results(self) -> Record:
        statuses = self.trials.statuses(self.run.number)
        total = sum(statuses.values())
        failed = sum(statuses.get(status, 0) for status in FAILED)
        return {
            "total_samples": total,
            "completed_samples": total - failed,
            "scores": [self._score(scorer) for scorer in self.run.scorers],
        }

    def _score(self, scorer: ScorerRecord) -> Record:
        """Return the mean over problems of their mean over trials, as Inspect reduces epochs."""
        outcomes = self.trials.outcomes(self.run, scorer)
        values = _problem_means(outcomes)
        name = "accuracy" if outcomes.is_binary else "mean"
        metrics: dict[str, float] = {}
        if len(values):
            metrics[name] = float(values.mean())
            error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
            metrics["stderr"] = float(error)
        return {
            "name": scorer.name,
            "scorer": scorer.name,
            "reducer": "mean",
            "scored_samples": len(values),
            "unscored_samples": outcomes.n_problems - len(values),
            "metrics": {name: {"name": name, "value": value} for name, value in metrics.items()},
        }

    # -- samples ---------------------------------------------------------------------------

    def _sample(self, trial: TrialOf) -> Record:
        problem, row = trial.problem, trial.row
        record = problem.record
        prompt = [message({"role": role, "content": text}) for role, text in _pairs(record)]
        answer = answer_message(row.text, row.reasoning, self.run.model)
        targets = list(map(str, record.get("targets") or ()))
        sample: Record = {
            "id": problem.key,
            "epoch": row.trial + 1,
            "input": _input(prompt),
            "target": targets[0] if len(targets) == 1 else targets,
            "messages": messages(row.transcript) if row.transcript else [*prompt, answer],
            "output": self._output(row, answer),
            "scores": {name: self._value(score) for name, score in trial.scores.items()},
            "metadata": dict(record.get("doc") or {}),
            "model_usage": self._usage_of(row),
            "uuid": self._uuid(row, problem.key),
        }
        if record.get("choices"):
            sample["choices"] = list(map(str, record["choices"]))
        if row.status in FAILED:
            text = trial.error or f"status {row.status}"
            sample["error"] = {"message": text, "traceback": "", "traceback_ansi": ""}
            self.losses.add(_AS_ERRORS, row.status != "errored")
        if row.status == "limit":
            sample["limit"] = {"type": "custom", "limit": 0, "reason": trial.error}
        if row.attempts > 1:
            retry = {"message": "", "traceback": "", "traceback_ansi": ""}
            sample["error_retries"] = [retry] * (row.attempts - 1) if self.timing else None
        if self.timing and row.latency_ms is not None:
            sample["working_time"] = sample["total_time"] = row.latency_ms / 1000
        return sample

    def _output(self, row: TrialRow, answer: Record) -> Record:
        if row.text is None and row.status not in _STOPPED:
            return {"model": self.run.model, "choices": []}
        stop = _STOPPED.get(row.status, "stop")
        usage = self._usage_of(row).get(self.run.model)
        choice = {"message": answer, "stop_reason": stop}
        output = {"model": self.run.model, "choices": [choice], "completion": row.text or ""}
        return output if usage is None else output | {"usage": usage}

    def _value(self, score: ScoreRow) -> Record:
        value: Record = {"value": float("nan") if score.value is None else score.value}
        if score.answer is not None:
            value["answer"] = score.answer
        if score.detail is not None:
            value["explanation"] = score.detail
        if score.value is None:
            value["metadata"] = {"unscored_reason": score.status}
            self.losses.add("scores that failed, written as NaN, which Inspect leaves out: {}")
        return value

    def _uuid(self, row: TrialRow, key: str) -> str:
        own = repr((self.run.task, self.run.model, key, row.trial))
        return hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest()[:22]


def summary_of(sample: Mapping[str, Any]) -> Record:
    """Return the summary of a sample, its texts shortened."""
    names = ("id", "epoch", "choices", "target", "model_usage", "uuid", "total_time",
             "working_time")  # fmt: skip
    summary: Record = {name: sample[name] for name in names if sample.get(name) is not None}
    summary["input"] = _shortened(sample["input"])
    summary["metadata"] = {
        name: _shortened(value)
        for name, value in sample["metadata"].items()
        if isinstance(value, str | int | float | bool)
    }
    summary["scores"] = {
        name: {part: _shortened(value) for part, value in score.items()}
        for name, score in sample["scores"].items()
    }
    summary["completed"] = True
    summary["message_count"] = len(sample["messages"])
    if "error" in sample:
        summary["error"] = _shortened(sample["error"]["message"])
    if "limit" in sample:
        summary["limit"] = sample["limit"]["type"]
    if sample.get("error_retries"):
        summary["retries"] = len(sample["error_retries"])
    return summary


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _SHORT else f"{value[:_SHORT]}..."
    if isinstance(value, list):
        return [one | {"content": _shortened(one["content"])} for one in value]
    return value


def _pairs(record: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(str(role), content) for role, content in record.get("messages") or ()]


def _input(prompt: list[Record]) -> Any:
    """Return a prompt of a single text as a plain string, as Inspect does."""
    if not prompt:
        return ""
    only = prompt[0]
    if len(prompt) == 1 and only["role"] == "user" and isinstance(only["content"], str):
        return only["content"]
    return prompt


def _problem_means(outcomes: Outcomes) -> Any:
    """Return the mean score of each problem that has one."""
    scored = outcomes.trials > 0
    if outcomes.successes is not None:
        return outcomes.successes[scored] / outcomes.trials[scored]
    assert outcomes.graded is not None
    values, offsets = outcomes.graded.values, outcomes.graded.offsets
    sums = np.array([values[start:end].sum() for start, end in pairwise(offsets.tolist())])
    return sums[scored] / outcomes.trials[scored]


def _direction(scale: Scale) -> Record:
    """Return the metadata of a scorer whose lower scores are better; Inspect has no word for it."""
    return {"metadata": {"lower_is_better": True}} if scale.lower_is_better else {}

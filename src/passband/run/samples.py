"""The samples of `simple_evaluate`: one row per problem and filter, as lm-eval logs them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from passband.errors import InvalidInput
from passband.generate.provider import Sampling
from passband.run.task_run import TaskRun
from passband.score.repeats import aggregations
from passband.score.translation import CORPUS_METRICS
from passband.summary.metric_list import EntryResult
from passband.summary.problem_scores import ProblemScores
from passband.summary.run_summary import RunSummary
from passband.trials.reader import RunRecord

__all__ = ["generation_arguments", "samples"]


def samples(task_run: TaskRun, run: RunRecord, summary: RunSummary) -> Iterator[dict[str, Any]]:
    """Yield one row per filter and problem, with the score of each repeat."""
    writer = _SampleWriter(task_run, run, generation_arguments(task_run.sampling))
    filters = dict.fromkeys(result.entry.filter for result in summary.listed)
    for name in filters:
        results = [_with_values(r, summary) for r in summary.listed if r.entry.filter == name]
        for problem in summary.metric_list.problems:
            if problem.statuses:
                yield writer.row(problem, results, name)


def generation_arguments(sampling: Sampling) -> dict[str, Any]:
    """Return how completions are sampled, in the words of a task file."""
    arguments = {
        "until": list(sampling.stop) or None,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_gen_toks": sampling.max_tokens,
        **sampling.extra,
    }
    return {name: value for name, value in arguments.items() if value is not None}


@dataclass(frozen=True)
class _SampleWriter:
    """Writes the samples of one task."""

    task_run: TaskRun
    run: RunRecord
    arguments: Mapping[str, Any]

    def row(
        self, problem: ProblemScores, results: Sequence[EntryResult], filter_name: str
    ) -> dict[str, Any]:
        """Return the sample of one problem under one filter."""
        record = problem.problem.record
        prompt = "\n\n".join(content for _, content in record["messages"])
        targets = list(record["targets"])
        target = targets[0] if len(targets) == 1 else targets
        doc = self._doc(problem)
        answers = problem.answers(self.run.scorer(results[0].entry.scorer).number)
        row: dict[str, Any] = {
            "doc_id": problem.problem.position,
            "problem_id": problem.problem.key,
            "doc": doc,
            "target": target,
            "arguments": [[prompt, dict(self.arguments)]],
            "resps": [problem.texts],
            "filtered_resps": answers if len(answers) == 1 else [answers],
            "filter": filter_name,
            "metrics": [result.entry.name for result in results],
            "statuses": problem.statuses,
            "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False, default=str)),
            "prompt_hash": _hash(prompt),
            "target_hash": _hash(str(target)),
        }
        for result in results:
            scorer = self.run.scorer(result.entry.scorer).number
            row[result.entry.name] = self._value(result, problem, scorer)
            if len(problem.statuses) > 1:
                row[f"{result.entry.name}_repeats"] = problem.scores(scorer)
        return row

    def _doc(self, problem: ProblemScores) -> Mapping[str, Any]:
        """Return the problem's row of the data set, its columns in the order of the data.

        In the store they are sorted, and lm-eval's hash depends on their order.
        """
        position = problem.problem.position
        if position < len(self.task_run.problems):
            return dict(self.task_run.problems[position].reference.doc)
        doc: Mapping[str, Any] = problem.problem.record["doc"]
        return doc

    def _value(self, result: EntryResult, problem: ProblemScores, scorer: int) -> float | None:
        """Return one problem's value of a metric; None if it has too few trials for it."""
        from passband.stats.data.outcomes import Outcomes
        from passband.stats.metric.measurement import measure

        entry = result.entry
        scores = problem.scored(scorer, entry.first).scores
        if entry.aggregation in CORPUS_METRICS:
            return next(iter(problem.scored(scorer).scores), None)
        if entry.repeat_aggregation in aggregations:
            return result.values.get(problem.problem.number)
        try:
            return measure(Outcomes.from_array([scores]), entry.repeat_aggregation).value
        except InvalidInput:
            return None


def _with_values(result: EntryResult, summary: RunSummary) -> EntryResult:
    """Add the value of each problem to a result that was measured without them."""
    entry = result.entry
    is_reduced = entry.repeat_aggregation in aggregations
    if result.estimate is None or result.values or not is_reduced:
        return result
    if entry.aggregation in CORPUS_METRICS:
        return result
    return replace(result, values=summary.metric_list.values(entry))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

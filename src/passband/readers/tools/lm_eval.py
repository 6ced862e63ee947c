"""Logs of lm-evaluation-harness: samples, and results with the samples beside them.

    {"doc_id": 0, "doc": {...}, "target": "4", "resps": [["so 4", "so 5"]], "filtered_resps": ["4"],
     "filter": "none", "metrics": ["exact_match"], "exact_match": 1.0, ...}

A file of samples has a line per document and filter: a document is a problem, and its responses
are trials. Where the scores of the responses are in the file (`exact_match_repeats`), they are
read. Where there is one response, its score is that of the line. Otherwise responses are scored
again, by the filters and metrics in the file of results beside the samples, and the number that
lm-eval would have for them is compared with the one that it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place
from passband.readers.file_head import first_record, head_of
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import Clash, LogBuilder
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Items, Lines, is_joined
from passband.readers.tools.lm_eval_results import (
    References,
    Rescoring,
    Results,
    is_results,
    rescorings,
    results_beside,
    targets_in,
)
from passband.score import Score
from passband.stats.data import UNSTATED, Scale, answer_text
from passband.trials import STATUSES, Status

_KEYS = {
    "doc_id", "problem_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter",
    "metrics", "statuses", "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip
_LARGEST = 1e300  # of a score that can be computed with
_NO_METRIC = "bypass"  # of a run that only generates


@dataclass(frozen=True)
class Row:
    """The numbers and texts of one line: of a document under a filter."""

    key: str | int
    filter: str
    doc: Mapping[str, Any]
    values: dict[str, list[float | None]]  # by metric: of each repeat, or one of them all
    without_number: tuple[str, ...]  # metrics of a whole data set, such as BLEU
    texts: list[str | None]  # none where the responses are likelihoods
    has_repeats: bool
    prompt: str | None


def read_row(record: Mapping[str, Any]) -> Row:
    """Return the row of a line; raise `InvalidInput` if it is not one."""
    key, doc = record.get("problem_id", record.get("doc_id")), record.get("doc")
    if not isinstance(key, (str, int)) or isinstance(key, bool):
        raise InvalidInput(f"doc_id must be a whole number or text; got {key!r:.60}.")
    names = list(_metric_names(record))
    repeats = [name for name in names if isinstance(record.get(f"{name}_repeats"), list)]
    numeric = [name for name in names if name in repeats or _is_number(record.get(name))]
    return Row(
        key,
        str(record.get("filter", "none")),
        doc if isinstance(doc, dict) else {},
        {name: _scores(record, name, repeats) for name in numeric},
        tuple(name for name in names if name not in numeric),
        _texts(record.get("resps")),
        bool(repeats),
        _prompt(record.get("arguments")),
    )


def _metric_names(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the metrics of a line: those that it lists, or else all other columns of numbers."""
    listed = record.get("metrics")
    if isinstance(listed, list):
        yield from (name for name in listed if isinstance(name, str) and name != _NO_METRIC)
        return
    for name, value in record.items():
        if name not in _KEYS and not name.endswith("_repeats") and _is_number(value):
            yield name


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (int, float))


def _scores(record: Mapping[str, Any], name: str, repeats: list[str]) -> list[float | None]:
    scores: list[float | None] = (
        record[f"{name}_repeats"] if name in repeats else [record.get(name)]
    )
    for score in scores:
        if not _is_number(score):
            raise InvalidInput(f"{name}_repeats must list numbers; got {score!r:.60}.")
        if score is not None and abs(score) > _LARGEST:
            raise InvalidInput(f"a score of {name} is infinite; remove it, or write null.")
    return scores


def _texts(resps: Any) -> list[str | None]:
    """Return the responses to a request for text; there is one request per document."""
    responses = resps[0] if isinstance(resps, list) and len(resps) == 1 else []
    if not isinstance(responses, list):
        return []
    return responses if all(one is None or isinstance(one, str) for one in responses) else []


def _prompt(arguments: Any) -> str | None:
    first = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    if first is None and isinstance(arguments, list) and arguments:
        first = arguments[0]
    prompt = first.get("arg_0") if isinstance(first, dict) else None
    if prompt is None and isinstance(first, list) and first:
        prompt = first[0]
    return prompt if isinstance(prompt, str) else None


Record = Mapping[str, Any]

#: Metrics of lm-eval that have a number for each problem and that are errors or losses.
_LOWER_IS_BETTER = frozenset(("ter", "wer", "cer", "brier_score", "perplexity", "bits_per_byte"))


@register_reader("lm-eval")
class LmEvalSamples:
    """Reads a file of samples."""

    def sniff(self, path: Path) -> bool:
        record = first_record(path)
        keys = {"doc_id", "resps", "filtered_resps"}
        return record.keys() >= keys and not is_joined(record, "filter")

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the log of the task; each metric under each filter is a scorer."""
        results, task = results_beside(path)
        source = Source.of("lm-eval", path)
        return [_Samples(Lines(path, options), source, options, results, task).log()]


@register_reader("lm-eval results")
class LmEvalResults:
    """Reads the samples that belong to a file of results."""

    def sniff(self, path: Path) -> bool:
        return is_results(head_of(path))

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return a log for each task whose samples were logged."""
        results = Results.read(path)
        logs = []
        for task, values in results.samples_within():
            source = Source.of("lm-eval results", path)
            items = Items(path, options, values)
            logs.append(_Samples(items, source, options, results, task).log())
        for task, file in [] if logs else results.samples_beside():
            source = Source.of("lm-eval results", file)
            logs.append(_Samples(Lines(file, options), source, options, results, task).log())
        if not logs:
            raise InvalidInput(
                f"{path}: holds results of whole tasks, and no trials. {_advice(results)}"
            )
        return logs


def _advice(results: Results) -> str:
    if "passband" in results.content:
        return "It was exported from a run directory: read that."
    return (
        "Run lm_eval with --log_samples, and read this file again, or the samples that it writes "
        "beside it."
    )


class _Samples:
    """The samples of one task: first their numbers are read, then trials are added."""

    def __init__(
        self,
        lines: Lines | Items,
        source: Source,
        options: Options,
        results: Results | None,
        task: str,
    ) -> None:
        self._lines, self._source, self._texts = lines, source, options.texts
        self._answers, self._score = options.answers, options.score
        self._results, self._task = results, task
        self._model = results.model if results else _folder(Path(source.file))
        self._numbers: dict[str | int, dict[str, dict[str, list[Any]]]] = {}
        self._filters: dict[str, None] = {}
        self._metrics: dict[str, None] = {}
        self._without_number: dict[str, None] = {}
        self._responses = 1  # the most of one problem
        self._has_repeats = False
        self._rescorings: list[Rescoring] = []
        self._wrong: dict[str, int] = {}  # how often a number could not be reproduced
        self._checked: dict[str, int] = {}

    def log(self) -> Log:
        for place, record in self._lines:
            with self._lines.checking(place):
                self._collect(read_row(record), place)
        self._require_scores()
        if self._responses > 1 and not self._has_repeats:
            self._rescorings = [one for one in self._rebuilt() if self._is_logged(one)]
        self._refuse_vote()
        builder = LogBuilder(
            self._task, self._model, self._source, self._scorers(), texts=self._texts
        )
        seen: set[str | int] = set()
        for place, record in self._lines:
            with self._lines.checking(place):
                row = read_row(record)
                if row.key not in seen:
                    self._add(builder, row, record)
                    seen.add(row.key)
        for rescoring in self._rescorings:
            rescoring.scorer.close()
        settings = self._results.sampling(self._task) if self._results else {}
        remarks = list(self._remarks())
        return builder.log(remarks=remarks, settings=settings, scales=self._scales())

    # -- numbers ---------------------------------------------------------------------------

    def _collect(self, row: Row, place: Place) -> None:
        filters = self._numbers.setdefault(row.key, {})
        if row.filter in filters:
            raise Clash(
                f"doc_id {row.key} occurs twice with the filter {row.filter}; if the file was "
                "joined from several, read them one by one."
            )
        filters[row.filter] = row.values
        self._filters[row.filter] = None
        self._metrics |= dict.fromkeys(row.values)
        self._without_number |= dict.fromkeys(row.without_number)
        self._responses = max(self._responses, len(row.texts))
        self._has_repeats |= row.has_repeats

    def _require_scores(self) -> None:
        if self._numbers and not self._metrics and not self._texts:
            listed = ", ".join(self._without_number) or "none"
            raise InvalidInput(
                f"{self._source.file}: no metric has a number for each problem (its metrics: "
                f"{listed}); passband import and passband score can score the responses."
            )

    def _name(self, metric: str, filter_name: str) -> str:
        return f"{metric},{filter_name}" if len(self._filters) > 1 else metric

    def _scorers(self) -> list[str]:
        if self._rescorings:
            return list(dict.fromkeys(map(self._scorer_of, self._rescorings)))
        pairs = [(metric, name) for name in self._filters for metric in self._metrics]
        return [self._name(metric, name) for metric, name in pairs]

    def _scales(self) -> dict[str, Scale]:
        """Return the direction of each scorer, where the results or the metric's name say it."""
        if self._rescorings:
            named = {self._scorer_of(one): one.metric for one in self._rescorings}
        else:
            pairs = [(metric, name) for name in self._filters for metric in self._metrics]
            named = {self._name(metric, name): metric for metric, name in pairs}
        return {scorer: self._scale(metric) for scorer, metric in named.items()}

    def _scale(self, metric: str) -> Scale:
        return (
            Scale(lower_is_better=True) if self._is_lower_by_name(metric) else self._stated(metric)
        )

    def _stated(self, metric: str) -> Scale:
        return UNSTATED if self._results is None else self._results.scale(self._task, metric)

    def _is_lower_by_name(self, metric: str) -> bool:
        return metric in _LOWER_IS_BETTER and self._stated(metric) == UNSTATED

    # -- responses that are scored again ---------------------------------------------------

    def _rebuilt(self) -> Iterator[Rescoring]:
        settings = self._results.settings(self._task) if self._results else None
        if self._results is not None and settings is not None:
            yield from rescorings(self._results.path, settings)

    def _is_logged(self, rescoring: Rescoring) -> bool:
        names = [*self._metrics, *self._without_number]
        return rescoring.filter in self._filters and rescoring.metric in names

    def _scorer_of(self, rescoring: Rescoring) -> str:
        """Return the name of a scorer; filters that only reduce in different ways share one."""
        first = next(
            one for one in self._rescorings if one.scorer.identity == rescoring.scorer.identity
        )
        return self._name(first.metric, first.filter)

    def _refuse_vote(self) -> None:
        """Name the metric that is the vote of a filter, if that was chosen as a score."""
        for one in self._rescorings:
            name = f"{one.metric},{one.filter}"
            if one.reduction == "majority" and name == self._score not in self._scorers():
                votes = f"vote@{one.first or self._responses}"
                raise InvalidInput(
                    f"{self._source.file}: {name} is the vote of the responses to a problem, which "
                    f"no trial has alone: ask for -m {votes} with --score {self._scorer_of(one)}."
                )

    @cached_property
    def _references(self) -> References:
        assert self._results is not None  # without it, nothing is scored again
        return References(self._results.path, self._results.settings(self._task) or {})

    def _rescored(self, row: Row, record: Record) -> list[dict[str, Score]]:
        """Return the scores of each response, and compare what lm-eval has for the problem."""
        reference = self._references.of(row.doc, record.get("target"), str(row.key))
        by_scorer: dict[str, list[Score]] = {}
        for rescoring in self._rescorings:
            name = self._scorer_of(rescoring)
            if name not in by_scorer:
                by_scorer[name] = [rescoring.scorer.score(one, reference) for one in row.texts]
            self._check(row.key, rescoring, by_scorer[name])
        return [
            {name: scores[trial] for name, scores in by_scorer.items()}
            for trial in range(len(row.texts))
        ]

    def _check(self, key: str | int, rescoring: Rescoring, scores: list[Score]) -> None:
        values = self._numbers[key].get(rescoring.filter, {}).get(rescoring.metric)
        value = rescoring.reduced(scores)
        if values is None or values[0] is None or values[0] != values[0]:
            return
        name = f"{rescoring.metric},{rescoring.filter}"
        self._checked[name] = self._checked.get(name, 0) + 1
        if value is None or not abs(value - values[0]) <= 1e-9:
            self._wrong[name] = self._wrong.get(name, 0) + 1

    # -- trials ----------------------------------------------------------------------------

    def _add(self, builder: LogBuilder, row: Row, record: Record) -> None:
        about: dict[str, Any] = {"doc": row.doc, "targets": targets_in(record.get("target"))}
        if self._texts and row.prompt is not None:
            about["messages"] = [("user", row.prompt)]
        if self._rescorings:
            for text, scores in zip(row.texts, self._rescored(row, record), strict=True):
                builder.add(row.key, scores=scores, text=text, **about)
            return
        trials = self._read(row)
        if self._answers and len(self._filters) == 1:
            trials = _answered(trials, record.get("filtered_resps"))
        statuses = record.get("statuses")
        for number, scores in enumerate(trials):
            text = row.texts[number] if len(trials) == len(row.texts) else None
            status = _status(statuses, number)
            builder.add(row.key, None, status, scores, text=text, **about)

    def _read(self, row: Row) -> list[dict[str, Any]]:
        """Return the scores of each trial that are in the file."""
        if self._is_reduced and self._texts:
            return [{} for _ in row.texts]
        columns = {
            self._name(metric, name): scores
            for name, values in self._numbers[row.key].items()
            for metric, scores in values.items()
        }
        count = max(map(len, columns.values()), default=len(row.texts) or 1)
        return [
            {name: scores[n] for name, scores in columns.items() if n < len(scores)}
            for n in range(count)
        ]

    @property
    def _is_reduced(self) -> bool:
        """Whether there are several responses to a problem, and one score."""
        return self._responses > 1 and not self._has_repeats and not self._rescorings

    # -- remarks ---------------------------------------------------------------------------

    def _remarks(self) -> Iterator[Remark]:
        yield from self._lines.remarks()
        if self._is_reduced:
            yield Remark(self._why_reduced(), important=True)
        elif self._rescorings:
            yield from self._rescoring_remarks()
        if self._without_number and not self._rescorings:
            listed = ", ".join(self._without_number)
            yield Remark(f"not read: {listed}, which has no number for a single problem")
        if lower := [name for name in self._metrics if self._is_lower_by_name(name)]:
            yield Remark(f"lower is better for {', '.join(lower)}, by the name", important=True)
        if self._results is not None:
            lines = self._numbers.values()
            yield from self._results.remarks(self._task, len(lines))

    def _why_reduced(self) -> str:
        said = f"resps holds {self._responses} responses per problem, but each metric one score"
        if self._results is None:
            why = "the file of results with the task's filters and metrics is not beside it"
        elif self._results.settings(self._task) is None:
            why = f"{self._results.path.name} has no settings of {self._task}"
        else:
            why = "the task's filters or metrics are Python code, or not known here"
        kept = "they are kept without scores" if self._texts else "it is read as one trial"
        return f"{said}, and they cannot be scored again, as {why}; {kept}"

    def _rescoring_remarks(self) -> Iterator[Remark]:
        yield Remark(
            f"responses scored again by {', '.join(self._scorers())}; "
            f"{self._responses} responses per problem are {self._responses} trials"
        )
        done = {(one.metric, one.filter) for one in self._rescorings}
        left = [f"{m},{f}" for f in self._filters for m in self._metrics if (m, f) not in done]
        if left:
            text = f"not read: {', '.join(left)}, which cannot be computed for each response"
            yield Remark(text, important=True)
        for name, count in self._wrong.items():
            yield Remark(
                f"{name}: scored again, {count} of {self._checked[name]} problems differ from the "
                "number in the log; these scores are not lm-eval's",
                important=True,
            )


def _answered(trials: list[dict[str, Any]], filtered: Any) -> list[dict[str, Any]]:
    """Return the scores with the filtered responses as their answers, if there is one for each."""
    if isinstance(filtered, list) and len(filtered) == 1 and isinstance(filtered[0], list):
        filtered = filtered[0]
    if not isinstance(filtered, list) or len(filtered) != len(trials):
        return trials
    return [
        {name: _answering(value, answer) for name, value in scores.items()}
        for scores, answer in zip(trials, filtered, strict=True)
    ]


def _answering(value: Any, answer: Any) -> Any:
    text = answer_text(answer)
    return Score(value, "ok" if text is not None else "no_answer", text)


def _folder(path: Path) -> str:
    """Return the folder of a file of samples, which lm-eval names by the model."""
    return path.parent.name or "model"


def _status(statuses: Any, number: int) -> Status:
    """Return the status of a trial where the log of passband has one."""
    name = statuses[number] if isinstance(statuses, list) and number < len(statuses) else "ok"
    return next((status for status in STATUSES if status == name), "ok")

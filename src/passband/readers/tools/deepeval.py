"""Test runs of deepeval: `test_run_DATE.json`, and the latest one in its folder `.deepeval`.

    {"testCases": [{"name": "test_case_0", "input": "2+2?", "actualOutput": "4", "success": true,
      "metricsData": [{"name": "Correctness", "threshold": 0.5, "success": true, "score": 0.9,
                       "error": null, ...}], ...}],
     "conversationalTestCases": [], "metricsScores": [...], ...}

Names of test cases only number them, or are the same for many, so that a problem is recognized by
its input, expected output and context. A metric that raised an error is a failure to deepeval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.files import read_json
from passband.readers.fields import flag, kept_text, part, text, values
from passband.readers.file_head import head_of
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import LogBuilder, ScoreValue
from passband.readers.names import label, problem_key
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Items
from passband.score import Score
from passband.stats.data import UNIT, Scale

_CASES = ("testCases", "conversationalTestCases")
_SCORER = "success"
_OF_A_CASE = {"metricsData", "actualOutput", "turns"}

Record = Mapping[str, Any]


@register_reader("deepeval")
class DeepEval:
    """Reads a test run."""

    def sniff(self, path: Path) -> bool:
        return _run(head_of(path)) is not None

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the trials, a test case each."""
        run = _run(read_json(path, "json"))
        if run is None:
            raise InvalidInput(f"{path}: has no test cases of deepeval.")
        source = Source.of("deepeval", path)
        builder = LogBuilder(*_names(run), source, (_SCORER,), texts=options.texts)
        items = Items(path, options, [case for name in _CASES for case in values(run, name)])
        errors = 0
        directions: dict[str, set[bool]] = {}
        for place, record in items:
            with items.checking(place):
                errors += _add(builder, record)
                for name, falls in _directions(record):
                    directions.setdefault(name, set()).add(falls)
        scales = {
            name: Scale(lower_is_better=ways.pop())
            for name, ways in directions.items()
            if len(ways) == 1
        }
        remarks = [*items.remarks(), *_remarks(errors)]
        return [builder.log(remarks=remarks, scales={_SCORER: UNIT, **scales})]


def _run(content: Any) -> dict[str, Any] | None:
    """Return a test run, which may be in the only field of an object."""
    if not isinstance(content, dict):
        return None
    candidates = [content, *(value for value in content.values() if isinstance(value, dict))]
    for run in candidates[:3]:
        for cases in map(run.get, _CASES):
            first = cases[0] if isinstance(cases, list) and cases else None
            if isinstance(first, dict) and "name" in first and not _OF_A_CASE.isdisjoint(first):
                return run
    return None


def _names(run: Record) -> tuple[str, str]:
    """Return the task and the model of a run."""
    task = next((name for name in ("datasetAlias", "testFile", "identifier") if run.get(name)), "")
    settings = run.get("hyperparameters")
    model = settings.get("model") if isinstance(settings, dict) else None
    return label(run.get(task), "deepeval"), label(model)


def _add(builder: LogBuilder, record: Record) -> bool:
    """Add a trial; return whether a metric failed to be evaluated."""
    key, question = _problem(record)
    scores, error = _scores(record)
    expected = kept_text(record.get("expectedOutput", record.get("expectedOutcome")))
    builder.add(
        key,
        scores=scores,
        targets=[expected] if expected else (),
        doc=part(record, "metadata"),
        messages=[("user", question)] if question else (),
        text=kept_text(record.get("actualOutput")),
        transcript=_turns(record.get("turns")),
        latency_ms=_milliseconds(record.get("completionTime")),
        prompt_tokens=record.get("inputTokenCount"),
        completion_tokens=record.get("outputTokenCount"),
        cost=record.get("tokenCost"),
    )
    return error


def _directions(record: Record) -> Iterator[tuple[str, bool]]:
    """Yield metrics whose score is not at their threshold, and whether lower ones pass."""
    seen: dict[str, None] = {_SCORER: None}
    for metric in values(record, "metricsData"):
        name = _free_name(label(text(metric, "name"), "metric"), seen)
        seen |= {name: None, f"{name} passed": None}
        score, threshold = metric.get("score"), metric.get("threshold")
        passed = metric.get(_SCORER)
        is_measured = isinstance(passed, bool) and metric.get("error") is None
        is_measured &= all(type(one) in (int, float) for one in (score, threshold))
        if is_measured and (score < threshold or score > threshold):  # and so is no NaN
            yield name, passed is (score < threshold)


def _problem(record: Record) -> tuple[str, str]:
    """Return the key of a problem and its text."""
    question = kept_text(record.get("input")) or kept_text(record.get("scenario")) or ""
    names = ("expectedOutput", "expectedOutcome", "context", "userDescription", "expectedTools")
    content = [record.get(name) for name in names]
    name = text(record, "name") or ""
    if not question:  # of a conversation without a scenario, the name is all there is
        return problem_key(name, content), ""
    return problem_key(question, content), question


def _scores(record: Record) -> tuple[dict[str, ScoreValue], bool]:
    """Return the scores, and whether a metric that counts failed to be evaluated."""
    scores: dict[str, ScoreValue] = {_SCORER: flag(record, _SCORER)}
    failure = None
    for metric in values(record, "metricsData"):
        if not isinstance(metric, dict):
            raise InvalidInput(f"every metric must be an object; got {metric!r:.60}.")
        name = _free_name(label(text(metric, "name"), "metric"), scores)
        error = text(metric, "error")
        if error is None:
            scores[name] = _number(name, metric.get("score"))
            scores[f"{name} passed"] = flag(metric, _SCORER)
        else:
            scores[name] = scores[f"{name} passed"] = Score(None, "error", detail=error)
            failure = failure if metric.get("flaky") is True else error
    if failure is not None:
        scores[_SCORER] = Score(None, "error", detail=failure)
    return scores, failure is not None


def _free_name(name: str, scores: Mapping[str, Any]) -> str:
    """Return the name of a metric, numbered where a test case has several of that name."""
    number, free = 1, name
    while free in scores or f"{free} passed" in scores:
        number += 1
        free = f"{name} {number}"
    return free


def _number(name: str, value: Any) -> float | None:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    raise InvalidInput(f"the score of {name} must be a number; got {value!r:.60}.")


def _turns(value: Any) -> list[dict[str, Any]] | None:
    found = [turn for turn in value if isinstance(turn, dict)] if isinstance(value, list) else []
    return [{name: turn.get(name) for name in ("role", "content")} for turn in found] or None


def _milliseconds(seconds: Any) -> float | None:
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    return round(1000 * seconds) if is_number and 0 <= seconds < 1e9 else None


def _remarks(errors: int) -> Iterator[Remark]:
    if errors:
        yield Remark(
            f"no score: {errors} {'test case' if errors == 1 else 'test cases'}, of which a metric "
            "raised an error; deepeval counts them as failed",
            important=True,
        )

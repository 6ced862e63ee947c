"""Output of promptfoo: `promptfoo eval -o out.json`, or `-o out.jsonl` with a result per line.

    {"evalId": ..., "results": {"version": 3, "results": [{"testIdx": 0, "promptIdx": 1,
      "provider": {"id": "openai:gpt-4", "label": ""}, "vars": {"q": "2+2"}, "success": true,
      "score": 1, "namedScores": {}, "failureReason": 0, ...}], "stats": ...}, "config": ...}

A repeat has a number of its own among the tests, so what repeats is recognized by its content: the
variables, the assertions and the description. Every prompt of every provider is a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.files import read_json
from passband.readers.fields import flag, kept_text, part
from passband.readers.file_head import head_of
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import Clash, LogBuilder, ScoreValue
from passband.readers.names import label, problem_key
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Items, Lines
from passband.score import Score
from passband.stats.data import UNIT, Scale

_KEYS = {"testIdx", "promptIdx", "success", "provider"}
_SCORERS = ("success", "score")
_ERROR = 2  # of failureReason: no assertion was evaluated
_OF_A_REPEAT = ("sessionId", "_conversation")  # variables that promptfoo adds to a test
_BROKEN = (
    "Custom function threw error",
    "Python code execution failed",
    "Ruby code execution failed",
)

Record = Mapping[str, Any]


@register_reader("promptfoo")
class Promptfoo:
    """Reads an evaluation: a log for each provider and prompt."""

    def sniff(self, path: Path) -> bool:
        head = head_of(path)
        found = _results(head)
        return _is_result(head) or bool(found and _is_result(found[0]))

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the trials, a result each."""
        if _is_result(head_of(path)):
            return _logs(path, "promptfoo", Lines(path, options), options)
        content = read_json(path, "json")
        found = _results(content)
        if found is None:
            raise InvalidInput(f"{path}: has no list of results.")
        return _logs(path, _description(content), Items(path, options, found), options)


def _is_result(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= _KEYS


def _results(content: Any) -> list[Any] | None:
    """Return the list of results, which may be two levels down, one, or none."""
    found = content
    for _ in range(2):
        found = found.get("results") if isinstance(found, dict) else found
    return found if isinstance(found, list) else None


def _description(content: Any) -> str:
    config = content.get("config") if isinstance(content, dict) else None
    return label(config.get("description") if isinstance(config, dict) else None, "promptfoo")


def _logs(path: Path, description: str, records: Items | Lines, options: Options) -> list[Log]:
    columns, unchecked = _Columns(description), 0
    source, seen = Source.of("promptfoo", path), set[tuple[int, int]]()
    builders: dict[int, LogBuilder] = {}  # by column, whose name depends on the others
    for place, record in records:
        with records.checking(place):
            column, test = columns.add(record), _whole(record, "testIdx")
            if (column, test) in seen:
                raise Clash(f"test {test} of prompt {column} has two results.")
            if column not in builders:
                builders[column] = LogBuilder("", "", source, _SCORERS, texts=options.texts)
            unchecked += _add(builders[column], record)
            seen.add((column, test))
    remarks = [*records.remarks(), *_remarks(unchecked, columns.cached)]
    for column, builder in builders.items():
        builder.task, builder.model = columns.names(column)
    scales = {"success": UNIT, "score": Scale(lower_is_better=False)}
    return [
        builder.log(remarks=remarks, scales=scales) for builder in builders.values() if len(builder)
    ]


class _Columns:
    """The columns of an evaluation, a provider and a prompt each, and their names."""

    def __init__(self, description: str) -> None:
        self._description = description
        self._columns: dict[int, tuple[str, str]] = {}  # provider and prompt, by number
        self.cached = 0

    def add(self, record: Record) -> int:
        """Note the column of a result; return its number."""
        number, prompt = _whole(record, "promptIdx"), part(record, "prompt")
        if number not in self._columns:
            name = label(prompt.get("label"), label(prompt.get("raw"), "prompt"))
            self._columns[number] = _provider(record.get("provider")), name
        self.cached += part(record, "response").get("cached") is True
        return number

    def names(self, number: int) -> tuple[str, str]:
        """Return the task and the model of a column: its prompt, where there are several."""
        provider, prompt = self._columns[number]
        task = self._description
        if len({prompt for _, prompt in self._columns.values()}) > 1:
            task = f"{task}: {self._shown(prompt)}"
        twins = [one for one, column in self._columns.items() if column == (provider, prompt)]
        return task, provider if len(twins) == 1 else f"{provider} (prompt {number})"

    def _shown(self, prompt: str) -> str:
        """Return the beginning of a prompt, with a hash where another one begins in that way."""
        twins = {other for _, other in self._columns.values() if _short(other) == _short(prompt)}
        return _short(prompt) if len(twins) == 1 else problem_key(prompt, None)


def _short(prompt: str) -> str:
    return " ".join(prompt.split())[:60]


def _provider(value: Any) -> str:
    if isinstance(value, dict):
        return label(value.get("label"), label(value.get("id")))
    return label(value)


def _whole(record: Record, name: str) -> int:
    value = record.get(name)
    if type(value) is not int:
        raise InvalidInput(f"{name} must be a whole number; got {value!r:.60}.")
    return value


def _add(builder: LogBuilder, record: Record) -> bool:
    """Add a trial; return whether nothing was asserted of it."""
    variables = part(record, "vars")
    key, doc = _problem(record, variables)
    response, usage = part(record, "response"), part(record, "tokenUsage")
    error = _error(record, response)
    unchecked = error is None and _is_unchecked(record)
    raw = kept_text(part(record, "prompt").get("raw"))
    builder.add(
        key,
        status="ok" if error is None else "errored",
        scores={} if error is not None or unchecked else _scores(record),
        error=error,
        doc=doc,
        messages=[("user", raw)] if raw else (),
        text=kept_text(response.get("output")),
        prompt_tokens=usage.get("prompt"),
        completion_tokens=usage.get("completion"),
        reasoning_tokens=part(usage, "completionDetails").get("reasoning"),
        latency_ms=record.get("latencyMs"),
        cost=record.get("cost"),
        request_id=kept_text(record.get("id")),
    )
    return unchecked


def _problem(record: Record, variables: Record) -> tuple[str, dict[str, Any]]:
    """Return the key and the data of the test that a result belongs to."""
    test = part(record, "testCase")
    asked = {name: value for name, value in variables.items() if name not in _OF_A_REPEAT}
    shown = ", ".join(str(value) for value in asked.values())
    description = kept_text(test.get("description")) or kept_text(record.get("description"))
    key = problem_key(description or shown, [asked, test.get("assert"), description])
    return key, asked


def _error(record: Record, response: Record) -> str | None:
    """Return the message of an error, which is not that of an assertion."""
    reason = record.get("failureReason")
    message = kept_text(record.get("error"))
    if reason == _ERROR or (reason is None and (not response or response.get("error"))):
        return message or "no message"
    return None


def _is_unchecked(record: Record) -> bool:
    """Return whether a test has no assertions: promptfoo lets it pass."""
    return part(record, "gradingResult").get("reason") == "No assertions"


def _scores(record: Record) -> dict[str, ScoreValue]:
    success = flag(record, "success")
    named = part(record, "namedScores")
    named = {name: named[name] for name in named if name not in _SCORERS}
    broken = _broken(part(record, "gradingResult"))
    if broken is not None:
        failed = Score(None, "error", detail=broken)
        return dict.fromkeys([*_SCORERS, *named], failed)
    scores = {"score": record.get("score"), **named}
    for name, value in scores.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise InvalidInput(f"the score {name} must be a number; got {value!r:.60}.")
    return {"success": success, **scores}


def _broken(grading: Record) -> str | None:
    """Return the message of an assertion that failed to be evaluated."""
    components = grading.get("componentResults")
    for one in [grading, *(components if isinstance(components, list) else [])]:
        if isinstance(one, dict) and one.get("pass") is not True:
            reason, metadata = kept_text(one.get("reason")) or "", one.get("metadata")
            if isinstance(metadata, dict) and metadata.get("graderError") is True:
                return reason or "the grader failed"
            if reason.startswith(_BROKEN):
                return reason
    return None


def _remarks(unchecked: int, cached: int) -> Iterator[Remark]:
    if unchecked:
        count = f"{unchecked} {'result' if unchecked == 1 else 'results'} in the file"
        text = f"no score: {count} without an assertion, which promptfoo lets pass"
        yield Remark(text, important=True)
    if cached:
        yield Remark(
            f"{cached} responses in the file come from the cache of promptfoo: where a test was "
            "repeated, they may be copies of one draw",
            important=True,
        )

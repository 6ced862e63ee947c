"""Details of lighteval: a Parquet file with a row per document.

    doc             query, choices, gold_index, id, task_name, num_samples, ...
    model_response  text (a list with every generation), output_tokens, ...
    metric          a number for each metric, of all generations together

A document that was asked once has the score of its metrics. Of a document that was asked n times,
`pass@k:k=1&n=...` says how many generations were right, though not which; other metrics are one
number for all of them. lighteval writes an empty answer where a request failed, and scores it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place
from passband.files import column_names, form_of, read_records
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import Clash, LogBuilder, LogBuilders
from passband.readers.names import plain_name
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import LeftOut
from passband.trials import Status

_PASS = re.compile(r"(?P<name>.*pass@k):(?P<options>.+)")
_MOST = 100_000  # generations of one document

Record = Mapping[str, Any]


@register_reader("lighteval")
class Lighteval:
    """Reads a file of details."""

    def sniff(self, path: Path) -> bool:
        names = {"doc", "model_response", "metric"}
        return form_of(path.name) == "parquet" and names <= set(column_names(path))

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return a log for each task."""
        return _Details(path, options).logs()


@dataclass(frozen=True)
class _Row:
    """What a row says of one document."""

    key: str
    task: str
    texts: list[str]
    tokens: list[int] | None  # of each generation, where they were counted
    asked: int  # generations that were asked for
    values: dict[str, float | None]
    targets: list[str]
    query: str | None
    doc: dict[str, Any]


class _Details:
    """Rows of a file: first what they have in common, then the trials."""

    def __init__(self, path: Path, options: Options) -> None:
        self._path, self._texts = path, options.texts
        self._items = _Rows(path, options)
        self._generations = 1  # the most of one document
        self._counted: list[str] = []  # metrics that count the generations that are right
        self._names: dict[str, None] = {}
        self._seen: set[tuple[str, str]] = set()
        self._failed = 0
        self._empty = 0

    def logs(self) -> list[Log]:
        for place, record in self._items:
            with self._items.checking(place):
                row = _row(record)
                if (row.task, row.key) in self._seen:
                    raise Clash(f"document {row.key!r} occurs twice; remove one of them.")
                self._seen.add((row.task, row.key))
                self._generations = max(self._generations, len(row.texts), row.asked)
                self._names |= dict.fromkeys(row.values)
        if self._generations > 1:
            counted = [name for name in self._names if _samples(name) is not None]
            self._counted = sorted(counted, key=lambda name: -(_samples(name) or 0))
        scorers = self._counted or list(self._names)
        source = Source.of("lighteval", self._path)
        builders = LogBuilders(source, scorers, texts=self._texts)
        for place, record in self._items:
            with self._items.checking(place):
                row = _row(record)
                self._add(builders.of(row.task, _model(self._path)), row)
        planned = _planned(self._counted)
        return builders.logs(remarks=list(self._remarks()), planned=planned)

    # -- trials ----------------------------------------------------------------------------

    def _add(self, builder: LogBuilder, row: _Row) -> None:
        about: dict[str, Any] = {"targets": row.targets, "doc": row.doc}
        if row.query is not None and self._texts:
            about["messages"] = [("user", row.query)]
        if self._counted:
            trials = self._counted_trials(row)
        elif self._generations > 1:
            trials = self._reduced(row)
        else:
            trials = [(self._status(row, 0), row.values, row.texts[0] if row.texts else None)]
        for status, scores, text in trials:
            scored = {} if status == "gave_up" else scores
            builder.add(row.key, None, status, scored, text=text, **about)
        if not trials:
            builder.problem(row.key, **about)

    def _counted_trials(self, row: _Row) -> list[tuple[Status, dict[str, Any], str | None]]:
        """Return a trial for each generation; which of them are right is not known."""
        counts = {name: _successes(name, row.values.get(name)) for name in self._counted}
        used = max((samples for name in counts if (samples := _samples(name))), default=0)
        statuses = [self._status(row, number) for number in range(min(used, len(row.texts)))]
        answered = sum(status == "ok" for status in statuses)
        if any(count is not None and count > answered for count in counts.values()):
            raise InvalidInput("the metric counts more right generations than there are.")
        trials: list[tuple[Status, dict[str, Any], str | None]] = []
        for number in range(answered):
            scores = {
                name: None if count is None else float(number < count)
                for name, count in counts.items()
                if number < (_samples(name) or 0)
            }
            trials.append(("ok", scores, None))
        failed = len(statuses) - answered
        if failed and failed == len(statuses):
            self._failed += used - failed  # one empty answer stands for all that were asked for
            failed = used
        return trials + [("gave_up", {}, None)] * failed

    def _reduced(self, row: _Row) -> list[tuple[Status, dict[str, Any], str | None]]:
        """Return the generations without scores if they are wanted, and else one trial."""
        if self._texts:
            return [(self._status(row, n), {}, text) for n, text in enumerate(row.texts)]
        statuses = {self._status(row, number) for number in range(len(row.texts))}
        return [("gave_up" if statuses == {"gave_up"} else "ok", row.values, None)]

    def _status(self, row: _Row, number: int) -> Status:
        """Return whether a generation is an answer; an empty one may be a request that failed."""
        if number >= len(row.texts) or row.texts[number]:
            return "ok"
        alone = len(row.texts) == 1 and row.asked > 1  # lighteval's answer for n failed ones
        if alone or (row.tokens is not None and row.tokens[number] == 0):
            self._failed += 1
            return "gave_up"
        self._empty += row.tokens is None
        return "ok"

    # -- remarks ---------------------------------------------------------------------------

    def _remarks(self) -> Iterator[Remark]:
        yield from self._items.remarks()
        if self._counted:
            yield Remark(
                f"how many generations are right is read from {', '.join(self._counted)}; which "
                "of them are is not in the file, so their texts are left out"
            )
            used = _planned(self._counted) or 0
            if used < self._generations:
                text = f"only {used} of {self._generations} generations per problem are scored"
                yield Remark(text, important=True)
        elif self._generations > 1:
            kept = "they are kept without scores" if self._texts else "it is read as one trial"
            yield Remark(
                f"there are {self._generations} generations per problem, but each metric has one "
                f"number for all of them: {kept}",
                important=True,
            )
        if self._failed:
            answers = "1 answer is" if self._failed == 1 else f"{self._failed} answers are"
            text = "which is how lighteval writes a request that failed: left without a score"
            yield Remark(f"{answers} empty, {text}", important=True)
        if self._empty:
            answers = "1 answer is" if self._empty == 1 else f"{self._empty} answers are"
            text = "lighteval writes requests that failed in this way, and scores them as wrong"
            yield Remark(f"{answers} empty and scored; {text}", important=True)


class _Rows(LeftOut):
    """The rows of a Parquet file, read as they are asked for; the file may be read twice."""

    noun = "row"

    def __iter__(self) -> Iterator[tuple[Place, Record]]:
        for number, record in enumerate(read_records(self._path), start=1):
            place = Place(self._path, number)
            if not self.is_bad(place):
                yield place, record

    def _placed(self, error: InvalidInput, place: Place) -> InvalidInput:
        return InvalidInput(f"{self._path}: row {place.line}: {error.message}")


def _row(record: Record) -> _Row:
    doc, response, metric = (record.get(name) for name in ("doc", "model_response", "metric"))
    if not isinstance(doc, dict) or not isinstance(response, dict) or not isinstance(metric, dict):
        raise InvalidInput("doc, model_response and metric must be structures with fields.")
    texts = response.get("text") or []
    if not isinstance(texts, list) or not all(one is None or isinstance(one, str) for one in texts):
        raise InvalidInput(f"model_response.text must be a list of texts; got {texts!r:.60}.")
    if len(texts) > _MOST:
        raise InvalidInput(f"model_response.text has {len(texts)} generations.")
    if doc.get("id") in (None, ""):
        raise InvalidInput("the document has no id.")
    asked, query = doc.get("num_samples"), doc.get("query")
    return _Row(
        key=str(doc.get("id")),
        task=str(doc.get("task_name") or "lighteval"),
        texts=[one or "" for one in texts],
        tokens=_counts(response.get("output_tokens"), len(texts)),
        asked=asked if type(asked) is int and 0 < asked <= _MOST else 1,
        values={name: value for name, value in metric.items() if _is_number(value)},
        targets=_golds(doc),
        query=query if isinstance(query, str) else None,
        doc=_plain(doc.get("specific")),
    )


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (int, float))


def _counts(tokens: Any, texts: int) -> list[int] | None:
    """Return the tokens of each generation, if they were recorded for all of them."""
    if not isinstance(tokens, list) or len(tokens) != texts or not texts:
        return None
    return [len(one) for one in tokens] if all(isinstance(one, list) for one in tokens) else None


def _golds(doc: Record) -> list[str]:
    choices, gold = doc.get("choices"), doc.get("gold_index")
    places = gold if isinstance(gold, list) else [gold]
    if not isinstance(choices, list):
        return []
    return [str(choices[n]) for n in places if type(n) is int and 0 <= n < len(choices)]


def _plain(specific: Any) -> dict[str, Any]:
    """Return the plain values among the data of a document."""
    if not isinstance(specific, dict):
        return {}
    plain = (str, int, float, bool)
    return {name: value for name, value in specific.items() if isinstance(value, plain)}


def _samples(name: str) -> int | None:
    """Return n of a metric named pass@k:k=1&n=...; None for any other.

    With k = 1 the metric is the share of n generations that are right.

    >>> _samples("pass@k:k=1&n=16"), _samples("pass@k:k=4&n=16"), _samples("avg@n:n=16")
    (16, None, None)
    """
    match = _PASS.fullmatch(name)
    if match is None or "g-pass" in match["name"]:
        return None
    options = dict(option.partition("=")[::2] for option in match["options"].split("&"))
    n = options.get("n", "")
    return int(n) if options.get("k") == "1" and n.isdecimal() and 0 < int(n) <= _MOST else None


def _successes(name: str, share: float | None) -> int | None:
    samples = _samples(name)
    if share is None or share != share or samples is None:
        return None
    count = round(share * samples) if 0 <= share <= 1 else -1
    if abs(count - share * samples) > 1e-6:
        raise InvalidInput(f"{name} must be a number of {samples} successes; got {share!r}.")
    return count


def _planned(counted: Sequence[str]) -> int | None:
    return max((samples for name in counted if (samples := _samples(name))), default=None)


def _model(path: Path) -> str:
    """Return the model by the folders: details/MODEL/DATE/details_TASK_DATE.parquet."""
    parts = path.parts[:-1]
    if "details" in parts:
        start = len(parts) - parts[::-1].index("details")
        if len(parts) - start > 1:
            return "/".join(parts[start:-1])
    return plain_name(path).removeprefix("details_")

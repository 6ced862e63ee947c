"""Reviews of evalscope: one line per sample, `reviews/MODEL/BENCHMARK_SUBSET.jsonl`.

    {"index": 1, "target": ["4"], "sample_score": {"group_id": 0, "generation_index": 1,
     "sample_id": 1, "score": {"value": {"acc": 1.0}, "status": "success"}}}

Samples of one group are repeated draws of one problem. A sample that failed has no line at all if
evalscope was told to go on after errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.readers.fields import kept_text, key, part, text
from passband.readers.file_head import first_record
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import Clash, LogBuilder, ScoreValue
from passband.readers.names import UNKNOWN, plain_name
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Lines
from passband.score import Score

_USABLE = (None, "success", "fallback", "degraded")  # statuses of a score that may be counted


@register_reader("evalscope")
class Evalscope:
    """Reads the reviews of one benchmark by one model."""

    def sniff(self, path: Path) -> bool:
        record = first_record(path)
        review = record.get("sample_score")
        return "index" in record and isinstance(review, dict) and "score" in review

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the trials, a line each."""
        lines = Lines(path, options)
        scorers = _scorers(lines)
        model = path.parent.name if path.parent.parent.name == "reviews" else UNKNOWN
        source = Source.of("evalscope", path)
        builder = LogBuilder(plain_name(path), model, source, scorers, texts=options.texts)
        samples = _Samples()
        for place, record in lines:
            with lines.checking(place):
                _add(builder, samples, record, scorers)
        remarks = [*lines.remarks(), *samples.remarks()]
        return [builder.log(remarks=remarks, planned=samples.planned)]


def _scorers(lines: Lines) -> tuple[str, ...]:
    """Return the names of the scores, the main one first, from the first line that has some."""
    for place, record in lines:
        with lines.checking(place):
            score = part(part(record, "sample_score"), "score")
            found, main = part(score, "value"), text(score, "main_score_name")
            if found:
                return tuple(dict.fromkeys([main, *found] if main in found else found))
    return ("score",)


class _Samples:
    """The numbers of samples, groups and generations so far."""

    def __init__(self) -> None:
        self._ids: set[Any] = set()
        self._groups: set[int] = set()
        self.planned: int | None = None

    def check(self, sample: Any) -> None:
        """Raise `Clash` for a sample that has a line already: it is not another draw."""
        if sample in self._ids:
            raise Clash(f"sample {sample!r} has two lines; remove the one that is out of date.")

    def add(self, sample: Any, group: str | int, generation: int | None) -> None:
        self._ids.add(sample)
        if isinstance(group, int):
            self._groups.add(group)
        if generation:
            self.planned = max(self.planned or 0, generation + 1)

    def remarks(self) -> Iterator[Remark]:
        """Yield a remark on groups without any line: they are numbered without gaps."""
        gaps = max(self._groups) + 1 - len(self._groups) if self._groups else 0
        if gaps > 0:
            yield Remark(
                f"{gaps} {'group has' if gaps == 1 else 'groups have'} no line: evalscope leaves "
                "out samples that failed, and none of its numbers counts them",
                important=True,
            )


def _add(
    builder: LogBuilder, samples: _Samples, record: Mapping[str, Any], scorers: Sequence[str]
) -> None:
    review = part(record, "sample_score")
    has_id = review.get("sample_id") is not None
    sample = key(review, "sample_id") if has_id else key(record, "index")
    problem = sample if review.get("group_id") is None else key(review, "group_id")
    samples.check(sample)
    generation = review.get("generation_index")
    score = part(review, "score")
    builder.add(
        problem,
        generation,
        scores=_scores(score, scorers),
        targets=_targets(record.get("target")),
        doc=_doc(review.get("sample_metadata")),
        messages=_messages(record.get("messages")),
        text=kept_text(score.get("prediction")),
    )
    samples.add(sample, problem, generation)


def _scores(score: Mapping[str, Any], scorers: Sequence[str]) -> dict[str, ScoreValue]:
    """Return the scores; where the judge failed, none of them is a number."""
    found, answer = part(score, "value"), kept_text(score.get("extracted_prediction"))
    if text(score, "status") in _USABLE:
        return {name: _checked(name, value, answer) for name, value in found.items()}
    detail = kept_text(score.get("explanation")) or score["status"]
    return {name: Score(None, "error", detail=detail) for name in scorers}


def _checked(name: str, value: Any, answer: str | None) -> ScoreValue:
    if value is not None and not isinstance(value, (bool, int, float)):
        raise InvalidInput(f"the score {name} must be a number; got {value!r:.60}.")
    return Score(value, answer=answer)


def _targets(value: Any) -> list[str]:
    found = value if isinstance(value, list) else [value]
    return [target for target in found if isinstance(target, str)]


def _doc(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _messages(value: Any) -> list[tuple[str, Any]]:
    """Return the messages before the answer."""
    found = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    while found and found[-1].get("role") == "assistant":
        found.pop()
    return [(str(one.get("role")), one.get("content")) for one in found]

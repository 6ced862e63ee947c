"""Results of NeMo Evaluator (`nel eval run`): `results.jsonl` of a run, with one line per trial.

    {"problem_idx": 0, "repeat": 1, "reward": 1.0, "scorer_rewards": {}, "model_response": "4",
     "extracted_answer": "4", "expected_answer": "4", "scoring_details": {...}, "metadata": {...}}

`eval-*.json` beside it names the benchmark, the model and the number of repeats. What failed has
the reward 0.0 there, and its error in the details.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.readers.fields import kept_text, key, part, text
from passband.readers.file_head import first_record, head_of
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import LogBuilder, ScoreValue
from passband.readers.names import label, plain_name
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Lines
from passband.score import Score
from passband.stats.data import Scale

_KEYS = {"problem_idx", "repeat", "reward", "scoring_details"}
_SCORER = "reward"
_MOST_REPEATS = 1_000_000
_EXPECTED = "graceful"  # an error that NeMo Evaluator holds to be the answer's own

Record = Mapping[str, Any]


@register_reader("nemo-evaluator")
class NemoEvaluator:
    """Reads the results of one benchmark by one model."""

    def sniff(self, path: Path) -> bool:
        return first_record(path).keys() >= _KEYS

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the trials, a line each."""
        bundle = _bundle(path.parent)
        benchmark, config = (_dict(bundle.get(name)) for name in ("benchmark", "config"))
        task, model = label(benchmark.get("name"), plain_name(path)), label(config.get("model"))
        source = Source.of("nemo-evaluator", path)
        builder = LogBuilder(task, model, source, (_SCORER,), texts=options.texts)
        failures: Counter[str] = Counter()
        lines = Lines(path, options)
        for place, record in lines:
            with lines.checking(place):
                if category := _add(builder, record):
                    failures[category] += 1
        repeats = benchmark.get("repeats")
        is_number = type(repeats) is int and 0 < repeats < _MOST_REPEATS
        remarks = [*lines.remarks(), *_remarks(failures)]
        scales = {_SCORER: Scale(lower_is_better=False)}
        planned = repeats if is_number else None
        return [builder.log(remarks=remarks, planned=planned, scales=scales)]


def _bundle(folder: Path) -> Record:
    """Return the beginning of the run's summary, which names it; an empty one if there is none."""
    heads = (head_of(path) for path in sorted(folder.glob("eval-*.json")))
    return next((_dict(head) for head in heads if "benchmark" in _dict(head)), {})


def _dict(value: Any) -> Record:
    return value if isinstance(value, dict) else {}


def _add(builder: LogBuilder, record: Record) -> str | None:
    """Add a trial; return the category of its failure, if it failed."""
    details = part(record, "scoring_details")
    category = text(details, "error_category")
    is_error = category not in (None, _EXPECTED)
    expected = record.get("expected_answer")
    builder.add(
        key(record, "problem_idx"),
        record.get("repeat"),
        status="errored" if is_error else "ok",
        scores={} if is_error else _scores(record, details),
        error=kept_text(details.get("error")) or category if is_error else None,
        targets=[str(expected)] if isinstance(expected, (str, int, float)) else (),
        doc=_dict(record.get("metadata")) or None,
        text=kept_text(record.get("model_response", record.get("response"))),
        latency_ms=_whole(record.get("latency_ms")),
    )
    return category


def _scores(record: Record, details: Record) -> dict[str, ScoreValue]:
    answer = kept_text(record.get("extracted_answer"))
    scores: dict[str, ScoreValue] = {_SCORER: _reward(_SCORER, record.get(_SCORER), answer)}
    if details.get("needs_judge") is True and "normalized" not in _dict(details.get("judge")):
        scores[_SCORER] = Score(None, "error", detail="the judge returned no score")
    for name, reward in part(record, "scorer_rewards").items():
        error = kept_text(_dict(details.get(name)).get("error"))
        shown = name.removeprefix("scorer:")
        if shown != _SCORER:
            failed = Score(None, "error", detail=error)
            scores[shown] = _reward(shown, reward, None) if error is None else failed
    return scores


def _reward(name: str, value: Any, answer: str | None) -> ScoreValue:
    if value is None or isinstance(value, (bool, int, float)):
        return Score(value, answer=answer)
    raise InvalidInput(f"the score {name} must be a number; got {value!r:.60}.")


def _whole(value: Any) -> int | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return round(value) if is_number and 0 <= value < 2**53 else None


def _remarks(failures: Counter[str]) -> Iterator[Remark]:
    expected = failures.pop(_EXPECTED, 0)
    count = sum(failures.values())
    if count:
        kinds = ", ".join(f"{kind} {number}" for kind, number in failures.items())
        yield Remark(
            f"no score: {count} {'trial' if count == 1 else 'trials'} that failed ({kinds}); "
            "NeMo Evaluator gives them the reward 0, as --policy fail does",
            important=True,
        )
    if expected:
        yield Remark(
            f"counted as 0: {expected} {'trial' if expected == 1 else 'trials'} with a graceful "
            "error, such as a used up budget of turns, but also a crash of the agent",
            important=True,
        )

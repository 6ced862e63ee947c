"""Logs of Inspect, written by hand: quick to make, and broken in any way that a test needs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 14):
    import zipfile as zipfile
else:
    from backports.zstd import zipfile as zipfile

Record = dict[str, Any]

STORED, DEFLATED, ZSTD = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD
_OF_SUMMARY = (
    "id", "epoch", "input", "target", "metadata", "scores", "model_usage", "working_time", "uuid",
)  # fmt: skip


def sample(key: str | int, epoch: int = 1, value: Any = "C", **more: Any) -> Record:
    """Return a sample that one scorer, `match`, has given a value; no score for `...`."""
    message = {"role": "assistant", "content": f"It is {key}."}
    record = {
        "id": key,
        "epoch": epoch,
        "input": f"What is {key}?",
        "target": str(key),
        "messages": [{"role": "user", "content": f"What is {key}?"}, message],
        "output": {"model": "M", "choices": [{"message": message, "stop_reason": "stop"}]},
        "scores": {} if value is ... else {"match": {"value": value, "answer": str(key)}},
        "metadata": {"level": str(key)[:1]},
        "events": [{"event": "model"}],
        "model_usage": {"M": {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}},
        "working_time": 0.25,
        "uuid": f"{key}-{epoch}",
    }
    return record | more


def failed(key: str | int, epoch: int = 1, message: str = "boom", **more: Any) -> Record:
    """Return a sample that ended in an error."""
    error = {"message": message, "traceback": "", "traceback_ansi": ""}
    return sample(key, epoch, ..., error=error, output={"model": "M", "choices": []}, **more)


def grid(rows: Mapping[str | int, Sequence[Any]]) -> list[Record]:
    """Return the samples of problems with a value for each epoch."""
    return [
        sample(key, epoch, value)
        for key, values in rows.items()
        for epoch, value in enumerate(values, start=1)
    ]


def summary(record: Record) -> Record:
    """Return what Inspect keeps of a sample in its summaries."""
    short = {name: record[name] for name in _OF_SUMMARY if name in record}
    if record.get("error") is not None:
        short["error"] = record["error"]["message"]
    if record.get("limit") is not None:
        short["limit"] = record["limit"]["type"]
    return {**short, "retries": len(record.get("error_retries") or ()), "completed": True}


def header(records: Iterable[Record], **more: Any) -> Record:
    """Return the header of a log of these samples; `eval` and `results` are merged."""
    records = list(records)
    ids = list(dict.fromkeys(record["id"] for record in records))
    spec = {
        "created": "2026-01-02T03:04:05+00:00",
        "task": "sums",
        "task_id": "one",
        "dataset": {"samples": len(ids), "sample_ids": ids},
        "model": "M",
        "config": {"epochs": max((record["epoch"] for record in records), default=1)},
        "packages": {"inspect_ai": "0.3.285"},
        "scorers": [{"name": "match"}],
    } | more.pop("eval", {})
    start = {"version": 2, "status": "success", "eval": spec, "plan": {"config": {}}}
    return start | {"results": {"total_samples": len(records)}, "stats": {}} | more


def members(records: Sequence[Record], **more: Any) -> dict[str, Any]:
    """Return the members of a finished log by name."""
    start = header(records, **more)
    return {
        "_journal/start.json": {name: start[name] for name in ("version", "eval", "plan")},
        **sample_members(records),
        "_journal/summaries/1.json": [summary(record) for record in records],
        "summaries.json": [summary(record) for record in records],
        "header.json": start,
    }


def sample_members(records: Iterable[Record]) -> dict[str, Any]:
    return {f"samples/{record['id']}_epoch_{record['epoch']}.json": record for record in records}


def write_zip(path: Path, contents: Mapping[str, Any], method: int = ZSTD) -> Path:
    """Write members, each as JSON unless it is bytes."""
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in contents.items():
            is_raw = isinstance(content, bytes)
            file.writestr(name, content if is_raw else json.dumps(content, separators=(",", ":")))
    return path


def write_eval(path: Path, records: Sequence[Record], method: int = ZSTD, **more: Any) -> Path:
    """Write a finished log; `more` goes into its header."""
    return write_zip(path, members(records, **more), method)


def write_killed(path: Path, flushed: Sequence[Sequence[Record]], **more: Any) -> Path:
    """Write the log of a run that was killed after it had flushed these samples."""
    everything = [record for records in flushed for record in records]
    contents: dict[str, Any] = {
        "_journal/start.json": {"version": 2, "eval": header(everything, **more)["eval"]}
    }
    for number, records in enumerate(flushed, start=1):
        contents |= sample_members(records)
        contents[f"_journal/summaries/{number}.json"] = [summary(record) for record in records]
    return write_zip(path, contents)


def write_json(path: Path, records: Sequence[Record], **more: Any) -> Path:
    """Write a log in Inspect's other format."""
    path.write_text(json.dumps(header(records, **more) | {"samples": list(records)}))
    return path

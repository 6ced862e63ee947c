"""The trials table as a file: one row per trial, in canonical order, the same bytes each time.

What differs between two runs that drew the same answers (latency, attempts, request numbers) is
left out unless asked for, so that two exports of the same content are the same file.

What a Parquet file says of runs in its footer, so that several files can be counted as one.

A table of trials has no column for the temperature. What was drawn otherwise would look like more
trials of the same, and the trials of some shards like all of them.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from passband.errors import InvalidInput, UnknownName, nearest
from passband.files import Kind, guarded
from passband.stats.data import CHOSEN
from passband.trials.encoding import canonical_json
from passband.trials.exports.json_lines import ProblemPart
from passband.trials.query.filters import TrialFilter
from passband.trials.reader import Trials
from passband.trials.records import ProblemRecord, RunRecord
from passband.trials.rows import LOWER_IS_BETTER, ScoreRow, TrialRow
from passband.trials.settings import compared_spec
from passband.trials.shards import Shards, shards_only

SETTINGS_KEY = b"passband.settings"
_MOST = 1 << 20  # shards


@dataclass(frozen=True)
class Exported:
    """What a file says of a run."""

    spec: Mapping[str, Any]  # what trials were drawn with
    shards: Shards | None = field(default=None)  # of which it holds the trials, if not of all


RunSettings = Mapping[tuple[str, str], Exported]
"""By task and model."""


def encode_settings(runs: Sequence[RunRecord]) -> bytes:
    """Return the settings of runs as JSON."""
    entries = [
        [run.task, run.label, compared_spec(run.spec), shards_only(run.config)] for run in runs
    ]
    return canonical_json(entries).encode()


def decode_settings(data: bytes | None) -> RunSettings:
    """Return the settings that a footer holds; none if it holds none, or something else."""
    try:
        return {
            (str(task), str(model)): Exported(dict(spec), _shards(config))
            for task, model, spec, config in json.loads(data or "")
        }
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}


def _shards(config: Mapping[str, Any]) -> Shards | None:
    """Return the shards that a footer states; `ValueError` if they make no sense."""
    shards = Shards.in_config(config)
    if shards is not None:
        numbers = [shards.of, shards.batch, *shards.merged]
        if not all(type(one) is int and 1 <= one <= _MOST for one in numbers):
            raise ValueError(shards)
    return shards


_COLUMNS = (
    "task", "model", "problem_id", "trial", "status", "score", "score_status", "answer", "rule",
    "target", "cluster", "seed", "prompt_tokens", "completion_tokens", "completion", "reasoning",
    "finish_reason",
)  # fmt: skip
FURTHER = ("prompt", "target", "detail")
"""Columns that can be asked for; the target is in every export."""

_WHERE_KNOWN = ("reasoning_tokens", "cached_tokens", "cost")
_TIMING = ("latency_ms", "attempts", "request_id")
_WHOLE = (
    "trial", "seed", "prompt_tokens", "completion_tokens", "latency_ms", "attempts", "vote",
    "swapped", "attempt", "cached", "http", "at_ms", "reasoning_tokens", "cached_tokens",
)  # fmt: skip
_NUMBERS = ("score", "verdict", "cost")
_CHUNK = 10_000  # rows of Parquet that are held at a time

Row = Mapping[str, Any]
Runs = Sequence[RunRecord]


def check_further_columns(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to add, one by one; raise `UnknownName` for any other.

    >>> check_further_columns(["prompt,detail"])
    ('prompt', 'detail')
    """
    wanted = [name.strip() for text in names for name in text.split(",")]
    for name in wanted:
        if name not in FURTHER:
            hint = nearest(name, FURTHER) or f" Known: {', '.join(FURTHER)}."
            raise UnknownName(f"no further column named {name!r}.{hint}")
    return tuple(dict.fromkeys(wanted))


def rows(
    trials: Trials,
    runs: Sequence[RunRecord],
    *,
    timing: bool = False,
    further: Sequence[str] = (),
) -> Iterator[Row]:
    """Yield one mapping per trial, in the order of the runs, by position of its problem and trial.

    Every one has the same keys.
    """
    names = export_columns(trials, runs, timing=timing, further=further)
    for run in runs:
        problems = {p.number: _Asked.of(p) for p in trials.each_problem(run.number)}
        suffixes = {scorer.number: f":{scorer.name}" for scorer in run.scorers}
        if run.scorers:
            suffixes[run.scorers[0].number] = ""
        prompts = _Prompts(trials, run) if "prompt" in further else None
        directions = _directions(run)
        for trial in trials.trials(run):
            problem = problems[trial.problem]
            row: dict[str, Any] = dict.fromkeys(names)
            row |= {"task": run.task, "model": run.label, "problem_id": problem.key}
            row |= directions
            row["target"] = problem.target
            row["cluster"] = problem.cluster
            if run.adaptive is not None:
                row[CHOSEN] = trial.reason or "adaptive"
            if prompts is not None:
                row["prompt"] = prompts.of(trial.problem)
            _put_trial(row, trial, timing)
            for name in _WHERE_KNOWN:
                if name in row:
                    row[name] = getattr(trial, name)
            for score in trial.scores:
                _put_score(row, score, suffixes[score.scorer], trial.text)
                if "detail" in further:
                    row[f"detail{suffixes[score.scorer]}"] = score.detail
            yield row


class _Prompts:
    """The prompts of a run's problems, each read when the first of its trials comes."""

    def __init__(self, trials: Trials, run: RunRecord) -> None:
        self._problems = trials.chosen(run, TrialFilter())
        self._number: int | None = None
        self._prompt: str | None = None

    def of(self, problem: int) -> str | None:
        """Return the text of a single message of the user, otherwise all messages as JSON."""
        if problem != self._number:
            messages = self._problems.problem(problem).record.get("messages") or []
            self._number, self._prompt = problem, _prompt(messages)
        return self._prompt


def _prompt(messages: Sequence[Any]) -> str | None:
    """Return a prompt as text.

    >>> _prompt([["user", "2+2"]]), _prompt([["system", "Be brief."], ["user", "2+2"]])
    ('2+2', '[["system", "Be brief."], ["user", "2+2"]]')
    """
    if len(messages) == 1 and messages[0][0] == "user" and isinstance(messages[0][1], str):
        text = str(messages[0][1])
        if not text.startswith('[["'):  # which would look like several messages
            return text
    return json.dumps(messages, ensure_ascii=False) if messages else None


class _Asked(NamedTuple):
    """What every row of a problem's trials says of it; its prompt is not kept."""

    key: str
    target: str | None
    cluster: str | None

    @classmethod
    def of(cls, problem: ProblemRecord) -> _Asked:
        return cls(problem.key, _target(problem.record.get("targets", ())), problem.cluster)


def lines(
    trials: Trials,
    runs: Sequence[RunRecord],
    *,
    timing: bool = False,
    further: Sequence[str] = (),
) -> Iterator[bytes]:
    """Yield an export as JSON lines, one or more at a time."""
    if export_columns(trials, runs, timing=timing, further=further) != list(_COLUMNS):
        for row in rows(trials, runs, timing=timing, further=further):
            yield _line(row)
        return
    for run in runs:
        parts = {
            problem.number: ProblemPart.of(run.task, run.label, *_Asked.of(problem))
            for problem in trials.each_problem(run.number)
        }
        yield from trials.lines(run, parts)


def _line(row: Row) -> bytes:
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half a character, which only an escape can carry
        return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def export_columns(
    trials: Trials, runs: Runs, *, timing: bool = False, further: Sequence[str] = ()
) -> list[str]:
    """Return the names of the columns; scorers beyond the main one have their own three.

    The cost has one where any trial has a cost, reasoning and cached tokens where any has some.
    """
    others = {scorer.name: None for run in runs for scorer in run.scorers[1:]}
    extra = [f"{part}:{name}" for name in others for part in ("score", "score_status", "answer")]
    extra += dict.fromkeys(name for run in runs for name in _directions(run))
    reason = [CHOSEN] if any(run.adaptive is not None for run in runs) else []
    more = [name for name in further if name not in _COLUMNS]
    if "detail" in further:
        more += [f"detail:{name}" for name in others]
    is_known = (trials.reasoning_tokens, trials.cached_tokens, trials.is_priced)
    known = [
        name
        for name, is_in in zip(_WHERE_KNOWN, is_known, strict=True)
        if any(is_in(run.number) for run in runs)
    ]
    return [*_COLUMNS, *extra, *reason, *known, *(_TIMING if timing else ()), *more]


def _directions(run: RunRecord) -> dict[str, str]:
    """Return a column for each scorer whose lower scores are better."""
    falling = [bool(run.scale(scorer).lower_is_better) for scorer in run.scorers]
    return {
        f"{LOWER_IS_BETTER}:{scorer.name}" if place else LOWER_IS_BETTER: "true"
        for place, scorer in enumerate(run.scorers)
        if falling[place]
    }


def column_kinds(trials: Trials, runs: Runs, *, timing: bool = False) -> dict[str, Kind]:
    """Return what each column holds."""
    return {name: _kind(name) for name in export_columns(trials, runs, timing=timing)}


def _kind(name: str) -> Kind:
    if name in _WHOLE:
        return "whole"
    return "number" if name.partition(":")[0] in _NUMBERS else "text"


def export_trials(
    trials: Trials,
    runs: Sequence[RunRecord],
    form: str,
    to: Path | IO[bytes],
    *,
    timing: bool = False,
    further: Sequence[str] = (),
) -> None:
    """Write every trial of the runs; a file appears whole or not at all."""
    with nullcontext(to) if not isinstance(to, Path) else output_file(to) as file:
        if form == "jsonl":
            file.writelines(lines(trials, runs, timing=timing, further=further))
        else:
            names = export_columns(trials, runs, timing=timing, further=further)
            table = rows(trials, runs, timing=timing, further=further)
            EXPORT_FORMATS[form](file, names, table, runs)


def output_file(path: Path) -> AbstractContextManager[IO[bytes]]:
    """Open a file to write, which appears whole or not at all; a device is just opened."""
    return atomic_file(path) if path.is_file() or not path.exists() else path.open("wb")


def _put_trial(row: dict[str, Any], trial: TrialRow, timing: bool) -> None:
    row["trial"] = trial.trial
    row["status"] = trial.status
    row["seed"] = trial.seed
    row["prompt_tokens"] = trial.prompt_tokens
    row["completion_tokens"] = trial.completion_tokens
    row["completion"] = trial.text
    row["reasoning"] = trial.reasoning
    row["finish_reason"] = trial.finish_reason
    if timing:
        row["latency_ms"] = trial.latency_ms
        row["attempts"] = trial.attempts
        row["request_id"] = trial.request_id


def _put_score(row: dict[str, Any], score: ScoreRow, suffix: str, text: str | None) -> None:
    answer = score.answer
    if answer is None and score.status == "ok":
        answer = text
    row[f"score{suffix}"] = score.value
    row[f"answer{suffix}"] = answer
    row[f"score_status{suffix}"] = score.status
    if not suffix:
        row["rule"] = score.rule


def _target(targets: Sequence[str]) -> str | None:
    """Return the one right answer, or all of them as a JSON list."""
    if len(targets) == 1:
        return targets[0]
    return json.dumps(list(targets), ensure_ascii=False) if targets else None


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Write beside the file and put it in place when it is complete and on disk."""
    path = path.resolve()  # a link stays one
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    if not path.parent.is_dir():
        raise InvalidInput(f"{path}: there is no folder {path.parent}; create it first.")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _jsonl(file: IO[bytes], names: list[str], table: Iterable[Row], runs: Runs) -> None:
    for row in table:
        file.write(_line(row))


def _csv(file: IO[bytes], names: list[str], table: Iterable[Row], runs: Runs) -> None:
    text = io.TextIOWrapper(file, "utf-8", errors="backslashreplace", newline="")
    # A lone carriage return would end the row, were it not quoted.
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(map(_cell, names))
    for row in table:
        writer.writerow([_cell(row[name]) for name in names])
    text.flush()
    text.detach()


def _cell(value: Any) -> Any:
    """Return a value as a cell: no formula, and without zero bytes, which csv cannot hold."""
    return guarded(value.replace("\0", "\\x00")) if isinstance(value, str) else value


def write_parquet(
    file: IO[bytes],
    names: list[str],
    table: Iterable[Row],
    runs: Runs = (),
    *,
    chunk_rows: int = _CHUNK,
) -> None:
    """Write rows as Parquet, compressed with zstd; `chunk_rows` of them make a row group.

    The settings of the runs are in the footer.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InvalidInput("Parquet needs pyarrow: pip install 'passband[parquet]'") from None
    types = {"whole": pa.int64(), "number": pa.float64(), "text": pa.string()}
    schema = pa.schema(
        [(name, types[_kind(name)]) for name in names], {SETTINGS_KEY: encode_settings(runs)}
    )
    source = iter(table)
    with pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer:
        while chunk := list(islice(source, chunk_rows)):
            data = {name: [_valid(row[name]) for row in chunk] for name in names}
            writer.write_table(pa.table(data, schema=schema))


def _valid(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


EXPORT_FORMATS: Mapping[str, Callable[[IO[bytes], list[str], Iterable[Row], Runs], None]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "parquet": write_parquet,
}

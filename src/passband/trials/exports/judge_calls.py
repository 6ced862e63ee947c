"""The calls to judges as a file: one row per call, by run, scorer, problem, trial and number.

No column has a name that tables of trials have for scores: votes are not trials, and statistics of
them as if they were would be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

from passband.errors import InvalidInput
from passband.trials.exports.export import EXPORT_FORMATS, Row, output_file
from passband.trials.reader import Trials
from passband.trials.records import RunRecord
from passband.trials.rows import CallRow

_COLUMNS = (
    "task", "model", "scorer", "problem_id", "trial", "vote", "swapped", "attempt", "status",
    "verdict", "cached", "prompt_tokens", "completion_tokens", "cost", "seed", "reply", "failure",
    "http", "detail", "key",
)  # fmt: skip
_TIMING = ("at_ms", "latency_ms")


def export_calls(
    trials: Trials,
    runs: Sequence[RunRecord],
    form: str,
    to: Path | IO[bytes],
    *,
    timing: bool = False,
) -> None:
    """Write every call of the runs' scorers; a file appears whole or not at all."""
    if form not in EXPORT_FORMATS:
        raise InvalidInput(f"calls are written as {', '.join(EXPORT_FORMATS)}; got {form}.")
    names = [*_COLUMNS, *(_TIMING if timing else ())]
    with nullcontext(to) if not isinstance(to, Path) else output_file(to) as file:
        EXPORT_FORMATS[form](file, names, call_rows(trials, runs, timing=timing), runs)


def call_rows(trials: Trials, runs: Sequence[RunRecord], *, timing: bool = False) -> Iterator[Row]:
    """Yield one mapping per call; scorers that a run no longer uses come last."""
    scorers = trials.all_scorers()
    for run in runs:
        keys = {number: key for key, number in trials.numbers(run.number).items()}
        for _, _, scorer in (each for each in scorers if each[0] == run.number):
            for call in trials.calls(scorer.number):
                names = {"task": run.task, "model": run.label, "scorer": scorer.name}
                yield names | {"problem_id": keys[call.problem]} | _fields(call, timing)


def _fields(call: CallRow, timing: bool) -> dict[str, Any]:
    fields = {
        "trial": call.trial,
        "vote": call.vote,
        "swapped": int(call.is_swapped),
        "attempt": call.attempt,
        "status": call.status,
        "verdict": call.worth,
        "cached": int(call.is_cached),
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "cost": call.cost,
        "seed": call.seed,
        "reply": call.reply,
        "failure": call.outcome,
        "http": call.http,
        "detail": call.detail,
        "key": call.key.hex(),
    }
    return fields | ({"at_ms": call.at_ms, "latency_ms": call.latency_ms} if timing else {})

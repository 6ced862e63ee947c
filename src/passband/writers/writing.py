"""Write the trials of a run as a file of any format, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Literal

from passband.errors import InvalidInput
from passband.trials import EXPORT_FORMATS, RunRecord, Trials, export_trials, output_file
from passband.writers.eval_file import write_eval, write_json
from passband.writers.human_eval import write_human_eval
from passband.writers.inspect_log import InspectLogFile
from passband.writers.lm_eval import write_lm_eval
from passband.writers.run_rows import Losses

Holds = Literal["any runs", "one model", "one run"]


@dataclass(frozen=True)
class FormatWriter:
    """A format: the contents of a file, its file ending, and its writer."""

    summary: str
    ending: str
    holds: Holds
    write: Callable[[Trials, Sequence[RunRecord], IO[bytes], Losses, bool], None]
    is_text: bool = True
    prefix: str = ""  #: of the names of files in a folder


def _rows(
    form: str, further: Sequence[str] = ()
) -> Callable[[Trials, Sequence[RunRecord], IO[bytes], Losses, bool], None]:
    def write_rows(
        trials: Trials, runs: Sequence[RunRecord], file: IO[bytes], losses: Losses, timing: bool
    ) -> None:
        export_trials(trials, runs, form, file, timing=timing, further=further)

    return write_rows


def _eval(
    trials: Trials, runs: Sequence[RunRecord], file: IO[bytes], losses: Losses, timing: bool
) -> None:
    write_eval(InspectLogFile(trials, runs[0], timing, losses), file)


def _inspect_json(
    trials: Trials, runs: Sequence[RunRecord], file: IO[bytes], losses: Losses, timing: bool
) -> None:
    write_json(InspectLogFile(trials, runs[0], timing, losses), file)


def _lm_eval(
    trials: Trials, runs: Sequence[RunRecord], file: IO[bytes], losses: Losses, timing: bool
) -> None:
    write_lm_eval(trials, runs, file, losses)


def _human_eval(
    trials: Trials, runs: Sequence[RunRecord], file: IO[bytes], losses: Losses, timing: bool
) -> None:
    write_human_eval(trials, runs[0], file, losses)


writers: Mapping[str, FormatWriter] = {
    "jsonl": FormatWriter("one JSON object per trial", ".jsonl", "any runs", _rows("jsonl")),
    "csv": FormatWriter("one row per trial", ".csv", "any runs", _rows("csv")),
    "parquet": FormatWriter("one row per trial", ".parquet", "any runs", _rows("parquet"), False),
    "eval": FormatWriter("log of Inspect", ".eval", "one run", _eval, False),
    # Inspect's data frames leave out JSON files whose names do not begin with a time.
    "inspect-json": FormatWriter(
        "log of Inspect as JSON", ".json", "one run", _inspect_json, prefix="1970-01-01T00-00-00_"
    ),
    "lm-eval": FormatWriter("results of lm-eval", ".json", "one model", _lm_eval),
    "human-eval": FormatWriter("results of human-eval", ".jsonl", "one run", _human_eval),
}
_ENDINGS = {
    ".csv": "csv", ".json": "jsonl", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
    ".eval": "eval", "": "jsonl",
}  # fmt: skip
assert set(EXPORT_FORMATS) <= set(writers)


def form_of_name(path: Path) -> str:
    """Return the format of a file by its name.

    >>> form_of_name(Path("log.eval"))
    'eval'
    """
    form = _ENDINGS.get(path.suffix.lower())
    if form is None:
        known = ", ".join(writers)
        raise InvalidInput(f"{path}: cannot tell the format from this name; pass --format {known}.")
    return form


def write(
    trials: Trials,
    runs: Sequence[RunRecord],
    form: str,
    to: Path | IO[bytes],
    *,
    timing: bool = False,
    further: Sequence[str] = (),
) -> list[str]:
    """Write the trials of runs; return sentences on what the format cannot hold.

    The same trials give the same bytes. Into a folder go as many files as the format needs.
    Tables may have `further` columns.
    """
    writer, losses = writers[form], Losses()
    if further:
        writer = replace(writer, write=_rows(_table(form), further))
    if not runs:
        raise InvalidInput(f"{trials.directory} holds no trials yet.")
    if form not in EXPORT_FORMATS:
        for run in runs:
            run.refuse_averages()  # other tools would take the mean over items
    parts = list(_parts(runs, writer.holds))
    if not isinstance(to, Path):
        _require_one(parts, writer, form)
        writer.write(trials, runs, to, losses, timing)
    elif to.is_dir() and form not in EXPORT_FORMATS:
        for part in parts:
            with output_file(to / _file_name(part, writer)) as file:
                writer.write(trials, part, file, losses, timing)
    else:
        _require_one(parts, writer, form)
        with output_file(to) as file:
            writer.write(trials, runs, file, losses, timing)
    return losses.lines()


def _table(form: str) -> str:
    """Return a format whose columns can be chosen; raise `InvalidInput` for any other."""
    if form not in EXPORT_FORMATS:
        raise InvalidInput(
            f"--with adds columns to {', '.join(EXPORT_FORMATS)}; a file of the format {form} "
            "has its own."
        )
    return form


def _parts(runs: Sequence[RunRecord], holds: Holds) -> Iterable[list[RunRecord]]:
    """Return the runs of each file."""
    if holds == "any runs":
        return [list(runs)]
    if holds == "one run":
        return [[run] for run in runs]
    models = dict.fromkeys(run.model for run in runs)
    return [[run for run in runs if run.model == model] for model in models]


def _require_one(parts: Sequence[Sequence[RunRecord]], writer: FormatWriter, form: str) -> None:
    if len(parts) > 1:
        names = ", ".join(f"{part[0].task} by {part[0].model}" for part in parts[:4])
        what = "model" if writer.holds == "one model" else "task of one model"
        raise InvalidInput(
            f"a file of the format {form} holds one {what}, and these are {len(parts)} ({names}"
            f"{', ...' if len(parts) > 4 else ''}). Choose with --task and --model, or give an "
            "existing folder with --output."
        )


def _file_name(runs: Sequence[RunRecord], writer: FormatWriter) -> str:
    names = [runs[0].task, runs[0].model] if writer.holds == "one run" else [runs[0].model]
    text = "_".join(names)
    safe = "".join(c if c.isalnum() or c in "._+-" else "-" for c in text).strip(".")
    return f"{writer.prefix}{safe[:150] or 'run'}{writer.ending}"

"""`passband export`: write the trials of a run, or of a log, to a file."""

from __future__ import annotations

import enum
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from passband.cli.options import LowerIsBetter, SkipBad, scales_of

if TYPE_CHECKING:
    from passband.trials import RunRecord, Trials


class Form(str, enum.Enum):
    """Kinds of files to export to."""

    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    eval = "eval"
    inspect_json = "inspect-json"
    lm_eval = "lm-eval"
    human_eval = "human-eval"


def export(
    run: Annotated[Path, typer.Argument(help="Run directory, or the log of another tool.")],
    format: Annotated[
        Form | None, typer.Option(help="Kind of file. Default: by the name of the file.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="File, or folder, to write. Parquet into an empty folder, or a name that ends "
            "with /, is a data set of several files. Default: standard output.",
        ),
    ] = None,
    rows_per_file: Annotated[
        int | None,
        typer.Option(help="Rows of each file of a data set. Default: 1,000,000.", min=100_000),
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task (repeatable).")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model (repeatable).")] = None,
    timing: Annotated[
        bool, typer.Option("--timing", help="Include latency, attempts and request numbers.")
    ] = False,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", help="Further columns: prompt, target, detail (of the scorer)."),
    ] = None,
    calls: Annotated[
        bool, typer.Option("--calls", help="Write the calls to judges instead of the trials.")
    ] = False,
    lower_is_better: LowerIsBetter = None,
    skip_bad: SkipBad = False,
) -> None:
    """Write the trials of a run or a log. The same trials give the same bytes."""
    from passband.cli.output import print_notes
    from passband.errors import InvalidInput
    from passband.readers import Options, opened_trials
    from passband.report import printable
    from passband.trials import ROWS_PER_FILE, check_further_columns, export_parts
    from passband.writers import form_of_name, writers
    from passband.writers import write as write_trials

    further = check_further_columns(with_ or ())
    target = None if output in (None, "-") else Path(str(output))
    form = format.value if format else "jsonl" if target is None else form_of_name(target)
    in_parts = form == "parquet" and target is not None and _is_folder(str(output))
    if rows_per_file is not None and not in_parts:
        raise InvalidInput(
            "--rows-per-file is for a data set: --format parquet -o and a folder, such as out/."
        )
    if target is None and not writers[form].is_text:
        raise InvalidInput(f"{form} is not text; give a file with -o.")
    options = Options.of(
        None, (), task or (), model or (), skip_bad=skip_bad, scales=scales_of(lower_is_better)
    )
    with opened_trials(run, options) as trials:
        runs = trials.chosen_runs(task or (), model or ())
        print_notes(text for each in runs for text, matters in each.imported.remarks if matters)
        write = _write_calls if calls else write_trials
        if in_parts and target is not None:
            if calls:
                raise InvalidInput("--calls writes one file; give its name with -o.")
            count = export_parts(
                trials, runs, target, rows_per_file=rows_per_file or ROWS_PER_FILE,
                timing=timing, further=further,
            )  # fmt: skip
            losses = [f"{target}: {count} file{'s' * (count != 1)}"]
        elif target is None and sys.stdout.isatty():
            shown = io.BytesIO()
            losses = write(trials, runs, form, shown, timing=timing, further=further)
            for line in shown.getvalue().decode("utf-8", "replace").splitlines():
                typer.echo(printable(line))  # a model may have written control characters
        else:
            to = target or typer.get_binary_stream("stdout")
            losses = write(trials, runs, form, to, timing=timing, further=further)
        print_notes(losses)
        if calls:
            return
        print_notes(filter(None, (_incomplete(each, trials.beyond_rounds(each)) for each in runs)))


def _is_folder(output: str) -> bool:
    """Return whether a name is that of a folder that exists, or ends like one."""
    return output.endswith("/") or Path(output).is_dir()


def _write_calls(
    trials: Trials,
    runs: Sequence[RunRecord],
    form: str,
    to: Path | IO[bytes],
    *,
    timing: bool = False,
    further: Sequence[str] = (),
) -> list[str]:
    from passband.errors import InvalidInput
    from passband.trials import export_calls

    if further:
        raise InvalidInput("--with adds columns to trials; --calls has its own columns.")
    export_calls(trials, runs, form, to, timing=timing)
    return []


def _incomplete(run: RunRecord, trials: int) -> str:
    """Say that the file has trials which the statistics of the run leave out."""
    if not trials:
        return ""
    return (
        f"{run.task}: {trials} of the trials written are of incomplete rounds; `passband stats` "
        f"leaves them out of the run's numbers, but not of the file's"
    )

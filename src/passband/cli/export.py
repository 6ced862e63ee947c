"""`passband export`: write the trials of a run to a file."""

from __future__ import annotations

import enum
import io
import sys
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["export"]


_ENDINGS = {
    "": "jsonl",
    ".csv": "csv",
    ".json": "jsonl",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}


class Form(str, enum.Enum):
    """Kinds of files to export to."""

    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"


def export(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    format: Annotated[
        Form | None, typer.Option(help="Kind of file. Default: by the name of the file.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write. Default: standard output.")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task (repeatable).")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model (repeatable).")] = None,
    timing: Annotated[
        bool, typer.Option("--timing", help="Include latency, attempts and request numbers.")
    ] = False,
) -> None:
    """Write the trials of a run, one row per trial. The same trials give the same bytes."""
    from passband.errors import InvalidInput
    from passband.report.render import printable
    from passband.trials.export import EXPORTS, export
    from passband.trials.reader import Trials

    output = None if output == Path("-") else output
    form = format.value if format else _ENDINGS.get(output.suffix.lower() if output else "")
    if form is None:
        raise InvalidInput(
            f"{output}: cannot tell the format from this name; pass --format {', '.join(EXPORTS)}."
        )
    if output is None and form == "parquet":
        raise InvalidInput("Parquet is not text; give a file with -o.")
    with Trials(run) as trials:
        runs = trials.chosen_runs(task or (), model or ())
        if output is None and sys.stdout.isatty():
            shown = io.BytesIO()
            export(trials, runs, form, shown, timing=timing)
            for line in shown.getvalue().decode("utf-8", "replace").splitlines():
                typer.echo(printable(line))  # a model may have written control characters
        else:
            to = output or typer.get_binary_stream("stdout")
            export(trials, runs, form, to, timing=timing)

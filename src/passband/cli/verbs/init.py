"""`passband init`: write the task file of a data file."""

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import DataFileOptions, Quiet, SystemPrompt


def init(
    data: Annotated[Path, typer.Argument(help="Data file: .jsonl, .json, .csv, .tsv, .parquet.")],
    options: DataFileOptions,
    system: SystemPrompt = None,
    out: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write. Default: beside the data, .yaml."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write the task file that `passband run DATA` would use, with comments, for you to change."""
    from passband.cli.output import print_notes
    from passband.errors import InvalidInput
    from passband.tasks import draft_task, is_data_file, write_task_file

    if not is_data_file(data):
        raise InvalidInput(f"{data}: a task is made of a data file: .jsonl, .json, .csv, ...")
    draft = draft_task(data, options.data_options(system))
    path = write_task_file(draft, out, force=force)
    if not quiet:
        print_notes([*draft.notes[:-1], *(f"warning: {text}" for text in draft.warnings)])
    typer.echo(str(path))

"""`passband calibrate`: make an item bank from the results of several models."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import JsonOption, Quiet


class ItemModel(str, enum.Enum):
    """Models of items."""

    one = "1pl"
    two = "2pl"
    three = "3pl"
    graded = "graded"
    continuous = "continuous"


def calibrate(
    sources: Annotated[list[Path], typer.Argument(help="Run directories, logs, files of trials.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Bank to write: NAME.jsonl or NAME.parquet.")
    ],
    model: Annotated[ItemModel, typer.Option(help="Model of the items.")] = ItemModel.two,
    anchor: Annotated[
        str | None, typer.Option(help="Bank whose scale to keep, by name or path.")
    ] = None,
    split_by: Annotated[
        str | None, typer.Option(help="Column that holds the split, or shares: train=2,test=1.")
    ] = None,
    content: Annotated[str | None, typer.Option(help="Column that holds the content area.")] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task (repeatable).")] = None,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Make an item bank for adaptive tests from the results of several models."""
    from json import dumps

    from passband.adaptive import calibrate_bank, read_respondents, required_bank, write_bank
    from passband.cli.output import print_notes, print_rows
    from passband.report import calibration_json, calibration_notes, calibration_rows

    made = calibrate_bank(
        read_respondents(sources, tasks=task or ()),
        output.stem,
        model=model.value,
        anchor=None if anchor is None else required_bank(anchor),
        split_by=split_by,
        content=content,
    )
    write_bank(made.bank, output)
    if json:
        typer.echo(dumps(calibration_json(made, str(output)), indent=2))
        return
    print_rows(calibration_rows(made))
    print_notes([] if quiet else calibration_notes(made, str(output)))

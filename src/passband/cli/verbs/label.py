"""`passband label`: draw the trials to label, and enter the labels."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from passband.cli.options import JsonOption, Quiet

if TYPE_CHECKING:
    from passband.run import DrawnSheet, EnteredLabels
    from passband.stats.judged import Design


class Designs(str, enum.Enum):
    """Ways to draw the trials to label."""

    spread = "spread"
    trial = "trial"
    problem = "problem"
    verdict = "verdict"


def label(
    run: Annotated[
        list[Path],
        typer.Argument(help="Run directories; with several, models are mixed and not named."),
    ],
    count: Annotated[
        int,
        typer.Option("-m", "--count", help="Trials to label in each run, labelled ones included."),
    ] = 100,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for the labeller, .csv or .jsonl."),
    ] = None,
    read: Annotated[
        Path | None,
        typer.Option("--read", metavar="FILE", help="Enter the labels of this file into the run."),
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task (repeatable).")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model (repeatable).")] = None,
    scorer: Annotated[
        str | None,
        typer.Option(help="Scorer to correct by labels. Default: the judge, or the main one."),
    ] = None,
    design: Annotated[
        Designs | None,
        typer.Option(
            help="How to draw: problems in random order, one trial of each, then a second "
            "(spread, the default); single trials; whole problems; half by each verdict."
        ),
    ] = None,
    each: Annotated[
        int | None,
        typer.Option(help="With --design problem: labels in each problem. Default: all.", min=1),
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Seed of the draw. Default: from the name of the task.")
    ] = None,
    labeller: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who labels, where several do.")
    ] = None,
    column: Annotated[str, typer.Option(help="With --read: column with the labels.")] = "label",
    scale: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="With --read: labels are numbers of this scale."),
    ] = None,
    chosen_by_hand: Annotated[
        bool,
        typer.Option(
            "--chosen-by-hand",
            help="With --read: a person chose the trials; labels are shown, and correct nothing.",
        ),
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="With --read: labels may differ from earlier ones.")
    ] = False,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Draw trials for people to label, and enter their labels."""
    from passband.run import DrawRequest, LabelRequest, draw_sheet, enter_labels

    only = tuple(task or ()), tuple(model or ())
    if read is None:
        _refuse_without_read(column, scale, chosen_by_hand, replace)
        name: Design | None = None if design is None else design.value
        request = DrawRequest(
            count, name, int(seed) if seed and seed.isdecimal() else seed, each, scorer, labeller,
            *only,
        )  # fmt: skip
        drawn = draw_sheet(run, output or Path("labels.csv"), request)
        _print_drawn(drawn, run, labeller, json=json, quiet=quiet)
    else:
        entered = enter_labels(
            run, read, LabelRequest(labeller, column, scale, chosen_by_hand, replace, *only)
        )
        _print_entered(entered, run, json=json, quiet=quiet)


def _refuse_without_read(
    column: str, scale: tuple[float, float] | None, chosen_by_hand: bool, replace: bool
) -> None:
    from passband.errors import InvalidInput

    given = {
        "--column": column != "label",
        "--scale": scale is not None,
        "--chosen-by-hand": chosen_by_hand,
        "--replace": replace,
    }
    for option, is_given in given.items():
        if is_given:
            raise InvalidInput(f"{option} says how labels are read; name their file with --read.")


def _print_drawn(
    drawn: DrawnSheet, runs: list[Path], labeller: str | None, *, json: bool, quiet: bool
) -> None:
    from json import dumps

    from passband.cli.output import print_notes
    from passband.report import counted

    if json:
        values = vars(drawn) | {"path": str(drawn.path)}
        typer.echo(dumps(values, indent=2))
        return
    typer.echo(
        f"{drawn.path}: {counted(drawn.rows, 'trial')} of {drawn.trials:,} drawn "
        f"({drawn.design}, seed {drawn.seed}), {drawn.labelled:,} labelled"
    )
    if not quiet:
        who = "" if labeller is None else f" --labeller {labeller}"
        names = " ".join(map(str, runs))
        print_notes(
            [
                "Write pass or fail into the column label, from the top; leave it empty where you "
                "cannot tell. Then:",
                f"  passband label {names} --read {drawn.path}{who}",
            ]
        )


def _print_entered(entered: EnteredLabels, runs: list[Path], *, json: bool, quiet: bool) -> None:
    from json import dumps

    from passband.cli.output import print_notes
    from passband.report import counted

    if json:
        typer.echo(dumps(vars(entered), indent=2))
        return
    changed = f", {entered.changed:,} changed" if entered.changed else ""
    typer.echo(
        f"{entered.scorer}: {counted(entered.labels, 'label')} read, {entered.new:,} new{changed}; "
        f"{counted(entered.empty, 'row')} without a label"
    )
    if not quiet:
        print_notes([f"passband stats {runs[0]} shows the estimate that they correct"])

"""`passband label`: draw the trials to label, and enter the labels."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from passband.cli.options import JsonOptions, OptionGroup, QuietOptions, TaskFilterOptions, seed_of

if TYPE_CHECKING:
    from passband.run import DrawnSheet, EnteredLabels


Option = typer.Option


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EntryOptions(OptionGroup):
    """How labels are read."""

    GROUP = "Reading labels"
    read: Annotated[
        Path | None, Option(metavar="FILE", help="Enter the labels of this file into the run.")
    ] = None
    column: Annotated[str, Option(help="With --read: column with the labels.")] = "label"
    scale: Annotated[
        tuple[float, float] | None,
        Option(metavar="LOW HIGH", help="With --read: labels are numbers of this scale."),
    ] = None
    chosen_by_hand: Annotated[
        bool,
        Option(
            "--chosen-by-hand",
            help="With --read: a person chose the trials; their labels are shown, but correct "
            "nothing.",
        ),
    ] = False
    replace: Annotated[
        bool, Option("--replace", help="With --read: labels may differ from earlier ones.")
    ] = False

    def check_unread(self) -> None:
        """Refuse options for reading labels where no file is read."""
        from passband.errors import InvalidInput

        given = {
            "--column": self.column != "label",
            "--scale": self.scale is not None,
            "--chosen-by-hand": self.chosen_by_hand,
            "--replace": self.replace,
        }
        for option, is_given in given.items():
            if is_given:
                raise InvalidInput(
                    f"{option} says how labels are read; name their file with --read."
                )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelOptions(EntryOptions, TaskFilterOptions, JsonOptions, QuietOptions):
    """The options of `passband label`."""

    GROUP = "Drawing"
    COMMON = ("count", "output", "read", "design", "seed", "labeller", "scorer", "json", "quiet")
    run: Annotated[
        tuple[Path, ...],
        typer.Argument(help="Run directories; with several, models are mixed and not named."),
    ]
    count: Annotated[
        int, Option("-m", "--count", help="Trials to label in each run, including labelled ones.")
    ] = 100
    output: Annotated[
        Path | None, Option("--output", "-o", help="File for the labeller, .csv or .jsonl.")
    ] = None
    scorer: Annotated[
        str | None,
        Option(help="Scorer to correct by labels. Default: the judge, or the main one."),
    ] = None
    design: Annotated[
        Literal["spread", "trial", "problem", "verdict"] | None,
        Option(
            help="How to draw: problems in random order, one trial of each, then a second "
            "(spread, the default); single trials; whole problems; half by each verdict."
        ),
    ] = None
    each: Annotated[
        int | None,
        Option(help="With --design problem: labels in each problem. Default: all.", min=1),
    ] = None
    seed: Annotated[
        str | None, Option(help="Seed of the draw. Default: from the name of the task.")
    ] = None
    labeller: Annotated[
        str | None, Option(metavar="NAME", help="Who labels, if there are several labellers.")
    ] = None


def label(options: LabelOptions) -> None:
    """Draw trials for people to label, and enter their labels."""
    from passband.run import DrawRequest, LabelRequest, draw_sheet, enter_labels

    runs, json, quiet = list(options.run), options.json, options.quiet
    only, labeller = (options.task, options.model), options.labeller
    if options.read is None:
        options.check_unread()
        request = DrawRequest(
            options.count, options.design, seed_of(options.seed), options.each, options.scorer,
            labeller, *only,
        )  # fmt: skip
        drawn = draw_sheet(runs, options.output or Path("labels.csv"), request)
        _print_drawn(drawn, runs, labeller, json=json, quiet=quiet)
    else:
        reading = LabelRequest(
            labeller, options.column, options.scale, options.chosen_by_hand, options.replace, *only
        )
        entered = enter_labels(runs, options.read, reading)
        _print_entered(entered, runs, json=json, quiet=quiet)


def _print_drawn(
    drawn: "DrawnSheet", runs: list[Path], labeller: str | None, *, json: bool, quiet: bool
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


def _print_entered(entered: "EnteredLabels", runs: list[Path], *, json: bool, quiet: bool) -> None:
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

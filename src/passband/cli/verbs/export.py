"""`passband export`: write the trials of a run, or of a log, to a file."""

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Literal

import typer

from passband.cli.options import QuietOptions, RecordOptions, TaskFilterOptions

if TYPE_CHECKING:
    from passband.trials import RunRecord, Trials


Option = typer.Option


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExportOptions(QuietOptions, RecordOptions, TaskFilterOptions):
    """The options of `passband export`."""

    GROUP = "File"
    run: Annotated[Path, typer.Argument(help="Run directory, or the log of another tool.")]
    format: Annotated[
        Literal[
            "jsonl", "csv", "parquet", "eval", "inspect-json", "lm-eval", "human-eval"
        ] | None,
        Option(help="Kind of file. Default: by the name of the file."),
    ] = None  # fmt: skip
    output: Annotated[
        str | None,
        Option(
            "--output",
            "-o",
            help="File, or folder, to write. Parquet into an empty folder, or a name that ends "
            "with /, is a data set of several files. Default: standard output.",
        ),
    ] = None
    rows_per_file: Annotated[
        int | None,
        Option(help="Rows of each file of a data set. Default: 1,000,000.", min=100_000),
    ] = None
    timing: Annotated[
        bool, Option("--timing", help="Include latency, attempts and request numbers.")
    ] = False
    with_: Annotated[
        tuple[str, ...],
        Option("--with", help="Further columns: prompt, target, detail (of the scorer)."),
    ] = ()
    calls: Annotated[
        bool, Option("--calls", help="Write the calls to judges instead of the trials.")
    ] = False

    @property
    def target(self) -> Path | None:
        """The file or folder to write; None for standard output."""
        return None if self.output in (None, "-") else Path(str(self.output))

    @property
    def form(self) -> str:
        """The kind of file, by --format or by its name."""
        from passband.errors import InvalidInput
        from passband.writers import form_of_name, writers

        target = self.target
        form = self.format or ("jsonl" if target is None else form_of_name(target))
        if target is None and not writers[form].is_text:
            raise InvalidInput(f"{form} is not text; give a file with -o.")
        return form

    @property
    def in_parts(self) -> bool:
        """Whether to write a data set of several files."""
        from passband.errors import InvalidInput

        in_parts = self.form == "parquet" and _is_folder(str(self.output))
        if self.rows_per_file is not None and not in_parts:
            raise InvalidInput(
                "--rows-per-file is for a data set: --format parquet -o and a folder, such as out/."
            )
        if in_parts and self.calls:
            raise InvalidInput("--calls writes one file; give its name with -o.")
        return in_parts


def export(options: ExportOptions) -> None:
    """Write the trials of a run or a log. The same trials give the same bytes."""
    from passband.cli.output import print_notes
    from passband.readers import Options, opened_trials
    from passband.trials import check_further_columns

    tasks, models, further = options.task, options.model, check_further_columns(options.with_)
    in_parts = options.in_parts
    reading = Options.of(None, (), tasks, models, skip_bad=options.skip_bad, scales=options.scales)
    with opened_trials(options.run, reading) as trials:
        runs = trials.chosen_runs(tasks, models)
        if not options.quiet:
            print_notes(text for each in runs for text, matters in each.imported.remarks if matters)
        losses = (_write_parts if in_parts else _write_file)(trials, runs, options, further)
        print_notes(losses)
        if not options.calls:
            print_notes(
                filter(None, (_incomplete(each, trials.beyond_rounds(each)) for each in runs))
            )


def _write_parts(
    trials: "Trials", runs: Sequence["RunRecord"], options: ExportOptions, further: Sequence[str]
) -> list[str]:
    """Write a data set of several files; return how many there are."""
    from passband.trials import ROWS_PER_FILE, export_parts

    target = Path(str(options.output))
    count = export_parts(
        trials, runs, target, rows_per_file=options.rows_per_file or ROWS_PER_FILE,
        timing=options.timing, further=further,
    )  # fmt: skip
    return [f"{target}: {count} file{'s' * (count != 1)}"]


def _write_file(
    trials: "Trials", runs: Sequence["RunRecord"], options: ExportOptions, further: Sequence[str]
) -> list[str]:
    """Write one file, or standard output; return what the format cannot hold."""
    from passband.report import printable
    from passband.writers import write as write_trials

    write, target, form = (
        _write_calls if options.calls else write_trials,
        options.target,
        options.form,
    )
    if target is None and sys.stdout.isatty():
        shown = io.BytesIO()
        losses = write(trials, runs, form, shown, timing=options.timing, further=further)
        for line in shown.getvalue().decode("utf-8", "replace").splitlines():
            typer.echo(printable(line))  # a model may have written control characters
        return losses
    to = target or typer.get_binary_stream("stdout")
    return write(trials, runs, form, to, timing=options.timing, further=further)


def _is_folder(output: str) -> bool:
    """Return whether a name is an existing folder or ends with a slash."""
    return output.endswith("/") or Path(output).is_dir()


def _write_calls(
    trials: "Trials",
    runs: Sequence["RunRecord"],
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


def _incomplete(run: "RunRecord", trials: int) -> str:
    """Say that the file has trials which the statistics of the run leave out."""
    if not trials:
        return ""
    return (
        f"{run.task}: {trials} of the trials written are of incomplete rounds; `passband stats` "
        f"leaves them out of the run's numbers, but not of the file's"
    )

"""The `passband` command: its verbs, and how an error or a warning reaches the user."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from passband import plugins
from passband.cli.command import Command, Group
from passband.cli.help import EXIT_CODES, epilog_of
from passband.cli.options import ImportOption, Verbose, open_logs, with_shared_options
from passband.cli.verbs.backup import backup
from passband.cli.verbs.calibrate import calibrate
from passband.cli.verbs.check import check
from passband.cli.verbs.compare import compare
from passband.cli.verbs.doctor import doctor
from passband.cli.verbs.export import export
from passband.cli.verbs.gate import gate
from passband.cli.verbs.import_logs import import_
from passband.cli.verbs.init import init
from passband.cli.verbs.label import label
from passband.cli.verbs.ls import ls
from passband.cli.verbs.merge import merge
from passband.cli.verbs.metrics import metrics
from passband.cli.verbs.plan import plan
from passband.cli.verbs.report import report
from passband.cli.verbs.run import run
from passband.cli.verbs.salvage import salvage
from passband.cli.verbs.score import score
from passband.cli.verbs.serve import serve
from passband.cli.verbs.show import show
from passband.cli.verbs.stats import stats
from passband.cli.verbs.summarize import summarize
from passband.cli.verbs.validate import validate
from passband.cli.verbs.view import view
from passband.errors import PassbandError, PassbandWarning
from passband.report import printable
from passband.version import __version__

app = typer.Typer(
    name="passband",
    cls=Group,
    help="Evaluate stochastic models by asking every problem many times.",
    epilog=f"\b\n{EXIT_CODES}\nEvery verb has its own --help, with examples.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for verb in (
    run, init, show, view, score, label, stats, report, summarize, compare, gate, plan, calibrate,
    serve, import_, export, merge, check, backup, salvage, ls, validate, metrics, doctor,
):  # fmt: skip
    word = verb.__name__.rstrip("_")
    app.command(word, cls=Command, epilog=epilog_of(word))(with_shared_options(verb))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"passband {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    verbose: Verbose = 0,
    imports: ImportOption = None,
) -> None:
    """Evaluate stochastic models by asking every problem many times."""
    context.call_on_close(_close_log)
    open_logs(verbose, os.environ.get("PASSBAND_LOG"))
    plugins.import_modules(imports)


def _close_log() -> None:
    if (log := sys.modules.get("passband.log")) is not None:
        log.close_log()


def main() -> None:
    """Run the command; exit with 0, or with the exit code of the error (docs/commands.md)."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Never crash on a character that the terminal cannot encode.
        sys.stdout.reconfigure(errors="backslashreplace")
    with reported_errors():
        app()


@contextmanager
def reported_errors() -> Iterator[None]:
    """Print errors and warnings of passband as the command does, and exit with the error's code."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        with _exit_codes():
            yield


@contextmanager
def _exit_codes() -> Iterator[None]:
    try:
        yield
    except PassbandError as error:
        typer.echo("passband: " + "\n".join(map(printable, error.lines())), err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of the output, such as head, closed the pipe
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that may not be written
        where = f"{error.filename}: " if error.filename else ""
        typer.echo(f"passband: {printable(where + str(error.strerror or error))}", err=True)
        sys.exit(1)


_show = warnings.showwarning


def _show_warning(
    message: Warning | str, category: type[Warning], *place: Any, **options: Any
) -> None:
    """Print passband's own warnings as one line; others as Python does."""
    if issubclass(category, PassbandWarning):
        typer.echo(f"warning: {printable(str(message))}", err=True)
    else:
        _show(printable(str(message)), category, *place, **options)

"""The `passband` command: its verbs, and how an error reaches the user."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from passband.cli.compare import compare
from passband.cli.export import export
from passband.cli.ls import ls
from passband.cli.merge import merge
from passband.cli.metrics import metrics
from passband.cli.plan import plan
from passband.cli.run import run
from passband.cli.salvage import salvage
from passband.cli.score import score
from passband.cli.stats import stats
from passband.cli.validate import validate
from passband.errors import PassbandError
from passband.report.render import printable
from passband.version import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    name="passband",
    help="Evaluate stochastic models by asking every problem many times.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for verb in (run, score, stats, compare, plan, export, merge, salvage, ls, validate, metrics):
    app.command()(verb)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"passband {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Evaluate stochastic models by asking every problem many times."""


def main() -> None:
    """Run the command: exit 0 if all is well, or with the code of the error (docs/run.md)."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name must not fail for want of a letter
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except PassbandError as error:
        typer.echo("passband: " + "\n".join(map(printable, error.lines())), err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read the output has had enough
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that may not be written
        where = f"{error.filename}: " if error.filename else ""
        typer.echo(f"passband: {printable(where + str(error.strerror or error))}", err=True)
        sys.exit(1)

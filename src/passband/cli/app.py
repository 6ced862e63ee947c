"""The `passband` command: its verbs, and how an error or a warning reaches the user.

The classes of the command and of its verbs: how arguments are parsed.
"""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from passband import plugins
from passband.cli.help import EXIT_CODES, epilog_of, first_sentence
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
from passband.errors import InvalidInput, PassbandError, PassbandWarning
from passband.report import printable
from passband.version import __version__


class Group(TyperGroup):
    """The command itself, before its verb."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what comes before the verb; without anything, show the help."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit()
        with _printable_errors():
            return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs, each with the whole first sentence of its help."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, first_sentence(command.help)) for name, command in commands if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Command(TyperCommand):
    """A command that refuses an option given twice, where the last one would win silently."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments of a verb."""
        if not ctx.resilient_parsing:
            with _printable_errors():
                _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            for parameter in order:
                if _takes_one_value(parameter) and order.count(parameter) > 1:
                    option = max(parameter.opts, key=len)
                    what = option.lstrip("-").replace("-", " ")
                    raise InvalidInput(f"{option} was given twice; one {what} per command.")
        with _printable_errors():
            return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage, arguments as TASK..., not {TASK}...."""
        return [re.sub(r"[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options; arguments without the Python type of their values."""
        records = [(each, each.get_help_record(ctx)) for each in self.get_params(ctx)]
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            rows = [
                (re.sub(r"\s+<.*>$", "", record[0]) if kind == "argument" else record[0], record[1])
                for each, record in records
                if record is not None and each.param_type_name == kind
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


@contextmanager
def _printable_errors() -> Iterator[None]:
    """Escape what a terminal would obey in an argument that is quoted in an error.

    An argument may be the name of a file that the shell has put in place of a pattern.
    """
    try:
        yield
    except Exception as error:
        message = getattr(error, "message", None)  # a usage error, of typer or of click
        if isinstance(message, str):
            error.message = printable(message)  # type: ignore[attr-defined]
        raise


def _takes_one_value(parameter: object) -> bool:
    return isinstance(parameter, TyperOption) and not (
        parameter.multiple or parameter.is_flag or parameter.count
    )


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

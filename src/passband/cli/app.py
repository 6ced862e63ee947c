"""The `passband` command: its verbs, and how an error or a warning reaches the user."""

from __future__ import annotations

import importlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from passband import plugins
from passband.cli.command import (
    Command,
    ImportOption,
    Verbose,
    command_of,
    open_logs,
    printable_errors,
)
from passband.cli.help import EXIT_CODES, epilog_of, first_sentence
from passband.errors import PassbandError, PassbandWarning
from passband.report import printable
from passband.version import __version__

VERBS = (
    "run", "init", "show", "view", "score", "label", "stats", "report", "summarize", "compare",
    "gate", "plan", "calibrate", "serve", "import", "export", "merge", "check", "backup", "salvage",
    "ls", "validate", "metrics", "doctor",
)  # fmt: skip


class Verbs(MutableMapping[str, TyperCommand]):
    """The commands by their verbs; each is imported when it is first used."""

    def __init__(self) -> None:
        self._made: dict[str, TyperCommand] = {}

    def __getitem__(self, verb: str) -> TyperCommand:
        if verb not in VERBS:
            raise KeyError(verb)
        if verb not in self._made:
            info = CommandInfo(verb, cls=Command, callback=command_of(_function(verb)))
            info.epilog = epilog_of(verb)
            command = get_command_from_info(
                info, pretty_exceptions_short=True, rich_markup_mode=None
            )
            assert isinstance(command, Command)
            self._made[verb] = command
        return self._made[verb]

    def __setitem__(self, verb: str, command: TyperCommand) -> None:
        self._made[verb] = command

    def __delitem__(self, verb: str) -> None:
        del self._made[verb]

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


def _function(verb: str) -> Callable[..., None]:
    file, name = ("import_logs", "import_") if verb == "import" else (verb, verb)
    function: Callable[..., None]
    function = getattr(importlib.import_module(f"passband.cli.verbs.{file}"), name)
    return function


class CommandGroup(TyperGroup):
    """The command itself, before its verb."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = Verbs()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs; none is imported for it."""
        return list(VERBS)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what comes before the verb; without anything, show the help."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit()
        with printable_errors():
            return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs, each with the whole first sentence of its help."""
        rows = [(verb, first_sentence(_function(verb).__doc__)) for verb in VERBS]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


app = typer.Typer(
    name="passband",
    cls=CommandGroup,
    help="Evaluate stochastic models by asking every problem many times.",
    epilog=f"\b\n{EXIT_CODES}\nEvery verb has its own --help, with examples.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


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
        app(prog_name="passband")  # also for python -m passband, and for shell completion


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

"""The classes of the command and of its verbs: how arguments are parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from passband.cli.help import first_sentence
from passband.errors import InvalidInput
from passband.report import printable


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

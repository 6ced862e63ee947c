"""Commands made of verbs: options from the fields of a class, checks of arguments, and help.

A verb with many options takes one object: a frozen dataclass whose fields carry their options.
`command_of` makes the function that Typer wants from it; nothing is spelled a second time.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperOption

from passband import plugins
from passband.cli.help import name_value
from passband.cli.options import OptionGroup
from passband.errors import InvalidInput
from passband.report import printable

_MOST = 15  # options that --help prints in full
_WIDEST = 26  # of an option with its value, beside which there is room for a sentence
_ALL = "passband.help-all"


class Command(TyperCommand):
    """A command that refuses an option given twice, where the last one would win silently."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments of a verb."""
        if not ctx.resilient_parsing:
            with printable_errors():
                _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            for parameter in order:
                if _takes_one_value(parameter) and order.count(parameter) > 1:
                    option = max(parameter.opts, key=len)
                    what = option.lstrip("-").replace("-", " ")
                    raise InvalidInput(f"{option} was given twice; one {what} per command.")
        with printable_errors():
            return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage, arguments as TASK..., not {TASK}...."""
        return [re.sub(r"[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def groups(self, ctx: Any) -> dict[str, list[tuple[Any, tuple[str, str]]]]:
        """Return parameters and their help by heading, the headings of common ones first."""
        headings: dict[str, str] = getattr(self.callback, "headings", {})
        common = getattr(self.callback, "common", ())
        first = ["Arguments", *(headings[name] for name in common)]
        groups: dict[str, list[tuple[Any, tuple[str, str]]]] = {name: [] for name in first}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is None:
                continue
            names, text = record
            heading = headings.get(each.name, "Options")
            if each.param_type_name == "argument":  # without the Python type of its values
                heading, names = "Arguments", re.sub(r"\s+<.*>$", "", names)
            groups.setdefault(heading, []).append((each, (names, text)))
        groups["Options"] = groups.pop("Options")  # of every verb, and so the last
        return {heading: rows for heading, rows in groups.items() if rows}

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options; of many options, the common ones unless all are wanted."""
        groups = self.groups(ctx)
        common = getattr(self.callback, "common", ())
        if not common or ctx.meta.get(_ALL):
            for heading, rows in groups.items():
                with formatter.section(heading):
                    formatter.write_dl([record for _, record in rows])
            return
        shown = {
            heading: [
                (names if len(names) <= _WIDEST else names.partition(" <")[0], text)
                for each, (names, text) in rows
                if each.name in common or each.param_type_name == "argument"
            ]
            for heading, rows in groups.items()
        }
        width = max(len(names) for rows in shown.values() for names, _ in rows)
        room = formatter.width - width - 4  # of the indentation and between the columns
        formatter.write("\n")
        for heading, records in shown.items():
            if records:
                formatter.write(f"{heading}:\n")
                with formatter.indentation():
                    formatter.write_dl([(n.ljust(width), brief(text, room)) for n, text in records])
        hidden = sum(map(len, groups.values())) - sum(map(len, shown.values()))
        formatter.write(f"more: --help-all ({hidden} further options)\n")


def brief(text: str, width: int) -> str:
    """Return a help text, or as many of its clauses as fit the width.

    >>> brief("Trials, by name; or all. Default: 1.  [n>=1]", 40), brief("Metrics (repeatable).", 9)
    ('Trials, by name; or all. Default: 1.', 'Metrics.')
    """
    text = text.partition("  [")[0]
    for end in ("; ", r" \(", r"\. (?=[A-Z])", ": ", ", "):
        if len(text) > width:
            text = re.split(end, text)[0].rstrip(".") + "."
    return text


@contextmanager
def printable_errors() -> Iterator[None]:
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


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        context.meta[_ALL] = True
        typer.echo(context.get_help())
        raise typer.Exit


Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        show_default=False,
        help="Log progress to stderr; -vv: every request and write. See PASSBAND_LOG.",
    ),
]
ImportOption = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="MODULE",
        help="Python module to import first, e.g. one that registers a metric (repeatable).",
    ),
]
_HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all",
        is_eager=True,
        expose_value=False,
        callback=_show_all,
        show_default=False,
        help="Show every option and exit.",
    ),
]


def open_logs(verbose: int, variable: str | None = None) -> None:
    """Open the logs that -v and the variable PASSBAND_LOG ask for."""
    wanted = [to for to in (variable, ("", "info", "debug")[min(verbose, 2)]) if to]
    if wanted:
        from passband.generate import redacted
        from passband.log import open_log

        for to in wanted:
            open_log(to, redacted)


def command_of(verb: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a verb for Typer: a parameter for each option.

    It also takes --verbose and --import, which come into effect before the verb.
    """
    word = verb.__name__.rstrip("_")
    hints = get_type_hints(verb, include_extras=True)
    kinds = {
        name: kind
        for name, kind in hints.items()
        if isinstance(kind, type) and issubclass(kind, OptionGroup)
    }
    parameters = list(inspect.signature(verb).parameters.values())
    plain = [
        each.replace(annotation=hints[each.name]) for each in parameters if each.name not in kinds
    ]
    headings: dict[str, str] = {}
    options = [each for kind in kinds.values() for each in _parameters(kind, headings)]

    @functools.wraps(verb)
    def command(*, imports: list[str] | None = None, verbose: int = 0, **values: Any) -> None:
        open_logs(verbose)
        plugins.import_modules(imports)
        made = {name: _made(kind, values) for name, kind in kinds.items()}
        with _logged(word):
            verb(**{each.name: values[each.name] for each in plain}, **made)

    common = [name for kind in kinds.values() if len(options) > _MOST for name in kind.COMMON]
    shared = [("verbose", 0, Verbose), ("imports", None, ImportOption)]
    if common:
        shared.append(("help_all", False, _HelpAll))
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [each.replace(kind=keyword) for each in plain] + options
    parameters += [inspect.Parameter(n, keyword, default=d, annotation=a) for n, d, a in shared]
    for each in parameters:
        name_value(each)
    # typer reads both: the signature for the order, the annotations for the types.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(command).update(common=common, headings=headings if len(options) > _MOST else {})
    return command


def _parameters(kind: type[OptionGroup], headings: dict[str, str]) -> Iterator[inspect.Parameter]:
    """Yield a parameter for each field, first those of the class itself, and note its heading."""
    hints = get_type_hints(kind, include_extras=True)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for owner in (each for each in kind.__mro__ if issubclass(each, OptionGroup)):
        for name in inspect.get_annotations(owner):
            field = fields.pop(name, None)
            if field is None:
                continue
            of, *infos = get_args(hints[name])
            default: Any = field.default
            if get_origin(of) is tuple and get_args(of)[-1] is Ellipsis:  # a list, to Typer
                of = list[get_args(of)[0]]  # type: ignore[misc]
                if default == ():
                    of, default = of | None, None
            heading = next(filter(None, (info.rich_help_panel for info in infos)), owner.GROUP)
            headings[name] = kind.MOVED.get(heading, heading)
            if default is dataclasses.MISSING:
                default = inspect.Parameter.empty
            yield inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=Annotated[(of, *infos)],
            )


def _made(kind: type[OptionGroup], values: dict[str, Any]) -> OptionGroup:
    """Return the options of a command; lists are tuples, and none at all is an empty one."""
    own = {field.name: values[field.name] for field in dataclasses.fields(kind)}
    for field in dataclasses.fields(kind):
        if isinstance(own[field.name], list):
            own[field.name] = tuple(own[field.name])
        elif own[field.name] is None and field.default == ():
            own[field.name] = ()
    return kind(**own)


def _logged(verb: str) -> AbstractContextManager[None]:
    """Log how long a verb takes, if there is a log: the module is not imported for nothing."""
    log = sys.modules.get("passband.log")
    return nullcontext() if log is None else log.phase("command", verb=verb)

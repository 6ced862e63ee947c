"""Make docs/commands.md from the help texts of the command."""

import html
import re
from typing import Any

import typer

from passband.cli.app import app
from passband.cli.help import EXIT_CODES, first_sentence

__all__ = ["page"]

MADE = "<!-- Made from help texts by tools/write_pages.py: change those, then run make pages. -->"
ABOUT = """\
What `passband VERB --help` prints, for every verb. `--verbose`, `--import MODULE` and
`--help` are options of all of them, and are left out below. Where there are many options, `--help`
shows the common ones and `--help-all` shows all."""
EVERYWHERE = {"imports", "verbose", "help", "help_all"}


def page() -> str:
    """Return the text of the page."""
    group = typer.main.get_command(app)
    context = typer.Context(group, info_name="passband")
    verbs = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    rows = [f"| [`{name}`](#{name}) | {_cell(first_sentence(verb.help))} |" for name, verb in verbs]
    parts = ["# Commands", MADE, ABOUT, "| verb | what it does |\n|:--|:--|\n" + "\n".join(rows)]
    for name, verb in verbs:
        parts += _verb(name, verb, typer.Context(verb, info_name=f"passband {name}"))
    codes = EXIT_CODES.partition("\n")[2].rstrip("\n")
    return "\n\n".join([*parts, "## Exit codes", f"```text\n{codes}\n```"]) + "\n"


def _verb(name: str, verb: Any, context: typer.Context) -> list[str]:
    groups = {
        heading: [row for row in rows if row[0].name not in EVERYWHERE]
        for heading, rows in verb.groups(context).items()
    }
    usage = " ".join([f"passband {name}", *verb.collect_usage_pieces(context)])
    parts = [f"## {name}", " ".join((verb.help or "").split("\b")[0].split("\n")).strip()]
    parts += [f"```text\n{usage}\n```", _table(groups)]
    if verb.epilog:
        examples = verb.epilog.split("\b\n")[1].partition("\n")[2]
        parts.append("```sh\n" + re.sub(r"^  ", "", examples, flags=re.M).rstrip("\n") + "\n```")
    return [part for part in parts if part]


def _table(groups: dict[str, list[Any]]) -> str:
    """Return a table of the options; those of a verb that groups them, group by group."""
    rows, named = [], len([name for name, each in groups.items() if each]) > 2
    for heading, records in groups.items():
        rows += [f"| **{heading}** | |"] if named and records else []
        rows += [
            f"| {_code(names)} | {_cell(text).replace('<', '&lt;')} |"
            for _, (names, text) in records
        ]
    return "| option | meaning |\n|:--|:--|\n" + "\n".join(rows) if rows else ""


def _code(text: str) -> str:
    """Return a cell of code; GitHub and Python-Markdown disagree on a bar within backticks."""
    if "|" not in text:
        return f"`{text}`"
    return f"<code>{html.escape(text, quote=False).replace('|', '&#124;')}</code>"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")

"""`passband doctor`: try to break out of the sandboxes of this machine."""

from __future__ import annotations

import typer

from passband.cli.options import JsonOption

__all__ = ["doctor"]


def doctor(json: JsonOption = False) -> None:
    """Say which sandbox holds for programs that models write: probe it, a line each.

    Exits with 1 if none holds.
    """
    from dataclasses import asdict
    from json import dumps

    from passband.report.doctor import doctor_lines
    from passband.report.render import printable
    from passband.score.sandbox.doctor import examine

    diagnoses = examine()
    if json:
        shown = [asdict(each) | {"holds": each.holds} for each in diagnoses]
        typer.echo(dumps(shown, indent=2))
    else:
        for line in doctor_lines(diagnoses):
            typer.echo(printable(line))
    if not any(each.holds for each in diagnoses):
        raise typer.Exit(1)

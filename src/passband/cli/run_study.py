"""`passband run` with several models or a study file: how they are checked, asked and printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from passband.cli.table_options import TableOptions
    from passband.run.study import Study
    from passband.run.study_file import StudyFile

__all__ = ["find_study_file", "given_options", "make_study", "print_plans", "run_and_print_study"]


def given_options(context: typer.Context) -> frozenset[str]:
    """Return the names of the options that the command line has, as opposed to defaults."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(
        name for name, source in sources.items() if source and source.name == "COMMANDLINE"
    )


def find_study_file(tasks: Sequence[str], given: frozenset[str]) -> StudyFile | None:
    """Read the study file among the tasks, if one of them is one; it has to be alone."""
    from passband.errors import InvalidInput
    from passband.run.study_file import is_study_file, read_study

    studies = [name for name in tasks if is_study_file(name)]
    if not studies:
        return None
    if len(tasks) > 1:
        raise InvalidInput(f"{studies[0]} is a study file, which names its tasks; give it alone.")
    for name in ("name", "base_url"):
        if name in given:
            option = f"--{name.replace('_', '-')}"
            raise InvalidInput(f"{option}: {studies[0]} is a study file, where {name} is a key.")
    return read_study(Path(studies[0]))


def make_study(
    tasks: Sequence[str],
    models: Sequence[str],
    urls: Sequence[str],
    file: StudyFile | None,
    given: frozenset[str],
    out: Path | None,
    **options: Any,
) -> Study:
    """Return the runs of the command: of one model, of several, or of a study file."""
    from passband.errors import InvalidInput
    from passband.run.make_study import study_of_file, study_of_models
    from passband.run.request import make_request
    from passband.run.study import Study

    if file is not None:
        del options["name"]
        return study_of_file(file, models, given=given, out=out, **options)
    if not models:
        raise InvalidInput(
            "--model is missing: tiny, openai:NAME with --base-url URL, python:module:function; "
            "or run a study file, which names its models."
        )
    if len(models) > 1:
        return study_of_models(tasks, models, urls, out=out, **options)
    base_url = urls if len(urls) > 1 else next(iter(urls), None)
    return Study([make_request(tasks, models[0], out=out, base_url=base_url, **options)])


def print_plans(study: Study, as_json: bool) -> None:
    """Print what each model would be asked."""
    from json import dumps

    from passband.report.dry_run import dry_run_lines
    from passband.report.render import printable

    plans = study.dry_run()
    if as_json:
        values = [plan.as_json() for plan in plans]
        typer.echo(dumps(values[0] if len(plans) == 1 else values, indent=2))
        return
    for place, plan in enumerate(plans):
        lines = dry_run_lines(plan)
        for line in lines if place == len(plans) - 1 else [*lines[:-1], ""]:
            typer.echo(printable(line))


def run_and_print_study(study: Study, options: TableOptions, as_json: bool, quiet: bool) -> None:
    """Ask the models one after another, and print one table of all."""
    from passband.report.terminal.live import JsonEvents, make_display

    with make_display(as_json=as_json, quiet=quiet) as display:

        def announce(label: str, place: int, count: int) -> None:
            request = study.requests[place - 1]
            if isinstance(display, JsonEvents):
                display.event("model", model=label, directory=str(request.directory))
            elif not quiet:
                where = ", ".join(_addresses(request.connection.base_urls))
                display.note(f"{label} ({place} of {count}){f' at {where}' if where else ''}")

        end = study.run(display, announce)
    from passband.cli.output import print_notes, print_table
    from passband.generate.headers import hidden_values
    from passband.report.study import StudyReport  # heavy; the first request comes earlier

    metrics, level, policy = options.metrics, options.level, options.policy
    summary = study.summarize(metrics, level, end, policy)
    shown = summary is not None and not quiet
    comparison = study.compare(metrics, level, end, policy) if shown else None
    directories = [request.directory for request in study.requests]
    report = StudyReport(end, summary, directories, options.style(), comparison)
    if isinstance(display, JsonEvents):
        display.event("done", **report.as_json())
    else:
        if summary is not None:
            again = partial(study.summarize, metrics, level, end, policy, "trials")
            print_table(summary, report.style, again, quiet=quiet)
        command = ["passband", *hidden_values(sys.argv[1:])]
        print_notes(report.warnings() if quiet else report.lines(command))
    raise typer.Exit(end.exit_code)


def _addresses(urls: Sequence[str]) -> list[str]:
    from passband.generate.http import address_of

    return [address_of(url) for url in urls]

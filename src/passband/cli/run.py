"""`passband run`: ask every problem n times and say what came of it."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from passband.cli.options import Level, Metrics, Quiet

if TYPE_CHECKING:
    from passband.run.settings import Settings
    from passband.tasks.task import Task

__all__ = ["TrustTaskCode", "run"]

_EXITS = {"finished": 0, "max_cost": 1, "interrupted": 130, "terminated": 143}


class Truncated(str, enum.Enum):
    """What to do with completions that were cut off."""

    leave = "leave"
    score = "score"


TrustTaskCode = Annotated[
    bool, typer.Option("--trust-task-code", help="Run the Python code that comes with a task.")
]


def run(
    task: Annotated[list[str], typer.Argument(help="Names of tasks, or YAML files.")],
    model: Annotated[
        str, typer.Option("--model", help="tiny, openai:NAME, python:module:function, ...")
    ],
    base_url: Annotated[
        str | None, typer.Option(help="Address of a server, such as http://localhost:8000/v1.")
    ] = None,
    n: Annotated[int | None, typer.Option("-n", help="Trials per problem.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first so many problems.")] = None,
    concurrency: Annotated[int, typer.Option(help="Requests under way at a time.", min=1)] = 64,
    batch: Annotated[
        int, typer.Option(help="Completions per request, where the server can.", min=1)
    ] = 16,
    temperature: Annotated[float | None, typer.Option(min=0)] = None,
    top_p: Annotated[float | None, typer.Option(help="Above 0, at most 1.", max=1)] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1)] = None,
    seed: Annotated[
        str | None, typer.Option(help="What seeds are derived from; the run's name if not given.")
    ] = None,
    no_seed: Annotated[bool, typer.Option("--no-seed", help="Send no seeds.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Run directory; the same one resumes.")
    ] = None,
    metric: Metrics = None,
    level: Level = 0.95,
    truncated: Annotated[
        Truncated | None, typer.Option(help="Leave unscored what was cut off, or score it.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again what was invalid or given up.")
    ] = False,
    timeout: Annotated[float, typer.Option(help="Seconds for one answer.", min=0.1)] = 600.0,
    max_outage: Annotated[
        float, typer.Option(help="Seconds that a server may be down.", min=0)
    ] = 600.0,
    max_cost: Annotated[float | None, typer.Option(help="Stop before this is spent.")] = None,
    prices: Annotated[Path | None, typer.Option(help="YAML file of prices.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked, and ask nothing.")
    ] = False,
    trust_task_code: TrustTaskCode = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON events, a line each.")] = False,
    quiet: Quiet = False,
) -> None:
    """Ask every problem of a task n times, record every trial, and print metrics."""
    from passband.generate.providers import Connection
    from passband.run.budget import find_price
    from passband.run.directory import default_directory
    from passband.run.settings import Patience, Settings

    tasks = _load(task, trust_task_code)
    settings = Settings(
        n=n,
        limit=limit,
        concurrency=concurrency,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        seed=seed,
        send_seeds=not no_seed,
        truncated=None if truncated is None else truncated.value,
        retry_failed=retry_failed,
        max_cost=max_cost,
        patience=Patience(outage=max_outage),
    )
    directory = out or default_directory([each.name for each in tasks], model)
    _check(metric or [], level, directory, max(n or each.repeats for each in tasks))
    price = find_price(model, prices)
    if dry_run:
        _dry_run(tasks, model, directory, settings, price, json)
        return
    connection = Connection(base_url, timeout=timeout, concurrency=concurrency, batch=batch)
    _ask(tasks, model, directory, settings, connection, price, metric or [], level, json, quiet)


def _load(names: list[str], trust: bool) -> list[Task]:
    from passband.errors import InvalidInput
    from passband.tasks.find import find_tasks
    from passband.tasks.loader import load_task

    paths = dict.fromkeys(path for name in names for path in find_tasks(name))
    tasks = [load_task(path, trust=trust) for path in paths]
    found = [each.name for each in tasks]
    twice = {name for name in found if found.count(name) > 1}
    if twice:
        raise InvalidInput(f"two tasks are named {sorted(twice)[0]!r}.")
    return tasks


def _check(metrics: list[str], level: float, directory: Path, n: int) -> None:
    """Refuse now what could only fail once every trial is paid for."""
    from passband.errors import InvalidInput
    from passband.stats.checks import as_level

    as_level(level, "--level")
    if not metrics:
        return
    from passband.stats.metric.names import parse_name
    from passband.stats.metric.registry import expand_metrics

    for name in metrics:
        most = max(parse_name(name).ks or (1,))
        expand_metrics(name, most)
        if most > n and not directory.exists():  # else there may be more trials than are asked for
            raise InvalidInput(f"-m {name} needs {most} trials of a problem; give -n {most}.")


def _ask(
    tasks: list[Task],
    model: str,
    directory: Path,
    settings: Settings,
    connection: Any,
    price: Any,
    metrics: list[str],
    level: float,
    as_json: bool,
    quiet: bool,
) -> None:
    from passband.report.live import JsonEvents, make_display
    from passband.report.render import printable, render
    from passband.run.session import run_session

    with make_display(as_json=as_json, quiet=quiet) as display:
        finished = run_session(
            tasks,
            model,
            directory,
            settings=settings,
            connection=connection,
            watcher=display,
            price=price,
        )
    from passband.report.run import report_run  # heavy, and the first request does not need it

    report = report_run(finished, metrics, level=level)
    if isinstance(display, JsonEvents):
        display.say("done", **report.as_json())
    else:
        if rows := report.rows():
            typer.echo(render(rows, "table"), nl=False)
        if not quiet:
            _tell(report, printable)
    raise typer.Exit(_EXITS[finished.ending])


def _tell(report: Any, printable: Any) -> None:
    typer.echo("", err=True)
    for line in (report.headline(), *report.notes()):
        typer.echo(printable(line), err=True)
    steps = report.next_steps(["passband", *sys.argv[1:]])
    width = max((len(command) for command, _ in steps if len(command) <= 80), default=0)
    typer.echo("", err=True)
    for command, purpose in steps:
        typer.echo(f"  {printable(command):{width}}  # {purpose}", err=True)


def _dry_run(
    tasks: list[Task],
    model: str,
    directory: Path,
    settings: Settings,
    price: Any,
    as_json: bool,
) -> None:
    from json import dumps

    from passband.report.dry_run import dry_run
    from passband.report.render import printable

    found = dry_run(tasks, model, directory, settings, price)
    if as_json:
        typer.echo(dumps(found.as_json(), indent=2))
        return
    for line in found.lines():
        typer.echo(printable(line))

"""`passband run`: ask every problem n times, record every trial, print metrics."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from passband.cli.options import (
    Engine,
    FewshotAsTurns,
    GenFields,
    Headers,
    Level,
    Metrics,
    NumFewshot,
    Quiet,
    Stream,
    SystemPrompt,
    Target,
    TaskArgs,
    Truncated,
    TrustTaskCode,
)

if TYPE_CHECKING:
    from passband.run.dry_run import DryRun
    from passband.run.request import RunRequest
    from passband.run.settings import Until

__all__ = ["run"]


def run(
    task: Annotated[
        list[str], typer.Argument(help="Tasks: names, YAML files, inspect:TASK, BANK:adaptive.")
    ],
    model: Annotated[
        str, typer.Option("--model", help="tiny, openai:NAME, python:module:function, ...")
    ],
    base_url: Annotated[
        str | None, typer.Option(help="Address of the server, e.g. http://localhost:8000/v1.")
    ] = None,
    n: Annotated[int | None, typer.Option("-n", help="Trials per problem.")] = None,
    limit: Annotated[int | None, typer.Option(help="Ask only the first N problems.")] = None,
    concurrency: Annotated[int, typer.Option(help="Maximum concurrent requests.", min=1)] = 64,
    batch: Annotated[
        int, typer.Option(help="Completions per request, if the server supports n.", min=1)
    ] = 16,
    temperature: Annotated[
        float | None, typer.Option(help="Sampling temperature; default: the task's.", min=0)
    ] = None,
    top_p: Annotated[
        float | None, typer.Option(help="Nucleus sampling: above 0, at most 1.", max=1)
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Maximum tokens of a completion.", min=1)
    ] = None,
    system: SystemPrompt = None,
    gen: GenFields = None,
    num_fewshot: NumFewshot = None,
    fewshot_as_turns: FewshotAsTurns = False,
    header: Headers = None,
    stream: Stream = False,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the run; seeds derive from it. Default: the directory's."),
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Base of the trials' seeds. Default: the run's name.")
    ] = None,
    no_seed: Annotated[bool, typer.Option("--no-seed", help="Send no seeds.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Run directory, resumed if it exists. Default: runs/MODEL."),
    ] = None,
    metric: Metrics = None,
    level: Level = 0.95,
    truncated: Annotated[
        Truncated | None,
        typer.Option(help="How to treat truncated completions: leave unscored, or score."),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Retry trials recorded as invalid, gave_up, errored."),
    ] = False,
    timeout: Annotated[float, typer.Option(help="Seconds for one answer.", min=0.1)] = 600.0,
    max_outage: Annotated[
        float,
        typer.Option(help="Give up after this long without an answer (seconds).", min=0),
    ] = 600.0,
    max_cost: Annotated[
        float | None, typer.Option(help="Stop before the total cost exceeds this.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="YAML file of prices.")] = None,
    moved_server: Annotated[
        bool,
        typer.Option("--moved-server", help="Go on although the same model has another address."),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what would be requested, without sending anything."),
    ] = False,
    until: Annotated[
        float | None,
        typer.Option(help="Stop once the interval is within +-UNTIL; -n is then the most trials."),
    ] = None,
    proof: Annotated[
        bool, typer.Option("--proof", help="With --until: an interval that is proven to hold.")
    ] = False,
    over: Annotated[
        Target | None,
        typer.Option(help="With --until: for these problems (trials), or for problems like them."),
    ] = None,
    trust_task_code: TrustTaskCode = False,
    task_arg: TaskArgs = None,
    se: Annotated[
        float | None,
        typer.Option("--se", help="Adaptive: stop at this standard error of theta. Default: 0.3."),
    ] = None,
    min_items: Annotated[
        int | None, typer.Option(help="Adaptive: ask at least this many items.")
    ] = None,
    max_items: Annotated[
        int | None, typer.Option(help="Adaptive: ask at most this many items.")
    ] = None,
    random_share: Annotated[
        float | None,
        typer.Option(help="Adaptive: share of --max-items to draw at random, for accuracy."),
    ] = None,
    design: Annotated[
        list[str] | None,
        typer.Option("--design", help="Adaptive: setting=value, such as selection=randomesque."),
    ] = None,
    engine: Annotated[
        Engine, typer.Option(help="Who executes tasks of Inspect: auto, inspect, light.")
    ] = Engine.auto,
    json: Annotated[bool, typer.Option("--json", help="Print JSON events, a line each.")] = False,
    quiet: Quiet = False,
) -> None:
    """Ask every problem of a task n times and print metrics. Every trial is recorded."""
    from passband.generate.headers import read_headers
    from passband.report.terminal.live import error_events
    from passband.run.request import make_request
    from passband.run.settings import Patience
    from passband.tasks.adjust import Adjustments
    from passband.tasks.gen_fields import read_gen
    from passband.tasks.inspect_task import read_task_args

    with error_events(enabled=json):
        request = make_request(
            task,
            model,
            out=out,
            trust_task_code=trust_task_code,
            task_args=read_task_args(task_arg or ()),
            engine=engine.value,
            design=_design(
                design, se=se, min_items=min_items, max_items=max_items, random_share=random_share
            ),
            adjustments=Adjustments(system, num_fewshot, fewshot_as_turns, read_gen(gen or ())),
            n=n,
            limit=limit,
            concurrency=concurrency,
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            name=name,
            seed=seed,
            send_seeds=not no_seed,
            truncated=None if truncated is None else truncated.value,
            retry_failed=retry_failed,
            max_cost=max_cost,
            moved_server=moved_server,
            until=_until(until, proof, over, metric or [], level),
            patience=Patience(outage=max_outage),
            base_url=base_url,
            timeout=timeout,
            batch=batch,
            stream=stream,
            headers=read_headers(header or ()),
            prices=prices,
        )
        request.check_metrics(metric or [], level)
        if dry_run:
            _print_plan(request.dry_run(), json)
        else:
            _run_and_print(request, metric or [], level, json, quiet)


def _design(words: list[str] | None, **options: float | None) -> dict[str, Any]:
    from passband.tasks.inspect_task import read_task_args

    named = {name: value for name, value in options.items() if value is not None}
    return {**read_task_args(words or (), "--design"), **named}


def _until(
    half_width: float | None, proof: bool, over: Target | None, metrics: list[str], level: float
) -> Until | None:
    """Return when the run is to stop, from the options that go with --until."""
    from passband.errors import InvalidInput
    from passband.run.settings import Until

    if half_width is None:
        if proof or over is not None:
            option = "--proof" if proof else "--over"
            raise InvalidInput(f"{option} goes with --until, which says when to stop.")
        return None
    if len(metrics) > 1:
        raise InvalidInput(f"--until is for one metric; got -m {' -m '.join(metrics)}.")
    target = Target.trials if over is None else over
    return Until(half_width, metrics[0] if metrics else "pass@1", target.value, level, proof)


def _print_plan(plan: DryRun, as_json: bool) -> None:
    from json import dumps

    from passband.report.dry_run import dry_run_lines
    from passband.report.render import printable

    lines = [dumps(plan.as_json(), indent=2)] if as_json else map(printable, dry_run_lines(plan))
    for line in lines:
        typer.echo(line)


def _run_and_print(
    request: RunRequest, metrics: list[str], level: float, as_json: bool, quiet: bool
) -> None:
    from passband.report.terminal.live import JsonEvents, make_display

    with make_display(as_json=as_json, quiet=quiet) as display:
        finished = request.run(display)
    from passband.cli.output import print_rows
    from passband.generate.headers import hidden_values
    from passband.report.closing import closing_lines  # heavy; the first request comes earlier
    from passband.report.run import RunReport

    summary = finished.summarize(metrics, level)
    report = RunReport(finished, summary, finished.task_options())
    if isinstance(display, JsonEvents):
        display.event("done", **report.as_json())
    else:
        print_rows(report.rows())
        for line in (
            [] if quiet else closing_lines(report, ["passband", *hidden_values(sys.argv[1:])])
        ):
            typer.echo(line, err=True)
    raise typer.Exit(finished.exit_code)

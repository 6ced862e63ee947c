"""`passband run`: ask every problem n times, record every trial, print metrics.

`passband run` with several models or a study file: how they are checked, asked and printed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from passband.cli.judge_options import (
    Against,
    Canaries,
    JudgeConcurrency,
    JudgeModel,
    JudgeUrl,
    RubricFile,
    Votes,
    judge_choice,
)
from passband.cli.options import (
    AnswerText,
    DataOption,
    Digits,
    Engine,
    ExtractRules,
    FewshotAsTurns,
    GenFields,
    Headers,
    IgnoredColumns,
    LayoutOption,
    Layouts,
    Level,
    Metrics,
    ModelPrice,
    Notes,
    NumFewshot,
    Percent,
    Policies,
    PolicyOption,
    PromptTemplate,
    QuestionColumn,
    Quiet,
    ScorerName,
    Stream,
    SystemPrompt,
    Target,
    TaskArgs,
    Truncated,
    TrustTaskCode,
    UnsafeCode,
    split_metrics,
)
from passband.cli.output import TableOptions

if TYPE_CHECKING:
    from passband.cli.output import TableOptions
    from passband.run import Launch, RunRequest, Study, StudyFile, WidthGoal
    from passband.stats.data import Policy


def given_options(context: typer.Context) -> frozenset[str]:
    """Return the names of the options that the command line has, as opposed to defaults."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(
        name for name, source in sources.items() if source and source.name == "COMMANDLINE"
    )


def find_study_file(tasks: Sequence[str], given: frozenset[str]) -> StudyFile | None:
    """Read the study file among the tasks, if one of them is one; it has to be alone."""
    from passband.errors import InvalidInput
    from passband.run import is_study_file, read_study

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
    from passband.run import Study, make_request, study_of_file, study_of_models

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

    from passband.report import dry_run_lines, printable

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
    from passband.report import JsonEvents, make_display

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
    from passband.generate import hidden_values
    from passband.report import StudyReport

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
    from passband.generate import address_of

    return [address_of(url) for url in urls]


def run(
    context: typer.Context,
    task: Annotated[
        list[str],
        typer.Argument(
            help="Tasks: names, YAML or data files, inspect:TASK, BANK:adaptive; or a study file."
        ),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="openai:NAME, anthropic:NAME, google:NAME, python:module:function or tiny "
            "(repeatable).",
        ),
    ] = None,
    base_url: Annotated[
        list[str] | None,
        typer.Option(
            help="Address of the server, e.g. http://localhost:8000/v1; several servers of a model "
            "share its load (repeatable)."
        ),
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", help="Trials per problem. Default: the task's repeats.")
    ] = None,
    question: QuestionColumn = None,
    answer: AnswerText = None,
    prompt: PromptTemplate = None,
    scorer: ScorerName = None,
    extract: ExtractRules = None,
    ignore_columns: IgnoredColumns = None,
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
        typer.Option(help="Name of a checkpoint, for tables, directory and seeds."),
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Base of the trials' seeds. Default: the run's name.")
    ] = None,
    no_seed: Annotated[bool, typer.Option("--no-seed", help="Send no seeds.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Run directory, resumed if it exists; of several models, their folder. "
            "Default: runs/MODEL.",
        ),
    ] = None,
    metric: Metrics = None,
    level: Level = 0.95,
    policy: PolicyOption = Policies.drop,
    layout: LayoutOption = Layouts.long,
    digits: Digits = None,
    percent: Percent = False,
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
    max_failed: Annotated[
        float | None,
        typer.Option(help="Exit with 1 if a larger share of trials got no answer (0 to 1)."),
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(help="YAML file of prices, or genai: those of genai-prices.")
    ] = None,
    price: ModelPrice = None,
    moved_server: Annotated[
        bool,
        typer.Option("--moved-server", help="Go on: the same model has another address now."),
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(help="Ask only for part I of N, as I/N; passband merge joins the parts."),
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(help="Split the run among N processes and merge what they record.", min=1),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(help="With --shards: run them on a cluster: ray, or ray://HOST:PORT."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what would be requested, without sending anything."),
    ] = False,
    until: Annotated[
        float | None,
        typer.Option(help="Stop once the interval is within +-X; -n is then the most trials."),
    ] = None,
    proof: Annotated[
        bool, typer.Option("--proof", help="With --until: an interval that is proven to hold.")
    ] = False,
    over: Annotated[
        Target | None,
        typer.Option(help="With --until: for these problems (trials), or for problems like them."),
    ] = None,
    judge: JudgeModel = None,
    judge_base_url: JudgeUrl = None,
    rubric: RubricFile = None,
    votes: Votes = None,
    against: Against = None,
    canaries: Canaries = None,
    judge_concurrency: JudgeConcurrency = 64,
    data: DataOption = None,
    trust_task_code: TrustTaskCode = False,
    unsafe_code: UnsafeCode = False,
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
    notes: Notes = False,
    quiet: Quiet = False,
) -> None:
    """Ask every problem of a task n times and print metrics. Every trial is recorded."""
    from passband.errors import InvalidInput
    from passband.generate import read_headers
    from passband.report import error_events
    from passband.run import Patience, Shard, parse_price
    from passband.tasks import DataOptions, Overrides, read_gen, read_task_args

    with error_events(enabled=json):
        given = given_options(context)
        file = find_study_file(task, given)
        metrics, level, chosen = _measured(metric, level, policy.value, file, given)
        study = make_study(
            task,
            model or [],
            base_url or [],
            file,
            given,
            out,
            data=data or (),
            trust_task_code=trust_task_code,
            task_args=read_task_args(task_arg or ()),
            engine=engine.value,
            design=_design(
                design, se=se, min_items=min_items, max_items=max_items, random_share=random_share
            ),
            adjustments=Overrides(system, num_fewshot, fewshot_as_turns, read_gen(gen or ())),
            data_options=DataOptions.of(
                question, answer, prompt, scorer, extract, ignore_columns=ignore_columns
            ),
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
            max_failed=max_failed,
            moved_server=moved_server,
            unsafe_code=unsafe_code,
            until=_until(until, proof, over, metrics, level),
            patience=Patience(outage=max_outage),
            timeout=timeout,
            batch=batch,
            stream=stream,
            headers=read_headers(header or ()),
            prices=prices,
            price=None if price is None else parse_price(price),
            shard=None if shard is None else Shard.parse(shard),
            launch=_launch(shards, on),
            judge=judge_choice(
                judge, judge_base_url, rubric, votes, against, canaries, judge_concurrency, prices
            ),
        )
        if price is not None and len(study.requests) > 1:
            raise InvalidInput("--price is for one model; put several prices into --prices FILE.")
        study.check(metrics, level, chosen)
        options = TableOptions(metrics, level, chosen, layout.value, digits, percent, notes)
        if dry_run:
            print_plans(study, json)
        elif len(study.requests) > 1:
            run_and_print_study(study, options, json, quiet)
        else:
            _run_and_print(study.requests[0], options, json, quiet)


def _measured(
    metrics: list[str] | None,
    level: float,
    policy: Policy,
    file: StudyFile | None,
    given: frozenset[str],
) -> tuple[list[str], float, Policy]:
    """Return metrics, level and policy: of the command, or else of the study file."""
    settings = {} if file is None else file.settings
    settings = {name: value for name, value in settings.items() if name not in given}
    named = metrics or split_metrics(list(settings.get("metrics", ()))) or []
    return named, settings.get("level", level), settings.get("policy", policy)


def _design(words: list[str] | None, **options: float | None) -> dict[str, Any]:
    from passband.tasks import read_task_args

    named = {name: value for name, value in options.items() if value is not None}
    return {**read_task_args(words or (), "--design"), **named}


def _launch(shards: int | None, on: str | None) -> Launch | None:
    """Return how the run is split, from the options that go with --shards."""
    from passband.errors import InvalidInput
    from passband.run import Launch

    if shards is None:
        if on is not None:
            raise InvalidInput("--on goes with --shards N: how many parts to run there.")
        return None
    return Launch(shards, on)


def _until(
    half_width: float | None, proof: bool, over: Target | None, metrics: list[str], level: float
) -> WidthGoal | None:
    """Return when the run is to stop, from the options that go with --until."""
    from passband.errors import InvalidInput
    from passband.run import WidthGoal

    if half_width is None:
        if proof or over is not None:
            option = "--proof" if proof else "--over"
            raise InvalidInput(f"{option} goes with --until, which says when to stop.")
        return None
    if len(metrics) > 1:
        raise InvalidInput(f"--until is for one metric; got -m {' -m '.join(metrics)}.")
    target = Target.trials if over is None else over
    return WidthGoal(half_width, metrics[0] if metrics else "pass@1", target.value, level, proof)


def _run_and_print(request: RunRequest, options: TableOptions, as_json: bool, quiet: bool) -> None:
    from passband.report import JsonEvents, make_display

    with make_display(as_json=as_json, quiet=quiet) as display:
        finished = request.run(display)
    from passband.cli.output import print_notes, print_table
    from passband.generate import hidden_values
    from passband.report import RunReport, closing_lines

    summary = finished.summarize(options.metrics, options.level, options.policy)
    report = RunReport(finished, summary, finished.task_options(), options.style())
    if isinstance(display, JsonEvents):
        display.event("done", **report.as_json())
    else:
        if summary is not None and request.settings.shard is None:
            again = partial(finished.summarize, *options[:3], "trials")
            print_table(summary, report.style, again, quiet=quiet)
        command = ["passband", *hidden_values(sys.argv[1:])]
        print_notes(report.warnings() if quiet else closing_lines(report, command))
    raise typer.Exit(finished.exit_code)

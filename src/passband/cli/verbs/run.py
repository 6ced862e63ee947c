"""`passband run`: ask every problem n times, record every trial, print metrics.

`passband run` with several models or a study file: how they are checked, asked and printed.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import typer

from passband.cli.options import (
    CodeOptions,
    DataFileOptions,
    IntervalOptions,
    JudgingOptions,
    MetricOptions,
    OptionGroup,
    PriceOptions,
    ServerOptions,
    TableOptions,
    TruncatedOptions,
    split_metrics,
)

if TYPE_CHECKING:
    from passband.run import Launch, RunRequest, Study, StudyFile, WidthGoal
    from passband.stats.data import Policy

Option = typer.Option


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TaskOptions(DataFileOptions, CodeOptions):
    """Which tasks, and their data."""

    GROUP = "Task"
    task: Annotated[
        tuple[str, ...],
        typer.Argument(
            help="Names, YAML or data files, inspect:TASK, BANK:adaptive; or one study file."
        ),
    ]
    data: Annotated[
        tuple[str, ...],
        Option(
            metavar="FILE",
            help="Local copy of the task's data: a file, a folder with a file for each split, or "
            "SPLIT=FILE (repeatable).",
        ),
    ] = ()
    task_arg: Annotated[
        tuple[str, ...],
        Option(
            "-T", metavar="KEY=VALUE", help="Argument of an Inspect task, in YAML (repeatable)."
        ),
    ] = ()
    engine: Annotated[
        Literal["auto", "inspect", "light"], Option(help="Who executes Inspect tasks.")
    ] = "auto"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AmountOptions(MetricOptions, IntervalOptions, TableOptions):
    """How many problems and trials."""

    GROUP = "How many"
    n: Annotated[
        int | None, Option("-n", help="Trials per problem. Default: the task's repeats.")
    ] = None
    limit: Annotated[int | None, Option(help="Ask only the first N problems.")] = None
    until: Annotated[
        float | None,
        Option(help="Stop once the interval is within +-X; -n is then the most trials."),
    ] = None
    proof: Annotated[
        bool, Option("--proof", help="With --until: an interval that provably holds.")
    ] = False
    over: Annotated[
        Literal["problems", "trials"] | None,
        Option(help="With --until: exactly these problems (trials), or problems like them."),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ModelOptions(ServerOptions):
    """Which model, and where it is served."""

    model: Annotated[
        tuple[str, ...],
        Option(
            help="openai:NAME, anthropic:NAME, google:NAME, python:module:function or tiny "
            "(repeatable)."
        ),
    ] = ()
    base_url: Annotated[
        tuple[str, ...],
        Option(
            help="Address of the server, e.g. http://localhost:8000/v1; several servers of a model "
            "share its load (repeatable)."
        ),
    ] = ()
    name: Annotated[
        str | None, Option(help="Name of a checkpoint, for tables, directory and seeds.")
    ] = None
    header: Annotated[
        tuple[str, ...],
        Option(
            metavar="NAME=VALUE",
            help="Header of every request; '$VAR' in VALUE is read from the environment. Values "
            "are never stored or printed (repeatable).",
        ),
    ] = ()
    stream: Annotated[
        bool, Option("--stream", help="Request streamed answers, for servers that need it.")
    ] = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SamplingOptions(OptionGroup):
    """What each request asks for."""

    GROUP = "Requests"
    temperature: Annotated[
        float | None, Option(help="Sampling temperature. Default: the task's.", min=0)
    ] = None
    top_p: Annotated[float | None, Option(help="Nucleus sampling: above 0, at most 1.", max=1)] = (
        None
    )
    max_tokens: Annotated[int | None, Option(help="Maximum tokens of a completion.", min=1)] = None
    system: Annotated[
        str | None, Option(help="System prompt instead of the task's; '' for none.")
    ] = None
    gen: Annotated[
        tuple[str, ...],
        Option(
            metavar="KEY=VALUE",
            help="Field of every request, e.g. top_k=20 or reasoning_effort=low, value in JSON; "
            "KEY= leaves a field out (repeatable).",
        ),
    ] = ()
    num_fewshot: Annotated[int | None, Option(help="Worked examples in each prompt.", min=0)] = None
    fewshot_as_turns: Annotated[
        bool, Option("--fewshot-as-turns", help="Send worked examples as turns of a conversation.")
    ] = False
    seed: Annotated[
        str | None, Option(help="Base of the trials' seeds. Default: the run's name.")
    ] = None
    no_seed: Annotated[bool, Option("--no-seed", help="Send no seeds.")] = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LimitOptions(PriceOptions):
    """How fast, how long, and when to stop."""

    GROUP = "Limits"
    concurrency: Annotated[int, Option(help="Maximum concurrent requests.", min=1)] = 64
    batch: Annotated[
        int, Option(help="Completions per request, if the server supports n.", min=1)
    ] = 16
    timeout: Annotated[float, Option(help="Seconds for one answer.", min=0.1)] = 600.0
    max_outage: Annotated[
        float, Option(help="Give up after this long without an answer (seconds).", min=0)
    ] = 600.0
    max_failed: Annotated[
        float | None,
        Option(help="Exit with 1 if a larger share of trials got no answer (0 to 1)."),
    ] = None
    retry_failed: Annotated[
        bool, Option("--retry-failed", help="Retry trials recorded as invalid, gave_up, errored.")
    ] = False
    shard: Annotated[
        str | None,
        Option(help="Ask only for part I of N, as I/N; passband merge joins the parts."),
    ] = None
    shards: Annotated[
        int | None,
        Option(help="Split the run among N processes and merge what they record.", min=1),
    ] = None
    on: Annotated[
        str | None, Option(help="With --shards: run them on a cluster: ray, or ray://HOST:PORT.")
    ] = None
    dry_run: Annotated[
        bool, Option("--dry-run", help="Show what would be requested; send nothing.")
    ] = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AdaptiveOptions(OptionGroup):
    """Settings of adaptive tests."""

    GROUP = "Adaptive tests"
    se: Annotated[
        float | None, Option(help="Stop at this standard error of theta. Default: 0.3.")
    ] = None
    min_items: Annotated[int | None, Option(help="Ask at least this many items.")] = None
    max_items: Annotated[int | None, Option(help="Ask at most this many items.")] = None
    random_share: Annotated[
        float | None, Option(help="Share of --max-items to draw at random, for accuracy.")
    ] = None
    design: Annotated[
        tuple[str, ...], Option(help="setting=value, such as selection=randomesque (repeatable).")
    ] = ()

    def adaptive_design(self) -> dict[str, Any]:
        """Return the settings that are given, by name."""
        from passband.tasks import read_task_args

        names = ("se", "min_items", "max_items", "random_share")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {**read_task_args(self.design, "--design"), **given}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunOptions(
    TaskOptions,
    ModelOptions,
    AmountOptions,
    SamplingOptions,
    LimitOptions,
    TruncatedOptions,
    JudgingOptions,
    AdaptiveOptions,
):
    """The options of `passband run`."""

    GROUP = "Output"
    COMMON = (
        "model", "base_url", "n", "limit", "concurrency", "max_cost", "dry_run", "out", "metric",
        "json", "quiet",
    )  # fmt: skip
    MOVED: ClassVar[Mapping[str, str]] = {"Metrics": "Output", "Intervals": "Output"}
    out: Annotated[
        Path | None,
        Option(
            help="Run directory, resumed if it exists. Default: runs/MODEL; with several models, "
            "the folder of their directories."
        ),
    ] = None
    json: Annotated[bool, Option("--json", help="Print JSON events, one per line.")] = False

    def study(self, file: "StudyFile | None", given: frozenset[str]) -> "Study":
        """Return the runs of the command: of one model, of several, or of a study file."""
        from passband.errors import InvalidInput
        from passband.run import Study, make_request, study_of_file, study_of_models

        options, models, urls = self.arguments(file, given), self.model, self.base_url
        if file is not None:
            del options["name"]
            return study_of_file(file, models, given=given, out=self.out, **options)
        if not models:
            raise InvalidInput(
                "--model is missing: tiny, openai:NAME with --base-url URL, "
                "python:module:function; or run a study file, which names its models."
            )
        if len(models) > 1:
            return study_of_models(self.task, models, urls, out=self.out, **options)
        base_url = urls if len(urls) > 1 else next(iter(urls), None)
        request = make_request(self.task, models[0], out=self.out, base_url=base_url, **options)
        return Study([request])

    def arguments(self, file: "StudyFile | None", given: frozenset[str]) -> dict[str, Any]:
        """Return the arguments of `make_request`, but for tasks, model and address."""
        from passband.generate import read_headers
        from passband.run import Patience, Shard, parse_price
        from passband.tasks import Overrides, read_gen, read_task_args

        task_args = read_task_args(self.task_arg)
        design = self.adaptive_design()
        gen = read_gen(self.gen)
        return {
            **{name: getattr(self, name) for name in _AS_THEY_ARE},
            "task_args": task_args,
            "design": design,
            "adjustments": Overrides(self.system, self.num_fewshot, self.fewshot_as_turns, gen),
            "data_options": self.data_options(),
            "send_seeds": not self.no_seed,
            "until": self.until_rule(file, given),
            "patience": Patience(outage=self.max_outage),
            "headers": read_headers(self.header),
            "price": None if self.price is None else parse_price(self.price),
            "shard": None if self.shard is None else Shard.parse(self.shard),
            "launch": self.launch(),
            "judge": self.judge_choice(self.prices),
        }

    def measured(self, file: "StudyFile | None", given: frozenset[str]) -> "TableRequest":
        """Return metrics, level and policy: of the command, or else of the study file."""
        settings = {} if file is None else file.settings
        settings = {name: value for name, value in settings.items() if name not in given}
        named = self.metric or split_metrics(list(settings.get("metrics", ()))) or ()
        level, policy = settings.get("level", self.level), settings.get("policy", self.policy)
        return TableRequest(tuple(named), level, policy, self)

    def launch(self) -> "Launch | None":
        """Return how the run is split, from the options that go with --shards."""
        from passband.errors import InvalidInput
        from passband.run import Launch

        if self.shards is None:
            if self.on is not None:
                raise InvalidInput("--on goes with --shards N: how many parts to run there.")
            return None
        return Launch(self.shards, self.on)

    def until_rule(self, file: "StudyFile | None", given: frozenset[str]) -> "WidthGoal | None":
        """Return when the run is to stop, from the options that go with --until."""
        from passband.errors import InvalidInput
        from passband.run import WidthGoal

        if self.until is None:
            if self.proof or self.over is not None:
                option = "--proof" if self.proof else "--over"
                raise InvalidInput(f"{option} goes with --until, which says when to stop.")
            return None
        metrics, level, *_ = self.measured(file, given)
        if len(metrics) > 1:
            raise InvalidInput(f"--until is for one metric; got -m {' -m '.join(metrics)}.")
        metric = metrics[0] if metrics else "pass@1"
        return WidthGoal(self.until, metric, self.over or "trials", level, self.proof)


#: Options that are arguments of `make_request` by the same name.
_AS_THEY_ARE = (
    "data", "trust_task_code", "engine", "n", "limit", "concurrency", "temperature", "top_p",
    "max_tokens", "name", "seed", "truncated", "retry_failed", "max_cost", "max_failed",
    "moved_server", "unsafe_code", "timeout", "batch", "stream", "prices",
)  # fmt: skip


class TableRequest(NamedTuple):
    """What the table of a run holds, and how it is written."""

    metrics: Sequence[str]
    level: float
    policy: "Policy"
    options: RunOptions


def given_options(context: typer.Context) -> frozenset[str]:
    """Return the names of the options that the command line has, as opposed to defaults."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(
        name for name, source in sources.items() if source and source.name == "COMMANDLINE"
    )


def find_study_file(tasks: Sequence[str], given: frozenset[str]) -> "StudyFile | None":
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


def print_plans(study: "Study", as_json: bool) -> None:
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


def run_and_print_study(study: "Study", table: TableRequest) -> None:
    """Ask the models one after another, and print one table of all."""
    from passband.report import JsonEvents, make_display

    quiet = table.options.quiet
    with make_display(as_json=table.options.json, quiet=quiet) as display:

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

    metrics, level, policy, options = table
    summary = study.summarize(metrics, level, end, policy)
    shown = summary is not None and not quiet
    comparison = study.compare(metrics, level, end, policy) if shown else None
    directories = [request.directory for request in study.requests]
    report = StudyReport(end, summary, directories, options.style, comparison)
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


def run(context: typer.Context, options: RunOptions) -> None:
    """Ask every problem n times, record every trial and print metrics."""
    from passband.errors import InvalidInput
    from passband.report import error_events

    with error_events(enabled=options.json):
        given = given_options(context)
        file = find_study_file(options.task, given)
        study = options.study(file, given)
        if options.price is not None and len(study.requests) > 1:
            raise InvalidInput("--price is for one model; put several prices into --prices FILE.")
        table = options.measured(file, given)
        study.check(table.metrics, table.level, table.policy)
        if options.dry_run:
            print_plans(study, options.json)
        elif len(study.requests) > 1:
            run_and_print_study(study, table)
        else:
            _run_and_print(study.requests[0], table)


def _run_and_print(request: "RunRequest", table: TableRequest) -> None:
    from passband.report import JsonEvents, make_display

    quiet = table.options.quiet
    with make_display(as_json=table.options.json, quiet=quiet) as display:
        finished = request.run(display)
    from passband.cli.output import print_notes, print_table
    from passband.generate import hidden_values
    from passband.report import RunReport, closing_lines

    summary = finished.summarize(*table[:3])
    report = RunReport(finished, summary, finished.task_options(), table.options.style)
    if isinstance(display, JsonEvents):
        display.event("done", **report.as_json())
    else:
        if summary is not None and request.settings.shard is None:
            again = partial(finished.summarize, *table[:3], "trials")
            print_table(summary, report.style, again, quiet=quiet)
        command = ["passband", *hidden_values(sys.argv[1:])]
        print_notes(report.warnings() if quiet else closing_lines(report, command))
    raise typer.Exit(finished.exit_code)

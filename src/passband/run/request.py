"""A run as it was requested: tasks, model, directory and settings, loaded and checked.

The default run directory: one per model, so that the same command resumes.

Every task of a model goes there, so that a task requested alone and the same task requested beside
others are never asked twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from passband.errors import ConflictingArguments, InvalidInput
from passband.generate import Connection, Model, Provider, Subject, adapted, is_local
from passband.run.budget import find_price
from passband.run.dry_run import DryRun, dry_run
from passband.run.genai_prices import suggested_price
from passband.run.judge.choice import JudgeChoice
from passband.run.progress import Watcher
from passband.run.schedule.schedule import every_problem
from passband.run.schedule.width import until_schedule
from passband.run.session import OnStart, RunResult, TrialMasks, run_session
from passband.run.settings import Patience, Settings, WidthGoal
from passband.run.shards.folder import merge_leftovers
from passband.run.shards.launch import Launch
from passband.run.shards.shard import Shard
from passband.run.task_run import Price
from passband.run.tasks import TaskName, load_tasks, named_tasks
from passband.score import Truncated
from passband.tasks import LENGTH_NAMES, DataOptions, Overrides, Task, override_tasks
from passband.trials import EmptyStore, Trials, is_run_directory

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from passband.generate import Engine


_LONGEST = 60  # characters of a name


def default_directory(model: str, name: str | None = None, parent: Path = Path("runs")) -> Path:
    """Return the run directory of a model, or of a run that has a name.

    >>> default_directory("openai:org/model").as_posix()
    'runs/openai-org-model'
    >>> default_directory("openai:policy", "step 100").as_posix()
    'runs/step-100'
    """
    text = name or model
    safe = "".join(c if c.isalnum() or c in "._+-" else "-" for c in text).strip(".") or "run"
    if len(safe) > _LONGEST:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        safe = f"{safe[: _LONGEST - 9]}-{digest[:8]}"
    return parent / safe


def shard_directory(run: Path, shard: Shard) -> Path:
    """Return the directory of a shard of a run: beside that of the run, which they are merged into.

    >>> shard_directory(Path("runs/tiny"), Shard(3, 16)).as_posix()
    'runs/tiny-shards/03-of-16'
    """
    return run.with_name(f"{run.name}-shards") / shard.directory_name


class RequestOptions(TypedDict, total=False):
    """Options of a run, by the names of `Settings` and `Connection`, and of prices."""

    n: int | None
    limit: int | None
    concurrency: int
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    name: str | None
    seed: str | None
    send_seeds: bool
    truncated: Truncated | None
    retry_failed: bool
    max_cost: float | None
    max_failed: float | None
    moved_server: bool
    unsafe_code: bool
    until: WidthGoal | None
    patience: Patience
    base_url: str | Sequence[str] | None
    timeout: float
    batch: int
    stream: bool
    headers: Mapping[str, str]
    prices: Path | None
    price: Price | None
    judge: JudgeChoice | None
    shard: Shard | None


@dataclass(frozen=True)
class Recipe:
    """The names that a request was made from, so that another process can make it again.

    It can be pickled; tasks, providers and scorers cannot, and would carry keys if they could.
    """

    tasks: tuple[str | Path, ...]
    model: str
    options: Mapping[str, Any]  # arguments of `make_request`

    def make(self, directory: Path) -> RunRequest:
        """Make the request again, for another directory."""
        return make_request(list(self.tasks), self.model, out=directory, **self.options)


@dataclass(frozen=True)
class RunRequest:
    """Everything that a run needs to start."""

    tasks: Sequence[Task]
    model: Model
    directory: Path
    settings: Settings
    connection: Connection
    price: Price | None = None
    judge: JudgeChoice | None = None
    recipe: Recipe | None = None  # None if it was made from more than names
    launch: Launch | None = None  # in shards, each in a process of its own
    elsewhere: TrialMasks | None = None  # trials that a shard need not ask for

    def run(self, watcher: Watcher, *, on_start: OnStart | None = None) -> RunResult:
        """Request every missing trial; `on_start` is given a function that stops the run."""
        finished = self._ask(watcher, on_start)
        price = self._suggested()
        costs = [run.counters.cost(price) for run in finished.task_runs] if price else []
        if price is not None and (cost := sum(cost or 0.0 for cost in costs)):
            watcher.note(f"its trials cost about {cost:.2g}, at {price.proposal}")
        return finished

    def _suggested(self) -> Price | None:
        """Return the price that genai-prices has, where the run has none and it is installed."""
        is_part = self.settings.shard is not None
        if self.price is not None or is_part or not isinstance(self.model, str):
            return None
        return suggested_price(self.model, self.connection.base_urls)

    def _ask(self, watcher: Watcher, on_start: OnStart | None) -> RunResult:
        """Request every missing trial, in this process or in shards."""
        if self.launch is not None:
            from passband.run.shards.driver import run_shards  # seldom needed

            return run_shards(self, self.launch, watcher, on_start)
        merge_leftovers(self.directory, watcher, moved_server=self.settings.moved_server)
        if self.settings.shard is not None and not self.settings.is_leased:
            watcher.note(self._part())
        return run_session(
            self.tasks,
            self.model,
            self.directory,
            settings=self.settings,
            connection=self.connection,
            watcher=watcher,
            price=self.price,
            judge=self.judge,
            schedule=until_schedule(watcher) if self.settings.until else every_problem,
            on_start=on_start,
            elsewhere=self.elsewhere,
        )

    def _part(self) -> str:
        """Return which part of the run this is, and which part of its limits it has."""
        settings, limit = self.settings, ""
        if settings.max_cost is not None:
            limit = f", cost {settings.max_cost:.3g}"
        return (
            f"shard {settings.shard} of {settings.base}: its part of --concurrency"
            f"{' and --max-cost' if limit else ''} is {settings.concurrency}{limit}"
        )

    def dry_run(self) -> DryRun:
        """Return what `run` would request; refuse what it would refuse."""
        plan = dry_run(
            self.tasks,
            self.model,
            self.directory,
            self.settings,
            self.connection,
            self.price,
            self.judge,
        )
        return replace(plan, suggested=self._suggested())

    def check_metrics(self, metrics: Sequence[str], level: float, policy: str = "drop") -> None:
        """Refuse metrics that could only fail once every trial is paid for."""
        if not 0 < level < 1:
            raise InvalidInput(f"--level must be between 0 and 1; got {level:g}.")
        adaptive = [task for task in self.tasks if "adaptive" in task.config]
        if adaptive and policy == "fail":
            raise InvalidInput(
                f"--policy fail: {adaptive[0].name} is an adaptive test, where a trial without a "
                "score says nothing about ability and cannot count as 0."
            )
        if not metrics:
            return
        if adaptive:
            raise InvalidInput(
                f"-m {metrics[0]}: {adaptive[0].name} is an adaptive test, which gives theta and "
                "the accuracy of its bank; averages over chosen items estimate nothing."
            )
        from passband.stats.metric import expand_metrics, parse_name

        if self.settings.until is not None and self.settings.n is None:
            return  # the rule makes as many rounds as its metric needs
        n = max(self.settings.n or task.repeats for task in self.tasks)
        for name in metrics:
            most = max(parse_name(name).ks or (1,))
            expand_metrics(name, most)
            if most > n and not self._has_trials():  # else there may be more trials than n
                raise InvalidInput(f"-m {name} needs {most} trials of a problem; give -n {most}.")

    def _has_trials(self) -> bool:
        if is_run_directory(self.directory):
            names = {task.name for task in self.tasks}
            with suppress(EmptyStore), Trials(self.directory) as trials:
                return any(trials.statuses(r.number) for r in trials.runs() if r.task in names)
        return False


def make_request(
    tasks: TaskName | Sequence[TaskName],
    model: Model,
    *,
    out: Path | None = None,
    data: str | Path | Sequence[str | Path] = (),
    trust_task_code: bool = False,
    task_args: Mapping[str, Any] | None = None,
    engine: Engine = "auto",
    design: Mapping[str, Any] | None = None,
    adjustments: Overrides | None = None,
    data_options: DataOptions | None = None,
    launch: Launch | None = None,
    **options: Unpack[RequestOptions],
) -> RunRequest:
    """Load tasks and assemble the settings of a run; `adjustments` are to be made to the tasks.

    `data` are files in place of those that the one task names, as `--data` takes them.
    `task_args` and `engine` are for tasks of Inspect (`inspect:NAME`), `design` is for adaptive
    tests (`BANK:adaptive[:SPLIT]`): settings of `passband.adaptive.design.Design` by name;
    `data_options` say what is not to be guessed of data files. With `launch` the run is asked in
    shards; a `shard` is one of them, with its part of `concurrency` and `max_cost`.

    >>> request = make_request("arithmetic", "tiny", n=4, batch=8)
    >>> request.directory.as_posix(), request.settings.n, request.connection.batch
    ('runs/tiny', 4, 8)
    """
    urls = Connection(options.get("base_url")).base_urls
    for option, value in (("--model", model), *(("--base-url", url) for url in urls)):
        if isinstance(value, str) and "," in value:
            raise InvalidInput(f"{option} takes one value; got {value!r}. Give it once for each.")
    for option in ("headers", "stream"):
        if options.get(option) and (not isinstance(model, str) or is_local(model)):
            word = option.removesuffix("s")
            raise InvalidInput(f"--{word} is for servers; {_label(model)} is asked without one.")
    patience = options.get("patience") or Patience()
    connection = Connection(**_named(Connection, options), outage=patience.outage)
    chosen = load_tasks(
        tasks,
        data=data,
        trust=trust_task_code,
        task_args=task_args,
        engine=engine,
        model=model,
        connection=connection,
        design=_design(design, options),
        data_options=data_options,
    )
    if adjustments is not None:
        _check_adjustments(adjustments, model, options)
        chosen = override_tasks(chosen, adjustments)
    settings = Settings(**_named(Settings, options))
    _check_adaptive(chosen, settings)
    _check_shards(chosen, settings, launch)
    request = RunRequest(
        chosen,
        model,
        out or default_directory(_label(model), options.get("name")),
        settings,
        connection,
        _price(model, options.get("prices"), options.get("price"), connection),
        options.get("judge"),
        launch=launch,
    )
    if isinstance(model, str) and not any(isinstance(one, Task) for one in named_tasks(tasks)):
        arguments = {
            "data": data,
            "trust_task_code": trust_task_code,
            "task_args": task_args,
            "engine": engine,
            "design": design,
            "adjustments": adjustments,
            "data_options": data_options,
            **options,
        }
        request = replace(request, recipe=Recipe(tuple(named_tasks(tasks)), model, arguments))  # type: ignore[arg-type]
    return request if settings.shard is None else _sharded(request, settings.shard, out is None)


def _sharded(request: RunRequest, shard: Shard, is_default: bool) -> RunRequest:
    """Return the request of a shard: its part of the limits, the run's name, its own directory.

    The name does not depend on where the shard is stored: all shards must draw the run's seeds.
    """
    settings, judge = request.settings, request.judge
    part = shard.part_of(settings.concurrency)
    run = default_directory(_label(request.model), settings.name)
    if judge is not None:
        canaries = judge.canaries if shard.index == 1 else 0
        judge = replace(judge, concurrency=shard.part_of(judge.concurrency), canaries=canaries)
    return replace(
        request,
        directory=shard_directory(request.directory, shard) if is_default else request.directory,
        settings=replace(
            settings,
            base=run.name,
            concurrency=part,
            max_cost=None if settings.max_cost is None else settings.max_cost / shard.of,
        ),
        connection=replace(request.connection, concurrency=part),
        judge=judge,
    )


def _check_shards(tasks: Iterable[Task], settings: Settings, launch: Launch | None) -> None:
    """Refuse to split what decides from all answers which trial is next."""
    if settings.shard is None and launch is None:
        return
    option = "--shard" if launch is None else "--shards"
    if settings.shard is not None and launch is not None:
        raise ConflictingArguments("--shard is one part of a run, --shards asks for all of them.")
    if settings.until is not None:
        raise InvalidInput(f"{option}: --until decides from all trials when to stop; ask for -n.")
    test = next((task.name for task in tasks if "adaptive" in task.config), None)
    if test is not None:
        raise InvalidInput(
            f"{option}: {test} is an adaptive test, where each answer decides what is asked next."
        )


def _label(model: Model) -> str:
    if isinstance(model, str):
        return model
    subject = adapted(model)
    return (isinstance(subject, (Provider, Subject)) and subject.name) or "run"


def _check_adjustments(adjustments: Overrides, model: Model, options: Mapping[str, Any]) -> None:
    """Refuse a setting that is given twice, and turns where a model has none."""
    for name, names in {"temperature": (), "top_p": (), "max_tokens": LENGTH_NAMES}.items():
        twice = [one for one in (name, *names) if one in adjustments.gen]
        if twice and options.get(name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise ConflictingArguments(f"{option} and --gen {twice[0]} are the same setting.")
    is_text = isinstance(model, str) and model.startswith("openai-completions:")
    if is_text and adjustments.fewshot_as_turns:
        raise InvalidInput(f"--fewshot-as-turns: {model} completes a text, which has no turns.")


def _design(given: Mapping[str, Any] | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of adaptive tests; -n is how often each of their items is asked."""
    if given and "trials" in given:
        raise InvalidInput("design: the trials of an item are given as n (in the shell, -n).")
    return {**(given or {}), "trials": options.get("n") or 1}


def _check_adaptive(tasks: Iterable[Task], settings: Settings) -> None:
    """Refuse settings that an adaptive test cannot have: it decides itself what is asked."""
    test = next((task.name for task in tasks if "adaptive" in task.config), None)
    if test is None:
        return
    if settings.retry_failed:
        raise InvalidInput(
            f"--retry-failed: {test} is an adaptive test, whose path depends on every answer; "
            "start anew with another --out."
        )
    if settings.until is not None:
        raise InvalidInput(
            f"--until: {test} is an adaptive test, which stops by the standard error of theta; "
            "give --se."
        )


def _named(kind: type[Settings] | type[Connection], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are fields of a class."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in options.items() if name in names}


def _price(
    model: Model, file: Path | None, given: Price | None, connection: Connection
) -> Price | None:
    """Return the price that is given, or the one that a file has."""
    if given is not None and file is not None:
        raise InvalidInput("give either --price or --prices FILE, and not both.")
    if given is not None or not isinstance(model, str):
        return given
    return find_price(model, file, connection.base_urls)

"""`passband score`: re-score recorded completions, or add a scorer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from passband.cli.options import (
    CodeOptions,
    JsonOptions,
    JudgingOptions,
    PriceOptions,
    QuietOptions,
    ServerOptions,
    TruncatedOptions,
)

if TYPE_CHECKING:
    from passband.cli.progress_lines import JudgeLine
    from passband.run import JudgeChoice, Judging, RemoteScoring, Rescored


Option = typer.Option


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ScoreOptions(
    TruncatedOptions,
    JudgingOptions,
    PriceOptions,
    ServerOptions,
    CodeOptions,
    JsonOptions,
    QuietOptions,
):
    """The options of `passband score`."""

    GROUP = "Scoring"
    COMMON = (
        "scorer", "extract", "task", "main", "judge", "judge_base_url", "max_cost", "prices",
        "json", "quiet",
    )  # fmt: skip
    run: Annotated[Path, typer.Argument(help="Run directory.")]
    scorer: Annotated[
        tuple[str, ...], Option(help="Scorer to add, such as numeric, math or f1 (repeatable).")
    ] = ()
    extract: Annotated[
        str | None, Option(help="Rules that find the answer, such as boxed,marker,last_number.")
    ] = None
    task: Annotated[
        tuple[str, ...],
        Option(help="Task or YAML file whose scorers to use. Default: those of the run."),
    ] = ()
    main: Annotated[bool, Option("--main", help="Make the new scorer the main one.")] = False
    on: Annotated[
        str | None,
        Option(help="Score on a Ray cluster, judges too: ray, ray://HOST:10001 or HOST:6379."),
    ] = None
    workers: Annotated[
        int | None, Option(min=1, help="With --on: processors to use. Default: all of the cluster.")
    ] = None

    def rescores(self, judges: bool) -> bool:
        """Return whether anything is to be scored, and not only priced."""
        return bool(self.scorer or self.extract or self.task or self.truncated or judges)


def score(options: ScoreOptions) -> None:
    """Re-score recorded completions; keeps earlier scores. Only --judge sends requests.

    With --prices or --price, trials without a cost get theirs.
    """
    from json import dumps

    from passband.cli.output import print_notes, print_rows
    from passband.report import ScoreReport
    from passband.summary import summarize_scorers

    run, quiet = options.run, options.quiet
    choice = options.judge_choice(options.prices)
    if options.price is not None or (options.prices is not None and not choice.given):
        _price_trials(run, options.prices, options.price, quiet=quiet)
        if not options.rescores(bool(choice.given)):
            return
    rescored, judging = _rescored(options, choice)
    report = ScoreReport(rescored.added, summarize_scorers(run, tasks=rescored.tasks))
    if options.scorer and not options.extract:
        _warn_of_filters(run, options.scorer)
    if options.json:
        typer.echo(dumps(report.as_json(), indent=2))
    else:
        print_rows(report.rows())
        if not quiet:
            print_notes(["", f"{report.added} scores added to {run}"])
    if judging is not None:
        raise typer.Exit(judging.exit_code)


def _rescored(options: ScoreOptions, choice: "JudgeChoice") -> "tuple[Rescored, Judging | None]":
    """Score the recorded completions, here or on a cluster, with judges if there are any."""
    from passband.cli.progress_lines import JudgeLine
    from passband.run import rescore_run

    scored, judging = JudgeLine(quiet=options.quiet, word="scored"), None
    remote = _remote(options.on, options.workers, scored, unsafe=options.unsafe_code)
    if choice.given:
        from passband.run import Judging

        line = JudgeLine(quiet=options.quiet)
        judging = Judging(choice, line, options.max_cost, moved_server=options.moved_server)
        if remote is not None:
            from passband.run import remote_subject

            judging.make_subject = partial(remote_subject, workers=options.workers)
    rescored = rescore_run(
        options.run,
        scorers=options.scorer,
        rules=[rule.strip() for rule in options.extract.split(",")] if options.extract else None,
        task_names=options.task,
        main=options.main,
        truncated=options.truncated,
        trust=options.trust_task_code,
        unsafe=options.unsafe_code,
        judging=judging,
        remote=remote,
    )
    scored.clear()
    return rescored, judging


def _price_trials(run: Path, prices: Path | None, price: str | None, *, quiet: bool) -> None:
    """Give the trials of a run their cost, and print the sums."""
    from passband.cli.output import print_notes, print_rows
    from passband.run import parse_price, price_run

    given = None if price is None else parse_price(price)
    found = price_run(run, prices, given)
    print_rows([priced.row() for priced in found])
    if not quiet:
        print_notes(["", f"{sum(one.added for one in found)} trials priced in {run}"])


def _remote(
    on: str | None, workers: int | None, line: "JudgeLine", *, unsafe: bool
) -> "RemoteScoring | None":
    """Return where and how to score on a cluster; None without --on."""
    from passband.errors import InvalidInput

    if on is None:
        if workers is not None:
            raise InvalidInput("--workers is for scoring on a cluster; name it with --on ray.")
        return None
    from passband.cluster import parse_address
    from passband.run import RemoteScoring

    return RemoteScoring(parse_address(on), workers, unsafe=unsafe, tick=line.judged)


def _warn_of_filters(run: Path, added: Sequence[str]) -> None:
    """Warn that scorers added by name do not get the answers that the task's filters find."""
    from passband.report import printable
    from passband.score import filters_in
    from passband.trials import Trials

    with Trials(run) as trials:
        records = [record for task in trials.runs() for record in task.scorers]
    names = [
        name
        for record in records
        if record.name not in added
        for name in filters_in(record.identity)
    ]
    if names:
        typer.echo(
            printable(
                f"warning: {', '.join(added)} scored whole completions, without the task's filters "
                f"({', '.join(dict.fromkeys(names))}); --extract RULES finds the answer in them."
            ),
            err=True,
        )

"""`passband score`: re-score recorded completions, or add a scorer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from passband.cli.options import JsonOption, ModelPrice, Quiet, Truncated, TrustTaskCode, UnsafeCode

if TYPE_CHECKING:
    from passband.cli.progress_lines import JudgeLine
    from passband.run import RemoteScoring


def score(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    scorer: Annotated[
        list[str] | None,
        typer.Option(help="Scorer to add, such as numeric, math or f1 (repeatable)."),
    ] = None,
    extract: Annotated[
        str | None,
        typer.Option(help="Rules that find the answer, such as boxed,marker,last_number."),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(help="Task or YAML file whose scorers to use; by default those of the run."),
    ] = None,
    main: Annotated[bool, typer.Option("--main", help="Make the new scorer the main one.")] = False,
    truncated: Annotated[
        Truncated | None,
        typer.Option(help="How to treat truncated completions: leave unscored, or score."),
    ] = None,
    judge: JudgeModel = None,
    judge_base_url: JudgeUrl = None,
    rubric: RubricFile = None,
    votes: Votes = None,
    against: Against = None,
    canaries: Canaries = None,
    judge_concurrency: JudgeConcurrency = 64,
    max_cost: Annotated[
        float | None, typer.Option(help="With --judge: stop before its calls cost more than this.")
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            help="YAML file of prices: of the run's models, or with --judge of the judges."
        ),
    ] = None,
    price: ModelPrice = None,
    moved_server: Annotated[
        bool,
        typer.Option("--moved-server", help="Go on: the same judge has another address now."),
    ] = False,
    on: Annotated[
        str | None,
        typer.Option(
            help="Score on a cluster of Ray, judges too: ray, ray://HOST:10001 or HOST:6379."
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="With --on: processors to use; by default all of the cluster."),
    ] = None,
    trust_task_code: TrustTaskCode = False,
    unsafe_code: UnsafeCode = False,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Re-score recorded completions; keeps earlier scores. Only --judge sends requests.

    With --prices or --price, trials without a cost get theirs.
    """
    from functools import partial
    from json import dumps

    from passband.cli.output import print_notes, print_rows
    from passband.cli.progress_lines import JudgeLine
    from passband.report import ScoreReport
    from passband.run import rescore_run
    from passband.summary import summarize_scorers

    choice = judge_choice(
        judge, judge_base_url, rubric, votes, against, canaries, judge_concurrency, prices
    )
    if price is not None or (prices is not None and not choice.given):
        _price_trials(run, prices, price, quiet=quiet)
        if not (scorer or extract or task or truncated or choice.given):
            return
    scored = JudgeLine(quiet=quiet, word="scored")
    remote = _remote(on, workers, scored, unsafe=unsafe_code)
    judging = None
    if choice.given:
        from passband.run import Judging

        line = JudgeLine(quiet=quiet)
        judging = Judging(choice, line, max_cost, moved_server=moved_server)
        if remote is not None:
            from passband.run import remote_subject

            judging.make_subject = partial(remote_subject, workers=workers)
    rescored = rescore_run(
        run,
        scorers=scorer or [],
        rules=[rule.strip() for rule in extract.split(",")] if extract else None,
        task_names=task or [],
        main=main,
        truncated=None if truncated is None else truncated.value,
        trust=trust_task_code,
        unsafe=unsafe_code,
        judging=judging,
        remote=remote,
    )
    scored.clear()
    report = ScoreReport(rescored.added, summarize_scorers(run, tasks=rescored.tasks))
    if scorer and not extract:
        _warn_of_filters(run, scorer)
    if json:
        typer.echo(dumps(report.as_json(), indent=2))
    else:
        print_rows(report.rows())
        if not quiet:
            print_notes(["", f"{report.added} scores added to {run}"])
    if judging is not None:
        raise typer.Exit(judging.exit_code)


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
    on: str | None, workers: int | None, line: JudgeLine, *, unsafe: bool
) -> RemoteScoring | None:
    """Return where and how to score on a cluster, if that is asked for."""
    from passband.errors import InvalidInput

    if on is None:
        if workers is not None:
            raise InvalidInput("--workers is for scoring on a cluster; name it with --on ray.")
        return None
    from passband.cluster import parse_address
    from passband.run import RemoteScoring

    return RemoteScoring(parse_address(on), workers, unsafe=unsafe, tick=line.judged)


def _warn_of_filters(run: Path, added: list[str]) -> None:
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

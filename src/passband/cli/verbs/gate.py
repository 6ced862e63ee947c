"""`passband gate`: may the new model replace the base?

`passband gate --settle`: the plan, the looks as they are taken, and the result.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from passband.cli.options import (
    Accept,
    AnswerColumn,
    ClusterColumn,
    Digits,
    First,
    JsonOption,
    JudgeColumn,
    LabelColumn,
    LowerIsBetter,
    Metrics,
    Notes,
    Percent,
    ProblemColumn,
    Quiet,
    ScoreColumn,
    SkipBad,
    StatusColumn,
    Target,
    Threshold,
    TrialColumn,
    scales_of,
)

if TYPE_CHECKING:
    from passband.report import Style
    from passband.run import SettlePlan, SettleRequest
    from passband.summary import GateLook, GatePolicy, GateResult


def print_plan(request: SettleRequest, *, as_json: bool) -> None:
    """Print what settling would take; nothing is asked, and nothing is looked at."""
    from json import dumps

    from passband.report import plan_lines

    forecast = request.prepare().forecast()
    if as_json:
        typer.echo(dumps(forecast.as_json(), indent=2))
        return
    for line in plan_lines(forecast):
        typer.echo(line)


def settled_gate(request: SettleRequest, *, as_json: bool, quiet: bool) -> GateResult:
    """Settle a gate, and show each look as it is taken."""
    from passband.report import look_line, make_display

    settling = request.prepare()
    with make_display(as_json=False, quiet=quiet or as_json) as display:

        def show(look: GateLook, plan: SettlePlan) -> None:
            if not (quiet or as_json):
                display.note(look_line(look, len(plan.looks)))

        return settling.settle(display, show)


class Failures(str, enum.Enum):
    """What failed trials count as."""

    bracket = "bracket"
    wrong = "wrong"
    drop = "drop"


def gate(
    base: Annotated[
        Path,
        typer.Argument(
            metavar="BASE", help="Run directory, folder of them, or file: the model in use."
        ),
    ],
    new: Annotated[
        Path, typer.Argument(metavar="NEW", help="The same, of the model to replace it.")
    ],
    policy: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="YAML file of tasks, metrics, tiers and tolerances."),
    ] = None,
    metric: Metrics = None,
    tolerance: Annotated[
        float | None, typer.Option(help="Largest loss that may pass (default: 0.02).")
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=MOST",
            help="Most that NEW may take in the mean, such as cost=0.02 or latency=30 "
            "(repeatable).",
        ),
    ] = None,
    over: Annotated[
        Target | None,
        typer.Option(
            help="Judge these very problems (trials, the default), or problems like them."
        ),
    ] = None,
    failed: Annotated[
        Failures | None,
        typer.Option(
            help="Count failed trials against any verdict (default), as wrong, or not at all."
        ),
    ] = None,
    base_model: Annotated[
        str | None, typer.Option(help="Model of BASE, if it has several.")
    ] = None,
    new_model: Annotated[str | None, typer.Option(help="Model of NEW, if it has several.")] = None,
    settle: Annotated[
        bool,
        typer.Option("--settle", help="Ask both models for more trials until it is decided."),
    ] = False,
    max_cost: Annotated[
        float | None, typer.Option(help="With --settle: spend at most this on more trials.")
    ] = None,
    max_rounds: Annotated[
        int | None, typer.Option(help="With --settle: at most this many trials of each problem.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="With --settle: YAML file of prices.")] = None,
    concurrency: Annotated[
        int, typer.Option(help="With --settle: maximum concurrent requests.", min=1)
    ] = 64,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --settle: show the plan and stop.")
    ] = False,
    problem: ProblemColumn = None,
    trial: TrialColumn = None,
    score: ScoreColumn = None,
    status: StatusColumn = None,
    cluster: ClusterColumn = None,
    answer: AnswerColumn = None,
    judge: JudgeColumn = None,
    label: LabelColumn = None,
    threshold: Threshold = None,
    lower_is_better: LowerIsBetter = None,
    skip_bad: SkipBad = False,
    first: First = None,
    accept: Accept = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a pull-request comment.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write JUnit XML, one test per comparison.")
    ] = None,
    step_summary: Annotated[
        bool,
        typer.Option("--step-summary", help="Append to the step summary of a GitHub workflow."),
    ] = False,
    digits: Digits = None,
    percent: Percent = False,
    json: JsonOption = False,
    notes: Notes = False,
    quiet: Quiet = False,
) -> None:
    """Say whether a new model may replace a base: pass, regression (exit 3) or undecided (4)."""
    from dataclasses import replace

    from passband.errors import InvalidInput
    from passband.report import Style
    from passband.summary import GateReading, gate_sources, parse_limits

    rules = _policy(policy, metric, tolerance, over, failed, accept)
    if limit:
        rules = replace(rules, limits={**rules.limits, **parse_limits(limit)})
    if rules.limits and settle:
        raise InvalidInput("limits are for a gate without --settle; gate the topped-up runs again.")
    columns = {
        "problem": problem, "trial": trial, "score": score, "status": status, "cluster": cluster,
        "answer": answer, "judge": judge, "label": label,
    }  # fmt: skip
    scales = scales_of(lower_is_better)
    reading = GateReading(columns, threshold, skip_bad, base_model, new_model, scales, first)
    if settle:
        if first is not None:
            raise InvalidInput("--first goes without --settle, which asks for more trials.")
        from passband.run import SettleRequest

        request = SettleRequest(
            base, new, rules, reading, max_cost, max_rounds, prices, concurrency
        )
        if dry_run:
            print_plan(request, as_json=json)
            return
        result = settled_gate(request, as_json=json, quiet=quiet)
    else:
        _refuse_without_settle(max_cost, max_rounds, prices, dry_run or None)
        result = gate_sources(base, new, rules, reading)
    style = Style(digits, percent, notes=notes)
    _print(result, style, json=json, quiet=quiet)
    _write(result, style, markdown, junit, step_summary=step_summary)
    raise typer.Exit(result.exit_code)


def _policy(
    path: Path | None,
    metric: list[str] | None,
    tolerance: float | None,
    over: Target | None,
    failed: Failures | None,
    accept: list[str] | None,
) -> GatePolicy:
    """Return the policy of a file, or the usual one; options replace its general values."""
    from dataclasses import replace

    from passband.summary import GatePolicy, MetricRule

    if path is None:
        rules = GatePolicy()
    else:
        from passband.summary import read_policy

        rules = read_policy(path)
    if metric:
        rules = replace(rules, metrics={name: MetricRule() for name in metric})
    if tolerance is not None:
        rules = replace(rules, tolerance=tolerance)
    if over is not None:
        rules = replace(rules, over=over.value)
    rules = replace(rules, accept=(*rules.accept, *(accept or ())))
    return rules if failed is None else replace(rules, failed=failed.value)


def _write(
    result: GateResult,
    style: Style,
    markdown: Path | None,
    junit: Path | None,
    *,
    step_summary: bool,
) -> None:
    """Write the files that are asked for."""
    from passband.report import gate_comment, gate_junit, gate_step_summary

    for path in (markdown, junit):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    if markdown is not None:
        markdown.write_text(gate_comment(result, style), "utf-8")
    if junit is not None:
        junit.write_text(gate_junit(result), "utf-8")
    if step_summary:
        import os

        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if summary:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(gate_step_summary(result, style))
        else:
            typer.echo("GITHUB_STEP_SUMMARY is not set, so no step summary was written.", err=True)


def _print(result: GateResult, style: Style, *, json: bool, quiet: bool) -> None:
    """Print the result as JSON, or as a table with what to keep in mind."""
    from passband.cli.output import print_json, print_notes, terminal_columns
    from passband.report import (
        GATE_LEGEND,
        GATE_SIGNS,
        LEAST_COLUMNS,
        difference_bars,
        gate_notes,
        gate_text,
    )

    if json:
        from json import dumps

        print_json(dumps(result.as_json(), indent=2) + "\n")
        return
    print_notes(str(one) for one in result.remarks if one.important or not quiet)
    typer.echo(gate_text(result, style), nl=False)
    bars = difference_bars(result.lines)
    if bars and terminal_columns(GATE_SIGNS) >= LEAST_COLUMNS:
        typer.echo("\n".join(["", *bars, "" if quiet else GATE_LEGEND]))
    if not quiet:
        print_notes(["", *gate_notes(result, style)])


def _refuse_without_settle(*given: object) -> None:
    """Refuse options that say how to settle, where nothing is to be settled."""
    from passband.errors import InvalidInput

    options = ("--max-cost", "--max-rounds", "--prices", "--dry-run")
    for option, value in zip(options, given, strict=True):
        if value is not None:
            raise InvalidInput(f"{option} goes with --settle, which asks for more trials.")

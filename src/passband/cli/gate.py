"""`passband gate`: may the new model replace the base?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from passband.cli.options import (
    AnswerColumn,
    ClusterColumn,
    Digits,
    JsonOption,
    Metrics,
    Percent,
    ProblemColumn,
    Quiet,
    ScoreColumn,
    SkipBad,
    StatusColumn,
    Target,
    Threshold,
    TrialColumn,
)

__all__ = ["gate"]


def gate(
    base: Annotated[
        Path, typer.Argument(metavar="BASE", help="Run directory, folder of them, or file: before.")
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The same of the model to be let in.")],
    metric: Metrics = None,
    tolerance: Annotated[
        float | None, typer.Option(help="Largest loss that does not matter (default: 0.02).")
    ] = None,
    over: Annotated[
        Target | None,
        typer.Option(help="Verdicts for these very problems (default), or for problems like them."),
    ] = None,
    base_model: Annotated[str | None, typer.Option(help="Model of BASE, of several.")] = None,
    new_model: Annotated[str | None, typer.Option(help="Model of NEW, of several.")] = None,
    settle: Annotated[
        bool,
        typer.Option("--settle", help="Ask both models for more trials until it is decided."),
    ] = False,
    max_cost: Annotated[
        float | None, typer.Option(help="With --settle: spend at most this on more trials.")
    ] = None,
    max_rounds: Annotated[
        int | None, typer.Option(help="With --settle: at most this many trials of a problem.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="With --settle: YAML file of prices.")] = None,
    concurrency: Annotated[
        int, typer.Option(help="With --settle: maximum concurrent requests.", min=1)
    ] = 64,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --settle: show the plan, and ask nothing.")
    ] = False,
    problem: ProblemColumn = None,
    trial: TrialColumn = None,
    score: ScoreColumn = None,
    status: StatusColumn = None,
    cluster: ClusterColumn = None,
    answer: AnswerColumn = None,
    threshold: Threshold = None,
    skip_bad: SkipBad = False,
    digits: Digits = None,
    percent: Percent = False,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Say whether a new model may replace a base: pass, regression (exit 3) or undecided (4)."""
    from passband.cli.output import print_json, print_notes
    from passband.report.gate.text import gate_notes, gate_text
    from passband.report.style import Style
    from passband.summary.gate.policy import GatePolicy, MetricRule
    from passband.summary.gate.sources import Reading, gate_sources

    policy = GatePolicy(
        metrics={name: MetricRule() for name in metric or ()},
        tolerance=tolerance,
        over=over.value if over else "trials",
    )
    columns = {
        "problem": problem, "trial": trial, "score": score, "status": status, "cluster": cluster,
        "answer": answer,
    }  # fmt: skip
    reading = Reading(columns, threshold, skip_bad, base_model, new_model)
    if settle:
        from passband.cli.gate_settle import print_plan, settled_gate
        from passband.run.settle import SettleRequest

        request = SettleRequest(
            base, new, policy, reading, max_cost, max_rounds, prices, concurrency
        )
        if dry_run:
            print_plan(request, as_json=json)
            return
        result = settled_gate(request, as_json=json, quiet=quiet)
    else:
        _refuse_without_settle(max_cost, max_rounds, prices, dry_run or None)
        result = gate_sources(base, new, policy, reading)
    if json:
        from json import dumps

        print_json(dumps(result.as_json(), indent=2) + "\n")
    else:
        print_notes(str(one) for one in result.remarks if one.important or not quiet)
        typer.echo(gate_text(result, Style(digits, percent)), nl=False)
        if not quiet:
            print_notes(["", *gate_notes(result)])
    raise typer.Exit(result.exit_code)


def _refuse_without_settle(*given: object) -> None:
    """Refuse options that say how to settle, where nothing is to be settled."""
    from passband.errors import InvalidInput

    options = ("--max-cost", "--max-rounds", "--prices", "--dry-run")
    for option, value in zip(options, given, strict=True):
        if value is not None:
            raise InvalidInput(f"{option} goes with --settle, which asks for more trials.")

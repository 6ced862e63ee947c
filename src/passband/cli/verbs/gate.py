"""`passband gate`: may the new model replace the base?

`passband gate --settle`: the plan, the looks as they are taken, and the result.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from passband.cli.options import (
    AnswerColumnOptions,
    ChoiceOptions,
    JsonOptions,
    MetricOptions,
    NumberOptions,
    RecordOptions,
    ThresholdOptions,
)

if TYPE_CHECKING:
    from passband.report import Style
    from passband.run import SettlePlan, SettleRequest
    from passband.summary import GateLook, GatePolicy, GateReading, GateResult


def print_plan(request: "SettleRequest", *, as_json: bool) -> None:
    """Print what settling would take; no request is sent and no result is read."""
    from json import dumps

    from passband.report import plan_lines

    forecast = request.prepare().forecast()
    if as_json:
        typer.echo(dumps(forecast.as_json(), indent=2))
        return
    for line in plan_lines(forecast):
        typer.echo(line)


def settled_gate(request: "SettleRequest", *, as_json: bool, quiet: bool) -> "GateResult":
    """Settle a gate, and show each look as it is taken."""
    from passband.report import look_line, make_display

    settling = request.prepare()
    with make_display(as_json=False, quiet=quiet or as_json) as display:

        def show(look: "GateLook", plan: "SettlePlan") -> None:
            if not (quiet or as_json):
                display.note(look_line(look, len(plan.looks)))

        return settling.settle(display, show)


Option = typer.Option


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RuleOptions(MetricOptions):
    """What may pass."""

    GROUP = "Rules"
    tolerance: Annotated[
        float | None, Option(help="Largest loss that may pass. Default: 0.02.")
    ] = None
    policy: Annotated[
        Path | None, Option(metavar="FILE", help="YAML file of tasks, metrics, tiers, tolerances.")
    ] = None
    limit: Annotated[
        tuple[str, ...],
        Option(
            metavar="NAME=MOST",
            help="Highest mean that may pass in NEW: cost=0.02, latency=30 (repeatable).",
        ),
    ] = ()
    over: Annotated[
        Literal["problems", "trials"] | None,
        Option(help="Problems like these, or exactly these. Default: trials (exactly these)."),
    ] = None
    failed: Annotated[
        Literal["bracket", "wrong", "drop"] | None,
        Option(help="Failed trials count against any verdict (default), as wrong, or not at all."),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SettleOptions(JsonOptions):
    """How to settle undecided comparisons."""

    GROUP = "Settling"
    settle: Annotated[
        bool, Option("--settle", help="Ask both models for more trials until it is decided.")
    ] = False
    max_cost: Annotated[
        float | None, Option(help="With --settle: spend at most this on more trials.")
    ] = None
    max_rounds: Annotated[
        int | None, Option(help="With --settle: at most this many trials of each problem.")
    ] = None
    prices: Annotated[Path | None, Option(help="With --settle: YAML file of prices.")] = None
    concurrency: Annotated[
        int, Option(help="With --settle: maximum concurrent requests.", min=1)
    ] = 64
    dry_run: Annotated[bool, Option("--dry-run", help="With --settle: show the plan and stop.")] = (
        False
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GateFileOptions(NumberOptions):
    """What to write."""

    markdown: Annotated[
        Path | None, Option(metavar="FILE", help="Write a pull-request comment.")
    ] = None
    junit: Annotated[
        Path | None, Option(metavar="FILE", help="Write JUnit XML, one test per comparison.")
    ] = None
    step_summary: Annotated[
        bool, Option("--step-summary", help="Append to the step summary of a GitHub workflow.")
    ] = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GateOptions(
    RuleOptions,
    SettleOptions,
    GateFileOptions,
    ThresholdOptions,
    ChoiceOptions,
    RecordOptions,
    AnswerColumnOptions,
):
    """The options of `passband gate`."""

    GROUP = "Reading"
    COMMON = (
        "metric", "tolerance", "policy", "over", "limit", "settle", "max_cost", "markdown", "json",
        "quiet",
    )  # fmt: skip
    base: Annotated[
        Path,
        typer.Argument(
            metavar="BASE", help="Run directory, folder of them, or file: the model in use."
        ),
    ]
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The same for the new model.")]
    base_model: Annotated[str | None, Option(help="Model of BASE, if it has several.")] = None
    new_model: Annotated[str | None, Option(help="Model of NEW, if it has several.")] = None

    @property
    def rules(self) -> "GatePolicy":
        """The policy of the file, or the usual one; options replace its general values."""
        from passband.errors import InvalidInput
        from passband.summary import GatePolicy, MetricRule, parse_limits, read_policy

        rules = GatePolicy() if self.policy is None else read_policy(self.policy)
        if self.metric:
            rules = replace(rules, metrics={name: MetricRule() for name in self.metric})
        if self.tolerance is not None:
            rules = replace(rules, tolerance=self.tolerance)
        if self.over is not None:
            rules = replace(rules, over=self.over)
        rules = replace(rules, accept=(*rules.accept, *self.accept))
        if self.failed is not None:
            rules = replace(rules, failed=self.failed)
        if self.limit:
            rules = replace(rules, limits={**rules.limits, **parse_limits(self.limit)})
        if rules.limits and self.settle:
            raise InvalidInput(
                "limits are for a gate without --settle; gate the topped-up runs again."
            )
        return rules

    @property
    def reading(self) -> "GateReading":
        """How both sources are read."""
        from passband.summary import GateReading

        return GateReading(
            self.columns, self.threshold, self.skip_bad, self.base_model, self.new_model,
            self.scales, self.first,
        )  # fmt: skip

    def settle_request(self) -> "SettleRequest":
        """Return what to settle, and what it may cost."""
        from passband.errors import InvalidInput
        from passband.run import SettleRequest

        rules, reading = self.rules, self.reading
        if self.first is not None:
            raise InvalidInput("--first goes without --settle, which asks for more trials.")
        return SettleRequest(
            self.base, self.new, rules, reading, self.max_cost, self.max_rounds, self.prices,
            self.concurrency,
        )  # fmt: skip

    def check_no_settling(self) -> None:
        """Refuse options that say how to settle, where nothing is to be settled."""
        from passband.errors import InvalidInput

        for name in ("max_cost", "max_rounds", "prices", "dry_run"):
            if getattr(self, name) not in (None, False):
                option = f"--{name.replace('_', '-')}"
                raise InvalidInput(f"{option} goes with --settle, which asks for more trials.")


def gate(options: GateOptions) -> None:
    """Say whether a new model may replace a base: pass, regression (exit 3) or undecided (4)."""
    from passband.summary import gate_sources

    if options.settle:
        request = options.settle_request()
        if options.dry_run:
            print_plan(request, as_json=options.json)
            return
        result = settled_gate(request, as_json=options.json, quiet=options.quiet)
    else:
        rules = options.rules
        options.check_no_settling()
        result = gate_sources(options.base, options.new, rules, options.reading)
    style = options.style
    _print(result, style, json=options.json, quiet=options.quiet)
    _write(result, style, options)
    raise typer.Exit(result.exit_code)


def _write(result: "GateResult", style: "Style", options: GateOptions) -> None:
    """Write the requested files."""
    from passband.report import gate_comment, gate_junit, gate_step_summary

    markdown, junit = options.markdown, options.junit
    for path in (markdown, junit):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    if markdown is not None:
        markdown.write_text(gate_comment(result, style), "utf-8")
    if junit is not None:
        junit.write_text(gate_junit(result), "utf-8")
    if options.step_summary:
        import os

        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if summary:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(gate_step_summary(result, style))
        else:
            typer.echo("GITHUB_STEP_SUMMARY is not set, so no step summary was written.", err=True)


def _print(result: "GateResult", style: "Style", *, json: bool, quiet: bool) -> None:
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
